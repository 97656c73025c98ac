import type { BlockDevice } from "./disks.ts";
import { diskPath, findDevice } from "./disks.ts";
import type { Layout, Role, TopLevelVdev } from "./status.ts";

/** Declared vdevs against those of a pool: what is there, what is to be added, what is to be removed. */

export type DeclaredVdev = { role: Role; type: Layout; disks: string[] };

/** Resolves a path to the kernel's name of its device, where that is known. */
export type Resolve = (path: string) => string | undefined;

/** The first partition of a disk, as kernel and udev name it: sda → sda1, nvme0n1 → nvme0n1p1, x → x-part1. */
export function firstPartition(path: string): string {
  if (path.startsWith("/dev/disk/")) return `${path}-part1`;
  return /\d$/.test(path) ? `${path}p1` : `${path}1`;
}

/**
 * Is this disk of a pool (a path that `zpool status -P` shows) the declared one? ZFS puts itself into the first
 * partition of a whole disk and shows that partition. Where the spellings differ, the kernel's names decide.
 */
export function sameDisk(declared: string, shown: string, resolve: Resolve): boolean {
  const path = diskPath(declared);
  if (shown === path || shown === firstPartition(path)) return true;
  const [a, b] = [resolve(path), resolve(shown)];
  return a !== undefined && b !== undefined && (b === a || b === firstPartition(a));
}

/** Top-level vdevs as ZFS knows them: each disk of a stripe is one of its own. */
const topLevels = (vdevs: readonly DeclaredVdev[]): DeclaredVdev[] =>
  vdevs.flatMap((vdev) =>
    vdev.type === "stripe" ? vdev.disks.map((disk) => ({ ...vdev, disks: [disk] })) : [vdev],
  );

export type VdevChanges = {
  /** Declared, not there. */
  add: DeclaredVdev[];
  /** There, not declared. */
  remove: TopLevelVdev[];
};

export function vdevChanges(
  declared: readonly DeclaredVdev[],
  there: readonly TopLevelVdev[],
  resolve: Resolve,
): VdevChanges {
  const remove = [...there];
  const add = topLevels(declared).filter((wanted) => {
    const index = remove.findIndex((vdev) => sameVdev(wanted, vdev, resolve));
    if (index >= 0) remove.splice(index, 1);
    return index < 0;
  });
  return { add, remove };
}

function sameVdev(declared: DeclaredVdev, there: TopLevelVdev, resolve: Resolve): boolean {
  return (
    declared.role === there.role &&
    declared.type === there.type &&
    declared.disks.length === there.disks.length &&
    declared.disks.every((disk) => there.disks.some((shown) => sameDisk(disk, shown, resolve)))
  );
}

/** Why these changes can't be made in a living pool; empty where each is a plain `zpool add` or `zpool remove`. */
export function vdevRefusals(
  pool: string,
  { add, remove }: VdevChanges,
  there: readonly TopLevelVdev[],
  resolve: Resolve,
): string[] {
  const data = there.find((vdev) => vdev.role === "data");
  const badAdds = add.filter(({ role, type, disks }) => {
    // A disk of the pool that is declared in another place: ZFS would have to take it out first.
    if (
      there.some((vdev) => disks.some((disk) => vdev.disks.some((shown) => sameDisk(disk, shown, resolve))))
    ) {
      return true;
    }
    if (role === "data") return data?.type !== type || data.disks.length !== disks.length;
    return !removable.includes(role);
  });
  const badRemoves = remove.filter(({ role }) => !removable.includes(role));
  if (badAdds.length === 0 && badRemoves.length === 0) return [];
  const list = (vdevs: readonly DeclaredVdev[]): string => vdevs.map(describeVdev).join("; ") || "nothing";
  return [
    `The vdevs of pool ${pool} can't be changed into the declared ones in place: only there: ${list(remove)}. ` +
      `Only declared: ${list(add)}. In place go more data vdevs of the same type and width, and log, cache and ` +
      "spare vdevs on disks that the pool does not use. Declare the vdevs as they are, or delete the pool with " +
      "onDelete: destroy and make it anew.",
  ];
}

/** Roles whose vdevs ZFS removes again without moving data about. */
const removable: readonly Role[] = ["log", "cache", "spare"];

export const describeVdev = ({ role, type, disks }: DeclaredVdev): string =>
  `${role} ${type} of ${disks.join(" ")}`;

/** The vdevs as arguments of `zpool create` and `zpool add`. */
export const vdevArguments = (vdevs: readonly DeclaredVdev[]): string[] =>
  [...vdevs]
    // Roles open a section that lasts to the next one, so data vdevs stand first.
    .sort((a, b) => Number(a.role !== "data") - Number(b.role !== "data"))
    .flatMap(({ role, type, disks }) => [
      ...(role === "data" ? [] : [role]),
      ...(type === "stripe" ? [] : [type]),
      ...disks.map(diskPath),
    ]);

/** What `zpool remove` takes: a mirror's name, or the one disk. */
export const removeArguments = (vdevs: readonly TopLevelVdev[]): string[] => vdevs.map(({ name }) => name);

/** The vdevs that are there, in the declared spelling and order wherever they are as declared. */
export function currentVdevs(
  declared: readonly DeclaredVdev[],
  there: readonly TopLevelVdev[],
  resolve: Resolve,
): DeclaredVdev[] {
  const { add, remove } = vdevChanges(declared, there, resolve);
  const missing = (disk: string): boolean => add.some(({ disks }) => disks.includes(disk));
  const kept = declared.flatMap((vdev) => {
    if (vdev.type !== "stripe") return vdev.disks.some(missing) ? [] : [vdev];
    const disks = vdev.disks.filter((disk) => !missing(disk));
    return disks.length === 0 ? [] : [{ ...vdev, disks }];
  });
  const others = remove.map(({ role, type, disks }) => ({
    role,
    type,
    disks: disks.map((disk) => disk.replace(/^(\/dev\/disk\/.*)-part1$/, "$1")),
  }));
  return [...kept, ...others];
}

/** The imported pool that uses this device or a partition of it. */
export function poolOf(
  pools: readonly { name: string; vdevs: readonly TopLevelVdev[] }[],
  device: BlockDevice,
  resolve: Resolve,
): string | undefined {
  return pools.find(({ vdevs }) =>
    vdevs.some(({ disks }) =>
      disks.some((shown) => findDevice([device], resolve(shown) ?? shown) !== undefined),
    ),
  )?.name;
}
