import { z } from "zod";
import { figure } from "../reference.ts";
import { diagnosis } from "./diagnosis.ts";
import { evidence, layout, pcieLink } from "./evidence.ts";
import { needs, verdict } from "./needs.ts";
import { runSpec } from "./test.ts";
import { arcState, protocol } from "./words.ts";

/**
 * What a benchmark found: results/STACK/WHEN/result.json. Numbers are exact here; they are rounded where people
 * read them. MB/s are of 10^6 bytes, latency in ms, CPU shares in percent. Version 2; docs/result.schema.json.
 */

const percent = z.number().min(0).max(100.5);

/** Completion latency in ms. A percentile is null where fio gave none. */
export const latency = z.strictObject({
  mean: z.number().nullable(),
  median: z.number(),
  p90: z.number().nullable(),
  p99: z.number().nullable(),
  p999: z.number().nullable(),
  p9999: z.number().nullable(),
  maximum: z.number().nullable(),
});
export type Latency = z.infer<typeof latency>;

/** One direction of a run: over all jobs and clients, latencies from their merged histograms. */
export const side = z.strictObject({
  bytes: z.number().positive(),
  bandwidth: z.number().positive().describe("MB/s"),
  iops: z.number().positive(),
  clat: latency.nullable().describe("Null where fio gave no percentiles."),
  slat: z.number().nullable().describe("Mean submission latency in ms."),
  sync: latency
    .optional()
    .describe(
      "Of the fdatasync after each write, which clat leaves out; only where one followed each write.",
    ),
});
export type Side = z.infer<typeof side>;

/** Where one host's CPU time went during a run; an average over cores hides the one that is full. */
export const cpu = z.strictObject({
  host: z.string(),
  busiestCore: z.int().describe("The core with the least idle time (waiting for I/O counts as idle)."),
  busy: percent.describe("Of the busiest core, as the three that follow."),
  user: percent,
  system: percent,
  softirq: percent,
  averageBusy: percent.describe("Over all cores, as the one that follows."),
  averageSystem: percent,
  cores: z.int().positive(),
});
export type Cpu = z.infer<typeof cpu>;

/** Something that has to hold for a figure to mean what it says: asked for, read back. */
export const precondition = z.strictObject({
  name: z.string().describe("test file written whole, ARC cold, client cache dropped, hosts idle, …"),
  wanted: z.string(),
  found: z.string(),
  holds: z
    .boolean()
    .nullable()
    .describe("False: the run has no figures. Null: could not be read here, as found says."),
});
export type Precondition = z.infer<typeof precondition>;

/** A phase of a run that has several: long files, the IO500's. */
export const phase = z.strictObject({
  phase: z.string().describe("write, read; ior-easy-write, …"),
  value: z.number().nonnegative(),
  unit: z.string().describe("MiB/s, files/s, GiB/s, kIOPS"),
  seconds: z.number().nonnegative(),
});
export type Phase = z.infer<typeof phase>;

const which = {
  spec: runSpec,
  command: z.string().describe("What ran on the client, as a command line."),
  preconditions: z.array(precondition),
};

export const validRun = z.strictObject({
  ...which,
  valid: z.literal(true),
  began: z.iso.datetime(),
  seconds: z.number().positive().describe("How long was measured."),
  read: side.nullable().describe("Null: nothing was read, or the kind has phases only. write likewise."),
  write: side.nullable(),
  phases: z.array(phase).describe("Of kinds files and io500; empty for fio."),
  score: z.number().nullable().describe("io500: geometric mean of GiB/s and kIOPS; null for others."),
  official: z.boolean().nullable().describe("io500: the io500 program's own score. Null for others."),
  clients: z
    .array(
      z.strictObject({
        client: z.string(),
        read: z.number().nullable().describe("MB/s"),
        write: z.number().nullable(),
      }),
    )
    .min(1),
  cpus: z.array(cpu).min(1).describe("The storage host first, then each host with clients."),
  arc: z
    .strictObject({
      state: arcState,
      hits: z.number(),
      misses: z.number(),
      hitRatio: z.number().nullable(),
    })
    .describe("Demand accesses of the storage host's ARC during the run; the ratio is null without any."),
  pool: z
    .strictObject({ read: z.number(), write: z.number() })
    .nullable()
    .describe(
      "MB/s that the pool moved to and from its vdevs, by zpool iostat. Null: the LUN isn't on a pool.",
    ),
  aboveLink: z.boolean().nullable().describe("Faster than the link can carry; null: its rate isn't known."),
  overhead: z
    .number()
    .nullable()
    .describe("Percent of the busier host's CPU time that the telemetry itself took; null: not measured."),
  evidence: evidence.nullable().describe("What the diagnosis was made from; null for kinds with phases."),
  diagnosis: diagnosis.nullable(),
  warnings: z.array(z.string()),
  files: z.array(z.string()).describe("Raw outputs and the recording of this run, in the result's folder."),
});
export type ValidRun = z.infer<typeof validRun>;

