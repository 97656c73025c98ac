import { redundancy } from "../../components/layout.ts";
import { declaredGeometries, type Geometry, sectors } from "../../provider/resources/zfs/geometry.ts";
import type { Layout, VdevShape } from "../schema/evidence.ts";

/**
 * What a layout costs: how often a byte goes to the disks, what a read touches, and which failures it survives.
 * How many sectors a block takes is provider/resources/zfs/geometry.ts (vdev_raidz_asize, vdev_draid_asize). Pure.
 */

/** The vdevs that hold data. Special and dedup vdevs hold metadata, little beside it. */
export const dataVdevs = ({ vdevs }: Pick<Layout, "vdevs">): VdevShape[] =>
  vdevs.filter(({ role }) => role === "data");
export const logVdevs = ({ vdevs }: Pick<Layout, "vdevs">): VdevShape[] =>
  vdevs.filter(({ role }) => role === "log");

/** Disks of these vdevs together. */
export const disksOf = (vdevs: readonly VdevShape[]): number =>
  vdevs.reduce((sum, { disks, count }) => sum + disks * count, 0);

const typeOf = ({ kind }: VdevShape) => (kind === "disk" ? "stripe" : kind);
const named = ({ disks }: VdevShape): string[] => Array.from({ length: disks }, (_, n) => String(n));

/** How blocks lie on a vdev; `plain` is a disk or a mirror. */
export function geometryOf(shape: VdevShape, ashift: number): Geometry {
  const { data, spares } = shape;
  const declared = { type: typeOf(shape), disks: named(shape), ...(data !== null && { data }), spares };
  return declaredGeometries([declared], ashift)[0] ?? { kind: "plain", parity: 0, width: 1, ashift };
}

/** Copies that a vdev without parity keeps. */
export const copiesOf = ({ kind, disks }: VdevShape): number => (kind === "mirror" ? disks : 1);

/** How many disks of one vdev may fail. */
export const vdevTolerates = (shape: VdevShape): number =>
  redundancy({ type: typeOf(shape), disks: named(shape) });

/** Disks that may fail at once without loss of the pool; a log vdev's loss alone loses no pool. */
export function failures({ vdevs }: Pick<Layout, "vdevs">): {
  /** Whichever they are. */
  any: number;
  /** At best: as many in each vdev as it stands. */
  best: number;
} {
  const holding = vdevs.filter(({ role }) => role === "data" || role === "special" || role === "dedup");
  const each = holding.map((shape) => ({ survives: vdevTolerates(shape), count: shape.count }));
  return {
    any: Math.min(...each.map(({ survives }) => survives)),
    best: each.reduce((sum, { survives, count }) => sum + survives * count, 0),
  };
}

/** Bytes on the disks for each byte of payload: at least, at most, and why, in words. */
export type Cost = { least: number; most: number; how: string };

/** ZFS spreads blocks over vdevs by their free space: vdevs of one size weigh alike. */
function weighed(vdevs: readonly VdevShape[], of: (shape: VdevShape) => number): number {
  const weight = ({ count, diskSize, disks }: VdevShape): number => count * (diskSize ?? 1) * disks;
  const total = vdevs.reduce((sum, shape) => sum + weight(shape), 0);
  return vdevs.reduce((sum, shape) => sum + (weight(shape) / total) * of(shape), 0);
}

/**
 * One block on the vdevs. RAID-Z's padding is no data, and is written only where that lets ZFS join two writes of one
 * disk (ZIO_FLAG_OPTIONAL, vdev_raidz_io_start_write): none of it where blocks fit into the width so that every one's
 * falls on the same disks, which hold nothing else then; else up to all of it. dRAID always writes its own.
 */
function blockCost(vdevs: readonly VdevShape[], ashift: number, block: number): Cost {
  const written = (shape: VdevShape, joined: boolean): number => {
    const geometry = geometryOf(shape, ashift);
    const { data, parity, padding } = sectors(geometry, block);
    const goesRound = geometry.width % (data + parity + padding) !== 0;
    const padded = geometry.kind === "draid" || (joined && goesRound);
    return (copiesOf(shape) * (data + parity + (padded ? padding : 0)) * 2 ** ashift) / block;
  };
  const kinds = vdevs.map((shape) => {
    const geometry = geometryOf(shape, ashift);
    const { data, parity, padding } = sectors(geometry, block);
    if (geometry.kind !== "plain")
      return `${data} data + ${parity} parity + ${padding} padding sectors a block`;
    return copiesOf(shape) === 1 ? "1 copy" : `${copiesOf(shape)} copies`;
  });
  return {
    least: weighed(vdevs, (shape) => written(shape, false)),
    most: weighed(vdevs, (shape) => written(shape, true)),
    how: [...new Set(kinds)].join(", "),
  };
}

/** Does every vdev store a block by copies, whatever the block's size? */
const plainOnly = (vdevs: readonly VdevShape[], ashift: number): boolean =>
  vdevs.every((shape) => geometryOf(shape, ashift).kind === "plain");

/** What is written: random writes smaller than a block rewrite all of it. */
export type Load = { blockSize: number; random: boolean; sync: boolean };

/** How much more than asked for is moved, since ZFS reads and writes whole blocks. */
export const wholeBlocks = ({ blockSize, random }: Load, volblocksize: number | null): number =>
  random && volblocksize !== null && blockSize < volblocksize ? volblocksize / blockSize : 1;

