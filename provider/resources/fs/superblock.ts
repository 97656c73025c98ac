import { createHash } from "node:crypto";
import { ParseError } from "../../errors.ts";

/**
 * XFS's primary superblock, the first sector of its device (struct xfs_dsb, fs/xfs/libxfs/xfs_format.h), read as
 * bytes: blkid(8) says "xfs" of a half-made file system too, and udev's database may be behind.
 */
export type Superblock = {
  uuid: string;
  label: string;
  /** mkfs.xfs sets this first and clears it last; the kernel mounts no file system that has it set. */
  inProgress: boolean;
  /** Bytes that the file system fills: sb_dblocks × sb_blocksize. */
  bytes: bigint;
};

export const superblockBytes = 512;
/** Reads the superblock of a device as hexadecimal bytes. */
export const readSuperblock = (device: string): string[] => [
  "od",
  "-A",
  "n",
  "-v",
  "-t",
  "x1",
  "-N",
  `${superblockBytes}`,
  device,
];

/** Output of that od(1); undefined where the sector is no XFS superblock. */
export function parseSuperblock(text: string): Superblock | undefined {
  const bytes = text.split(/\s+/).filter((word) => word !== "");
  const odd = bytes.find((byte) => !/^[0-9a-f]{2}$/.test(byte));
  if (odd !== undefined || bytes.length !== superblockBytes) {
    throw new ParseError(
      `od gave ${bytes.length} bytes, not ${superblockBytes}: ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  const sector = Buffer.from(bytes.join(""), "hex");
  if (sector.toString("latin1", 0, 4) !== "XFSB") return undefined;
  return {
    uuid: uuidText(sector.subarray(32, 48)),
    label: sector.toString("utf8", 108, 120).replace(/\0.*$/s, ""),
    inProgress: sector[126] !== 0,
    bytes: sector.readBigUInt64BE(8) * BigInt(sector.readUInt32BE(4)),
  };
}

/**
 * The bytes that a mounted file system fills, as the kernel has them: xfs_info(8). The superblock on its device is
 * written some time after the file system has grown.
 */
export function parseXfsInfo(text: string): bigint {
  const [, size, blocks] = /^data +=.* bsize=(\d+) +blocks=(\d+),/m.exec(text) ?? [];
  if (size === undefined || blocks === undefined) {
    throw new ParseError(`xfs_info shows no data blocks: ${JSON.stringify(text.slice(0, 400))}`);
  }
  return BigInt(size) * BigInt(blocks);
}

/**
 * The UUID that a file system gets: RFC 9562 version 8, its first half made from the owner, its second from the
 * first and the identity. So a file system says by itself that this project made it for this device, and, to
 * whoever knows the owner, whose it is.
 */
export function markedUuid(owner: string, identity: string): string {
  const bytes = createHash("sha256").update(owner).digest().subarray(0, 8);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  return uuidText(Buffer.concat([bytes, secondHalf(bytes, identity)]));
}

/** Was a file system of this UUID made by this project for this device, whoever its owner is? */
export function isMarked(uuid: string, identity: string): boolean {
  const bytes = Buffer.from(uuid.replaceAll("-", ""), "hex");
  const first = bytes.subarray(0, 8);
  return ((first[6] ?? 0) & 0xf0) === 0x80 && secondHalf(first, identity).equals(bytes.subarray(8));
}

/** Did this owner make a file system of this UUID, for whichever path to its disk? A portal may have moved since. */
export const isOwners = (uuid: string, owner: string): boolean =>
  uuid.slice(0, ownerHalf) === markedUuid(owner, "").slice(0, ownerHalf);

/** The first eight bytes of a UUID as text. */
const ownerHalf = "00000000-0000-0000".length;

function secondHalf(first: Buffer, identity: string): Buffer {
  const bytes = createHash("sha256").update(first).update(identity).digest().subarray(0, 8);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x80;
  return bytes;
}

const uuidText = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** What tells whose an XFS is: where it is, what it is, and the UUID that is declared to be there already. */
type Found = { device: string; superblock: Superblock | undefined; taken: string | undefined };

/** The file system that this project made for this device, or this owner for another path to it, or took over; finished. */
export function made({ superblock, device, taken }: Found, owner: string): Superblock | undefined {
  if (superblock === undefined || superblock.inProgress) return undefined;
  const { uuid } = superblock;
  const mine = taken === undefined ? isMarked(uuid, device) || isOwners(uuid, owner) : uuid === taken;
  return mine ? superblock : undefined;
}

/** mkfs.xfs was killed on its way: its superblock is there, still marked "in progress", with the UUID it was given. */
export const halfMade = ({ superblock, device, taken }: Found, owner: string): boolean =>
  taken === undefined && superblock?.inProgress === true && superblock.uuid === markedUuid(owner, device);
