import type { Client } from "../schema/request.ts";
import type { FioTest, RunSpec } from "../schema/test.ts";
import { directionOf } from "../schema/words.ts";

/**
 * fio(1)'s command line for one run on one client. Lab A's job with these decisions beside it:
 *
 * - Several jobs have equal parts of the test file (size, offset_increment), not all of them the whole of it: jobs
 *   that read the same blocks in the same order feed each other from the server's cache. Lab A has one job, which is
 *   the whole file; lab B's Iometer doesn't say how its workers shared their disk.
 * - randrepeat=0: by default fio draws the same offsets, and fills the same data, in every run. A second run would
 *   find the first one's blocks in the ARC, and ZFS would not write data that is there already (dedup, nopwrite).
 * - norandommap: blocks are drawn as an application asks for them, some twice before all were touched once, with no
 *   map of the file to keep on the client's CPU.
 * - refill_buffers and buffer_compress_percentage=0: what is written can't be compressed.
 * - rate_iops is a job's and a direction's in fio, the workload's is a client's over all: it is divided.
 * - group_reporting: fio adds up its jobs and their histograms by itself.
 * - All sizes are plain bytes: to fio KiB is 1000 bytes.
 */

/** A run of kind fio. */
export type FioSpec = RunSpec & { readonly test: FioTest };
export const isFio = (spec: RunSpec): spec is FioSpec => spec.test.kind === "fio";

export const testFile = (client: Pick<Client, "mount">): string => `${client.mount}/storage-lab-bench.data`;

/** Bytes of the test file that each job has: whole blocks. */
export const partOf = ({ size, jobs, blockSize }: Pick<FioTest, "size" | "jobs" | "blockSize">): number =>
  Math.floor(size / jobs / blockSize) * blockSize;

/** I/Os a second of one job: reads, writes; null: no limit. Whole numbers by the plan's check. */
export function rateOf(test: Pick<FioTest, "rateIops" | "readShare" | "jobs">) {
  const { rateIops, readShare, jobs } = test;
  if (rateIops === null) return null;
  if (readShare === null) return [rateIops / jobs];
  return [(rateIops * readShare) / 100 / jobs, (rateIops * (100 - readShare)) / 100 / jobs];
}

/**
 * What fio has to say back that it was asked for (its `job options`). `file`: what it works on, where that is not
 * the test file on the client's mount.
 */
export function expectedOptions(
  client: Pick<Client, "mount">,
  { test }: Pick<FioSpec, "test">,
  file: string = testFile(client),
): Record<string, string> {
  const { operation, blockSize, depth, jobs, runtime, rampTime, sync, readShare } = test;
  const part = partOf(test);
  const rate = rateOf(test);
  return {
    filename: file,
    size: String(part),
    ...(jobs > 1 && { offset_increment: String(part), numjobs: String(jobs), group_reporting: "1" }),
    bs: String(blockSize),
    iodepth: String(depth),
    ioengine: "libaio",
    direct: "1",
    rw: operation,
    ...(directionOf(operation) === "mixed" && readShare !== null && { rwmixread: String(readShare) }),
    ...(operation.startsWith("rand") && { norandommap: "1" }),
    ...(sync === "fdatasync" && { fdatasync: "1" }),
    ...(rate !== null && { rate_iops: rate.join(",") }),
    runtime: String(runtime),
    time_based: "1",
    ...(rampTime > 0 && { ramp_time: String(rampTime) }),
    refill_buffers: "1",
    buffer_compress_percentage: "0",
    randrepeat: "0",
  };
}

/** One measured run on one client. `every`: seconds between the reports that fio prints while it runs. */
export const fioArgv = (
  client: Pick<Client, "mount">,
  spec: Pick<FioSpec, "id" | "test">,
  every: number,
  file?: string,
): string[] => [
  ...["fio", `--name=${spec.id}`],
  ...Object.entries(expectedOptions(client, spec, file)).map(([option, value]) => `--${option}=${value}`),
  ...reporting(every),
];

/** json+ has the latency histogram's bins, which can be merged where percentiles can't. */
export const reporting = (every: number): string[] => [
  ...[`--status-interval=${every}`, "--eta=never", "--output-format=json+"],
];