/** Synchronous writes of blocks above this go to their place at once where there is no SLOG: zfs(4), bytes. */
const immediateWrite = 32768;

/**
 * Where the intent log puts synchronous data: nowhere (asynchronous, or sync=disabled), on the SLOG, on the data
 * vdevs beside the data, or nowhere since the block itself is written at once and the log only points at it
 * (`indirect`: logbias=throughput, or no SLOG and blocks above 32 KiB). zfsprops(7), zfs(4); zvol_log_write.
 */
export function intentLog(layout: Layout, load: Load): "none" | "slog" | "data" | "indirect" {
  const { sync, logbias, volblocksize } = layout;
  if (sync === "disabled" || !(load.sync || sync === "always")) return "none";
  if (logbias === "throughput") return "indirect";
  if (logVdevs(layout).length > 0) return "slog";
  const large = volblocksize !== null && volblocksize > immediateWrite && load.blockSize >= volblocksize;
  return large ? "indirect" : "data";
}

/** Blocks of the log are at most this; many small records share one. Headers alone take a block of 4 KiB. */
const largestLogBlock = 131072;
const logOverhead = 4096;

/**
 * Bytes written to the data vdevs for a byte of payload; null where RAID-Z or dRAID is laid out by a block size that
 * isn't known.
 */
export function writeCost(layout: Layout, load: Load): Cost | null {
  const vdevs = dataVdevs(layout);
  const { ashift, volblocksize } = layout;
  if (vdevs.length === 0 || (volblocksize === null && !plainOnly(vdevs, ashift))) return null;
  const block = blockCost(vdevs, ashift, volblocksize ?? Math.max(load.blockSize, 2 ** ashift));
  const whole = wholeBlocks(load, volblocksize);
  const cost: Cost = {
    least: block.least * whole,
    most: block.most * whole,
    how: whole === 1 ? block.how : `${block.how}, ${whole} times as much since whole blocks are rewritten`,
  };
  const log = intentLog(layout, load);
  if (log === "indirect" && logVdevs(layout).length === 0) {
    const record = (blockCost(vdevs, ashift, logOverhead).most * logOverhead) / load.blockSize;
    return { ...cost, most: cost.most + record, how: `${cost.how}, and a record in the intent log` };
  }
  if (log !== "data") return cost;
  const shared = blockCost(vdevs, ashift, largestLogBlock);
  const alone = blockCost(vdevs, ashift, load.blockSize + logOverhead);
  return {
    least: cost.least + shared.least,
    most: cost.most + (alone.most * (load.blockSize + logOverhead)) / load.blockSize,
    how: `${cost.how}, and the same once more for the intent log, as there is no SLOG`,
  };
}

/** Bytes written to the log vdevs for a byte of payload: their copies, and the log's own headers; null: none. */
export function logCost(layout: Layout, load: Load): Cost | null {
  const vdevs = logVdevs(layout);
  const log = intentLog(layout, load);
  if (vdevs.length === 0 || log === "none") return null;
  const copies = weighed(vdevs, copiesOf);
  const header = (copies * logOverhead) / load.blockSize;
  if (log === "indirect")
    return { least: 0, most: header, how: "the SLOG takes a record for each commit, no data" };
  const how = `the SLOG takes all synchronous data${copies === 1 ? "" : `, ${copies} copies of it`}`;
  return { least: copies, most: copies + header, how };
}

/** Bytes read from the data vdevs for a byte that the ARC doesn't have: parity and padding are not read. */
export function readCost(layout: Layout, load: Load): Cost {
  const whole = wholeBlocks(load, layout.volblocksize);
  const how =
    whole === 1
      ? "data is read once, without parity"
      : `whole blocks of ${layout.volblocksize} bytes are read for ${load.blockSize}`;
  return { least: whole, most: whole, how };
}

/** The part of what passes under the heads that is data, on the data vdevs: parity lies between. Mirrors: all. */
export const dataShare = (layout: Layout): number | null => {
  const vdevs = dataVdevs(layout);
  const { ashift, volblocksize } = layout;
  if (volblocksize === null) return plainOnly(vdevs, ashift) ? 1 : null;
  return weighed(vdevs, (shape) => {
    const { data, parity, padding } = sectors(geometryOf(shape, ashift), volblocksize);
    return data / (data + parity + padding);
  });
};

/**
 * How many random reads of one block the pool serves at once, as a multiple of what one disk does. Each disk of a
 * mirror serves one by itself; on RAID-Z and dRAID one read takes every disk that holds a part of the block, so that
 * a vdev is little more than one disk where blocks fill its width.
 */
export function readsAtOnce(layout: Layout): number | null {
  const { ashift, volblocksize } = layout;
  const vdevs = dataVdevs(layout);
  if (volblocksize === null && !plainOnly(vdevs, ashift)) return null;
  return vdevs.reduce((sum, shape) => {
    const geometry = geometryOf(shape, ashift);
    if (geometry.kind === "plain") return sum + shape.disks * shape.count;
    const touched = Math.min(sectors(geometry, volblocksize ?? 0).data, geometry.width - geometry.parity);
    return sum + (shape.disks / touched) * shape.count;
  }, 0);
}
