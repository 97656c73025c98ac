import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { networkUnit, removeUnitSteps, type UnitState, unitFiles, unitState, unitSteps } from "../../unit.ts";
import { deviceProblem, normalInterfaceAddress } from "./address.ts";

/**
 * A network interface's MTU and addresses, now and at boot. See ip-link(8), ip-address(8).
 * Works beside any network manager that leaves the device alone; addresses that others put there stay. The object
 * is our unit: a device that others have set up is taken by a create, which adds what is missing; what is imported
 * is a unit of ours.
 */
export const interfaceInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  device: z.string().meta({ change: "replace" }).describe("The interface: eth1, ib0."),
  mtu: z
    .int()
    .min(68)
    .max(65520)
    .optional()
    .describe(
      "MTU in bytes. 4200 lets RDMA over Ethernet use its largest MTU, 4096; IPoIB connected takes 65520.",
    ),
  addresses: z.array(z.string()).optional().describe("Addresses with prefix length: 10.10.10.1/24."),
  mode: z.enum(["datagram", "connected"]).optional().describe("IPoIB only: the mode of the link."),
});
export type InterfaceInputs = z.infer<typeof interfaceInputs>;

type InterfaceObserved = {
  /** Every interface of the host, for the message when this one is not among them. */
  devices: string[];
  device: { up: boolean; mtu: number; addresses: string[] } | undefined;
  mode: string | undefined;
  unit: UnitState;
};

const ipAddress = z.array(
  z.looseObject({
    ifname: z.string().optional(),
    mtu: z.number().optional(),
    flags: z.array(z.string()).optional(),
    addr_info: z
      .array(z.looseObject({ local: z.string().optional(), prefixlen: z.number().optional() }))
      .optional(),
  }),
);

