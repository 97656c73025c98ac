import { z } from "zod";
import { type Answer, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { formatSize, parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { onceReleased } from "./busy.ts";
import {
  currentProperties,
  differing,
  local,
  noPrograms,
  onDeleteProperty,
  ownerProperty,
  type Properties,
  property,
  readProperties,
} from "./properties.ts";

/**
 * zfs:Volume: a zvol, a block device in a pool: zfsconcepts(7), zfsprops(7), zfs-create(8).
 * Grows in place, never shrinks. Its device node is there when this resource is.
 */

const size = z.string().refine((text) => parseSize(text) !== undefined, {
  error: "a size is a number with a unit in zfs notation or IEC (200G, 200 GiB, 1.5T), in whole bytes",
});
const onOff = z.enum(["on", "off"]);
const cache = z.enum(["all", "none", "metadata"]);

export const volumeInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Pool and volume: tank/lun0."),
  size: size.describe(
    "Size, zfs notation or IEC: 200G = 200 GiB. A multiple of volblocksize. Grows in place.",
  ),
  volblocksize: size
    .optional()
    .meta({ change: "replace" })
    .describe(
      "Block size, a power of two from 512 B to 128 KiB, to 16 MiB with large_blocks. ZFS's default: 16 KiB.",
    ),
  sparse: z.boolean().optional().describe("Reserve no space for the volume. ZFS's default: reserve it."),
  compression: z
    .string()
    .regex(
      /^(on|off|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-fast)?(-\d+)?)$/,
      "off, on, lz4, zstd, gzip-6, …; see zfsprops(7)",
    )
    .optional()
    .describe("Compression of what is written from now on."),
  sync: z
    .enum(["standard", "always", "disabled"])
    .optional()
    .describe("When a synchronous write counts as written."),
  logbias: z
    .enum(["latency", "throughput"])
    .optional()
    .describe("Whether synchronous writes go by the log vdev."),
  primarycache: cache.optional().describe("What of it the ARC holds."),
  secondarycache: cache.optional().describe("What of it the L2ARC (cache vdevs) holds."),
  checksum: z
    .enum(["on", "off", "fletcher2", "fletcher4", "sha256", "noparity", "sha512", "skein", "edonr", "blake3"])
    .optional()
    .describe("Checksum of what is written from now on."),
  dedup: z
    .string()
    .regex(
      /^(on|off|verify|(sha256|sha512|skein|blake3)(,verify)?|edonr,verify)$/,
      "off, on, verify, …; see zfsprops(7)",
    )
    .optional()
    .describe("Deduplication of what is written from now on."),
  volmode: z
    .enum(["default", "full", "geom", "dev", "none"])
    .optional()
    .describe("How the device node is exposed."),
  snapdev: z.enum(["hidden", "visible"]).optional().describe("Whether its snapshots have device nodes."),
  readonly: onOff.optional().describe("Whether the device refuses writes."),
  onDelete: z
    .enum(["retain", "destroy"])
    .describe("retain leaves the volume and its data in the pool; destroy destroys it."),
});
export type VolumeInputs = z.infer<typeof volumeInputs>;

/** The fields that are plain properties of the same name. */
const settable = [
  "compression",
  "sync",
  "logbias",
  "primarycache",
  "secondarycache",
  "checksum",
  "dedup",
  "volmode",
  "snapdev",
  "readonly",
] as const;

export type VolumeObserved = {
  /** Whether the host has the ZFS programs. */
  programs: boolean;
  properties: Properties | undefined;
  snapshots: string[];
  /** The device node is there. */
  node: boolean;
};

const device = (name: string): string => `/dev/zvol/${name}`;
const bytes = (text: string): bigint => parseSize(text) ?? 0n;
const both = (n: bigint): string => `${n} bytes (${formatSize(n)})`;

