import { z } from "zod";
import { referenceNames } from "../bench/reference.ts";
import type { Hardware, Needs } from "../bench/schema/needs.ts";
import type { Test } from "../bench/schema/test.ts";
import { arcState, direction, protocol } from "../bench/schema/words.ts";
import { bytes, oneOrMore, readWorkload, testsOf, workloadNames } from "../bench/workload.ts";
import type { LabConfig } from "../config.ts";
import { bandwidth, milliseconds, share } from "./measure.ts";
import { iqn, seconds } from "./words.ts";

/** The stack file's `benchmark`: what is measured, how often, beside what, and what the application needs. */

const positive = z.number().int().positive();
const unique = <T>(values: readonly T[]): boolean => new Set(values).size === values.length;

const needs = z.strictObject({
  write: bandwidth.optional().describe("Written sequentially, all clients together: 400 MB/s."),
  read: bandwidth.optional().describe("Read sequentially, all clients together."),
  writeIops: positive.optional().describe("Random 4 KiB writes a second."),
  readIops: positive.optional().describe("Random 4 KiB reads a second."),
  latency: z
    .strictObject({
      percentile: z.number().min(50).max(99.99).describe("Of the completion latency: 99.9."),
      atMost: milliseconds.describe("20 ms."),
    })
    .optional()
    .describe("So many percent of I/Os take no longer than this."),
  clients: positive.optional().describe("That use the storage at once."),
  syncShare: share.optional().describe("Writes that are synchronous: 30 %."),
  failures: z.number().int().nonnegative().optional().describe("Disks that may fail at once without loss."),
  capacity: bytes.optional().describe("That must be usable: 10 TiB."),
});

const hardware = z.strictObject({
  disk: z
    .strictObject({
      sequential: bandwidth.optional().describe("That one data disk moves: 180 MB/s."),
      iops: positive.optional().describe("Random I/Os a second of one data disk."),
    })
    .optional()
    .describe("Each disk of the pool's data vdevs."),
  log: z
    .strictObject({ sequential: bandwidth.optional().describe("That one log device writes.") })
    .optional()
    .describe("Each device of the SLOG."),
  hba: z
    .strictObject({ bandwidth: bandwidth.describe("That the HBA, or its PCIe slot, carries: 4 GB/s.") })
    .optional()
    .describe("Between the storage host and its disks."),
  link: z
    .strictObject({ bandwidth: bandwidth.describe("Of data, after line coding: 32 Gbit/s.") })
    .optional()
    .describe("Between the hosts."),
});

export const benchmark = z.strictObject({
  workload: oneOrMore(z.string())
    .prefault("sequential")
    .describe(
      `What is run: ${workloadNames().join(", ")}, the path of a workload file of your own, or a list of them.`,
    ),
  size: bytes
    .optional()
    .describe(
      "The test file of each client; of workload files, all files together at most. Left out: the workload's.",
    ),
  runtime: seconds.optional().describe("Measured time of a run, in whole seconds. Left out: the workload's."),
  rampTime: seconds
    .optional()
    .describe("Time before it that doesn't count, in whole seconds. Left out: the workload's."),
  blockSize: oneOrMore(bytes)
    .optional()
    .describe("fio's bs; each of a list is a test. Left out: the workload's."),
  depth: oneOrMore(positive)
    .optional()
    .describe("fio's iodepth; each of a list is a test. Left out: the workload's."),
  jobs: oneOrMore(positive)
    .optional()
    .describe(
      "fio processes on each client, which share its test file in equal parts; each of a list is a test. Left out: the workload's.",
    ),
  directions: oneOrMore(direction)
    .optional()
    .describe("Only tests that write, read, or do both (mixed). Left out: all."),
  arc: arcState
    .optional()
    .describe(
      "The storage host's ARC before each run: cold has nothing of the test file, warm has been read into once, left is as the run before left it. Left out: the workload's.",
    ),
  protocols: oneOrMore(protocol)
    .prefault(["iscsi", "iser"])
    .refine(unique, "each protocol once")
    .describe("In this order; every second repeat goes the other way round. Default: iscsi, iser."),
  repeats: positive.default(1).describe("How often each test is run; several give a spread."),
  interval: seconds
    .prefault("1 s")
    .refine((s) => s > 0, "at least 1 s")
    .describe("Between samples of both hosts' telemetry, in whole seconds."),
  targets: z
    .array(iqn)
    .min(1)
    .refine(unique, "each target once")
    .optional()
    .describe(
      "Targets of one storage host that are measured at once, by IQN, each from its first initiator. Default: the first by name.",
    ),
  reference: z
    .string()
    .default("lab-a")
    .describe(`The published lab that the report sets beside: ${referenceNames().join(", ")}.`),
  needs: needs
    .optional()
    .describe("What the application needs; the report says whether it is met. Default: nothing."),
  hardware: hardware
    .optional()
    .describe(
      "What hosts don't tell of themselves; the report's model of the path counts with it. Default: nothing.",
    ),
});
export type BenchmarkConfig = z.infer<typeof benchmark>;

/** Every test of its workloads, resolved. One that can't be read is a RangeError. */
export function testsOfStack({ workload, ...overrides }: BenchmarkConfig): Test[] {
  return workload.flatMap((name) => testsOf(readWorkload(name), overrides));
}

/** The targets that it measures, by IQN, in their order. */
export function measuredTargets({
  benchmark: asked,
  targets,
}: LabConfig): [iqn: string, LabConfig["targets"][string]][] {
  const names = asked?.targets ?? Object.keys(targets).sort().slice(0, 1);
  return names.flatMap((name) => (targets[name] === undefined ? [] : [[name, targets[name]]]));
}

/** As the request has it (bench/schema/needs.ts). */
export const needsOf = ({ needs: stated }: BenchmarkConfig): Needs | undefined => {
  if (stated === undefined) return undefined;
  const { latency, ...plain } = stated;
  return withoutUndefined({
    ...plain,
    ...(latency && { latency: { percentile: latency.percentile, ms: latency.atMost } }),
  }) as Needs;
};

export const hardwareOf = ({ hardware: stated }: BenchmarkConfig): Hardware | undefined =>
  stated && (withoutUndefined(stated) as Hardware);

const withoutUndefined = (value: object): object => JSON.parse(JSON.stringify(value)) as object;
