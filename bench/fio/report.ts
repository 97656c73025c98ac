import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";
import { documents } from "../parse/documents.ts";
import type { Histogram } from "../schema/recording.ts";
import { mergeTimings, type Timing } from "./timing.ts";

/**
 * What fio(1) reports with --output-format=json or json+, for one or several jobs, in both directions; of several
 * documents (--status-interval) the last is the report. fio's `bw` is KiB/s and `bw_bytes` B/s; latencies are ns.
 */

/** One direction, over all jobs of the report. */
export type FioSide = {
  readonly ios: number;
  readonly bytes: number;
  /** Of the job that ran longest. */
  readonly seconds: number;
  /** MB/s; null where fio printed no number. */
  readonly bandwidth: number | null;
  readonly iops: number | null;
  /** Submission and completion latency; null where switched off. */
  readonly slat: Timing | null;
  readonly clat: Timing | null;
};

export type FioReport = {
  /** The document as fio printed it. */
  readonly text: string;
  readonly version: string;
  /** The errno of the first job that failed; 0 = none. */
  readonly error: number;
  /** What fio says it was asked for, one a job of the report: global options, then the job's own over them. */
  readonly options: readonly Readonly<Record<string, string>>[];
  /** Null: nothing was moved that way. */
  readonly read: FioSide | null;
  readonly write: FioSide | null;
  /** Latency of the sync after each write (fdatasync, fsync); null without any. */
  readonly sync: Timing | null;
  readonly warnings: readonly string[];
};

const number = z.number().nullable();
const options = z.record(z.string(), z.string());

const timing = z.object({
  max: number.optional(),
  mean: number.optional(),
  N: number.optional(),
  percentile: z.record(z.string(), number).optional(),
  bins: z.record(z.string(), z.number()).optional(),
});

const side = z.object({
  io_bytes: z.number(),
  bw_bytes: number.optional(),
  bw: number.optional(),
  iops: number,
  runtime: z.number(),
  total_ios: z.number().optional(),
  slat_ns: timing.optional(),
  clat_ns: timing.optional(),
});

const report = z.object({
  "fio version": z.string(),
  "global options": options.optional(),
  jobs: z
    .array(
      z.object({
        error: z.number(),
        "job options": options.optional(),
        read: side,
        write: side,
        sync: z.object({ lat_ns: timing.optional() }).optional(),
      }),
    )
    .min(1),
});
type Job = z.infer<typeof report>["jobs"][number];

/** The last report in fio's output. */
export function parseFio(output: string): FioReport {
  const found = documents(output);
  const last = found.documents.findLast(({ value }) => isReport(value));
  if (last === undefined) {
    const said = found.outside.slice(0, 3).join("; ") || "nothing";
    throw new ParseError(`fio printed no JSON report; it said: ${said}`);
  }
  const parsed = report.safeParse(last.value);
  if (!parsed.success) {
    throw new ParseError(`fio's report is not of the form known here: ${z.prettifyError(parsed.error)}`);
  }
  const { jobs } = parsed.data;
  const [read, write] = [sideOf(jobs, "read"), sideOf(jobs, "write")];
  const warnings = [...found.outside];
  if (last.notNumbers > 0)
    warnings.push(`fio printed ${last.notNumbers} values that are no numbers (nan, inf)`);
  for (const direction of ["read", "write"] as const) {
    const clat = { read, write }[direction]?.clat;
    if (clat === undefined || clat?.bins || clat?.percentiles) continue;
    warnings.push(
      jobs.some((job) => job[direction].clat_ns?.percentile)
        ? `${direction}: percentiles of ${jobs.length} jobs can't be merged without their bins (json+)`
        : `${direction}: fio printed no completion latency percentiles`,
    );
  }
  return {
    text: last.text,
    version: parsed.data["fio version"],
    error: jobs.find(({ error }) => error !== 0)?.error ?? 0,
    options: jobs.map((job) => ({ ...parsed.data["global options"], ...job["job options"] })),
    read,
    write,
    sync: mergeTimings(jobs.map(({ sync }) => timingOf(sync?.lat_ns))),
    warnings,
  };
}

const isReport = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "fio version" in value;

function sideOf(jobs: readonly Job[], direction: "read" | "write"): FioSide | null {
  const sides = jobs.map((job) => job[direction]).filter(({ io_bytes }) => io_bytes > 0);
  if (sides.length === 0) return null;
  return {
    ios: sum(sides.map(({ total_ios, clat_ns }) => total_ios ?? clat_ns?.N ?? 0)) ?? 0,
    bytes: sum(sides.map(({ io_bytes }) => io_bytes)) ?? 0,
    seconds: Math.max(...sides.map(({ runtime }) => runtime)) / 1000,
    bandwidth: sum(sides.map(({ bw_bytes, bw }) => bytesPerSecond(bw_bytes, bw))),
    iops: sum(sides.map(({ iops }) => iops)),
    slat: mergeTimings(sides.map(({ slat_ns }) => timingOf(slat_ns))),
    clat: mergeTimings(sides.map(({ clat_ns }) => timingOf(clat_ns))),
  };
}

const bytesPerSecond = (bytes: number | null | undefined, kib: number | null | undefined): number | null => {
  const perSecond = bytes ?? (typeof kib === "number" ? kib * 1024 : null);
  return perSecond === null ? null : perSecond / 1e6;
};

/** Null where one of them is: a sum of the others would be another figure. */
const sum = (values: readonly (number | null)[]): number | null =>
  values.reduce((a, b) => (a === null || b === null ? null : a + b), 0);

/** Null where nothing was counted. */
function timingOf(ns: z.infer<typeof timing> | undefined): Timing | null {
  const bins: Histogram | null =
    ns?.bins === undefined
      ? null
      : Object.entries(ns.bins)
          .map(([bin, count]): [number, number] => [Number(bin), count])
          .filter(([, count]) => count > 0)
          .sort(([a], [b]) => a - b);
  const count = ns?.N ?? bins?.reduce((all, [, n]) => all + n, 0) ?? 0;
  if (ns === undefined || (count === 0 && ns.percentile === undefined)) return null;
  const percentiles = Object.entries(ns.percentile ?? {}).flatMap(([percent, at]): [number, number][] =>
    at === null ? [] : [[Number(percent), at]],
  );
  return {
    count,
    mean: ns.mean ?? null,
    maximum: ns.max ?? null,
    bins,
    percentiles: percentiles.length === 0 ? null : new Map(percentiles),
  };
}
