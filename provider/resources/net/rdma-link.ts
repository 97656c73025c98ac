import { z } from "zod";
import { CommandError, ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { networkUnit, removeUnitSteps, type UnitState, unitFiles, unitState, unitSteps } from "../../unit.ts";
import { deviceProblem } from "./address.ts";

/**
 * An RDMA link: soft-RoCE (rxe) made over an Ethernet interface, now and at boot; RoCE and InfiniBand hardware is
 * only looked for, and our note of it is the object. See rdma-link(8), rdma-resource(8), ibv_devinfo(1).
 */
export const rdmaLinkInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  name: z.string().meta({ change: "replace" }).describe("The RDMA device: rxe0, mlx5_0."),
  kind: z
    .enum(["rxe", "roce", "ipoib"])
    .meta({ change: "replace" })
    .describe("rxe = soft-RoCE, made by this; roce and ipoib = hardware, which has to be there."),
  device: z.string().meta({ change: "replace" }).describe("The network interface that it belongs to: eth1."),
});
export type RdmaLinkInputs = z.infer<typeof rdmaLinkInputs>;

type RdmaLinkObserved = {
  /** Every RDMA device of the host and its network device, for messages. */
  links: Map<string, { state: string; device: string | undefined }>;
  link: { state: string; device: string | undefined } | undefined;
  /** What the link is; undefined where it is not there. */
  kind: RdmaLinkInputs["kind"] | undefined;
  /** Is the link (soft-RoCE), or our note of it (hardware, which is always there), made? */
  made: boolean;
  /** As ibv_devinfo reports it; undefined where that program is missing. */
  activeMtu: number | undefined;
  gids: string[];
  /** Connections and listeners over this link: who, from where, to where. */
  users: string[];
  module: string | undefined;
  unit: UnitState;
};

const links = z.array(
  z.looseObject({ ifname: z.string(), port: z.number(), state: z.string(), netdev: z.string().optional() }),
);
const identifiers = z.array(
  z.looseObject({
    ifname: z.string(),
    state: z.string(),
    comm: z.string().optional(),
    "src-addr": z.string().optional(),
    "dst-addr": z.string().optional(),
  }),
);

/** Reads `rdma -j link`. A device's first port stands for it. */
export function parseLinks(stdout: string): RdmaLinkObserved["links"] {
  const found: RdmaLinkObserved["links"] = new Map();
  for (const { ifname, port, state, netdev } of parse(links, stdout, "rdma -j link")) {
    if (port === 1) found.set(ifname, { state, device: netdev });
  }
  return found;
}

export type CmId = { link: string; state: string; program: string; from: string; to: string };

/** Reads `rdma -j resource show cm_id`: connections and listeners, with address and port at either end. */
export function parseCmIds(stdout: string): CmId[] {
  return parse(identifiers, stdout, "rdma -j resource show cm_id").map((id) => ({
    link: id.ifname,
    state: id.state,
    program: id.comm ?? "a program",
    from: id["src-addr"] ?? "?",
    to: id["dst-addr"] ?? "?",
  }));
}

/** Who is connected over this link, or waits for connections there, in words. */
const users = (ids: readonly CmId[], name: string): string[] =>
  ids
    .filter(({ link }) => link === name)
    .map(({ state, program, from, to }) =>
      state === "LISTEN" ? `${program} (listens on ${from})` : `${program} (${from} to ${to})`,
    );