/** Reads `ip -json address`. */
export function parseIpAddress(
  stdout: string,
): Map<string, { up: boolean; mtu: number; addresses: string[] }> {
  const parsed = ipAddress.safeParse(json(stdout));
  if (!parsed.success)
    throw new ParseError(`ip -json address: not of the known form: ${stdout.slice(0, 200)}`);
  const links = new Map<string, { up: boolean; mtu: number; addresses: string[] }>();
  for (const link of parsed.data) {
    // ip prints {} for what its filters leave out.
    if (link.ifname === undefined || link.mtu === undefined) continue;
    const addresses = (link.addr_info ?? []).flatMap(({ local, prefixlen }) =>
      local === undefined || prefixlen === undefined ? [] : [normal(`${local}/${prefixlen}`)],
    );
    links.set(link.ifname, { up: link.flags?.includes("UP") ?? false, mtu: link.mtu, addresses });
  }
  return links;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const normal = (address: string): string => normalInterfaceAddress(address) ?? address;
const unitName = (device: string): string => `storage-lab-interface-${device}.service`;
const modeFile = (device: string): string => `/sys/class/net/${device}/mode`;

async function observe(host: Questions, { device }: InterfaceInputs): Promise<InterfaceObserved> {
  const [addresses, files] = await Promise.all([
    host.ask(["ip", "-json", "address"]),
    readFiles(host, [modeFile(device), ...unitFiles(unitName(device))]),
  ]);
  const links = parseIpAddress(expect(host, addresses, "the interfaces"));
  return {
    devices: [...links.keys()],
    device: links.get(device),
    mode: files.get(modeFile(device)),
    unit: unitState(files, unitName(device)),
  };
}

/** What the unit runs at boot: what the plan does now, said so that a second time is no error. */
function unitText({ device, mtu, addresses = [], mode }: InterfaceInputs): string {
  return networkUnit({
    description: `storage-lab: MTU and addresses of ${device}`,
    device,
    commands: [
      ...(mode === undefined ? [] : [`/bin/sh -c 'echo ${mode} >${modeFile(device)}'`]),
      `ip link set dev ${device}${mtu === undefined ? "" : ` mtu ${mtu}`} up`,
      ...addresses.map((address) => `ip address replace ${normal(address)} dev ${device}`),
    ],
  });
}

/** The addresses that stand in our unit: those that we gave, and may take. */
const declaredBefore = ({ text = "" }: UnitState): string[] =>
  [...text.matchAll(/^ExecStart=ip address replace (\S+) /gm)].map((match) => match[1] ?? "");

/** What our unit says, as inputs. */
function declaredIn({ text = "" }: UnitState): Pick<InterfaceInputs, "mtu" | "addresses" | "mode"> {
  const mtu = /^ExecStart=ip link set dev \S+ mtu (\d+) up$/m.exec(text)?.[1];
  const mode = /^ExecStart=\/bin\/sh -c 'echo (datagram|connected) >/m.exec(text)?.[1];
  const addresses = declaredBefore({ text, enabled: true });
  return {
    ...(mtu === undefined ? {} : { mtu: Number(mtu) }),
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(mode === "datagram" || mode === "connected" ? { mode } : {}),
  };
}

function plan(
  desired: InterfaceInputs | undefined,
  observed: InterfaceObserved,
  inputs: InterfaceInputs,
): Step[] {
  const { device } = inputs;
  const there = observed.device;
  const wanted = (desired?.addresses ?? []).map(normal);
  const dropped = declaredBefore(observed.unit).filter(
    (address) => !wanted.includes(address) && there?.addresses.includes(address),
  );
  const drop = dropSteps(device, dropped, there?.addresses ?? []);
  if (desired === undefined) return [...drop, ...removeUnitSteps(unitName(device), observed.unit)];
  // Addresses go first: IPv6 keeps an address's old prefix length. The unit comes before what it says is done: what
  // an interrupted run gave is known to be ours, and may be taken back.
  const steps = [...drop, ...unitSteps(unitName(device), unitText(desired), observed.unit)];
  if (desired.mode !== undefined && desired.mode !== observed.mode) {
    steps.push({ say: `set ${device} to ${desired.mode}`, attribute: modeFile(device), value: desired.mode });
  }
  const mtu = desired.mtu === undefined || desired.mtu === there?.mtu ? [] : ["mtu", `${desired.mtu}`];
  if (mtu.length > 0 || there?.up !== true) {
    const say = mtu.length > 0 ? `set the MTU of ${device} to ${desired.mtu}` : `switch ${device} on`;
    steps.push({ say, argv: ["ip", "link", "set", "dev", device, ...mtu, "up"] });
  }
  for (const address of wanted) {
    if (there?.addresses.includes(address)) continue;
    steps.push({
      say: `give ${device} the address ${address}`,
      argv: ["ip", "address", "replace", address, "dev", device],
    });
  }
  return steps;
}

function dropSteps(device: string, dropped: readonly string[], there: readonly string[]): Step[] {
  const drop = dropped.map(
    (address): Step => ({
      say: `take ${address} off ${device}`,
      argv: ["ip", "address", "del", address, "dev", device],
      effect: "sessions drop",
    }),
  );
  if (drop.length === 0 || there.filter((address) => !address.includes(":")).length < 2) return drop;
  // Else the kernel takes with an IPv4 address those that were given after it in its network.
  const attribute = `/proc/sys/net/ipv4/conf/${device}/promote_secondaries`;
  return [{ say: `let ${device} keep its other addresses`, attribute, value: "1" }, ...drop];
}

function refusals(
  desired: InterfaceInputs | undefined,
  observed: InterfaceObserved,
  { host, device }: InterfaceInputs,
): string[] {
  if (desired === undefined) return [];
  if (observed.device === undefined) {
    return [`${host.name} has no interface ${device}; it has ${observed.devices.join(", ")}`];
  }
  if (desired.mode !== undefined && observed.mode === undefined) {
    return [`${device} on ${host.name} is no IPoIB interface, so it has no mode: leave mode out`];
  }
  return [];
}

function rules({ device, mtu = 1500, addresses = [] }: InterfaceInputs): [string, string][] {
  const problem = deviceProblem(device);
  const normalized = addresses.map(normal);
  const hosts = normalized.map((address) => address.replace(/\/.*/, ""));
  return [
    ...(mtu < 1280 && hosts.some((host) => host.includes(":"))
      ? [["mtu", `an MTU of ${mtu} carries no IPv6, which needs 1280`] as [string, string]]
      : []),
    ...normalized
      .filter((_, index) => hosts.indexOf(hosts[index] ?? "") !== index)
      .map((address): [string, string] => ["addresses", `${address}: its address is declared twice`]),
    ...(problem === undefined ? [] : [["device", problem] as [string, string]]),
    ...addresses
      .filter((address) => normalInterfaceAddress(address) === undefined)
      .map((address): [string, string] => [
        "addresses",
        `${JSON.stringify(address)} is no address with its prefix length, such as 10.10.10.1/24 or fd00::1/64`,
      ]),
  ];
}

/** The inputs as they hold. Addresses that were ours before are still there until they are taken off. */
function current({ device, mode, unit }: InterfaceObserved, inputs: InterfaceInputs): InterfaceInputs {
  const there = (address: string): boolean => device?.addresses.includes(normal(address)) ?? false;
  const declared = inputs.addresses ?? [];
  const before = declaredBefore(unit).filter((address) => !declared.map(normal).includes(address));
  const addresses = [...declared, ...before].filter(there);
  return {
    ...inputs,
    ...(inputs.mtu === undefined || device === undefined ? {} : { mtu: device.mtu }),
    ...(inputs.addresses === undefined && addresses.length === 0 ? {} : { addresses }),
    ...(inputs.mode === undefined || (mode !== "datagram" && mode !== "connected") ? {} : { mode }),
  };
}

const named = (host: HostAddress, device: string): InterfaceInputs | undefined =>
  deviceProblem(device) === undefined ? { host, device } : undefined;

/** Deleted, the device keeps its MTU and what others put there. */
function gone(observed: InterfaceObserved): InterfaceObserved {
  const { device, unit } = observed;
  const ours = declaredBefore(unit);
  return {
    ...observed,
    device: device && { ...device, addresses: device.addresses.filter((address) => !ours.includes(address)) },
    unit: { text: undefined, enabled: false },
  };
}

export const networkInterface: ResourceType<InterfaceInputs, InterfaceObserved> = {
  type: "net:Interface",
  inputs: interfaceInputs,
  identity: ({ device }) => device,
  observe,
  exists: ({ unit }) => unit.text !== undefined,
  current,
  plan,
  refusals,
  named,
  found: ({ unit }, { host, device }) => ({ host, device, ...declaredIn(unit) }),
  gone,
  rules,
  outputs: ({ device, addresses, mtu }, observed) => ({
    device,
    ...(addresses === undefined ? {} : { addresses: addresses.map(normal) }),
    ...(observed?.device === undefined ? (mtu === undefined ? {} : { mtu }) : { mtu: observed.device.mtu }),
  }),
};
