import { z } from "zod";
import { hostAddress } from "../provider/host.ts";

/**
 * What the benchmark is asked to do: one JSON document on the stdin of `node bench/main.ts run`.
 * The stack's program makes it from resources that exist, so everything is resolved: device paths, not hopes.
 */

export const protocol = z.enum(["iscsi", "iser"]).describe("The transport of a session: iscsi is TCP.");
export type Protocol = z.infer<typeof protocol>;

export const direction = z.enum(["write", "read"]);
export type Direction = z.infer<typeof direction>;

const unique = <T>(values: readonly T[]): boolean => new Set(values).size === values.length;

const path = z.strictObject({
  protocol,
  portal: z
    .string()
    .regex(/^(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d+$/, "address:port, an IPv6 address in brackets")
    .describe("The portal that the session is logged in to, as address:port."),
  device: z
    .string()
    .regex(/^\/dev\/disk\/by-path\/\S+$/, "a link of /dev/disk/by-path")
    .describe("The LUN as this session brings it; stable over reboots."),
});
export type Path = z.infer<typeof path>;

const job = z.strictObject({
  name: z.enum(["sequential"]).describe("Lab A's job: large blocks one after the other, direct, libaio."),
  size: z.int().positive().describe("Size of the test file in bytes."),
  runtime: z.int().positive().describe("Seconds that each run measures."),
  rampTime: z.int().nonnegative().optional().describe("Seconds before each measurement that don't count."),
  blockSize: z.int().positive().multipleOf(512).describe("Bytes an I/O; lab A: 524288."),
  depth: z.int().positive().describe("I/Os in flight; lab A: 16."),
  directions: z
    .array(direction)
    .min(1)
    .refine(unique, "each direction once")
    .describe("In the order in which they run."),
});
export const workload = job.refine(
  ({ size, blockSize, depth }) => size >= blockSize * depth,
  "size: the test file must hold at least the I/Os in flight, block size times depth",
);
export type Workload = z.infer<typeof workload>;

export const request = z.strictObject({
  stack: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/)
    .describe("The stack's name; units on the hosts carry it."),
  folder: z.string().min(1).describe("Where results go: absolute, or relative to the project (results/lab)."),
  virtual: z.boolean().describe("The hosts are emulated guests: figures show function, not speed."),
  hosts: z.strictObject({ storage: hostAddress, initiator: hostAddress }),
  pool: z.string().min(1),
  volume: z.string().includes("/").describe("The zvol behind the LUN: tank/lun0."),
  target: z.strictObject({ iqn: z.string().startsWith("iqn.") }),
  mount: z
    .string()
    .regex(/^(\/[A-Za-z0-9_.-]+)+$/, "an absolute path of letters, digits, _ . -")
    .describe("Where fio sees the file system, in a mount namespace of its own."),
  filesystem: z.strictObject({ type: z.literal("xfs"), uuid: z.guid() }),
  paths: z
    .array(path)
    .min(1)
    .refine((paths) => unique(paths.map((p) => p.protocol)), "each protocol once"),
  workload,
  reference: z
    .string()
    .regex(/^lab-[a-z]$/)
    .describe("The published lab to set beside: lab-a."),
});
export type Request = z.infer<typeof request>;
