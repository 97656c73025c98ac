import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { type Answer, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { formatSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { onceReleased } from "../zfs/busy.ts";
import { type BlockDevice, lsblk, parseLsblk, readSignatures, wipefs } from "../zfs/disks.ts";
import { isMarked, markedUuid, parseSuperblock, readSuperblock, type Superblock } from "./superblock.ts";

/**
 * fs:Filesystem: an XFS file system on a block device, made once: mkfs.xfs(8), xfs(5).
 * Never made on a device that holds anything; nothing is ever erased. It is marked by its UUID, so that a run
 * after an interrupted one finds its own work, finished or not, and takes nothing else for it.
 */

export const filesystemInputs = z.strictObject({
  host: hostAddress,
  device: z
    .string()
    .regex(/^\/dev\/[^\s]+$/, "a device is a path below /dev")
    .meta({ change: "replace" })
    .describe("The block device, by a path that is the same after a reboot (/dev/disk/by-path/…)."),
  type: z.enum(["xfs"]).meta({ change: "replace" }).describe("Kind of file system."),
  label: z
    .string()
    .regex(/^[A-Za-z0-9_.:+-]{1,12}$/, "a label has 1 to 12 letters, digits and _ . : + -")
    .optional()
    .describe("Label, shown by lsblk and blkid. Left out: left alone."),
});
export type FilesystemInputs = z.infer<typeof filesystemInputs>;

export type FilesystemObserved = {
  device: string;
  /** undefined: there is no such device, for instance because its session is not logged in. */
  node: BlockDevice | undefined;
  superblock: Superblock | undefined;
  /** Signatures on the device, as phrases. */
  signatures: string[];
  /** Mounted file systems that were made for this device, by whichever path they were reached; the last first. */
  mounts: { target: string; uuid: string }[];
  /** mkfs.xfs is there. */
  programs: boolean;
};

async function observe(host: Questions, { device }: FilesystemInputs): Promise<FilesystemObserved> {
  const [node, signatures, sector, mountinfo, mkfs] = await Promise.all([
    host.ask(lsblk(device)),
    host.ask(wipefs(device)),
    host.ask(readSuperblock(device)),
    host.ask(["cat", "/proc/self/mountinfo"]),
    host.ask(["command", "-v", "mkfs.xfs"]),
  ]);
  const programs = mkfs.status === 0;
  const mounts = parseMounts(expect(host, mountinfo, "the mounts"));
  // A device whose session is gone or in recovery is there and can't be read: as good as not there, for now.
  const unreadable =
    sector.status !== 0 && /No such device or address|Input\/output error/.test(sector.stderr);
  if (unreadable || (node.status !== 0 && node.stderr.includes("not a block device"))) {
    const others = await mountsFor(host, device, mounts, undefined);
    return { device, node: undefined, superblock: undefined, signatures: [], mounts: others, programs };
  }
  const [found] = parseLsblk(expect(host, node, device));
  if (found === undefined) throw new ParseError(`lsblk shows nothing of ${device}`);
  const superblock = parseSuperblock(expect(host, sector, `the first sector of ${device}`));
  return {
    device,
    node: found,
    superblock,
    signatures: (readSignatures(host, signatures, device) ?? []).map(({ type, label }) =>
      label === null ? type : `${type} "${label}"`,
    ),
    mounts: await mountsFor(host, device, mounts, { node: found, superblock }),
    programs,
  };
}

type Mount = { target: string; source: string; type: string };

/** /proc/self/mountinfo: proc_pid_mountinfo(5). */
export function parseMounts(text: string): Mount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const match = /^\d+ \d+ \d+:\d+ \S+ (\S+) \S+.* - (\S+) (\S+) \S+$/.exec(line);
      if (match === null) throw new ParseError(`not a line of mountinfo: ${JSON.stringify(line)}`);
      const [, target = "", type = "", source = ""] = match;
      return { target: unescaped(target), source: unescaped(source), type };
    });
}

/** Blanks, tabs, newlines and backslashes stand as \040 and so on. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/**
 * The mounts of what was made for this device: of the device itself, or of another path to the same disk (the
 * other session), which only the UUID in the mounted superblock tells.
 */
async function mountsFor(
  host: Questions,
  device: string,
  mounts: readonly Mount[],
  known: { node: BlockDevice; superblock: Superblock | undefined } | undefined,
): Promise<FilesystemObserved["mounts"]> {
  const xfs = mounts.filter(({ type, source }) => type === "xfs" && source.startsWith("/dev/"));
  const found = await Promise.all(
    xfs.map(async ({ target, source }) => {
      const same = known !== undefined && [known.node.kname, known.node.name].includes(source);
      const superblock = same
        ? known.superblock
        : mountedSuperblock(host, await host.ask(readSuperblock(source)), source);
      return { target, uuid: superblock?.uuid ?? "" };
    }),
  );
  return found.filter(({ uuid }) => isMarked(uuid, device)).reverse();
}

/** A mounted device that can't be read any more (its session is gone) is not known to be ours. */
function mountedSuperblock(host: Questions, answer: Answer, source: string): Superblock | undefined {
  if (/No such (file|device)|Input\/output error/.test(answer.stderr)) return undefined;
  return parseSuperblock(expect(host, answer, `the first sector of ${source}`));
}

