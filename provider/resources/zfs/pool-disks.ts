import type { Step } from "../../step.ts";
import {
  contents,
  type Disk,
  diskOf,
  diskPath,
  inUse,
  labelStates,
  madeWhole,
  onlyZfsPartitions,
  partitions,
} from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { type PoolObserved, recordFile, resolver } from "./pool-observe.ts";
import { local, ownerProperty, poolComment, property } from "./properties.ts";
import { firstPartition, sameDisk } from "./vdevs.ts";

/** The disks that a pool takes and gives back: what may be cleared, how they are made ready, what is left on them. */

/**
 * May this disk be cleared although the stack file does not name it under `wipe`? Only for what this stack left:
 * - labels of a pool of this name that bear this stack's mark and say "destroyed": `zpool destroy` was run on it,
 *   so its data was given up then; the mark is in the label itself, so no other pool can be taken for it;
 * - labels that ZFS writes onto a disk which it takes out of a pool (transaction group 0), by this very pool;
 * - such labels of a pool that was never written, on a disk that the record lists: zpool was cut off;
 * - labels of a cache or spare, which hold no data and name no pool, where another declared disk bears the label of
 *   our destroyed pool, the record lists the disk, or the cache was this pool's;
 * - ZFS's partitions without a label, which an interrupted run left, by the record it wrote before.
 * Anything else on the disk beside ZFS's own two partitions forbids it.
 */
export function leftover(disk: Disk, observed: PoolObserved, name: string, owner: string): boolean {
  const { device, signatures, labels } = disk;
  if (device === undefined || !onlyZfsPartitions(device)) return false;
  if (!signatures.every(({ type }) => ["gpt", "PMBR", "zfs_member"].includes(type))) return false;
  const { begun, pool } = observed;
  const listed = begun?.owner === owner && begun.disks.includes(disk.path);
  if (labels.length === 0) return listed && !signatures.some(({ type }) => type === "zfs_member");
  const guid =
    pool !== undefined && local(pool.root, ownerProperty) === owner
      ? property(pool.properties, "guid")
      : undefined;
  const destroyed = ({ labels }: Disk): boolean =>
    labels.some(
      ({ label }) =>
        label.state === labelStates.destroyed && label.pool === name && label.comment === poolComment(owner),
    );
  const beside = listed || observed.disks.some(destroyed);
  return (
    (labels.length === 1 && destroyed(disk)) ||
    labels.every(({ label }) => {
      if (label.pool !== undefined) return label.outside === true && (listed || label.guid === guid);
      if (label.state === labelStates.spare) return beside;
      return label.state === labelStates.cache && (beside || (guid !== undefined && label.guid === guid));
    })
  );
}

/** Why the disks that a plan takes can't be taken: those in use, and those that hold something, with its findings. */
export function refuseDisks(
  taken: readonly Disk[],
  observed: PoolObserved,
  desired: PoolInputs,
  owner: string,
): string[] {
  const wipe = wiped(desired);
  const lines: Record<"missing" | "used" | "full", string[]> = { missing: [], used: [], full: [] };
  for (const disk of taken) {
    const [uses, holds] = [inUse(disk), contents(disk)];
    const may = wipe.has(disk.path) || leftover(disk, observed, desired.name, owner);
    if (disk.device === undefined) lines.missing.push(`\n    ${disk.path}`);
    else if (uses.length > 0) lines.used.push(`\n    ${disk.path}: ${uses.join("; ")}`);
    else if (holds.length > 0 && !may) lines.full.push(`\n    ${disk.path}: ${holds.join("; ")}`);
  }
  const refusal = (found: readonly string[], what: string, out: string): string[] =>
    found.length === 0 ? [] : [`${what}:${found.join("")}\n  ${out}`];
  return [
    ...refusal(
      lines.missing,
      "These disks are not there",
      "Check their names in /dev/disk/by-id, and their cables.",
    ),
    ...refusal(lines.used, "These disks are in use", "Take them out of use first, or declare others."),
    ...refusal(
      lines.full,
      "These disks are not blank",
      "If all of that may be destroyed, name the disks under wipe; otherwise declare others.",
    ),
  ];
}

const wiped = ({ wipe = [] }: PoolInputs): Set<string> => new Set(wipe.map(diskPath));

/** Declared disks as they were found, of those that the pool does not hold. */
export const found = ({ disks }: PoolObserved, declared: readonly string[]): Disk[] => {
  const paths = new Set(declared.map(diskPath));
  return disks.filter(({ path }) => paths.has(path));
};

/** A disk that is given back: where it bears ZFS's label, and the partitions that ZFS made on it. */
export type Given = { path: string; labelled: string[]; partitions: string[] };

const foundDisk = ({ path, device, labels }: Disk): Given => ({
  path,
  labelled: labels.map((label) => label.device),
  partitions: device === undefined ? [] : partitions(device).map(({ kname }) => kname),
});

/**
 * A disk as a stack file would name it, of the path that a pool shows: the whole disk where ZFS made the partition
 * itself. A disk that is gone can't be looked at; ZFS has whole disks nearly always.
 */
