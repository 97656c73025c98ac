import type { Advice } from "../schema/diagnosis.ts";
import { configuration } from "./bounds.ts";
import type { Situation } from "./rule.ts";
import { size } from "./words.ts";

/** What makes the storage host work less for the same data. */

const KIB = 1024;

/**
 * Each block is allocated, checksummed and queued by itself, so larger ones cost less a byte. Only for requests that
 * are sequential and cover whole blocks: a smaller write would first read the block that it changes.
 */
export function largerBlocks({ evidence, names }: Situation): Advice[] {
  const { operation, blockSize, pool } = evidence;
  const volblocksize = pool.layout?.volblocksize ?? null;
  const sequential = !operation.startsWith("rand");
  // 128 KiB is the largest that the stack file takes; 64 KiB leaves room for smaller requests of other applications.
  const better = blockSize >= 64 * KIB ? 64 * KIB : 32 * KIB;
  if (!sequential || volblocksize === null || volblocksize >= better || blockSize < better) return [];
  return [
    configuration(
      `Larger blocks: ${size(better)} instead of ${size(volblocksize)} is ${better / volblocksize} times fewer to allocate and checksum. It replaces the volume and its data, so try it as a stack of its own; small random writes get slower.`,
      `volumes.${names.volume}.volblocksize: ${size(better)}`,
    ),
  ];
}
