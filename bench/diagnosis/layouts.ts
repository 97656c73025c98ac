import { dataVdevs, disksOf, failures, writeCost } from "../model/layout.ts";
import type { Advice } from "../schema/diagnosis.ts";
import type { Layout, VdevShape } from "../schema/evidence.ts";
import { configuration, nextBound } from "./bounds.ts";
import type { Situation } from "./rule.ts";
import { elementNamed } from "./rule.ts";
import { mbs, plural, rounded } from "./words.ts";

/** Layouts of the same disks that write fewer bytes for each byte of payload. */

type Candidate = { readonly kind: "mirror" | "raidz1" | "raidz2" | "raidz3"; readonly width: number };

/** Widths as ZFS's administrators build them: no vdev wider than 12 disks, whose resilvers take long. */
const candidates: readonly Candidate[] = [
  ...[2, 3].map((width) => ({ kind: "mirror" as const, width })),
  ...[3, 5].map((width) => ({ kind: "raidz1" as const, width })),
  ...[6, 8, 10].map((width) => ({ kind: "raidz2" as const, width })),
  ...[8, 11, 12].map((width) => ({ kind: "raidz3" as const, width })),
];

const built = (layout: Layout, { kind, width }: Candidate): Layout | undefined => {
  const shapes = dataVdevs(layout);
  const disks = disksOf(shapes);
  const diskSize = shapes[0]?.diskSize ?? null;
  if (disks % width !== 0) return undefined;
  const shape: VdevShape = {
    kind,
    role: "data",
    disks: width,
    data: null,
    spares: 0,
    diskSize,
    count: disks / width,
  };
  return { ...layout, vdevs: [shape, ...layout.vdevs.filter(({ role }) => role !== "data")] };
};

/**
 * The one that writes least, among those that survive as many failures as are needed, or as now where no need is
 * stated. Random load stays on mirrors: a RAID-Z vdev gives little more random I/Os than one disk.
 */
export function slimmerLayouts(situation: Situation): Advice[] {
  const { evidence, direction, names, needs } = situation;
  const { layout } = evidence.pool;
  if (layout === null || direction === "read" || dataVdevs(layout).length === 0) return [];
  const load = {
    blockSize: evidence.blockSize,
    random: evidence.operation.startsWith("rand"),
    sync: evidence.sync,
  };
  const now = writeCost(layout, load);
  if (now === null || !Number.isFinite(now.least)) return [];
  const survives = needs?.failures ?? failures(layout).any;
  const possible = candidates.flatMap((candidate) => {
    const other = built(layout, candidate);
    const cost =
      other === undefined || (load.random && candidate.kind !== "mirror") ? null : writeCost(other, load);
    if (other === undefined || cost === null || cost.most >= now.least) return [];
    return failures(other).any < survives ? [] : [{ candidate, cost, any: failures(other).any }];
  });
  const [best] = possible.toSorted(
    (a, b) => a.cost.most - b.cost.most || a.candidate.width - b.candidate.width,
  );
  if (best === undefined) return [];
  const { kind, width } = best.candidate;
  const atMost = boundWith(situation, now.most / best.cost.most);
  return [
    {
      ...configuration(
        `The same disks as ${kind} of ${width} write ${rounded(best.cost.most)} bytes for each byte instead of ${rounded(now.most)} (${best.cost.how}) and survive ${plural(best.any, "failure")}, whichever disks they are.${atMost === null ? "" : ` At most ${mbs(atMost)} then.`} It is another pool: measure it as a stack of its own.${kind === "mirror" ? "" : " Random I/O gets slower on RAID-Z."}`,
        `pools.${names.pool}.data: { ${kind}: ${width}, disks: … }`,
      ),
      atMost,
    },
  ];
}

/** The path's bound when the same HBA and disks have to write so many times less. */
function boundWith(situation: Situation, lighter: number): number | null {
  const writing = (["hba", "disks"] as const).flatMap((name) => {
    const bound = elementNamed(situation, name)?.bound ?? null;
    return bound === null ? [] : [bound * lighter];
  });
  const rest = nextBound(situation, ["hba", "disks", "pool"]);
  const all = [...writing, ...(rest === undefined ? [] : [rest.bound])];
  return all.length === 0 ? null : Math.min(...all);
}
