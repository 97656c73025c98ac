import { z } from "zod";

/**
 * What both hosts did while one run was measured, a sample an interval: telemetry-RUN.json beside the result, made
 * from the raw outputs, and what charts are drawn of. All series of a recording have one length and one clock: the
 * nth value of each is of the same second. A value that is missing (a gap) is null.
 */

const series = z.array(z.number().nullable());

export const coreSeries = z.strictObject({
  core: z.int().nonnegative(),
  user: series.describe("percent, nice included"),
  system: series.describe("percent"),
  softirq: series.describe("percent, hardware interrupts included"),
  iowait: series.describe("percent; counts as idle"),
  idle: series.describe("percent"),
});

export const interruptSeries = z.strictObject({
  source: z.string().describe("As /proc/interrupts has it: the number and the device, or a name as LOC."),
  core: z.int().nonnegative().describe("The core that took most of them."),
  perSecond: series.describe("Over all cores."),
});

export const networkSeries = z.strictObject({
  interface: z.string(),
  received: series.describe("MB/s"),
  sent: series.describe("MB/s"),
  dropped: series.describe("Packets a second, both ways, errors included."),
});

export const rdmaSeries = z.strictObject({
  device: z.string(),
  received: series.describe("MB/s; null throughout where the device counts no bytes (rxe)."),
  sent: series,
  receivedPackets: series.describe("A second; null where it counts none."),
  sentPackets: series,
  errors: series.describe("Retries, sequence errors and the like, a second."),
});

/** iostat -x of one disk. */
export const diskSeries = z.strictObject({
  disk: z.string().describe("The kernel's name: sda."),
  read: series.describe("MB/s"),
  written: series.describe("MB/s"),
  reads: series.describe("A second."),
  writes: series.describe("A second."),
  flushes: series.describe("A second; null where the version doesn't say."),
  wait: series.describe("Mean ms of an I/O, queue included."),
  queue: series.describe("I/Os in flight on average."),
  busy: series.describe("Percent of the time with an I/O in flight (%util)."),
  rotational: z
    .boolean()
    .optional()
    .describe("It has a spindle (queue/rotational). Left out: not known, as of a virtual disk."),
});

/** zpool iostat -v -l -q of one vdev or disk, or of the pool itself. */
export const vdevSeries = z.strictObject({
  vdev: z.string().describe("As zpool names it: tank, mirror-0, virtio-DISK01."),
  role: z.enum(["pool", "data", "log", "cache", "special", "dedup", "spare"]),
  depth: z.int().nonnegative().describe("0: the pool; 1: a vdev; 2: a disk in it."),
  pool: z.string().optional().describe("The pool that it is of."),
  disk: z.string().optional().describe("Of a disk: the kernel's name of it, as in `disks`."),
  read: series.describe("MB/s"),
  written: series.describe("MB/s"),
  reads: series.describe("Operations a second."),
  writes: series.describe("Operations a second."),
  readWait: series.describe("total_wait in ms; null without any."),
  writeWait: series.describe("ms"),
  diskReadWait: series.describe("disk_wait in ms"),
  diskWriteWait: series.describe("ms"),
  syncWriteQueue: series.describe("I/Os active in the queue of synchronous writes (syncq_write activ)."),
  asyncWriteQueue: series.describe("asyncq_write activ"),
});

export const arcSeries = z.strictObject({
  hits: series.describe("Demand accesses a second."),
  misses: series,
  size: series.describe("bytes"),
  target: series.describe("bytes (c)"),
  prefetchHits: series,
  prefetchMisses: series,
});

/** The ZFS intent log and the transaction groups. */
export const zilSeries = z.strictObject({
  commits: series.describe("zil_commit_count a second."),
  written: series.describe("MB/s of log blocks, normal and slog together."),
  slog: series.describe("MB/s of them on the SLOG."),
});
export const txgSeries = z.strictObject({
  synced: series.describe("Transaction groups that ended in that second."),
  syncTime: series.describe("ms that the last of them took to sync (stime)."),
  dirty: series.describe("Bytes it wrote (nwritten)."),
});

/** LIO's own count of one LUN, /sys/kernel/config/target/core/HBA/DEV/statistics. */
export const lunSeries = z.strictObject({
  backstore: z.string(),
  read: series.describe("MB/s (LIO counts whole MB of 2^20)."),
  written: series,
  commands: series.describe("A second."),
});

/** perf stat -a: all cores together, by the processor's own counters. */
export const perfSeries = z.strictObject({
  cycles: series.describe("A second."),
  instructions: series.describe("A second."),
  cacheMisses: series.describe("A second."),
});

export const hostRecording = z.strictObject({
  host: z.string(),
  role: z.enum(["storage", "client"]),
  cores: z.array(coreSeries).min(1),
  interrupts: z.array(interruptSeries).describe("The busiest sources, most first."),
  networks: z.array(networkSeries),
  rdma: z.array(rdmaSeries),
  disks: z.array(diskSeries),
  /** Storage host only. */
  vdevs: z.array(vdevSeries),
  arc: arcSeries.nullable(),
  zil: zilSeries.nullable(),
  txg: txgSeries.nullable(),
  luns: z.array(lunSeries),
  perf: perfSeries.nullable().optional().describe("Null: the host doesn't allow it, as `unread` says."),
  faults: z
    .array(z.string())
    .optional()
    .describe(
      "What went wrong in the host's iSCSI sessions meanwhile, by their own counters. Left out: nothing.",
    ),
  unread: z
    .array(z.string())
    .optional()
    .describe("What could not be recorded on this host and why, in words."),
  collector: z
    .strictObject({
      cpuSeconds: z.number().describe("CPU time of the collector and its programs, by its unit's cgroup."),
      seconds: z.number().describe("How long it ran."),
      share: z.number().describe("Percent of the host's whole CPU time in that while."),
    })
    .nullable(),
  gaps: z.array(z.string()).describe("Samples that are missing or late, in words."),
});
export type HostRecording = z.infer<typeof hostRecording>;

/** Completion latencies of a run by fio's bins: [middle in ns, I/Os], ascending; over all jobs and clients. */
export const histogram = z.array(z.tuple([z.number().nonnegative(), z.int().positive()]));
export type Histogram = z.infer<typeof histogram>;

export const recording = z.strictObject({
  schema: z.literal(2),
  run: z.string().describe("The run's id."),
  began: z.iso.datetime().describe("Of the first sample."),
  interval: z.number().positive().describe("Seconds between samples."),
  hosts: z.array(hostRecording).min(1).describe("The storage host first."),
  clients: z.array(
    z.strictObject({
      client: z.string(),
      read: series.describe("MB/s that fio moved, by its own status reports; steps of their interval."),
      written: series,
    }),
  ),
  latency: z.strictObject({ read: histogram.nullable(), write: histogram.nullable() }),
});
export type Recording = z.infer<typeof recording>;
