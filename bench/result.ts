import { z } from "zod";
import { figure } from "./reference.ts";
import { direction, protocol, workload } from "./request.ts";

/**
 * What a benchmark found: one JSON document on stdout and in result.json. Numbers are exact here; they are
 * rounded where people read them. Bandwidth in MB/s of 10^6 bytes, latency in ms, CPU shares in percent.
 */

const percent = z.number().min(0).max(100.5);

/** Where one host's CPU time went during a run; an average over cores hides the one that is full. */
export const cpu = z.strictObject({
  busiestCore: z.int().describe("The core with the least idle time (waiting for I/O counts as idle)."),
  busy: percent.describe("Of the busiest core, as the two that follow."),
  softirq: percent,
  system: percent,
  averageBusy: percent.describe("Over all cores, as the one that follows."),
  averageSystem: percent,
  cores: z.int().positive(),
  samples: z
    .strictObject({ first: z.int(), last: z.int() })
    .describe("Which of the collector's samples, counted from 0, lie inside the measured time."),
});
export type Cpu = z.infer<typeof cpu>;

const which = { protocol, direction, command: z.string().describe("The fio command line.") };

export const validRun = z.strictObject({
  ...which,
  valid: z.literal(true),
  seconds: z.number().positive().describe("How long fio measured."),
  bytes: z.number().positive(),
  bandwidth: z.number().positive().describe("MB/s"),
  iops: z.number().positive(),
  clat: z
    .strictObject({ median: z.number(), p99: z.number(), p999: z.number() })
    .nullable()
    .describe("Completion latency in ms; null where fio gave no percentiles."),
  storage: cpu,
  initiator: cpu,
  arc: z
    .strictObject({ hits: z.number(), misses: z.number(), hitRatio: z.number().nullable() })
    .describe("Demand accesses of the storage host's ARC during the run; the ratio is null without any."),
  pool: z
    .strictObject({ read: z.number(), write: z.number() })
    .describe("MB/s that the pool moved to and from its vdevs during the run, by zpool iostat."),
  aboveLink: z.boolean().nullable().describe("Faster than the link can carry; null: its rate isn't known."),
  warnings: z.array(z.string()),
});
export type ValidRun = z.infer<typeof validRun>;

/** A run that went wrong has no figures. */
export const invalidRun = z.strictObject({ ...which, valid: z.literal(false), invalid: z.string() });
export type InvalidRun = z.infer<typeof invalidRun>;

export const run = z.discriminatedUnion("valid", [validRun, invalidRun]);
export type Run = z.infer<typeof run>;

/** What a host is, read back from it. */
export const hostState = z.strictObject({
  name: z.string(),
  kernel: z.string(),
  cpus: z.int().positive(),
  cpuModel: z.string(),
  memory: z.int().positive().describe("bytes"),
  versions: z.record(z.string(), z.string()).describe("By program, as it says itself."),
  link: z.strictObject({
    interface: z.string(),
    mtu: z.int().positive(),
    speed: z.number().nullable().describe("Mb/s of data that the link carries; null: it doesn't say."),
    rdma: z
      .strictObject({ device: z.string(), activeMtu: z.int().nullable(), state: z.string() })
      .nullable()
      .describe("The RDMA device over this interface."),
  }),
});
export type HostState = z.infer<typeof hostState>;

/** One path to the LUN as it was found: by this session, over this transport. */
export const pathState = z.strictObject({
  protocol,
  portal: z.string(),
  device: z.string().describe("As asked for, by path."),
  block: z.string().describe("/dev/sdX behind it."),
  session: z.string(),
  transport: z.string().describe("The driver's own name: iscsi_tcp or iscsi_iser."),
  negotiated: z.record(z.string(), z.string()).describe("Session and connection parameters in force."),
});
export type PathState = z.infer<typeof pathState>;

export const environment = z.strictObject({
  storage: hostState,
  initiator: hostState,
  pool: z.strictObject({ name: z.string(), layout: z.string().describe("zpool status") }),
  volume: z.strictObject({
    name: z.string(),
    properties: z.record(z.string(), z.string()).describe("zfs get -Hp, read after the runs."),
  }),
  arcMaximum: z.number().describe("c_max of the ARC in bytes."),
  target: z.string(),
  filesystem: z.strictObject({ type: z.string(), uuid: z.string(), options: z.string() }),
  paths: z.array(pathState),
});
export type Environment = z.infer<typeof environment>;

export const result = z.strictObject({
  schema: z.literal(1),
  stack: z.string(),
  virtual: z.boolean(),
  started: z.iso.datetime(),
  seconds: z.number().describe("From start to end, everything."),
  folder: z.string().describe("Raw outputs of this benchmark; relative to the project where it lies inside."),
  summary: z.strictObject({ markdown: z.string(), json: z.string() }),
  workload,
  runs: z.array(run).min(1),
  environment,
  reference: z.strictObject({ name: z.string(), title: z.string(), figures: z.array(figure) }),
});
export type Result = z.infer<typeof result>;
