import { ParseError } from "../../provider/errors.ts";
import type { Histogram } from "../schema/recording.ts";
import type { Side } from "../schema/result.ts";
import type { FioReport } from "./report.ts";
import { latencyOf, mergeTimings } from "./timing.ts";

/** The reports of clients that ran at once, as the figures of one run. */

export type Merged = {
  readonly read: Side | null;
  readonly write: Side | null;
  /** Completion latencies over all jobs and clients; null without bins. */
  readonly latency: { readonly read: Histogram | null; readonly write: Histogram | null };
};

/**
 * Bytes, bandwidth and IOPS add up: every client measured the same time. Latencies are those of all I/Os together,
 * by their histograms. A report without a number for bandwidth or IOPS is a ParseError.
 */
export function mergeReports(reports: readonly FioReport[]): Merged {
  const read = mergeSide(reports, "read");
  const write = mergeSide(reports, "write");
  return {
    read: read?.side ?? null,
    write: write?.side ?? null,
    latency: { read: read?.bins ?? null, write: write?.bins ?? null },
  };
}

function mergeSide(reports: readonly FioReport[], direction: "read" | "write") {
  const sides = reports.flatMap((report) => report[direction] ?? []);
  if (sides.length === 0) return undefined;
  const sum = (values: readonly (number | null)[], what: string): number =>
    values.reduce<number>((all, value) => {
      if (value === null) throw new ParseError(`fio printed no number for ${what}, ${direction}`);
      return all + value;
    }, 0);
  const clat = mergeTimings(sides.map((side) => side.clat));
  const slat = mergeTimings(sides.map((side) => side.slat));
  const sync = direction === "write" ? latencyOf(mergeTimings(reports.map((report) => report.sync))) : null;
  const side: Side = {
    bytes: sides.reduce((all, { bytes }) => all + bytes, 0),
    bandwidth: sum(
      sides.map(({ bandwidth }) => bandwidth),
      "bandwidth",
    ),
    iops: sum(
      sides.map(({ iops }) => iops),
      "IOPS",
    ),
    clat: latencyOf(clat),
    slat: slat?.mean == null ? null : slat.mean / 1e6,
    ...(sync !== null && { sync }),
  };
  return { side, bins: clat?.bins ?? null };
}
