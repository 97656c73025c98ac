import { z } from "zod";

/** What the application needs, as a stack may state it (`benchmark.needs`); today's and in some years' time. */
export const needs = z.strictObject({
  write: z.number().positive().optional().describe("MB/s (10^6) written, sequential, all clients together."),
  read: z.number().positive().optional().describe("MB/s read."),
  writeIops: z.number().positive().optional().describe("Random 4 KiB writes a second."),
  readIops: z.number().positive().optional().describe("Random 4 KiB reads a second."),
  latency: z
    .strictObject({
      percentile: z.number().min(50).max(99.99).describe("Of the completion latency."),
      ms: z.number().positive().describe("At most this many milliseconds."),
    })
    .optional(),
  clients: z.int().positive().optional().describe("At once."),
  syncShare: z.number().min(0).max(100).optional().describe("Percent of writes that are synchronous."),
  failures: z.int().nonnegative().optional().describe("Disks that may fail at once without loss."),
  capacity: z.number().positive().optional().describe("Bytes that must be usable."),
});
export type Needs = z.infer<typeof needs>;

/** One need against what was measured. */
export const verdict = z.strictObject({
  need: z.string().describe("In words, with its unit: 400 MB/s written."),
  wanted: z.number(),
  found: z.number().nullable().describe("Null: no valid run says."),
  unit: z.string(),
  met: z.boolean().nullable(),
  margin: z
    .number()
    .nullable()
    .describe("Percent of the need: 25 = a quarter more than needed, -10 = a tenth short."),
});
export type Verdict = z.infer<typeof verdict>;

/** What hosts don't tell about their hardware, as a stack may state it (`benchmark.hardware`). */
export const hardware = z.strictObject({
  disk: z
    .strictObject({
      sequential: z.number().positive().optional().describe("MB/s that one data disk moves, sequentially."),
      iops: z.number().positive().optional().describe("Random I/Os a second of one data disk."),
    })
    .optional(),
  log: z
    .strictObject({ sequential: z.number().positive().optional().describe("MB/s of one log device.") })
    .optional(),
  hba: z
    .strictObject({
      bandwidth: z.number().positive().describe("MB/s that the HBA (or its PCIe slot) carries."),
    })
    .optional(),
  link: z
    .strictObject({ bandwidth: z.number().positive().describe("MB/s of data that the link carries.") })
    .optional(),
});
export type Hardware = z.infer<typeof hardware>;
