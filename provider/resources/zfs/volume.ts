import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { both, formatSize, parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import {
  destroySnapshots,
  readSnapshots,
  refuseSnapshots,
  type SnapshotFound,
  snapshotsOf,
} from "./dependents.ts";
import {
  createSteps,
  currentEncryption,
  encryptionFields,
  encryptionRefusals,
  encryptionRules,
  foundEncryption,
  type KeyObserved,
  keySteps,
  observeKey,
  removeKeySteps,
} from "./encryption.ts";
import { blockHints, poolGeometries } from "./geometry.ts";
import {
  getAll,
  getAllOfPool,
  local,
  noPrograms,
  noZfs,
  ownerProperty,
  type Properties,
  property,
  readProperties,
} from "./properties.ts";
import {
  commonFields,
  commonNames,
  currentSettings,
  declared,
  foundSettings,
  marks,
  nameRule,
  onDelete,
  onDeleteChange,
  onDeleteNow,
  options,
  ownerChange,
  settingChanges,
  settingHints,
  size,
  volumeFields,
  volumeNames,
} from "./settings.ts";
import { destroyStep, device, hasNode, keptFromReplace, nodeStep, setStep } from "./steps.ts";

/**
 * zfs:Volume: a zvol, a block device in a pool: zfsconcepts(7), zfsprops(7), zfs-create(8).
 * Grows in place, never shrinks. Its device node is there when this resource is.
 */

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
  ...commonFields,
  ...volumeFields,
  ...encryptionFields,
  onDelete: onDelete("volume"),
});
export type VolumeInputs = z.infer<typeof volumeInputs>;

/** The fields that are plain properties of the same name. */
const names = [...commonNames, ...volumeNames];

export type VolumeObserved = {
  /** Whether the host has the ZFS programs. */
  programs: boolean;
  properties: Properties | undefined;
  snapshots: SnapshotFound[];
  /** The device node is there. */
  node: boolean;
  key: KeyObserved;
  /** Its pool, as `zpool status -P` and `zpool get all` tell; undefined where it is not imported. */
  pool: { status: string; properties: Properties } | undefined;
};

const bytes = (text: string): bigint => parseSize(text) ?? 0n;
const poolOf = (name: string): string => name.split("/")[0] ?? name;

async function observe(host: Questions, inputs: VolumeInputs): Promise<VolumeObserved> {
  const { name } = inputs;
  const pool = poolOf(name);
  const [all, snapshots, node, status, ofPool, key] = await Promise.all([
    host.ask(getAll(name)),
    host.ask(snapshotsOf(name)),
    host.ask(["test", "-b", device(name)]),
    host.ask(["zpool", "status", "-P"]),
    host.ask(getAllOfPool(pool)),
    observeKey(host, inputs),
  ]);
  const properties = readProperties(host, all, `volume ${name}`);
  const poolProperties = readProperties(host, ofPool, `pool ${pool}`);
  return {
    programs: all.status !== 127,
    properties,
    snapshots: properties === undefined ? [] : readSnapshots(host, snapshots, name),
    node: hasNode(host, node, name),
    key,
    pool:
      poolProperties === undefined || noZfs(status)
        ? undefined
        : { status: expect(host, status, "the pools"), properties: poolProperties },
  };
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
    if (inputs.onDelete === "retain") return [];
    const destroy =
      properties === undefined
        ? []
        : [
            ...destroySnapshots(observed.snapshots, owner),
            destroyStep("volume", inputs.name, device(inputs.name)),
          ];
    return [...destroy, ...removeKeySteps(inputs.name, undefined, observed.key)];
  }
  const { name } = desired;
  if (properties === undefined) {
    const say = `create volume ${name} of ${formatSize(bytes(desired.size))}`;
    const create = createSteps(say, createArguments(desired, owner), desired, observed.key);
    return desired.volmode === "none" ? create : [...create, nodeStep(name)];
  }
  const keys = keySteps(desired, properties, observed.key);
  const grow = bytes(desired.size) > BigInt(property(properties, "volsize"));
  const values = settingChanges(desired, names, properties);
  if (grow) values.push(["volsize", `${bytes(desired.size)}`]);
  if (desired.sparse !== undefined && desired.sparse !== isSparse(properties)) {
    values.push(["refreservation", desired.sparse ? "none" : "auto"]);
  }
  values.push(...onDeleteChange(desired.onDelete, properties));
  if (values.length > 0) values.push(...ownerChange(owner, properties));
  const hidden = (desired.volmode ?? property(properties, "volmode")) === "none";
  return [
    ...keys,
    ...(values.length === 0 ? [] : [setStep("volume", name, values)]),
    ...(hidden || observed.node ? [] : [nodeStep(name)]),
    ...(hidden || !grow ? [] : [sizeStep(name, bytes(desired.size))]),
  ];
}

/** What stands on the volume reads its size from the node, which follows a moment later. */
const sizeStep = (name: string, size: bigint): Step => ({
  say: `wait until ${device(name)} has ${formatSize(size)}`,
  until: ["sh", "-c", '[ "$(blockdev --getsize64 "$1")" = "$2" ]', "sh", device(name), `${size}`],
  deadlineSeconds: 120,
});

