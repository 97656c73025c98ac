import { formatSize, parseSize } from "../../size.ts";
import { type Properties, property } from "./properties.ts";
import { parsePoolStatus } from "./status.ts";

/**
 * How much of a pool's space a volume's blocks can use. A block is written in whole sectors (2^ashift bytes); RAID-Z
 * adds parity for each row and fills up to a multiple of parity + 1 sectors, dRAID fills whole rows. Small blocks on
 * wide vdevs therefore take far more than the vdev's share of parity. See zpoolconcepts(7), vdev_raidz_asize.
 */

export type Geometry = {
  /** `raidz2`, `draid1`; undefined for disks and mirrors, which have no rows. */
  kind: "raidz" | "draid" | "plain";
  parity: number;
  /** Disks of a RAID-Z vdev, or data disks and parity of a dRAID group. */
  width: number;
  ashift: number;
};

/** Sectors that one block takes on one vdev, and of them those that hold data. */
export function sectors({ kind, parity, width, ashift }: Geometry, block: number) {
  const data = Math.ceil(block / 2 ** ashift);
  if (kind === "plain") return { data, parity: 0, padding: 0 };
  const across = width - parity;
  const rows = Math.ceil(data / across);
  const used = data + rows * parity;
  const whole = kind === "draid" ? rows * width : Math.ceil(used / (parity + 1)) * (parity + 1);
  return { data, parity: rows * parity, padding: whole - used };
}

/** The part of the space that holds data when all blocks have this size: 0 to 1. */
export function usableShare(geometry: Geometry, block: number): number {
  const { data, parity, padding } = sectors(geometry, block);
  return block / (2 ** geometry.ashift * (data + parity + padding));
}

/** What of the best possible share counts as nearly all of it. */
const nearlyAll = 0.9;
const blocks = [4, 8, 16, 32, 64, 128].map((kib) => kib * 1024);

/** The smallest block size that leaves nearly all that this geometry can, from 4 KiB to 128 KiB. */
export function recommendedBlock(geometry: Geometry): number {
  const { width, parity } = geometry;
  const best = geometry.kind === "plain" ? 1 : (width - parity) / width;
  const shares = blocks.map((block) => ({ block, share: usableShare(geometry, block) }));
  const most = Math.max(...shares.map(({ share }) => share));
  const enough = Math.min(best * nearlyAll, most);
  return shares.find(({ share }) => share >= enough)?.block ?? 131072;
}

/** The vdevs by which data is laid out in this pool, each shape once. `status` is `zpool status -P`. */
export function poolGeometries(status: string, pool: string, properties: Properties): Geometry[] {
  const set = Number(property(properties, "ashift"));
  // 0 says that ZFS took what the disks report, which is 4 KiB for all but old ones.
  const ashift = set === 0 ? 12 : set;
  const vdevs = parsePoolStatus(status).find(({ name }) => name === pool)?.vdevs ?? [];
  const all = vdevs
    .filter(({ role }) => role === "data")
    .map(({ name, disks }): Geometry => {
      const raidz = /^raidz(\d)-\d+$/.exec(name);
      if (raidz !== null) return { kind: "raidz", parity: Number(raidz[1]), width: disks.length, ashift };
      const draid = /^draid(\d):(\d+)d:/.exec(name);
      if (draid === null) return { kind: "plain", parity: 0, width: 1, ashift };
      return { kind: "draid", parity: Number(draid[1]), width: Number(draid[2]) + Number(draid[1]), ashift };
    });
  return [...new Map(all.map((geometry) => [JSON.stringify(geometry), geometry])).values()];
}

/** The same of data vdevs that are declared and not there yet. */
export function declaredGeometries(
  vdevs: readonly { type: string; disks: readonly string[]; data?: number; spares?: number }[],
  ashift: number,
): Geometry[] {
  const all = vdevs.map(({ type, disks, data, spares = 0 }): Geometry => {
    const parity = Number(/^d?raid\w*(\d)$/.exec(type)?.[1] ?? 0);
    if (type.startsWith("raidz")) return { kind: "raidz", parity, width: disks.length, ashift };
    if (!type.startsWith("draid")) return { kind: "plain", parity: 0, width: 1, ashift };
    // ZFS's own default: as many as there are, up to 8.
    const inGroup = data ?? Math.min(8, disks.length - spares - parity);
    return { kind: "draid", parity, width: inGroup + parity, ashift };
  });
  return [...new Map(all.map((geometry) => [JSON.stringify(geometry), geometry])).values()];
}

/** Where a volume of this block size would waste space: both shares with the arithmetic, and what to declare. */
export function blockHints(volblocksize: string | undefined, geometries: readonly Geometry[]): string[] {
  const block = Number(parseSize(volblocksize ?? "16K") ?? 16384n);
  return geometries.flatMap((geometry) => {
    const recommended = recommendedBlock(geometry);
    const share = usableShare(geometry, block);
    if (recommended <= block || usableShare(geometry, recommended) <= share) return [];
    const given = volblocksize === undefined ? "ZFS's default volblocksize of" : "volblocksize";
    return [
      `On ${words(geometry)}, ${given} ${formatSize(BigInt(block))} leaves ${percent(share)} of the space for ` +
        `data (${arithmetic(geometry, block)} a block); ${formatSize(BigInt(recommended))} leaves ` +
        `${percent(usableShare(geometry, recommended))} (${arithmetic(geometry, recommended)}).`,
    ];
  });
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function words({ kind, parity, width, ashift }: Geometry): string {
  const sector = `sectors of ${formatSize(2n ** BigInt(ashift))}`;
  if (kind === "plain") return sector;
  return kind === "raidz"
    ? `RAID-Z${parity} of ${width} disks with ${sector}`
    : `dRAID${parity} of ${width - parity} data disks a group with ${sector}`;
}

function arithmetic(geometry: Geometry, block: number): string {
  const { data, parity, padding } = sectors(geometry, block);
  return geometry.kind === "plain"
    ? `${data} ${data === 1 ? "sector" : "sectors"}`
    : `${data} data + ${parity} parity + ${padding} padding sectors`;
}