async function observe(host: Questions, { name }: VolumeInputs): Promise<VolumeObserved> {
  const [all, snapshots, node] = await Promise.all([
    host.ask(["zfs", "get", "-Hp", "-o", "property,value,source", "all", name]),
    host.ask(["zfs", "list", "-H", "-d", "1", "-t", "snapshot", "-o", "name", name]),
    host.ask(["test", "-b", device(name)]),
  ]);
  const properties = readProperties(host, all, `volume ${name}`);
  return {
    programs: all.status !== 127,
    properties,
    snapshots: properties === undefined ? [] : lines(expect(host, snapshots, `the snapshots of ${name}`)),
    node: hasNode(host, node, name),
  };
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** test(1) says 1 for "no", 2 for an error. */
const hasNode = (host: Questions, answer: Answer, name: string): boolean =>
  answer.status === 1 ? false : expect(host, answer, `the device node of ${name}`) === "";

/** What the inputs declare as properties, by ZFS's names and in bytes. */
function declared(inputs: VolumeInputs): Record<string, string> {
  return Object.fromEntries([
    ...settable.flatMap((key) => (inputs[key] === undefined ? [] : [[key, inputs[key]]])),
    [onDeleteProperty, inputs.onDelete],
  ]);
}

const isSparse = (properties: Properties): boolean =>
  BigInt(property(properties, "refreservation")) < BigInt(property(properties, "volsize"));

function plan(
  desired: VolumeInputs | undefined,
  observed: VolumeObserved,
  inputs: VolumeInputs,
  owner: string,
): Step[] {
  const { properties } = observed;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    return [
      onceReleased(`destroy volume ${inputs.name}`, device(inputs.name), ["zfs", "destroy", inputs.name]),
    ];
  }
  const { name } = desired;
  const node: Step = {
    say: `wait for ${device(name)}`,
    until: ["test", "-b", device(name)],
    deadlineSeconds: 120,
  };
  if (properties === undefined) {
    const create: Step = {
      say: `create volume ${name} of ${formatSize(bytes(desired.size))}`,
      argv: createArguments(desired, owner),
    };
    return desired.volmode === "none" ? [create] : [create, node];
  }
  const grow = bytes(desired.size) > BigInt(property(properties, "volsize"));
  const values = differing(
    { ...declared(desired), ...(grow && { volsize: `${bytes(desired.size)}` }) },
    properties,
  );
  if (local(properties, ownerProperty) !== owner) values.push([ownerProperty, owner]);
  if (desired.sparse !== undefined && desired.sparse !== isSparse(properties)) {
    values.push(["refreservation", desired.sparse ? "none" : "auto"]);
  }
  const hidden = (desired.volmode ?? property(properties, "volmode")) === "none";
  return [
    ...(values.length === 0 ? [] : [setStep(name, values)]),
    ...(!hidden && (grow || !observed.node) ? [node] : []),
  ];
}

function createArguments(desired: VolumeInputs, owner: string): string[] {
  const { name, size, volblocksize, sparse } = desired;
  const options = {
    ...(volblocksize !== undefined && { volblocksize: `${bytes(volblocksize)}` }),
    ...declared(desired),
    [ownerProperty]: owner,
  };
  return [
    ...["zfs", "create", ...(sparse ? ["-s"] : []), "-V", `${bytes(size)}`],
    ...Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]),
    name,
  ];
}

const setStep = (name: string, values: [string, string][]): Step => ({
  say: `set ${values.map(([key, value]) => `${key} to ${value}`).join(", ")} on volume ${name}`,
  argv: ["zfs", "set", ...values.map(([key, value]) => `${key}=${value}`), name],
});

