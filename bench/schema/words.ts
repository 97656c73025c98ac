import { z } from "zod";

/** The words that workloads, requests, results and comparisons share. */

export const protocol = z.enum(["iscsi", "iser"]).describe("The transport of a session: iscsi is TCP.");
export type Protocol = z.infer<typeof protocol>;

/** fio's `rw`: sequential or random, one direction or both. */
export const operation = z
  .enum(["write", "read", "randwrite", "randread", "rw", "randrw"])
  .describe("fio's rw: write, read (sequential), randwrite, randread, rw, randrw (mixed).");
export type Operation = z.infer<typeof operation>;

export const direction = z.enum(["write", "read", "mixed"]);
export type Direction = z.infer<typeof direction>;

export const directionOf = (operation: Operation): Direction =>
  operation === "rw" || operation === "randrw" ? "mixed" : operation.endsWith("write") ? "write" : "read";

/** What the storage host's ARC holds of the test file when a run begins. */
export const arcState = z
  .enum(["cold", "warm", "left"])
  .describe(
    "cold: nothing of it; warm: read once before, the hit ratio measured; left: as the run before left it.",
  );
export type ArcState = z.infer<typeof arcState>;

/** How the warning begins of a read that the ARC served: the report says of it no more than the warning does. */
export const fasterThanDisks = "read faster than the disks";

export const backstore = z
  .enum(["volume", "ramdisk"])
  .describe(
    "volume: the LUN on the zvol; ramdisk: a LUN in the storage host's memory, which leaves out pool and disks.",
  );
