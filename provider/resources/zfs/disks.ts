import { z } from "zod";
import { CommandError, ParseError } from "../../errors.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import { formatSize } from "../../size.ts";

/** What block devices hold: lsblk(8), wipefs(8), zdb(8). Shared by the types that write onto disks. */

/** A disk as the stack file spells it, absolute: `by-id/x` is short for /dev/disk/by-id/x. */
export const diskPath = (disk: string): string => (disk.startsWith("by-id/") ? `/dev/disk/${disk}` : disk);

/** Partition types of the two partitions that ZFS makes on a whole disk (Solaris /usr, Solaris reserved). */
const zfsPartitions = ["6a898cc3-1dd2-11b2-99a6-080020736631", "6a945a3b-1dd2-11b2-99a6-080020736631"];

export type BlockDevice = {
  /** The kernel's name: /dev/sda1. */
  kname: string;
  /** The name that people use: /dev/mapper/x for a device mapper's /dev/dm-0. */
  name: string;
  type: string;
  size: number;
  ro: boolean;
  fstype: string | null;
  label: string | null;
  pttype: string | null;
  parttype: string | null;
  mountpoint: string | null;
  /** Physical and logical sector size in bytes, where they were asked for. */
  "phy-sec"?: number | undefined;
  "log-sec"?: number | undefined;
  children?: BlockDevice[] | undefined;
};

const blockDevice: z.ZodType<BlockDevice> = z.strictObject({
  kname: z.string(),
  name: z.string(),
  type: z.string(),
  size: z.coerce.number(),
  // util-linux before 2.33 prints "0" and "1".
  ro: z.union([z.boolean(), z.enum(["0", "1"]).transform((digit) => digit === "1")]),
  fstype: z.string().nullable(),
  label: z.string().nullable(),
  pttype: z.string().nullable(),
  parttype: z.string().nullable(),
  mountpoint: z.string().nullable(),
  "phy-sec": z.coerce.number().optional(),
  "log-sec": z.coerce.number().optional(),
  get children() {
    return z.array(blockDevice).optional();
  },
});

const columns = "KNAME,NAME,TYPE,SIZE,RO,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINT";
/** All block devices, or one with what stands on it. */
export const lsblk = (...devices: string[]): string[] => [
  ...["lsblk", "-J", "-b", "-p", "-o"],
  columns,
  ...devices,
];
/** All block devices with their sector sizes. */
export const lsblkSectors = (): string[] => ["lsblk", "-J", "-b", "-p", "-o", `${columns},PHY-SEC,LOG-SEC`];

export const parseLsblk = (text: string): BlockDevice[] =>
  parseJson(text, z.strictObject({ blockdevices: z.array(blockDevice) }), "lsblk").blockdevices;

export type Signature = {
  device: string;
  offset: string;
  type: string;
  uuid: string | null;
  label: string | null;
};
const signature = z.strictObject({
  device: z.string(),
  offset: z.string(),
  type: z.string(),
  uuid: z.string().nullable(),
  label: z.string().nullable(),
});

/** Every signature on a device: file systems, RAID and LVM members, partition tables; `-n` writes nothing. */
export const wipefs = (device: string): string[] => ["wipefs", "-J", "-n", device];

/** The signatures on a device; undefined where there is no such device. */
export function readSignatures(host: Questions, answer: Answer, device: string): Signature[] | undefined {
  if (answer.status === 1 && answer.stderr.includes("No such file or directory")) return undefined;
  const text = expect(host, answer, `what ${device} holds`);
  // Before 2.38 an empty device gives an empty answer.
  if (text.trim() === "") return [];
  return parseJson(text, z.strictObject({ signatures: z.array(signature) }), "wipefs").signatures;
}

function parseJson<T>(text: string, schema: z.ZodType<T>, program: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new ParseError(`${program} did not print the JSON that is known of it: ${text.slice(0, 200)}`, {
      cause,
    });
  }
}

/** A ZFS label as zdb(8) prints it. A spare's label names no pool. */
export type Label = {
  state: number;
  pool?: string;
  guid?: string;
  comment?: string;
  hostname?: string;
  /** No pool was ever written with this disk in it, or the pool has given the disk up. */
  outside?: true;
  /** The top-level vdev: bytes that ZFS uses of it (of all its disks together, save a mirror), and its metaslabs' size. */
  vdev?: { type: string; asize: number; metaslabShift: number };
};
export const labelStates = { active: 0, exported: 1, destroyed: 2, spare: 3, cache: 4 } as const;