function refusals(
  desired: VolumeInputs | undefined,
  observed: VolumeObserved,
  inputs: VolumeInputs,
): string[] {
  const { properties, snapshots } = observed;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain" || snapshots.length === 0) return [];
    return [
      `Volume ${inputs.name} has snapshots (${snapshots.join(", ")}), which would be lost with it. Destroy them by hand (zfs destroy ${snapshots[0]}), or keep the volume (onDelete: retain).`,
    ];
  }
  if (!observed.programs) return [noPrograms(desired.host.name)];
  if (properties === undefined) return [];
  const type = property(properties, "type");
  if (type !== "volume") return [`${desired.name} is a ${type}, not a volume. Give the volume another name.`];
  const [have, want] = [BigInt(property(properties, "volsize")), bytes(desired.size)];
  const block = BigInt(property(properties, "volblocksize"));
  if (want < have) {
    return [
      `Volume ${desired.name} has ${both(have)}; shrinking it to the declared ${both(want)} would cut off data. Declare at least ${formatSize(have)}, or make another volume.`,
    ];
  }
  if (want % block !== 0n) return [notMultiple(want, block)];
  return [];
}

const notMultiple = (size: bigint, block: bigint): string =>
  `the size is a multiple of volblocksize: ${both(size)} is not one of ${both(block)}; the next are ${both(size - (size % block))} and ${both(size - (size % block) + block)}`;

/** Where volblocksize is left out: ZFS's own default since 2.2; older versions' 8 KiB divides it. */
const defaultBlock = 16384n;

function rules({ name, size, volblocksize }: VolumeInputs): [string, string][] {
  const found: [string, string][] = [];
  // Blanks are legal in ZFS, but udev names such a node otherwise.
  if (
    !/^[A-Za-z][A-Za-z0-9_.:-]*(\/[A-Za-z0-9_.:-]+)+$/.test(name) ||
    /\/\.{1,2}(\/|$)/.test(name) ||
    name.length > 255
  ) {
    found.push([
      "name",
      `a volume's name is POOL/VOLUME of letters, digits, "_", "-", ":" and "."; ${JSON.stringify(name)} is not`,
    ]);
  }
  const block = volblocksize === undefined ? defaultBlock : bytes(volblocksize);
  if ((block & (block - 1n)) !== 0n || block < 512n || block > 16777216n) {
    found.push([
      "volblocksize",
      `volblocksize is a power of two from 512 B to 128 KiB (to 16 MiB with large_blocks); ${volblocksize} is ${both(block)}`,
    ]);
  } else if (bytes(size) === 0n) found.push(["size", `the size is more than 0; given: ${size}`]);
  else if (bytes(size) % block !== 0n) found.push(["size", notMultiple(bytes(size), block)]);
  return found;
}

function current(observed: VolumeObserved, inputs: VolumeInputs): VolumeInputs {
  const { properties } = observed;
  if (properties === undefined) return inputs;
  const { sparse, volblocksize } = inputs;
  const inBytes = (text: string, name: string): string => {
    const have = BigInt(property(properties, name));
    return have === parseSize(text) ? text : formatSize(have);
  };
  const { [onDeleteProperty]: onDelete, ...settings } = currentProperties(declared(inputs), properties);
  return {
    ...inputs,
    ...settings,
    // A volume that was taken over has no such property yet.
    ...((onDelete === "retain" || onDelete === "destroy") && { onDelete }),
    size: inBytes(inputs.size, "volsize"),
    ...(volblocksize !== undefined && { volblocksize: inBytes(volblocksize, "volblocksize") }),
    ...(sparse !== undefined && { sparse: isSparse(properties) }),
  };
}

export const volume: ResourceType<VolumeInputs, VolumeObserved> = {
  type: "zfs:Volume",
  inputs: volumeInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.properties !== undefined,
  owner: ({ properties }) => properties && local(properties, ownerProperty),
  current,
  plan,
  refusals,
  refusesReplace: ({ name, onDelete }) =>
    onDelete === "destroy"
      ? undefined
      : `Replacing volume ${name} would lose what it holds. Allow it with onDelete: destroy, or undo the change.`,
  rules,
  outputs: ({ name }, observed) => ({
    name,
    device: device(name),
    ...(observed?.properties && { guid: property(observed.properties, "guid") }),
  }),
};
