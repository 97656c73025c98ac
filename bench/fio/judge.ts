import type { Client } from "../schema/request.ts";
import { directionOf } from "../schema/words.ts";
import { expectedOptions, type FioSpec } from "./argv.ts";
import type { FioReport } from "./report.ts";

/** A run shorter than this share of what was asked for says nothing. */
const shortest = 0.9;

/** Why a client's report gives no figures; undefined when it does. `file` as in expectedOptions. */
export function whyInvalid(
  report: FioReport,
  client: Pick<Client, "mount">,
  spec: Pick<FioSpec, "test">,
  file?: string,
): string | undefined {
  const { test } = spec;
  if (report.error !== 0) {
    return `fio's job failed with errno ${report.error}: ${report.warnings.join("; ") || "no message"}`;
  }
  for (const options of report.options) {
    for (const [option, value] of Object.entries(expectedOptions(client, spec, file))) {
      const said = options[option];
      if (said !== value) return `fio took ${option} as ${said ?? "nothing"}, ${value} was asked for`;
    }
  }
  const direction = directionOf(test.operation);
  const wanted: readonly ("read" | "write")[] = direction === "mixed" ? ["read", "write"] : [direction];
  if (report.read === null && report.write === null) return "fio did no I/O";
  const inFlight = test.depth * test.jobs;
  const ios = wanted.reduce((sum, way) => sum + (report[way]?.ios ?? 0), 0);
  if (ios < 2 * inFlight) {
    const queue =
      test.jobs === 1 ? `a depth of ${test.depth}` : `${test.jobs} jobs with a depth of ${test.depth}`;
    return `fio did ${ios} I/Os at ${queue}; below two rounds of the queue nothing is said`;
  }
  for (const way of wanted) {
    const side = report[way];
    if (side === null) return `fio did no ${way} of a mixed load; it is too short to say anything`;
    if (side.seconds < shortest * test.runtime) {
      return `fio ran ${side.seconds} s of ${test.runtime} s; below ${shortest * 100} % nothing is said`;
    }
    if (side.bandwidth === null || side.iops === null)
      return `fio printed no number for bandwidth or IOPS, ${way}`;
  }
  return undefined;
}

/** Faster than the slowest of these links (Mb/s) carries? Null where none says what it carries. */
export function aboveLink(bandwidth: number, speeds: readonly (number | null)[]): boolean | null {
  const known = speeds.filter((speed) => speed !== null);
  return known.length === 0 ? null : bandwidth * 8 > Math.min(...known);
}
