import { z } from "zod";
import { arcState, backstore, operation, protocol } from "./words.ts";

/**
 * Tests and runs with everything resolved: plain bytes and seconds, one value each. A workload file
 * (bench/workloads) has lists and sizes with units; `expand` (bench/plan.ts) makes these of it.
 */

const seconds = z.number().nonnegative();
const bytes = z.int().positive();

const named = {
  workload: z.string().describe("The workload file's name: sequential."),
  test: z.string().describe("The test's name in it: write."),
};

export const fioTest = z.strictObject({
  kind: z.literal("fio"),
  ...named,
  operation,
  blockSize: bytes.multipleOf(512).describe("Bytes an I/O."),
  depth: z.int().positive().describe("I/Os in flight a job (fio's iodepth)."),
  jobs: z
    .int()
    .positive()
    .describe("fio processes on one client (numjobs), each on its own part of the test file."),
  size: bytes.describe("Of the test file on each client, in bytes."),
  runtime: z.int().positive().describe("Seconds measured."),
  rampTime: z.int().nonnegative().describe("Seconds before that don't count."),
  sync: z.enum(["none", "fdatasync"]).describe("fdatasync: after each write, as a database's log."),
  readShare: z
    .int()
    .min(1)
    .max(99)
    .nullable()
    .describe("Percent of reads of a mixed operation; null otherwise."),
  rateIops: z
    .int()
    .positive()
    .nullable()
    .describe("I/Os a second at most over all jobs of a client; null: no limit."),
  arc: arcState,
  backstore,
});
export type FioTest = z.infer<typeof fioTest>;

/** Lab C's: many files written by one thread, the client's caches dropped, the files read in the same order. */
export const filesTest = z.strictObject({
  kind: z.literal("files"),
  ...named,
  files: z.int().positive(),
  fileSize: bytes,
  folders: z.int().positive().describe("Directories that the files go round."),
});
export type FilesTest = z.infer<typeof filesTest>;

/** The `io500` program where the client has it; else phases of its shape by fio and a program of ours. */
export const io500Test = z.strictObject({
  kind: z.literal("io500"),
  ...named,
  seconds: seconds.describe("Of each writing phase."),
  size: bytes.describe("Of the easy file at most, and of the hard one."),
  files: z.int().positive().describe("Of each of the metadata phases at most."),
});
export type Io500Test = z.infer<typeof io500Test>;

export const test = z.discriminatedUnion("kind", [fioTest, filesTest, io500Test]);
export type Test = z.infer<typeof test>;

/** One thing to be measured: a test over one protocol, the nth time. */
export const runSpec = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]*$/)
    .describe("Names the run's files: iser-random-read-iops-4k-d32-j4-2."),
  protocol,
  repeat: z.int().positive().describe("From 1."),
  test,
});
export type RunSpec = z.infer<typeof runSpec>;
