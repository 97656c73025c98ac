import { type BlockDevice, diskPath, findDevice } from "./disks.ts";
import type { Layout, Role, TopLevelVdev } from "./status.ts";

/** Declared vdevs against those of a pool: what is there, and by which commands it becomes what is declared. */

export type DeclaredVdev = {
  role: Role;
  type: Layout;
  disks: string[];
  data?: number | undefined;
  spares?: number | undefined;
};

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

export const isDraid = (type: Layout): boolean => type.startsWith("draid");
/** Disks that a vdev of this layout can lose. */
export const parity = (type: Layout): number => Number(/\d$/.exec(type)?.[0] ?? 0);

/** Top-level vdevs as ZFS knows them: each disk of a stripe is one of its own. */
export const topLevels = (vdevs: readonly DeclaredVdev[]): DeclaredVdev[] =>
  vdevs.flatMap((vdev) =>
    vdev.type === "stripe" ? vdev.disks.map((disk) => ({ ...vdev, disks: [disk] })) : [vdev],
  );

export type VdevChanges = {
  /** A disk takes the place of another (by zpool's name of it). */
  replace: { vdev: string; old: string; disk: string }[];
  /** One disk more for a mirror, beside the disk `to`, or for the RAID-Z `to`. */
  attach: { vdev: string; to: string; disk: string }[];
  /** One side of a mirror less; `name` is zpool's. */
  detach: { vdev: string; disk: string; name: string }[];
  /** Declared, not there. */
  add: DeclaredVdev[];
  /** There, not declared. */
  remove: TopLevelVdev[];
  /** Declared, but being removed: the removal is stopped. */
  keep: TopLevelVdev[];
  /** No command turns the one into the other. */
  impossible: { declared: DeclaredVdev; there: TopLevelVdev }[];
};

export function vdevChanges(
  declared: readonly DeclaredVdev[],
  there: readonly TopLevelVdev[],
  resolve: Resolve,
): VdevChanges {
  const changes: VdevChanges = {
    ...{ replace: [], attach: [], detach: [], add: [], remove: [], keep: [], impossible: [] },
  };
  const left = [...there];
  const take = (vdev: TopLevelVdev | undefined): TopLevelVdev | undefined =>
    vdev === undefined ? undefined : left.splice(left.indexOf(vdev), 1)[0];
  const shared = (wanted: DeclaredVdev, vdev: TopLevelVdev): number =>
    wanted.role === vdev.role
      ? wanted.disks.filter((disk) => vdev.disks.some((shown) => sameDisk(disk, shown, resolve))).length
      : 0;
  const changed = topLevels(declared).filter(
    (wanted) => take(left.find((vdev) => sameVdev(wanted, vdev, resolve))) === undefined,
  );
  const unpaired = changed.filter((wanted) => {
    const most = Math.max(...left.map((vdev) => shared(wanted, vdev)));
    const vdev = most > 0 ? take(left.find((candidate) => shared(wanted, candidate) === most)) : undefined;
    if (vdev !== undefined) alter(wanted, vdev, resolve, changes);
    return vdev === undefined;
  });
  for (const wanted of unpaired) {
    const alone = (vdev: DeclaredVdev): boolean =>
      vdev.role === wanted.role && vdev.type === "stripe" && !removable.includes(vdev.role);
    const [vdev] = left.filter(alone);
    const exchanged = alone(wanted) && unpaired.filter(alone).length === 1 && left.filter(alone).length === 1;
    if (exchanged && vdev !== undefined && !vdev.removing) {
      left.splice(left.indexOf(vdev), 1);
      alter(wanted, vdev, resolve, changes);
    } else changes.add.push(wanted);
  }
  // A hot spare that becomes a member for good leaves the spares by itself.
  const staying = new Set(
    changes.detach.flatMap(({ disk }) => there.map(({ standIns }) => standIns?.[disk]).filter(Boolean)),
  );
  changes.remove = left.filter(({ role, disks: [disk = ""] }) => role !== "spare" || !staying.has(disk));
  return changes;
}

/** Changes of one vdev that keeps at least one disk, or of a disk that stands alone. */
function alter(wanted: DeclaredVdev, vdev: TopLevelVdev, resolve: Resolve, changes: VdevChanges): void {
  const missing = wanted.disks.filter((disk) => !vdev.disks.some((shown) => sameDisk(disk, shown, resolve)));
  const extra = vdev.disks.filter((shown) => !wanted.disks.some((disk) => sameDisk(disk, shown, resolve)));
  const kept = vdev.disks.find((shown) => !extra.includes(shown));
  const mirrors = [wanted, vdev].every(({ type }) => type === "mirror" || type === "stripe");
  const growing = missing.length - extra.length;
  const possible =
    mirrors || (sameShape(wanted, vdev) && (growing === 0 || (growing > 0 && !isDraid(vdev.type))));
  if (!possible) {
    changes.impossible.push({ declared: wanted, there: vdev });
    return;
  }
  if (vdev.removing) changes.keep.push(vdev);
  const name = (shown: string): string => vdev.guids?.[shown] ?? shown;
  const detach = (disk: string) => changes.detach.push({ vdev: vdev.name, disk, name: name(disk) });
  // The disk's stand-in is declared in its place: it stays when the disk is detached.
  for (const [disk, spare] of Object.entries(vdev.standIns ?? {})) {
    const place = missing.findIndex((path) => sameDisk(path, spare, resolve));
    if (place < 0 || !extra.includes(disk)) continue;
    missing.splice(place, 1);
    extra.splice(extra.indexOf(disk), 1);
    detach(disk);
  }
  for (const disk of missing) {
    const old = extra.shift();
    if (old !== undefined) changes.replace.push({ vdev: vdev.name, old: name(old), disk });
    else changes.attach.push({ vdev: vdev.name, to: mirrors ? name(kept ?? "") : vdev.name, disk });
  }
  extra.forEach(detach);
}

