import { configuration } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { mbs, percent, size } from "../words.ts";

/** From this share of what was written, reading it first is worth a change. */
export const READ_BACK = 10;

/** Writes smaller than a block of the volume: ZFS reads each block, changes it and writes it whole. */
export const partialWrites: Rule = {
  name: "partial-writes",
  rank: "element",
  fault: true,
  find: ({ evidence, direction }): Found[] => {
    const { blockSize, bandwidth, pool } = evidence;
    const block = pool.layout?.volblocksize ?? null;
    if (direction !== "write" || block === null || blockSize >= block || pool.backstore === "ramdisk")
      return [];
    if (pool.read === null || !bandwidth) return [];
    const share = (pool.read / bandwidth) * 100;
    if (share < READ_BACK) return [];
    return [
      {
        ...{ element: "pool", limits: false, confidence: "high", share: Math.min(100, share) },
        sentence: `Writes of ${size(blockSize)} change parts of ${size(block)} blocks, so ZFS reads each block before it writes it whole.`,
        evidence: [
          `the pool read ${mbs(pool.read)} while ${mbs(bandwidth)} were written: ${percent(share)} (noted from ${READ_BACK} %)`,
          `I/Os of ${size(blockSize)}, volblocksize ${size(block)}`,
        ],
      },
    ];
  },
  advise: ({ evidence, names }) => [
    configuration(
      "A volblocksize no larger than the application's writes; smaller blocks cost more metadata, and padding on RAID-Z. It replaces the volume and its data, so try it as a stack of its own.",
      `volumes.${names.volume}.volblocksize: ${size(Math.max(evidence.blockSize, 4096))}`,
    ),
  ],
};
