import { z } from "zod";
import { operation, protocol } from "./words.ts";

/**
 * What a run is diagnosed by: means over the measured time, of both hosts and of the path between them. Made of a
 * result and its recording (bench/evidence.ts), or of a published lab's observations. What was not measured is null
 * or left out: a rule that needs it says nothing then. MB/s of 10^6 bytes; shares in percent; latency in ms.
 */

const percent = z.number().min(0).max(100.5);

export const coreLoad = z.strictObject({
  core: z.int().nonnegative(),
  user: percent.default(0),
  system: percent.default(0),
  softirq: percent.default(0),
  iowait: percent.default(0),
});
export type CoreLoad = z.infer<typeof coreLoad>;

export const pcieLink = z.strictObject({
  device: z.string().describe("lspci's name: LSI SAS2008."),
  kind: z.enum(["hba", "nvme", "nic", "other"]),
  width: z.int().positive().describe("Lanes in use."),
  maximumWidth: z.int().positive(),
  speed: z.number().positive().describe("GT/s a lane in use: 5 is PCIe 2.0."),
  maximumSpeed: z.number().positive(),
});
export type PcieLink = z.infer<typeof pcieLink>;

export const hostLoad = z.strictObject({
  host: z.string(),
  cpus: z.int().positive().describe("How many the host has; cores may list only those that were published."),
  averageBusy: percent.nullable().describe("Of all cores, waiting for I/O not counted."),
  averageSystem: percent.nullable(),
  cores: z.array(coreLoad),
  busiestInterrupt: z
    .strictObject({ source: z.string(), core: z.int(), perSecond: z.number() })
    .nullable()
    .default(null),
  network: z
    .strictObject({ interface: z.string(), received: z.number(), sent: z.number(), dropped: z.number() })
    .nullable()
    .default(null)
    .describe("Of the interface that carries the storage traffic."),
  pcie: z.array(pcieLink).default([]),
});
export type HostLoad = z.infer<typeof hostLoad>;

export const diskLoad = z.strictObject({
  disk: z.string(),
  role: z.enum(["data", "log", "cache", "special", "dedup", "spare"]),
  vdev: z.string().describe("The vdev that it is in: mirror-0."),
  read: z.number(),
  written: z.number(),
  operations: z.number().describe("A second, both ways."),
  wait: z.number().nullable().describe("Mean ms of an I/O."),
  queue: z.number().nullable(),
  busy: percent.nullable(),
  rotational: z
    .boolean()
    .optional()
    .describe("It has a spindle: /sys/block/DISK/queue/rotational of a real disk. Left out: not known."),
});
export type DiskLoad = z.infer<typeof diskLoad>;

/** One vdev of the pool's layout. */
export const vdevShape = z.strictObject({
  kind: z.enum(["disk", "mirror", "raidz1", "raidz2", "raidz3", "draid1", "draid2", "draid3"]),
  role: z.enum(["data", "log", "cache", "special", "dedup", "spare"]),
  disks: z.int().positive(),
  data: z.int().positive().nullable().default(null).describe("dRAID: data disks a group."),
  spares: z.int().nonnegative().default(0).describe("dRAID: distributed spares."),
  diskSize: z.number().positive().nullable().default(null).describe("Bytes of its smallest disk."),
  count: z.int().positive().default(1).describe("How many vdevs of this shape."),
  rotational: z.boolean().optional().describe("Its disks have spindles. Left out: not known."),
});
export type VdevShape = z.infer<typeof vdevShape>;

export const layout = z.strictObject({
  vdevs: z.array(vdevShape).min(1),
  ashift: z.int().min(9).max(16),
  volblocksize: z.int().positive().nullable(),
  compression: z.string().nullable(),
  sync: z.string().nullable(),
  logbias: z.string().nullable(),
});
export type Layout = z.infer<typeof layout>;

export const evidence = z.strictObject({
  /** The run itself, its figures over all clients. */
  protocol,
  operation,
  blockSize: z.int().positive(),
  depth: z.int().positive().describe("In flight a job."),
  jobs: z.int().positive(),
  clients: z.int().positive(),
  sync: z.boolean(),
  rateIops: z.number().nullable().describe("The limit that was set, over all clients."),
  size: z.number().nullable().describe("Bytes of the working set, all clients."),
  seconds: z.number().nullable(),
  valid: z.boolean(),
  invalid: z.string().nullable().describe("Why it is not valid."),
  bandwidth: z.number().nullable().describe("MB/s"),
  iops: z.number().nullable(),
  clat: z
    .strictObject({
      mean: z.number().nullable(),
      median: z.number(),
      p99: z.number().nullable(),
      p999: z.number().nullable(),
    })
    .nullable(),
  slat: z.number().nullable().default(null).describe("Mean submission latency in ms."),
  virtual: z.boolean(),

  client: hostLoad.describe("Of several clients the one with the busiest core."),
  storage: hostLoad,
  link: z.strictObject({
    kind: z.enum(["ethernet", "infiniband", "unknown"]),
    rate: z
      .number()
      .nullable()
      .describe("MB/s of data that it carries after line coding; null: it doesn't say."),
    mtu: z.int().nullable(),
    peerMtu: z.int().nullable(),
    rdmaMtu: z.int().nullable().describe("Active MTU of the RDMA device."),
    mode: z.enum(["datagram", "connected"]).nullable().default(null).describe("IPoIB."),
  }),
  arc: z
    .strictObject({
      hitRatio: z.number().min(0).max(1).nullable().describe("Demand hits among demand accesses."),
      size: z.number().nullable().describe("bytes"),
      maximum: z.number().nullable(),
      state: z.enum(["cold", "warm", "left"]),
    })
    .nullable(),
  pool: z.strictObject({
    layout: layout.nullable(),
    read: z.number().nullable().describe("MB/s from all vdevs."),
    written: z.number().nullable(),
    disks: z.array(diskLoad),
    logWritten: z.number().nullable().describe("MB/s on log vdevs."),
    zilCommits: z.number().nullable().describe("A second."),
    txgSeconds: z.number().nullable().default(null).describe("Mean time between transaction groups."),
    txgSync: z.number().nullable().default(null).describe("Mean ms that one took to sync."),
    backstore: z.enum(["volume", "ramdisk"]),
  }),
});
export type Evidence = z.infer<typeof evidence>;