/** Output of `zdb -l`; undefined where the device has no label (zdb's own word: "failed to unpack label"). */
export function readLabel(host: Questions, answer: Answer, device: string): Label | undefined {
  if (answer.status !== 0 && /^failed to unpack label 0$/m.test(answer.stdout + answer.stderr)) {
    if (!/^LABEL \d/m.test(answer.stdout)) return undefined;
  } else if (answer.status !== 0) throw unreadable(host, answer, device);
  const field = (name: string): string | undefined =>
    new RegExp(`^ {4}${name}: '?(.*?)'?$`, "m").exec(answer.stdout)?.[1];
  const state = field("state");
  if (state === undefined)
    throw new ParseError(`zdb -l ${device} shows no state: ${answer.stdout.slice(0, 200)}`);
  const inVdev = (name: string): string | undefined =>
    new RegExp(`^ {8}${name}: '?(.*?)'?$`, "m").exec(answer.stdout)?.[1];
  const asize = inVdev("asize");
  const vdev = {
    type: inVdev("type") ?? "",
    asize: Number(asize),
    metaslabShift: Number(inVdev("metaslab_shift")),
  };
  const names = {
    pool: field("name"),
    guid: field("pool_guid"),
    comment: field("comment"),
    hostname: field("hostname"),
  };
  return {
    state: Number(state),
    // ZFS writes labels of transaction group 0 before a pool is made, and onto a disk that it takes out of one.
    ...(field("txg") === "0" && { outside: true }),
    ...(asize !== undefined && { vdev }),
    ...Object.fromEntries(Object.entries(names).filter(([, v]) => v !== undefined)),
  };
}

const unreadable = (host: Questions, answer: Answer, device: string): CommandError =>
  new CommandError(
    host.name,
    answer.status,
    `${host.name}: could not read the ZFS label of ${device}: zdb ended with ${answer.status} and said: ${answer.stderr.trim()}`,
  );

/** One declared disk that no imported pool of this host holds as declared, and all that was found on it. */
export type Disk = {
  /** As declared, absolute. */
  path: string;
  /** undefined: there is no such device. */
  device: BlockDevice | undefined;
  signatures: Signature[];
  /** ZFS labels by the device that holds them: the disk itself, or a partition. */
  labels: { device: string; label: Label }[];
  /** An imported pool that uses the disk or a partition of it. */
  pool: string | undefined;
};

/** The device of this kernel name, at any depth. */
export function findDevice(devices: readonly BlockDevice[], kname: string): BlockDevice | undefined {
  for (const device of devices) {
    const found = device.kname === kname ? device : findDevice(device.children ?? [], kname);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const partitions = (device: BlockDevice): BlockDevice[] =>
  (device.children ?? []).filter((child) => child.type === "part");

/** The disk that a partition is on, or the disk itself. */
export const diskOf = (devices: readonly BlockDevice[], kname: string): BlockDevice | undefined =>
  devices.find((device) => findDevice([device], kname) !== undefined);

/** Does the disk hold ZFS's own partitions and no others? */
export const onlyZfsPartitions = (device: BlockDevice): boolean =>
  partitions(device).every((part) => zfsPartitions.includes(part.parttype ?? ""));

/** Did ZFS partition this disk itself, all of it? */
export const madeWhole = (device: BlockDevice): boolean =>
  partitions(device).length === zfsPartitions.length && onlyZfsPartitions(device);

/** Why a disk can't be taken even where its content may be wiped: it is not there, or something uses it. */
export function inUse(disk: Disk): string[] {
  const { device, pool } = disk;
  if (device === undefined) return ["there is no such device"];
  const found: string[] = [];
  if (pool !== undefined) found.push(`the imported pool ${pool} uses it`);
  if (device.ro) found.push("it is read-only");
  for (const part of [device, ...partitions(device)]) {
    if (part.mountpoint === "[SWAP]") found.push(`${part.name} is in use as swap`);
    else if (part.mountpoint !== null) found.push(`${part.name} is mounted on ${part.mountpoint}`);
    for (const child of part.children ?? []) {
      if (child.type === "mpath")
        found.push(`it is a path of ${child.name}, which is to be declared instead`);
      else if (child.type !== "part") found.push(`${child.name} (${child.type}) stands on ${part.name}`);
    }
  }
  return found;
}

/** What a disk holds, a phrase each; empty for a blank one. */
export function contents(disk: Disk): string[] {
  const { device, signatures, labels } = disk;
  if (device === undefined) return [];
  const tables = new Set(["gpt", "dos", "PMBR", "sun", "sgi", "bsd", "mac"]);
  const found = new Set<string>();
  for (const { device: on, label } of labels) found.add(`${on} has the ${describeLabel(label)}`);
  for (const { type, label } of signatures) {
    if (tables.has(type))
      found.add(`a partition table (${device.pttype ?? type}) with ${describePartitions(device)}`);
    else if (type !== "zfs_member" || labels.length === 0) found.add(`${type}${label ? ` "${label}"` : ""}`);
  }
  return [...found];
}

function describePartitions(device: BlockDevice): string {
  const parts = partitions(device).map(({ name, size, fstype, label }) => {
    const holds = fstype === null ? "" : ` ${fstype}${label === null ? "" : ` "${label}"`}`;
    return `${name} (${formatSize(BigInt(size))}${holds})`;
  });
  return parts.length === 0 ? "no partitions" : parts.join(", ");
}

function describeLabel({ state, pool, guid, hostname }: Label): string {
  const what = Object.entries(labelStates).find(([, number]) => number === state)?.[0] ?? `state ${state}`;
  const whose =
    pool === undefined ? "" : ` pool ${pool}, guid ${guid}${hostname ? `, last on ${hostname}` : ""}`;
  return `ZFS label of ${pool === undefined ? `a ${what} device` : `the ${what === "active" ? "unexported" : what}`}${whose}`;
}
