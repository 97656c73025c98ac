import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";

/**
 * vm:Machine: a guest of the virtual lab, run by QEMU (qemu-system-x86_64(1)) from the image that
 * virtual/ builds. The machine is a folder: its disks, keys, ssh_config and pid file; `virtual/guest.ts` starts
 * and stops it there. QEMU runs in a session of its own, so that the guest outlives the provider; the pid file and the
 * machine's UUID on QEMU's command line find it again.
 */

const size = z.string().refine((text) => parseSize(text) !== undefined, {
  error: "a size is a number with an IEC unit, such as 1536 MiB or 2 GiB",
});

export const machineInputs = z.strictObject({
  host: hostAddress,
  name: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, "a machine's name is lower-case letters, digits and dashes")
    .meta({ change: "replace" })
    .describe("The guest's host name, and its name in ssh_config."),
  folder: z.string().meta({ change: "replace" }).describe("The machine's folder, relative to the project."),
  memory: size.describe("Memory, IEC units. The machine restarts when it changes."),
  disks: z
    .array(
      z.strictObject({
        serial: z
          .string()
          .regex(/^[A-Za-z0-9_-]{1,20}$/, "a virtio serial is 1 to 20 letters, digits, `-` or `_`")
          .describe("Found in the guest as /dev/disk/by-id/virtio-SERIAL."),
        size: size.describe("IEC units; the file behind it is sparse."),
      }),
    )
    .describe("Data disks, beside the one that holds the system."),
  link: z
    .strictObject({
      socket: z.string().describe("Unix socket of the link between two guests, relative to the project."),
      listen: z.boolean().describe("One end listens, the other connects; either may start first."),
      mac: z.string().describe("Ethernet address of the guest's eth1."),
    })
    .describe("The link between the lab's two guests, eth1 in each."),
});
export type MachineInputs = z.infer<typeof machineInputs>;

/** What stands in machine.json: the inputs that QEMU's command line is made of, and whose it is. */
export type MachineSpec = Pick<MachineInputs, "name" | "memory" | "disks" | "link"> & { owner: string };
type MachineObserved = { spec: MachineSpec | undefined; running: boolean };

const spec = (i: MachineInputs, owner: string): MachineSpec => ({
  name: i.name,
  memory: i.memory,
  disks: i.disks,
  link: i.link,
  owner,
});
const bytes = (text: string): bigint => parseSize(text) ?? 0n;
const specText = (s: MachineSpec): string => `${JSON.stringify(s, undefined, 2)}\n`;
const login = (i: MachineInputs): string[] => [
  "ssh",
  "-F",
  `${i.folder}/ssh_config`,
  "-o",
  "ConnectTimeout=10",
  i.name,
];

/** Slow machines under software emulation boot in under a minute; a crowded one needs several. */
const bootDeadlineSeconds = 600;

async function observe(host: Questions, inputs: MachineInputs): Promise<MachineObserved> {
  const running =
    'p=$(cat "$1/qemu.pid") && u=$(cat "$1/uuid") && tr "\\0" " " <"/proc/$p/cmdline" | grep -qF -- "-uuid $u"';
  const [file, process] = await Promise.all([
    host.ask(["cat", `${inputs.folder}/machine.json`]),
    host.ask(["sh", "-c", running, "sh", inputs.folder]),
  ]);
  if (file.status !== 0 && file.stderr.includes("No such file or directory")) {
    return { spec: undefined, running: process.status === 0 };
  }
  const text = expect(host, file, `the machine in ${inputs.folder}`);
  try {
    return {
      spec: JSON.parse(text) as MachineSpec,
      running: process.status === 0,
    };
  } catch (cause) {
    throw new ParseError(`${inputs.folder}/machine.json is not JSON: ${text.slice(0, 80)}`, { cause });
  }
}

function plan(
  desired: MachineInputs | undefined,
  observed: MachineObserved,
  inputs: MachineInputs,
  owner: string,
): Step[] {
  const { name, folder } = inputs;
  const guest = (verb: string): string[] => [process.execPath, "virtual/guest.ts", verb, folder];
  if (desired === undefined) {
    if (observed.spec === undefined && !observed.running) return [];
    return [
      { say: `stop the virtual machine ${name}`, argv: guest("stop") },
      { say: `remove the virtual machine ${name} and its disks`, argv: ["rm", "-rf", "--", folder] },
    ];
  }
  const wanted = specText(spec(desired, owner));
  const same = observed.spec !== undefined && specText(observed.spec) === wanted;
  if (same && observed.running) return [];
  return [
    ...(observed.running ? [{ say: `shut the virtual machine ${name} down`, argv: guest("shutdown") }] : []),
    ...(same
      ? []
      : [{ say: `describe the virtual machine ${name}`, file: `${folder}/machine.json`, text: wanted }]),
    { say: `start the virtual machine ${name}`, argv: guest("start") },
    {
      say: `wait for the virtual machine ${name} to boot`,
      until: [...login(desired), "systemctl is-system-running --wait | grep -qE 'running|degraded'"],
      deadlineSeconds: bootDeadlineSeconds,
    },
  ];
}

export const machine: ResourceType<MachineInputs, MachineObserved> = {
  type: "vm:Machine",
  inputs: machineInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.spec !== undefined,
  owner: (observed) => observed.spec?.owner,
  current: (observed, inputs) =>
    observed.spec === undefined
      ? inputs
      : { ...inputs, memory: observed.spec.memory, disks: observed.spec.disks, link: observed.spec.link },
  plan,
  refusals: (desired, observed) =>
    (observed.spec?.disks ?? []).flatMap((disk) => {
      const wanted = desired?.disks.find(({ serial }) => serial === disk.serial);
      if (wanted === undefined || bytes(wanted.size) >= bytes(disk.size)) return [];
      return [
        `disk ${disk.serial} is ${disk.size} and can't shrink to ${wanted.size}: give it a new serial, or keep its size.`,
      ];
    }),
  outputs: (inputs) => ({
    address: {
      name: inputs.name,
      ssh: inputs.name,
      config: `${inputs.folder}/ssh_config`,
      machine: inputs.folder,
    },
  }),
  sideBySide: true,
};