function createArguments(desired: VolumeInputs, owner: string): string[] {
  const { size, volblocksize, sparse } = desired;
  return [
    ...["create", ...(sparse ? ["-s"] : []), "-V", `${bytes(size)}`],
    ...(volblocksize === undefined ? [] : ["-o", `volblocksize=${bytes(volblocksize)}`]),
    ...options({ ...declared(desired, names), ...marks(desired.onDelete, owner) }),
  ];
}

function refusals(
  desired: VolumeInputs | undefined,
  observed: VolumeObserved,
  inputs: VolumeInputs,
  owner: string,
): string[] {
  const { properties, snapshots } = observed;
  const what = `Volume ${inputs.name}`;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    return refuseSnapshots(what, snapshots, owner);
  }
  if (!observed.programs) return [noPrograms(desired.host.name)];
  if (properties === undefined) return encryptionRefusals(what, desired, undefined);
  const type = property(properties, "type");
  if (type !== "volume") return [`${desired.name} is a ${type}, not a volume. Give the volume another name.`];
  const [have, want] = [BigInt(property(properties, "volsize")), bytes(desired.size)];
  const block = BigInt(property(properties, "volblocksize"));
  if (want < have) {
    return [
      `${what} has ${both(have)}; shrinking it to the declared ${both(want)} would cut off data. Declare at least ${formatSize(have)}, or make another volume.`,
    ];
  }
  const { volblocksize } = desired;
  if (volblocksize !== undefined && bytes(volblocksize) !== block) {
    return [
      `${what} has volblocksize ${formatSize(block)}, declared is ${formatSize(bytes(volblocksize))}. ` +
        "That is fixed when it is created: declare what it has, or make another volume.",
    ];
  }
  if (want % block !== 0n) return [notMultiple(want, block)];
  return encryptionRefusals(what, desired, properties);
}

const notMultiple = (size: bigint, block: bigint): string =>
  `the size is a multiple of volblocksize: ${both(size)} is not one of ${both(block)}; the next are ${both(size - (size % block))} and ${both(size - (size % block) + block)}`;

/** Where volblocksize is left out: ZFS's own default since 2.2; older versions' 8 KiB divides it. */
const defaultBlock = 16384n;

function rules(inputs: VolumeInputs): [string, string][] {
  const { name, size, volblocksize } = inputs;
  const found = nameRule("volume", "POOL/VOLUME", name).map((sentence): [string, string] => [
    "name",
    sentence,
  ]);
  const block = volblocksize === undefined ? defaultBlock : bytes(volblocksize);
  if ((block & (block - 1n)) !== 0n || block < 512n || block > 16777216n) {
    found.push([
      "volblocksize",
      `volblocksize is a power of two from 512 B to 128 KiB (to 16 MiB with large_blocks); ${volblocksize} is ${both(block)}`,
    ]);
  } else if (bytes(size) === 0n) found.push(["size", `the size is more than 0; given: ${size}`]);
  else if (bytes(size) % block !== 0n) found.push(["size", notMultiple(bytes(size), block)]);
  return [...found, ...encryptionRules(inputs)];
}

/** Only before it is made: later, its block size stays what it is. */
function hints(desired: VolumeInputs, { properties, pool }: VolumeObserved): string[] {
  const { name, volblocksize } = desired;
  const geometries = pool === undefined ? [] : poolGeometries(pool.status, poolOf(name), pool.properties);
  return [
    ...(properties === undefined ? blockHints(volblocksize, geometries) : []),
    ...settingHints(desired, properties),
  ];
}

function current(observed: VolumeObserved, inputs: VolumeInputs): VolumeInputs {
  const { properties } = observed;
  // What has that name and is something else shares no field with a volume.
  if (properties === undefined || property(properties, "type") !== "volume") return inputs;
  const { sparse, volblocksize } = inputs;
  const inBytes = (text: string, name: string): string => {
    const have = BigInt(property(properties, name));
    return have === parseSize(text) ? text : formatSize(have);
  };
  return {
    ...inputs,
    ...currentSettings(inputs, names, properties),
    ...currentEncryption(inputs, properties),
    onDelete: onDeleteNow(properties),
    size: inBytes(inputs.size, "volsize"),
    ...(volblocksize !== undefined && { volblocksize: inBytes(volblocksize, "volblocksize") }),
    ...(sparse !== undefined && { sparse: isSparse(properties) }),
  };
}

function found({ properties }: VolumeObserved, named: VolumeInputs): VolumeInputs {
  if (properties === undefined || property(properties, "type") !== "volume") return named;
  return {
    ...named,
    size: formatSize(BigInt(property(properties, "volsize"))),
    volblocksize: formatSize(BigInt(property(properties, "volblocksize"))),
    sparse: isSparse(properties),
    ...foundSettings(names, properties),
    ...foundEncryption(named.name, properties),
    onDelete: onDeleteNow(properties),
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
  hints,
  refusesReplace: (inputs) => keptFromReplace("volume", inputs),
  gone: (observed) => ({
    ...observed,
    properties: undefined,
    snapshots: [],
    node: false,
    key: { ...observed.key, files: new Map() },
  }),
  rules,
  named: (host, name) =>
    nameRule("", "", name).length > 0 ? undefined : { host, name, size: "0", onDelete: "retain" },
  found,
  outputs: ({ name }, observed) => ({
    name,
    device: device(name),
    ...(observed?.properties && { guid: property(observed.properties, "guid") }),
  }),
};
