import type { Figure } from "../reference.ts";
import type { RunSpec } from "../schema/test.ts";
import { given } from "./words.ts";

/** A published lab's figures beside a run: only those of the same kind of work, protocol and direction. */

/** The labs' own names for what they ran, that this test is of the kind of. */
function kindsOf({ test }: RunSpec): readonly string[] {
  if (test.kind === "files") return [test.fileSize >= 2 ** 20 ? "long files" : "short files"];
  if (test.kind === "io500") return ["io500"];
  // No lab published what its fabric does without a pool.
  if (test.backstore === "ramdisk") return [];
  if (test.operation.startsWith("rand") && test.blockSize === 4096) return ["4 KiB random"];
  const isLarge = test.blockSize >= 131072 && test.sync === "none" && test.rateIops === null;
  if (["read", "write"].includes(test.operation) && isLarge) return ["sequential", "maximum throughput"];
  return [];
}

export function publishedOf(
  figures: readonly Figure[],
  spec: RunSpec,
  { direction, metric }: { direction: "read" | "write" | undefined; metric: string },
): readonly Figure[] {
  const kinds = kindsOf(spec);
  return figures.filter(
    (one) =>
      kinds.includes(one.workload) &&
      one.metric === metric &&
      (one.direction === undefined || one.direction === direction) &&
      (one.protocol === undefined || one.protocol === spec.protocol),
  );
}

/** In a cell under a unit: the value alone where its unit is that one; a lab of several systems names each. */
export function publishedCell(found: readonly Figure[], unit: string): string {
  if (found.length === 0) return "–";
  return found
    .map((one) => {
      const value = given(one.value);
      const about = one.about ? "about " : "";
      const its = one.unit === unit ? "" : ` ${one.unit}`;
      return `${about}${value}${its}${one.system === undefined ? "" : ` (${one.system})`}`;
    })
    .join("; ");
}
