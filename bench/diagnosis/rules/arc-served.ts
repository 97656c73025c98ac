import { again } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { mbs, percent, size } from "../words.ts";

/** Reads count as served by the ARC when the disks gave less than this share of them. */
export const FROM_DISKS = 10;
/** Where the pool's own reads are not known: this share of demand hits. Prefetch turns misses into hits, so it says less. */
export const HITS = 90;

/** Reads that the storage host's memory served: the figure is the path's, not the disks'. */
export const arcServed: Rule = {
  name: "arc-served",
  rank: "element",
  find: ({ evidence, direction }): Found[] => {
    const { arc, pool, bandwidth } = evidence;
    if (direction !== "read" || arc === null || pool.backstore === "ramdisk") return [];
    const fromDisks = pool.read === null || !bandwidth ? null : (pool.read / bandwidth) * 100;
    const hits = arc.hitRatio === null ? null : arc.hitRatio * 100;
    const served =
      fromDisks !== null ? fromDisks < FROM_DISKS : hits !== null ? hits >= HITS : arc.state === "warm";
    if (!served) return [];
    return [
      {
        ...{ element: "arc", limits: false, share: hits ?? 0 },
        confidence: fromDisks !== null ? "high" : hits !== null ? "medium" : "low",
        sentence:
          "The reads came from the storage host's ARC, not from its disks: the figure shows the path and the CPUs, and says nothing of the pool.",
        evidence: [
          ...(fromDisks === null || pool.read === null
            ? []
            : [
                `the pool read ${mbs(pool.read)} from its disks: ${percent(fromDisks)} of what was delivered (from the ARC below ${FROM_DISKS} %)`,
              ]),
          ...(hits === null ? [] : [`${percent(hits)} of demand accesses hit the ARC`]),
          ...(fromDisks === null && hits === null
            ? ["the working set was read before the run (warm); hits were not measured"]
            : []),
          ...(arc.maximum === null || evidence.size === null
            ? []
            : [`working set ${size(evidence.size)}, ARC at most ${size(arc.maximum)}`]),
        ],
      },
    ];
  },
  advise: () => [again("To see what the disks give, read with a cold ARC.", "benchmark.arc: cold")],
};
