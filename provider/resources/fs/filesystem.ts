import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { formatSize, parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { onceReleased } from "../zfs/busy.ts";
import { type BlockDevice, lsblk, parseLsblk, readSignatures, wipefs } from "../zfs/disks.ts";
import { refusals } from "./filesystem-refusals.ts";
import { growSteps, isSmaller } from "./grow.ts";
import { mountsFor, parseMounts } from "./mounts.ts";
import {
  halfMade,
  isMarked,
  isOwners,
  made,
  markedUuid,
  parseSuperblock,
  parseXfsInfo,
  readSuperblock,
  type Superblock,
} from "./superblock.ts";

/**
 * fs:Filesystem: an XFS file system on a block device, made once and grown with it: mkfs.xfs(8), xfs_growfs(8), xfs(5).
 * Never made on a device that holds anything; nothing is ever erased. It is marked by its UUID, so that a run
 * after an interrupted one finds its own work, finished or not, and takes nothing else for it.
 */

const devicePath = z.string().regex(/^\/dev\/[^\s]+$/, "a device is a path below /dev");
const label = z
  .string()
  .regex(/^[A-Za-z0-9_.:+-]{1,12}$/, "a label has 1 to 12 letters, digits and _ . : + -");

export const filesystemInputs = z.strictObject({
  host: hostAddress,
  device: devicePath
    .meta({ change: "replace" })
    .describe("The block device, by a path that is the same after a reboot (/dev/disk/by-path/…)."),
  type: z.enum(["xfs"]).meta({ change: "replace" }).describe("Kind of file system."),
  label: label.optional().describe("Label, shown by lsblk and blkid. Left out: left alone."),
  size: z
    .string()
    .refine((text) => parseSize(text) !== undefined, {
      error: "a size is a number with a unit in zfs notation or IEC (200G, 200 GiB, 1.5T), in whole bytes",
    })
    .optional()
    .describe(
      "The size of its device, as the volume declares it: the file system grows with it, never shrinks, and leaves " +
        "less than 16 MiB unused. Left out: left alone.",
    ),
  uuid: z
    .guid()
    .optional()
    .describe("UUID of an XFS that is there already and was imported: it is taken as it is, never made."),
});
export type FilesystemInputs = z.infer<typeof filesystemInputs>;

export type FilesystemObserved = {
  device: string;
  /** The UUID that is declared to be there already. */
  taken: string | undefined;
  /** undefined: there is no such device, for instance because its session is not logged in. */
  node: BlockDevice | undefined;
  superblock: Superblock | undefined;
  /** Signatures on the device, as phrases. */
  signatures: string[];
  /** Mounted file systems that are this one, by whichever path they were reached; the last first. */
  mounts: { target: string; uuid: string }[];
  /** mkfs.xfs is there. */
  programs: boolean;
};

async function observe(host: Questions, inputs: FilesystemInputs): Promise<FilesystemObserved> {
  const { device, uuid } = inputs;
  const [lsblkAnswer, signatures, sector, mountinfo, mkfs] = await Promise.all([
    host.ask(lsblk(device)),
    host.ask(wipefs(device)),
    host.ask(readSuperblock(device)),
    host.ask(["cat", "/proc/self/mountinfo"]),
    host.ask(["command", "-v", "mkfs.xfs"]),
  ]);
  const taken = uuid?.toLowerCase();
  const mine = (found: string): boolean => isMarked(found, device) || found === taken;
  const programs = mkfs.status === 0;
  const mounted = parseMounts(expect(host, mountinfo, "the mounts"));
  // A device whose session is gone or in recovery is there and can't be read: as good as not there, for now.
  const unreadable =
    sector.status !== 0 && /No such device or address|Input\/output error/.test(sector.stderr);
  if (unreadable || (lsblkAnswer.status !== 0 && lsblkAnswer.stderr.includes("not a block device"))) {
    const mounts = await mountsFor(host, mounted, mine);
    return { device, taken, node: undefined, superblock: undefined, signatures: [], mounts, programs };
  }
  const [node] = parseLsblk(expect(host, lsblkAnswer, device));
  if (node === undefined) throw new ParseError(`lsblk shows nothing of ${device}`);
  const superblock = parseSuperblock(expect(host, sector, `the first sector of ${device}`));
  const same = (found: string): boolean => mine(found) || found === superblock?.uuid;
  const mounts = await mountsFor(host, mounted, same, { node, superblock });
  const [mount] = mounts;
  return {
    device,
    taken,
    node,
    superblock:
      superblock && mount && programs
        ? { ...superblock, bytes: await mountedBytes(host, mount.target) }
        : superblock,
    signatures: (readSignatures(host, signatures, device) ?? []).map(({ type, label }) =>
      label === null ? type : `${type} "${label}"`,
    ),
    mounts,
    programs,
  };
}

const mountedBytes = async (host: Questions, target: string): Promise<bigint> =>
  parseXfsInfo(expect(host, await host.ask(["xfs_info", target]), `the file system on ${target}`));

function plan(
  desired: FilesystemInputs | undefined,
  observed: FilesystemObserved,
  _inputs: FilesystemInputs,
  owner: string,
): Step[] {
  const { device, node, taken } = observed;
  if (desired === undefined) {
    return observed.mounts
      .filter(({ uuid }) => (taken === undefined ? isOwners(uuid, owner) : uuid === taken))
      .map(({ target }) => ({
        ...onceReleased(`unmount ${target}`, target, ["umount", target]),
        effect: "outage",
      }));
  }
  // What it holds can't be told, so nothing is made: its session comes first, and then there is another plan.
  if (node === undefined) {
    return [{ say: `wait for ${device}`, until: ["test", "-b", device], deadlineSeconds: 60 }];
  }
  const have = made(observed, owner);
  const size = parseSize(desired.size ?? "");
  if (have === undefined) {
    // Its session may not have seen yet that the volume has grown.
    const wait = size !== undefined && BigInt(node.size) < size ? [waitForSize(device, node, size)] : [];
    // -f only over our own unfinished work: without it mkfs.xfs looks once more whether the device is blank.
    const force = halfMade(observed, owner) ? ["-f"] : [];
    const named = desired.label === undefined ? [] : ["-L", desired.label];
    const uuid = ["-m", `uuid=${markedUuid(owner, device)}`];
    return [
      ...wait,
      { say: `make an XFS on ${device}`, argv: ["mkfs.xfs", "-q", ...force, ...uuid, ...named, device] },
    ];
  }
  const [mount] = observed.mounts;
  const steps: Step[] = [];
  if (desired.label !== undefined && desired.label !== have.label) {
    const argv =
      mount === undefined
        ? ["xfs_admin", "-L", desired.label, device]
        : ["xfs_io", "-c", `label -s ${desired.label}`, mount.target];
    steps.push({ say: `label the XFS on ${device} ${desired.label}`, argv });
  }
  if (size !== undefined && isSmaller(have.bytes, size)) {
    if (BigInt(node.size) < size) steps.push(waitForSize(device, node, size));
    steps.push(...growSteps(device, mount?.target, have.bytes, size));
  }
  return steps;
}

const waitForSize = (device: string, node: BlockDevice, size: bigint): Step => ({
  say: `wait until ${device} shows ${formatSize(size)}; it shows ${formatSize(BigInt(node.size))}`,
  // In sysfs a sector has 512 bytes, whatever the device's is.
  until: ["grep", "-qx", `${size / 512n}`, `/sys/class/block/${node.kname.replace(/^.*\//, "")}/size`],
  deadlineSeconds: 60,
});

/** The inputs as they hold: the values that are there, in the declared spelling where that means the same. */
function current({ superblock }: FilesystemObserved, inputs: FilesystemInputs): FilesystemInputs {
  if (superblock === undefined) return inputs;
  const { uuid, label, bytes } = superblock;
  const size = parseSize(inputs.size ?? "");
  const fills = size === undefined || (bytes <= size && !isSmaller(bytes, size));
  return {
    ...inputs,
    ...(inputs.label !== undefined && { label }),
    ...(inputs.uuid !== undefined && inputs.uuid.toLowerCase() !== uuid && { uuid }),
    ...(!fills && { size: formatSize(bytes) }),
  };
}

function named(host: HostAddress, identity: string): FilesystemInputs | undefined {
  return devicePath.safeParse(identity).success ? { host, device: identity, type: "xfs" } : undefined;
}

function found({ superblock, node }: FilesystemObserved, inputs: FilesystemInputs): FilesystemInputs {
  if (superblock === undefined || node === undefined) return inputs;
  const size = BigInt(node.size);
  return {
    ...inputs,
    ...(label.safeParse(superblock.label).success && { label: superblock.label }),
    ...(!isSmaller(superblock.bytes, size) && { size: formatSize(size) }),
    ...(!isMarked(superblock.uuid, inputs.device) && { uuid: superblock.uuid }),
  };
}

export const filesystem: ResourceType<FilesystemInputs, FilesystemObserved> = {
  type: "fs:Filesystem",
  inputs: filesystemInputs,
  identity: (inputs) => inputs.device,
  observe,
  /** Whoever made it: a foreign one is there too, and has to be imported. */
  exists: ({ superblock }) => superblock !== undefined && !superblock.inProgress,
  owner: ({ superblock, device }, asking) => {
    if (superblock === undefined || superblock.inProgress) return undefined;
    const { uuid } = superblock;
    if (isOwners(uuid, asking)) return asking;
    return isMarked(uuid, device) ? `with mark ${uuid.slice(0, 18)}` : undefined;
  },
  current,
  plan,
  refusals,
  named,
  found,
  outputs: ({ device, type }, observed) => ({
    device,
    type,
    ...(observed?.superblock && { uuid: observed.superblock.uuid }),
  }),
};