/** A run that went wrong has no figures. */
export const invalidRun = z.strictObject({
  ...which,
  valid: z.literal(false),
  invalid: z.string().describe("Why, with the values."),
  files: z.array(z.string()),
});
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
  governor: z.string().nullable().describe("CPU frequency governor; null: the host has none."),
  temperatures: z.array(z.strictObject({ sensor: z.string(), celsius: z.number() })),
  versions: z.record(z.string(), z.string()).describe("By program, as it says itself."),
  pcie: z.array(pcieLink).describe("HBAs, NVMe drives and NICs."),
  link: z.strictObject({
    interface: z.string(),
    mtu: z.int().positive(),
    speed: z.number().nullable().describe("Mb/s of data that the link carries; null: it doesn't say."),
    kind: z.enum(["ethernet", "infiniband", "unknown"]),
    mode: z.enum(["datagram", "connected"]).nullable(),
    rdma: z
      .strictObject({ device: z.string(), activeMtu: z.int().nullable(), state: z.string() })
      .nullable()
      .describe("The RDMA device over this interface."),
  }),
});
export type HostState = z.infer<typeof hostState>;

/** One path to the LUN as it was found: by this session, over this transport. */
export const pathState = z.strictObject({
  client: z.string(),
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
  clients: z.array(hostState).min(1).describe("Each host with clients once."),
  pools: z
    .array(
      z.strictObject({
        name: z.string(),
        status: z.string().describe("zpool status"),
        layout: layout.nullable(),
        properties: z.record(z.string(), z.string()).describe("zpool get -Hp all, what was set."),
      }),
    )
    .min(1),
  volumes: z.array(
    z.strictObject({
      name: z.string(),
      properties: z.record(z.string(), z.string()).describe("zfs get -Hp, read after the runs."),
    }),
  ),
  arcMaximum: z.number().describe("c_max of the ARC in bytes."),
  zfsParameters: z.record(z.string(), z.string()).describe("Module parameters that matter here."),
  targets: z.array(
    z.strictObject({
      iqn: z.string(),
      attributes: z.record(z.string(), z.string()).describe("Attributes and parameters of its TPG."),
    }),
  ),
  filesystems: z.array(
    z.strictObject({ client: z.string(), type: z.string(), uuid: z.string(), options: z.string() }),
  ),
  paths: z.array(pathState),
});
export type Environment = z.infer<typeof environment>;

export const result = z.strictObject({
  schema: z.literal(2),
  stack: z.string(),
  virtual: z.boolean(),
  started: z.iso.datetime(),
  seconds: z.number().describe("From start to end, everything; of a resumed benchmark its parts' sum."),
  folder: z.string().describe("Raw outputs of this benchmark; relative to the project where it lies inside."),
  reports: z.strictObject({ html: z.string(), markdown: z.string(), csv: z.string(), json: z.string() }),
  runs: z.array(run).min(1),
  environment,
  needs: needs.nullable(),
  verdicts: z.array(verdict),
  reference: z.strictObject({ name: z.string(), title: z.string(), figures: z.array(figure) }),
});
export type Result = z.infer<typeof result>;

/** What the stack's output holds of it, on stdout: figures in short, and where the rest is. */
export const outcome = z.strictObject({
  runs: z.array(
    z.strictObject({
      run: z.string(),
      valid: z.boolean(),
      invalid: z.string().optional(),
      "read MB/s": z.number().optional(),
      "write MB/s": z.number().optional(),
      IOPS: z.number().optional(),
      "clat median ms": z.number().optional(),
      "clat p99.9 ms": z.number().optional(),
      "limited by": z.string().optional(),
      phases: z.record(z.string(), z.number()).optional().describe("Of a run that has several: write MiB/s."),
      score: z.number().optional(),
    }),
  ),
  folder: z.string(),
  reports: result.shape.reports,
  verdicts: z.array(verdict),
});
export type Outcome = z.infer<typeof outcome>;