/** Same layout; what a dRAID leaves to ZFS may be anything. */
const sameShape = (declared: DeclaredVdev, there: TopLevelVdev): boolean =>
  declared.type === there.type &&
  (declared.data === undefined || declared.data === there.data) &&
  (declared.spares === undefined || declared.spares === there.spares);

const sameVdev = (declared: DeclaredVdev, there: TopLevelVdev, resolve: Resolve): boolean =>
  declared.role === there.role &&
  sameShape(declared, there) &&
  there.removing === undefined &&
  declared.disks.length === there.disks.length &&
  declared.disks.every((disk) => there.disks.some((shown) => sameDisk(disk, shown, resolve)));

/** Roles whose vdevs ZFS removes again without moving data about. */
export const removable: readonly Role[] = ["log", "cache", "spare"];

/** All disks that these changes give to the pool, as declared. */
export const newDisks = ({ replace, attach, add }: VdevChanges): string[] => [
  ...[...replace, ...attach].map(({ disk }) => disk),
  ...add.flatMap(({ disks }) => disks),
];

/** All paths that a pool shows, those of disks that leave and of spares that stand in as well. */
export const shownDisks = (vdevs: readonly TopLevelVdev[]): string[] =>
  vdevs.flatMap(({ disks, leaving = [] }) => [...disks, ...leaving]);

export const describeVdev = ({ role, disks, ...layout }: DeclaredVdev): string =>
  `${role} ${typeArgument({ ...layout, disks })} of ${disks.join(" ")}`;

/** The vdevs as arguments of `zpool create` and `zpool add`. */
export const vdevArguments = (vdevs: readonly DeclaredVdev[]): string[] =>
  [...vdevs]
    // Roles open a section that lasts to the next one, so data vdevs stand first.
    .sort((a, b) => Number(a.role !== "data") - Number(b.role !== "data"))
    .flatMap((vdev) => [
      ...(vdev.role === "data" ? [] : [vdev.role]),
      ...(vdev.type === "stripe" ? [] : [typeArgument(vdev)]),
      ...vdev.disks.map(diskPath),
    ]);

/** `draid2:4d:11c:1s`; the number of children is checked by zpool against the disks that follow. */
function typeArgument({ type, disks, data, spares }: Omit<DeclaredVdev, "role">): string {
  if (!isDraid(type)) return type;
  const parts = [data === undefined ? "" : `:${data}d`, `:${disks.length}c`, `:${spares ?? 0}s`];
  return `${type}${parts.join("")}`;
}

/** The vdevs that are there, in the declared spelling and order wherever they are as declared. */
export function currentVdevs(
  declared: readonly DeclaredVdev[],
  there: readonly TopLevelVdev[],
  resolve: Resolve,
  wholeDisk: (shown: string) => string,
): DeclaredVdev[] {
  const left = [...there];
  const kept = declared.flatMap((vdev): DeclaredVdev[] => {
    const found = topLevels([vdev]).flatMap((wanted) => {
      const index = left.findIndex((candidate) => sameVdev(wanted, candidate, resolve));
      return index < 0 ? [] : left.splice(index, 1).map(() => wanted);
    });
    if (vdev.type !== "stripe") return found;
    const disks = found.flatMap((wanted) => wanted.disks);
    return disks.length === 0 ? [] : [{ ...vdev, disks }];
  });
  return [...kept, ...foundVdevs(left, wholeDisk)];
}

/** Vdevs as a stack file would declare them; disks of stripes of one role in a row make one. */
export function foundVdevs(
  there: readonly TopLevelVdev[],
  wholeDisk: (shown: string) => string,
): DeclaredVdev[] {
  const vdevs: DeclaredVdev[] = [];
  for (const { role, type, disks, data, spares } of there) {
    const last = vdevs.at(-1);
    const paths = disks.map(wholeDisk);
    if (type === "stripe" && last?.type === "stripe" && last.role === role) last.disks.push(...paths);
    else vdevs.push({ role, type, disks: paths, ...(data !== undefined && { data, spares }) });
  }
  return vdevs;
}

/** The imported pool that uses this device or a partition of it. */
export const poolOf = (
  pools: readonly { name: string; vdevs: readonly TopLevelVdev[] }[],
  device: BlockDevice,
  resolve: Resolve,
): string | undefined =>
  pools.find(({ vdevs }) =>
    shownDisks(vdevs).some((shown) => findDevice([device], resolve(shown) ?? shown) !== undefined),
  )?.name;
