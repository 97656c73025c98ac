import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { type Answer, type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { askRunning, isAbsent, isGuest } from "./running.ts";

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
  folder: z
    .string()
    .regex(/^[^-\s]\S*$/, "a folder's path begins with no dash and holds no blank")
    .meta({ change: "replace", unseen: true })
    .describe("The machine's folder, relative to the project."),
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
const machineSpec = machineInputs
  .pick({ name: true, memory: true, disks: true, link: true })
  .extend({ owner: z.string().optional() });
export type MachineSpec = z.infer<typeof machineSpec>;
type MachineObserved = {
  spec: MachineSpec | undefined;
  running: boolean;
  /** It was waited for until it had booted, since it was started: guest.ts takes the note of it away at a start. */
  booted: boolean;
};

const spec = ({ name, memory, disks, link }: MachineInputs, owner: string): MachineSpec => ({
  name,
  memory,
  disks,
  link,
  owner,
});
const bytes = (text: string): bigint => parseSize(text) ?? 0n;
const specText = (s: MachineSpec): string => `${JSON.stringify(s, undefined, 2)}\n`;
/** What the guest is made of, sizes as bytes and whose it is left out: the same guest, the same text. */
const meaning = ({ name, memory, disks, link }: MachineSpec): string =>
  JSON.stringify([
    ...[name, `${bytes(memory)}`, link.socket, link.listen, link.mac],
    ...disks.map(({ serial, size }) => [serial, `${bytes(size)}`]),
  ]);
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

async function observe(host: Questions, { folder }: MachineInputs): Promise<MachineObserved> {
  const [file, process, booted] = await Promise.all([
    host.ask(["cat", `${folder}/machine.json`]),
    host.ask(askRunning(folder)),
    host.ask(["test", "-e", `${folder}/booted`]),
  ]);
  return {
    spec: readSpec(host, file, folder),
    running: isRunning(host, process, folder),
    booted: booted.status === 0,
  };
}

function readSpec(host: Questions, answer: Answer, folder: string): MachineSpec | undefined {
  if (answer.status !== 0 && isAbsent(answer.stderr)) return undefined;
  const text = expect(host, answer, `the machine in ${folder}`);
  try {
    return machineSpec.parse(JSON.parse(text));
  } catch (cause) {
    throw new ParseError(`${folder}/machine.json is not of the known form: ${text.slice(0, 80)}`, { cause });
  }
}

function isRunning(host: Questions, answer: Answer, folder: string): boolean {
  if (answer.status !== 0 && isAbsent(answer.stderr)) return false;
  const [uuid = "", ...commandLine] = expect(host, answer, `whether the machine in ${folder} runs`).split(
    "\n",
  );
  return isGuest(uuid, commandLine);
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
      {
        say: `stop the virtual machine ${name}`,
        argv: guest("stop"),
        ...(observed.running && { effect: "outage" }),
      },
      {
        say: `remove the virtual machine ${name} and its disks`,
        argv: ["rm", "-rf", "--", folder],
        effect: "data loss",
      },
    ];
  }
  const wanted = spec(desired, owner);
  const same = observed.spec !== undefined && meaning(observed.spec) === meaning(wanted);
  if (same && observed.running && observed.booted) return [];
  return [
    ...(observed.running && !same
      ? [
          {
            say: `shut the virtual machine ${name} down`,
            argv: guest("shutdown"),
            effect: "outage",
          } as const,
        ]
      : []),
    ...(same
      ? []
      : [
          {
            say: `describe the virtual machine ${name}`,
            file: `${folder}/machine.json`,
            text: specText(wanted),
          },
        ]),
    { say: `start the virtual machine ${name}`, argv: guest("start") },
    {
      say: `wait for the virtual machine ${name} to boot`,
      until: [...login(desired), "systemctl is-system-running --wait | grep -qE 'running|degraded'"],
      deadlineSeconds: bootDeadlineSeconds,
    },
    { say: `note that ${name} has booted`, file: `${folder}/booted`, text: "" },
  ];
}

/** As it is described, in the declared spelling of a size where the bytes are the same. */
function current({ spec }: MachineObserved, inputs: MachineInputs): MachineInputs {
  if (spec === undefined) return inputs;
  const spelled = (size: string, declared = ""): string =>
    bytes(size) === bytes(declared) ? declared : size;
  const declared = (serial: string): string | undefined =>
    inputs.disks.find((disk) => disk.serial === serial)?.size;
  return {
    ...inputs,
    name: spec.name,
    memory: spelled(spec.memory, inputs.memory),
    disks: spec.disks.map(({ serial, size }) => ({ serial, size: spelled(size, declared(serial)) })),
    link: spec.link,
  };
}

/** The folder says all: nothing else is needed to look at it. */
function named(host: HostAddress, folder: string): MachineInputs | undefined {
  const inputs = {
    host,
    folder,
    name: "",
    memory: "",
    disks: [],
    link: { socket: "", listen: false, mac: "" },
  };
  return machineInputs.shape.folder.safeParse(folder).success ? inputs : undefined;
}

export const machine: ResourceType<MachineInputs, MachineObserved> = {
  type: "vm:Machine",
  inputs: machineInputs,
  identity: (inputs) => inputs.folder,
  observe,
  exists: (observed) => observed.spec !== undefined,
  owner: (observed) => observed.spec?.owner,
  current,
  plan,
  refusals: (desired, observed) =>
    (observed.spec?.disks ?? []).flatMap((disk) => {
      const wanted = desired?.disks.find(({ serial }) => serial === disk.serial);
      if (wanted === undefined || bytes(wanted.size) >= bytes(disk.size)) return [];
      return [
        `disk ${disk.serial} is ${disk.size} and can't shrink to ${wanted.size}: give it a new serial, or keep its size.`,
      ];
    }),
  named,
  found: current,
  gone: () => ({ spec: undefined, running: false, booted: false }),
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
