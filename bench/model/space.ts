import { sectors } from "../../provider/resources/zfs/geometry.ts";
import type { Layout, VdevShape } from "../schema/evidence.ts";
import { geometryOf } from "./layout.ts";

/**
 * How much of its disks a pool gives, and what a volume takes of that, as ZFS reckons it: labels, metaslabs, deflation
 * and slop space. All in bytes. Follows OpenZFS 2.1–2.3 (vdev.c, vdev_draid.c, metaslab.c, spa_misc.c, and libzfs for
 * the reservation); docs/model.md says how far it is from what pools really have. Pure.
 */

const kib = 1024;
const mib = 1024 * kib;
const gib = 1024 * mib;
const align = (value: number, to: number): number => Math.floor(value / to) * to;

/** The partition that `zpool create` makes on a whole disk: from 1 MiB, whole MiB, 8 MiB and the table left behind it. */
function partition(disk: number): number {
  const table = 33 * 512;
  return align(disk - table - 8 * mib - mib, mib);
}

/** A leaf vdev's space between its labels: two of 256 KiB and 3.5 MiB before it, two of 256 KiB behind. */
const betweenLabels = (part: number): number => align(part, 256 * kib) - 4 * mib - 512 * kib;

const draidRow = 16 * mib;
const draidScratch = 32 * mib;

/** A dRAID's disks whose space holds data and parity. */
const draidDisks = ({ disks, spares }: VdevShape): number => disks - spares;

/** What one top-level vdev can allocate before it is cut into metaslabs. */
function allocatable(shape: VdevShape, leaf: number, ashift: number): number {
  const { kind, disks } = shape;
  if (kind === "disk" || kind === "mirror") return leaf;
  if (kind.startsWith("raidz")) return leaf * disks;
  const group = geometryOf(shape, ashift).width * draidRow;
  return align(align(leaf - draidScratch, draidRow) * draidDisks(shape), group);
}

const powerAbove = (value: number): number => 2 ** (Math.floor(Math.log2(value)) + 1);

/** The size of a metaslab: 512 MiB, more where that made over 200, less where it made under 16; 16 MiB to 16 GiB. */
function metaslabSize(space: number): number {
  const usual = 512 * mib;
  const count = Math.floor(space / usual);
  if (count < 16) return Math.max(powerAbove(Math.floor(space / 16)), 16 * mib);
  if (count <= 200) return usual;
  const size = powerAbove(Math.floor(space / 200));
  // The most metaslabs that a vdev may have is 131,072.
  return size <= 16 * gib || space / (16 * gib) <= 131072
    ? Math.min(size, 16 * gib)
    : powerAbove(Math.floor(space / 131072));
}

/** From so many metaslabs on, a vdev keeps one for the intent log (zfs_embedded_slog_min_ms). */
const embeddedFrom = 64;

type VdevSpace = { size: number; metaslab: number; count: number };

function vdevSpace(shape: VdevShape, ashift: number, disk: number): VdevSpace {
  const space = allocatable(shape, betweenLabels(partition(disk)), ashift);
  const metaslab = metaslabSize(space);
  const count = Math.floor(space / metaslab);
  if (!shape.kind.startsWith("draid")) return { size: count * metaslab, metaslab, count };
  // A dRAID's metaslabs begin and end with a whole row of a group.
  const row = geometryOf(shape, ashift).width * 2 ** ashift;
  const sizes = Array.from({ length: count }, (_, n) => {
    const begin = Math.ceil((n * metaslab) / row) * row;
    return align((n + 1) * metaslab - begin, row);
  });
  return { size: sizes.reduce((a, b) => a + b, 0), metaslab: sizes[0] ?? 0, count };
}

/** Bytes that a block of this size takes on a vdev, with parity and padding; of a mirror one side's. */
function allocated(shape: VdevShape, ashift: number, block: number): number {
  const { data, parity, padding } = sectors(geometryOf(shape, ashift), block);
  return (data + parity + padding) * 2 ** ashift;
}

/** `zfs list` counts space as if all blocks were of this size. */
const typicalBlock = 128 * kib;

/** Space as `zfs list` shows it: 512ths of a block's share, rounded down as ZFS does (vdev_deflate_ratio). */
function deflated(shape: VdevShape, ashift: number, space: number): number {
  const ratio = Math.floor(typicalBlock / (allocated(shape, ashift, typicalBlock) / 512));
  return Math.floor(space / 512) * ratio;
}

/** ZFS keeps a 32nd for itself, 128 MiB at least and 128 GiB at most, never more than half (spa_slop_shift). */
function slopOf(space: number, embedded: number): number {
  const part = Math.min(Math.floor(space / 32), 128 * gib);
  const less = part - Math.min(embedded, Math.floor(part / 2));
  return Math.max(less, Math.min(Math.floor(space / 2), 128 * mib));
}

export type PoolSpace = {
  /** All disks but those of log, cache and spare, as they are sold. */
  raw: number;
  /** `zpool list`'s SIZE: parity counts, copies of a mirror don't. */
  size: number;
  /** What datasets can use, parity, padding at 128 KiB and slop space taken away: `zfs list`'s USED + AVAIL. */
  usable: number;
};

/** Null: a disk's size isn't known. */
export function poolSpace({ vdevs, ashift }: Pick<Layout, "vdevs" | "ashift">): PoolSpace | null {
  const total = { raw: 0, size: 0, space: 0, embedded: 0 };
  for (const shape of vdevs) {
    const { role, disks, diskSize, count } = shape;
    if (role === "log" || role === "cache" || role === "spare") continue;
    if (diskSize === null) return null;
    const one = vdevSpace(shape, ashift, diskSize);
    total.raw += disks * diskSize * count;
    total.size += one.size * count;
    if (role !== "data") continue;
    const kept = one.count >= embeddedFrom ? one.metaslab : 0;
    total.space += deflated(shape, ashift, one.size - kept) * count;
    total.embedded += deflated(shape, ashift, kept) * count;
  }
  const { raw, size, space, embedded } = total;
  return { raw, size, usable: space - slopOf(space, embedded) };
}

export type VolumeSpace = {
  /** What its blocks take when all are written, as `zfs list` counts it (REFER), metadata not counted. */
  written: number;
  /** The reservation that a volume gets unless it is sparse (refreservation=auto). */
  reservation: number;
};

const pointersInBlock = 1024;
const metadataCopies = 2;

export function volumeSpace(
  { vdevs, ashift }: Pick<Layout, "vdevs" | "ashift">,
  { size, block }: { size: number; block: number },
): VolumeSpace {
  const data = vdevs.filter(({ role }) => role === "data");
  const blocks = Math.floor(size / block);
  const most = (of: (shape: VdevShape) => number): number => Math.max(...data.map(of));
  // A reservation must do wherever blocks come to lie; ZFS reckons with the worst vdev, and plain ones at their size.
  const scaled = most((shape) => {
    if (geometryOf(shape, ashift).kind === "plain") return blocks * block;
    const typical = allocated(shape, ashift, typicalBlock) / 512;
    return Math.floor((blocks * allocated(shape, ashift, block)) / typical) * (typicalBlock / 512);
  });
  let pointers = 7;
  for (let level = blocks; level > 1; ) {
    level = Math.floor((level + pointersInBlock - 1) / pointersInBlock);
    pointers += level;
  }
  return {
    written: most((shape) => blocks * deflated(shape, ashift, allocated(shape, ashift, block))),
    reservation: scaled + pointers * metadataCopies * typicalBlock,
  };
}