/** The file system that this project made for this device, and finished. */
const made = ({ superblock, device }: FilesystemObserved): Superblock | undefined =>
  superblock && !superblock.inProgress && isMarked(superblock.uuid, device) ? superblock : undefined;

/** mkfs.xfs was killed on its way: its superblock is there, still marked "in progress", with the UUID it was given. */
const halfMade = ({ superblock, device }: FilesystemObserved, owner: string): boolean =>
  superblock?.inProgress === true && superblock.uuid === markedUuid(owner, device);

function plan(
  desired: FilesystemInputs | undefined,
  observed: FilesystemObserved,
  _inputs: FilesystemInputs,
  owner: string,
): Step[] {
  const { device } = observed;
  if (desired === undefined) {
    return observed.mounts
      .filter(({ uuid }) => uuid === markedUuid(owner, device))
      .map(({ target }) => onceReleased(`unmount ${target}`, target, ["umount", target]));
  }
  // What it holds can't be told, so nothing is made: its session comes first, and then there is another plan.
  if (observed.node === undefined) {
    return [{ say: `wait for ${device}`, until: ["test", "-b", device], deadlineSeconds: 60 }];
  }
  const have = made(observed);
  if (have === undefined) {
    // -f only over our own unfinished work: without it mkfs.xfs looks once more whether the device is blank.
    const force = halfMade(observed, owner) ? ["-f"] : [];
    const label = desired.label === undefined ? [] : ["-L", desired.label];
    const uuid = ["-m", `uuid=${markedUuid(owner, device)}`];
    return [
      { say: `make an XFS on ${device}`, argv: ["mkfs.xfs", "-q", ...force, ...uuid, ...label, device] },
    ];
  }
  if (desired.label === undefined || desired.label === have.label) return [];
  const [mount] = observed.mounts;
  const argv =
    mount === undefined
      ? ["xfs_admin", "-L", desired.label, device]
      : ["xfs_io", "-c", `label -s ${desired.label}`, mount.target];
  return [{ say: `label the XFS on ${device} ${desired.label}`, argv }];
}

/** Smallest device that mkfs.xfs takes. */
const smallest = 300 * 1024 * 1024;

function refusals(
  desired: FilesystemInputs | undefined,
  observed: FilesystemObserved,
  _inputs: FilesystemInputs,
  owner: string,
): string[] {
  if (desired === undefined) return [];
  const { device, node, superblock } = observed;
  if (node === undefined) return [];
  if (made(observed) !== undefined || halfMade(observed, owner)) {
    return observed.programs ? [] : made(observed) ? [] : [noPrograms(desired.host.name)];
  }
  const holds = [...describeSuperblock(superblock), ...findings(observed)];
  if (holds.length > 0) {
    return [
      `${device} is not blank: ${holds.join("; ")}. Nothing was touched. If all of that may be destroyed, do it by hand (wipefs -a ${device}); otherwise declare another device.`,
    ];
  }
  if (node.size < smallest) {
    return [
      `${device} has ${node.size} bytes (${formatSize(BigInt(node.size))}); an XFS has at least 300 MiB. Declare a larger volume.`,
    ];
  }
  return observed.programs ? [] : [noPrograms(desired.host.name)];
}

function describeSuperblock(superblock: Superblock | undefined): string[] {
  if (superblock === undefined) return [];
  const { uuid, label, inProgress } = superblock;
  const what = inProgress
    ? "an XFS that mkfs.xfs has not finished"
    : "an XFS that this stack did not make for it";
  return [`${what} (UUID ${uuid}${label === "" ? "" : `, label ${label}`})`];
}

function findings({ node, signatures, superblock }: FilesystemObserved): string[] {
  const others = signatures.filter((type) => superblock === undefined || !type.startsWith("xfs"));
  const users = (node?.children ?? []).map(({ name, type }) =>
    type === "mpath"
      ? `multipath map ${name} has taken it (declare the map as the device, or blacklist the disk in multipath.conf)`
      : `${name} (${type}) is on it`,
  );
  const mounted = node?.mountpoint == null ? [] : [`it is mounted on ${node.mountpoint}`];
  return [...new Set(others), ...users, ...mounted, ...(node?.ro ? ["it is read-only"] : [])];
}

const noPrograms = (host: string): string =>
  `${host} has no mkfs.xfs. Install it: apt-get install xfsprogs, or dnf install xfsprogs.`;

export const filesystem: ResourceType<FilesystemInputs, FilesystemObserved> = {
  type: "fs:Filesystem",
  inputs: filesystemInputs,
  identity: (inputs) => inputs.device,
  observe,
  exists: (observed) => made(observed) !== undefined,
  owner: (observed, asking) => {
    const uuid = made(observed)?.uuid;
    if (uuid === undefined) return undefined;
    return uuid === markedUuid(asking, observed.device) ? asking : `with mark ${uuid.slice(0, 18)}`;
  },
  current: (observed, inputs) => {
    const label = made(observed)?.label;
    return inputs.label === undefined || label === undefined ? inputs : { ...inputs, label };
  },
  plan,
  refusals,
  outputs: ({ device, type }, observed) => ({
    device,
    type,
    ...(observed?.superblock && { uuid: observed.superblock.uuid }),
  }),
};
