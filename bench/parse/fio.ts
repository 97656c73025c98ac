import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";
import type { Direction } from "../request.ts";
import { documents } from "./documents.ts";

/**
 * What fio(1) reports with --output-format=json, for one job in one direction; of several documents
 * (--status-interval) the last is the report. fio's `bw` is KiB/s and `bw_bytes` B/s; latencies are ns.
 */

export type FioReport = {
  /** The document as fio printed it. */
  readonly text: string;
  readonly version: string;
  /** The errno of the job; 0 = none. */
  readonly error: number;
  /** What fio says it was asked for: global options, then the job's own over them. */
  readonly options: Readonly<Record<string, string>>;
  readonly seconds: number;
  readonly bytes: number;
  /** MB/s; null where fio printed no number. */
  readonly bandwidth: number | null;
  readonly iops: number | null;
  /** Completion latency in ms; null where percentiles are missing or switched off. */
  readonly clat: { readonly median: number; readonly p99: number; readonly p999: number } | null;
  readonly warnings: readonly string[];
};

const number = z.number().nullable();
const options = z.record(z.string(), z.string());

const side = z.object({
  io_bytes: z.number(),
  bw_bytes: number.optional(),
  bw: number.optional(),
  iops: number,
  runtime: z.number(),
  clat_ns: z.object({ percentile: z.record(z.string(), number).optional() }).optional(),
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
      }),
    )
    .length(1),
});

/** The last report in fio's output. */
export function parseFio(output: string, direction: Direction): FioReport {
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
  const job = parsed.data.jobs[0];
  if (job === undefined) throw new ParseError("fio's report holds no job");
  const of = job[direction];
  const warnings = [...found.outside];
  if (last.notNumbers > 0)
    warnings.push(`fio printed ${last.notNumbers} values that are no numbers (nan, inf)`);
  const clat = percentiles(of.clat_ns?.percentile);
  if (clat === null) warnings.push("fio printed no completion latency percentiles");
  const bytesPerSecond = of.bw_bytes ?? (typeof of.bw === "number" ? of.bw * 1024 : null);
  return {
    text: last.text,
    version: parsed.data["fio version"],
    error: job.error,
    options: { ...parsed.data["global options"], ...job["job options"] },
    seconds: of.runtime / 1000,
    bytes: of.io_bytes,
    bandwidth: bytesPerSecond === null ? null : bytesPerSecond / 1e6,
    iops: of.iops,
    clat,
    warnings,
  };
}

const isReport = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "fio version" in value;

/** Milliseconds from fio's table of nanoseconds by percentile; null unless all three are there. */
function percentiles(table: Record<string, number | null> | undefined): FioReport["clat"] {
  const at = new Map(Object.entries(table ?? {}).map(([percent, ns]) => [Number(percent), ns]));
  const [median, p99, p999] = [at.get(50), at.get(99), at.get(99.9)];
  if (typeof median !== "number" || typeof p99 !== "number" || typeof p999 !== "number") return null;
  return { median: median / 1e6, p99: p99 / 1e6, p999: p999 / 1e6 };
}