export function wholeDisk(
  shown: string,
  { devices, nodes }: Pick<PoolObserved, "devices" | "nodes">,
): string {
  const kname = nodes.get(shown) ?? shown;
  const disk = diskOf(devices, kname);
  const link = /^(\/dev\/disk\/.*)-part1$/.exec(shown)?.[1];
  if (disk === undefined) return link ?? shown;
  if (disk.kname === kname || !madeWhole(disk)) return shown;
  return link ?? disk.name;
}

/** The disks behind these paths that the pool shows, as they will be once it has given them up; none that is gone. */
export function givenDisks(
  shown: readonly string[],
  observed: PoolObserved,
  declared: readonly string[] = [],
): Given[] {
  const { devices, nodes } = observed;
  return shown.flatMap((path): Given[] => {
    const kname = nodes.get(path) ?? path;
    const disk = diskOf(devices, kname);
    if (disk === undefined) return [];
    const spelled = declared.map(diskPath).find((other) => sameDisk(other, path, resolver(observed)));
    if (disk.kname === kname) return [{ path: spelled ?? path, labelled: [kname], partitions: [] }];
    if (!madeWhole(disk)) return [{ path, labelled: [kname], partitions: [] }];
    const whole = wholeDisk(path, observed);
    return [{ path: spelled ?? whole, labelled: [kname], partitions: partitions(disk).map((p) => p.kname) }];
  });
}

/** Disks with a trace of this stack's earlier work, which nothing uses: what an interrupted run has left to clear. */
export const leftDisks = (
  disks: readonly Disk[],
  observed: PoolObserved,
  name: string,
  owner: string,
): Given[] =>
  disks
    .filter((disk) => inUse(disk).length === 0 && contents(disk).length > 0)
    .filter((disk) => leftover(disk, observed, name, owner))
    .map(foundDisk);

export const note = (say: string, pool: string, owner: string, disks: readonly string[]): Step => ({
  say,
  file: recordFile(pool),
  text: `${[owner, ...disks].join("\n")}\n`,
});
export const forgetNote = (pool: string): Step[] => [
  { say: `note that the work on pool ${pool} is done`, argv: ["rm", "-f", recordFile(pool)] },
];

/** Clears of these disks what may be cleared, and waits until their links are there. */
export function readyDisks(
  disks: readonly Disk[],
  observed: PoolObserved,
  desired: PoolInputs,
  owner: string,
): Step[] {
  if (disks.length === 0) return [];
  const full = disks.filter((disk) => contents(disk).length > 0);
  const old = full.filter((disk) => leftover(disk, observed, desired.name, owner));
  const losing = full.filter((disk) => !old.includes(disk));
  return [
    ...clearDisks(old.map(foundDisk)),
    ...losing.flatMap((disk) =>
      clear([foundDisk(disk)], `wipe ${disk.path}, which holds ${contents(disk).join("; ")}`).map(
        (step): Step => ("until" in step ? step : { ...step, effect: "data loss" }),
      ),
    ),
    {
      say: "wait for the disks' links",
      until: ["ls", "-L", ...disks.map(({ path }) => path)],
      deadlineSeconds: 60,
    },
  ];
}

/**
 * Whenever a program that wrote to a disk closes it, udev reads the partition table anew: all partitions vanish
 * for a moment, and their links. zpool closes each disk after it labelled it and goes on to the next; where the
 * kernel then opens a partition in such a moment, the pool fails with "one or more devices is currently
 * unavailable" (ZFS 2.3.9 tries once; a busy udev makes the moment seconds long). udev leaves a disk alone that
 * somebody has locked; a shared lock keeps it from re-reading, but lets it make the new partitions' links.
 * See "Locking Block Device Access" of systemd.
 */
export const withoutRescan = (disks: readonly string[]): string[] =>
  disks.flatMap((disk) => ["flock", "-s", diskPath(disk)]);

/** Takes what ZFS left off disks that a pool has given up. */
export const clearDisks = (disks: readonly Given[]): Step[] =>
  disks.length === 0 ? [] : clear(disks, `clear ${disks.map(({ path }) => path).join(", ")}`);

/**
 * Takes labels and partition tables off disks, then waits until udev has removed the partitions' links: `zpool
 * create` waits for the link of the partition that it makes, and a link from before would end that wait too early.
 */
function clear(disks: readonly Given[], say: string): Step[] {
  const whole = disks
    .filter(({ partitions }) => partitions.length > 0)
    .map(({ path }) => firstPartition(path));
  const gone = whole.flatMap((path, n) => [...(n === 0 ? [] : ["-a"]), "!", "-e", path]);
  return [
    ...disks.flatMap(({ labelled }) =>
      labelled.map((device) => ({
        say: `clear the ZFS label of ${device}`,
        argv: ["zpool", "labelclear", "-f", device],
      })),
    ),
    {
      say,
      argv: ["wipefs", "-q", "-a", ...disks.flatMap(({ partitions, path }) => [...partitions, path])],
    },
    ...(whole.length === 0
      ? []
      : [{ say: "wait until their partitions are gone", until: ["test", ...gone], deadlineSeconds: 60 }]),
    { say: "wait for udev", until: ["udevadm", "settle", "--timeout=5"], deadlineSeconds: 120 },
  ];
}
