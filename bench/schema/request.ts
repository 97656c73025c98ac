import { z } from "zod";
import { hostAddress } from "../../provider/host.ts";
import { hardware, needs } from "./needs.ts";
import { test } from "./test.ts";
import { protocol } from "./words.ts";

/**
 * What the benchmark is asked to do: one JSON document on the stdin of `node bench/main.ts run`.
 * The stack's program makes it from resources that exist, so everything is resolved: device paths, not hopes.
 */

const unique = <T>(values: readonly T[]): boolean => new Set(values).size === values.length;

export const path = z.strictObject({
  protocol,
  portal: z
    .string()
    .regex(/^(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d+$/, "address:port, an IPv6 address in brackets")
    .describe("The portal that the session is logged in to, as address:port."),
  device: z
    .string()
    .regex(/^\/dev\/disk\/by-path\/\S+$/, "a link of /dev/disk/by-path")
    .describe("The LUN as this session brings it; stable over reboots."),
  ramdisk: z
    .strictObject({
      device: z
        .string()
        .regex(/^\/dev\/disk\/by-path\/\S+$/, "a link of /dev/disk/by-path")
        .describe("The RAM disk's LUN as this session brings it; written to whole, without a file system."),
      serial: z.guid().describe("Its unit serial: nothing is written to a disk that shows another."),
      size: z.int().positive().describe("bytes"),
    })
    .optional()
    .describe("For tests with backstore ramdisk; left out where the target declares none."),
});
export type Path = z.infer<typeof path>;

/** One fio at once with the others: an initiator, its sessions to one target, the file system on LUN 0. */
export const client = z.strictObject({
  name: z
    .string()
    .describe("Unique in the benchmark: initiator, or initiator/IQN where it has several targets."),
  host: hostAddress,
  target: z.string().startsWith("iqn."),
  pool: z.string().min(1),
  volume: z.string().includes("/").describe("The zvol behind the LUN: tank/lun0."),
  mount: z
    .string()
    .regex(/^(\/[A-Za-z0-9_.-]+)+$/, "an absolute path of letters, digits, _ . -")
    .describe("Where fio sees the file system, in a mount namespace of its own."),
  filesystem: z.strictObject({ type: z.literal("xfs"), uuid: z.guid() }),
  paths: z
    .array(path)
    .min(1)
    .refine((paths) => unique(paths.map((p) => p.protocol)), "each protocol once"),
});
export type Client = z.infer<typeof client>;

export const request = z.strictObject({
  stack: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/)
    .describe("The stack's name; units on the hosts carry it."),
  folder: z.string().min(1).describe("Where results go: absolute, or relative to the project (results/lab)."),
  virtual: z.boolean().describe("The hosts are emulated guests: figures show function, not speed."),
  storage: hostAddress,
  clients: z
    .array(client)
    .min(1)
    .refine((clients) => unique(clients.map(({ name }) => name)), "each client once"),
  protocols: z.array(protocol).min(1).refine(unique, "each protocol once"),
  repeats: z.int().positive().describe("How often each test is run."),
  tests: z.array(test).min(1),
  interval: z.int().positive().describe("Seconds between the telemetry's samples."),
  reference: z
    .string()
    .regex(/^lab-[a-z]$/)
    .describe("The published lab to set beside: lab-a."),
  needs: needs.optional(),
  hardware: hardware.optional(),
});
export type Request = z.infer<typeof request>;
