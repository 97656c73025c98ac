import type { FioReport } from "./parse/fio.ts";
import type { Workload } from "./request.ts";

/** A run shorter than this share of what was asked for says nothing. */
const shortest = 0.9;

/** Why a run has no figures; undefined when it has. */
export function whyInvalid(
  report: FioReport,
  expected: Readonly<Record<string, string>>,
  workload: Workload,
): string | undefined {
  if (report.error !== 0) {
    return `fio's job failed with errno ${report.error}: ${report.warnings.join("; ") || "no message"}`;
  }
  if (report.bytes === 0) return "fio did no I/O";
  const ios = Math.floor(report.bytes / workload.blockSize);
  if (ios < 2 * workload.depth) {
    return `fio did ${ios} I/Os at a depth of ${workload.depth}; below two rounds of the queue nothing is said`;
  }
  if (report.seconds < shortest * workload.runtime) {
    return `fio ran ${report.seconds} s of ${workload.runtime} s; below ${shortest * 100} % nothing is said`;
  }
  for (const [option, value] of Object.entries(expected)) {
    const said = report.options[option];
    if (said !== value) return `fio took ${option} as ${said ?? "nothing"}, ${value} was asked for`;
  }
  return undefined;
}

/** Faster than the slower of the two links carries? Null where neither says what it carries. */
export function aboveLink(bandwidth: number, speeds: readonly (number | null)[]): boolean | null {
  const known = speeds.filter((speed) => speed !== null);
  return known.length === 0 ? null : bandwidth * 8 > Math.min(...known);
}