function parse<T>(schema: z.ZodType<T>, stdout: string, what: string): T {
  let value: unknown;
  try {
    // With nothing to list, versions print an empty list or nothing at all.
    value = JSON.parse(stdout.trim() || "[]");
  } catch (cause) {
    throw new ParseError(`${what}: not JSON: ${stdout.slice(0, 200)}`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new ParseError(`${what}: not of the known form: ${stdout.slice(0, 200)}`);
  return parsed.data;
}

/** Reads `ibv_devinfo -v -d NAME`. */
export function parseDevinfo(stdout: string): { activeMtu: number | undefined; gids: string[] } {
  const mtu = /^\s*active_mtu:\s+(\d+) \(\d\)$/m.exec(stdout)?.[1];
  const gids = [...stdout.matchAll(/^\s*GID\[\s*\d+\]:\s+([0-9a-f:.]+)/gm)].map((match) => match[1] ?? "");
  return { activeMtu: mtu === undefined ? undefined : Number(mtu), gids };
}

const unitName = (name: string): string => `storage-lab-rdma-link-${name}.service`;
const modulesFile = (name: string): string => `/etc/modules-load.d/storage-lab-rdma-link-${name}.conf`;
/** What the kernel has to load for each kind. Hardware's file also notes that the link is in use here. */
const modulesOf = { rxe: "rdma_rxe", roce: "rdma_ucm", ipoib: "ib_ipoib" } as const;
/** Only soft-RoCE has a parent; link_layer(5) is Ethernet or InfiniBand. See sysfs-class-infiniband. */
const kindFiles = (name: string): [parent: string, layer: string] => [
  `/sys/class/infiniband/${name}/parent`,
  `/sys/class/infiniband/${name}/ports/1/link_layer`,
];
function kindOf(name: string, files: ReadonlyMap<string, string>): RdmaLinkInputs["kind"] | undefined {
  const [parent, layer] = kindFiles(name);
  if (files.has(parent)) return "rxe";
  const text = files.get(layer);
  if (text === "Ethernet") return "roce";
  if (text === "InfiniBand") return "ipoib";
  if (text === undefined) return undefined;
  throw new ParseError(`${layer}: neither Ethernet nor InfiniBand: ${text}`);
}
const modulesText = ({ name, kind }: RdmaLinkInputs): string =>
  `# Written by storage-lab, for RDMA link ${name}.\n${modulesOf[kind]}`;

async function observe(host: Questions, { name, kind }: RdmaLinkInputs): Promise<RdmaLinkObserved> {
  const [link, ids, info, files] = await Promise.all([
    host.ask(["rdma", "-j", "link"]),
    host.ask(["rdma", "-j", "resource", "show", "cm_id"]),
    host.ask(["ibv_devinfo", "-v", "-d", name]),
    readFiles(host, [modulesFile(name), ...unitFiles(unitName(name)), ...kindFiles(name)]),
  ]);
  if (link.status === 127) {
    const message = `${host.name} has no rdma(8): apt-get install iproute2 rdma-core, or dnf install iproute rdma-core`;
    throw new CommandError(host.name, 127, message);
  }
  const found = parseLinks(expect(host, link, "the RDMA links"));
  const there = found.get(name);
  const is = kindOf(name, files);
  return {
    links: found,
    link: there,
    kind: is,
    made: (is ?? kind) === "rxe" ? there !== undefined : files.has(modulesFile(name)),
    ...(there !== undefined && info.status !== 127
      ? parseDevinfo(expect(host, info, `the RDMA device ${name}`))
      : { activeMtu: undefined, gids: [] }),
    users: users(parseCmIds(expect(host, ids, "the RDMA connections")), name),
    module: files.get(modulesFile(name)),
    unit: unitState(files, unitName(name)),
  };
}

function plan(
  desired: RdmaLinkInputs | undefined,
  observed: RdmaLinkObserved,
  { name, kind }: RdmaLinkInputs,
): Step[] {
  const isSoft = kind === "rxe";
  if (desired === undefined) {
    return [
      ...(isSoft && observed.link !== undefined
        ? [
            {
              say: `remove RDMA link ${name}`,
              argv: ["rdma", "link", "delete", name],
              ...(observed.users.length > 0 ? { effect: "sessions drop" as const } : {}),
            },
          ]
        : []),
      ...(observed.module === undefined
        ? []
        : [{ say: `remove ${modulesFile(name)}`, argv: ["rm", "-f", modulesFile(name)] }]),
      ...removeUnitSteps(unitName(name), observed.unit),
    ];
  }
  const { device } = desired;
  const text = modulesText(desired);
  const steps: Step[] = [];
  // A soft link without any file of ours was imported: whoever made it brings it back at boot.
  const isOthers =
    observed.module === undefined && observed.unit.text === undefined && !observed.unit.enabled;
  if (isSoft && isOthers && observed.link !== undefined) return steps;
  // Files come before the link: what an interrupted run leaves is not taken for another's.
  if (observed.module !== text) {
    steps.push({
      say: `write ${modulesFile(name)}, for the next boot`,
      file: modulesFile(name),
      text: `${text}\n`,
    });
  }
  if (!isSoft) return steps;
  const unit = networkUnit({
    description: `storage-lab: RDMA link ${name} over ${device}`,
    device,
    after: `storage-lab-interface-${device}.service`,
    commands: [
      `/bin/sh -c '[ -e /sys/class/infiniband/${name} ] || exec rdma link add ${name} type rxe netdev ${device}'`,
    ],
  });
  steps.push(...unitSteps(unitName(name), unit, observed.unit));
  if (observed.link === undefined) {
    steps.push(
      { say: "load soft-RoCE", argv: ["modprobe", modulesOf.rxe] },
      {
        say: `make RDMA link ${name} over ${device}`,
        argv: ["rdma", "link", "add", name, "type", "rxe", "netdev", device],
      },
    );
  }
  return steps;
}

function refusals(
  desired: RdmaLinkInputs | undefined,
  observed: RdmaLinkObserved,
  { host, name, kind }: RdmaLinkInputs,
): string[] {
  const { link, users } = observed;
  if (desired === undefined) {
    if (kind !== "rxe" || link === undefined || users.length === 0) return [];
    return [
      `RDMA link ${name} on ${host.name} is in use by ${users.join(" and ")}: log those sessions out or remove those portals first`,
    ];
  }
  if (link === undefined) {
    if (kind === "rxe") return [];
    const there = [...observed.links].map(([link, { device }]) => (device ? `${link} (${device})` : link));
    return [`${host.name} has no RDMA device ${name}; it has ${there.join(", ") || "none"}`];
  }
  if (observed.kind !== undefined && observed.kind !== kind) {
    return [
      `RDMA device ${name} on ${host.name} is ${kindText[observed.kind]}, not ${kindText[kind]}: ` +
        `declare it so, or take another name`,
    ];
  }
  if (link.device === undefined || link.device === desired.device) return [];
  return [
    `RDMA link ${name} on ${host.name} is over ${link.device}, not ${desired.device}: ` +
      `take another name, or remove it first: rdma link delete ${name}`,
  ];
}

const kindText = {
  rxe: "soft-RoCE (rxe)",
  roce: "RoCE hardware (roce)",
  ipoib: "InfiniBand (ipoib)",
} as const;
const isName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name);

function rules({ name, device }: RdmaLinkInputs): [string, string][] {
  const problem = deviceProblem(device);
  return [
    ...(problem === undefined ? [] : [["device", problem] as [string, string]]),
    ...(isName(name)
      ? []
      : [
          [
            "name",
            `${JSON.stringify(name)} is no name of an RDMA device: a letter, then letters, digits, "_" or "-"`,
          ] as [string, string],
        ]),
  ];
}

/** Kind and device are what `found` tells. */
const named = (host: HostAddress, name: string): RdmaLinkInputs | undefined =>
  isName(name) ? { host, name, kind: "rxe", device: "" } : undefined;

/** Deleted, a soft link is gone; hardware stays, without our note. */
function gone(observed: RdmaLinkObserved, { name, kind }: RdmaLinkInputs): RdmaLinkObserved {
  const nothing = { made: false, module: undefined, unit: { text: undefined, enabled: false } };
  if (kind !== "rxe") return { ...observed, ...nothing };
  const links = new Map([...observed.links].filter(([link]) => link !== name));
  const noLink = { links, link: undefined, kind: undefined, activeMtu: undefined, gids: [], users: [] };
  return { ...observed, ...nothing, ...noLink };
}

export const rdmaLink: ResourceType<RdmaLinkInputs, RdmaLinkObserved> = {
  type: "net:RdmaLink",
  inputs: rdmaLinkInputs,
  identity: ({ name }) => name,
  observe,
  exists: ({ made }) => made,
  current: ({ link, kind }, inputs) => ({
    ...inputs,
    device: link?.device ?? inputs.device,
    kind: kind ?? inputs.kind,
  }),
  plan,
  refusals,
  named,
  found: ({ link, kind }, inputs) => ({ ...inputs, kind: kind ?? inputs.kind, device: link?.device ?? "" }),
  gone,
  rules,
  outputs: ({ name, device }, observed) => ({
    name,
    device,
    ...(observed?.link === undefined
      ? {}
      : { state: observed.link.state, activeMtu: observed.activeMtu, gids: observed.gids }),
  }),
};
