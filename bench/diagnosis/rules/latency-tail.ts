import { again, configuration, noHelp } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { ms, rounded } from "../words.ts";

/** p99.9 at this many medians is a tail that users notice; lab A's iSER writes had 18, its iSCSI writes 5. */
export const TAIL = 10;
/** Fewer I/Os leave p99.9 little more than the slowest of them. */
export const LEAST = 1000;
/** A tail within this factor of a transaction group's time to sync fits it. */
const FITS = 2;

/** Rare I/Os far slower than the usual one: beside the throughput, as an average hides them. */
export const latencyTail: Rule = {
  name: "latency-tail",
  rank: "element",
  find: ({ evidence, direction }): Found[] => {
    const { clat, iops, seconds, pool } = evidence;
    if (clat === null || clat.p999 === null || clat.median <= 0) return [];
    if (iops !== null && seconds !== null && iops * seconds < LEAST) return [];
    const times = clat.p999 / clat.median;
    if (times < TAIL) return [];
    const { txgSync, txgSeconds } = pool;
    const fits =
      direction !== "read" &&
      txgSync !== null &&
      txgSync > 0 &&
      clat.p999 <= txgSync * FITS &&
      clat.p999 >= txgSync / FITS;
    const every = txgSeconds === null ? "" : `, one every ${rounded(txgSeconds)} s`;
    return [
      {
        ...{ element: fits ? "pool" : null, limits: false, confidence: fits ? "medium" : "high", share: 0 },
        sentence: fits
          ? `One I/O in a thousand takes ${ms(clat.p999)} or more, ${rounded(times)} times the median: as long as a transaction group takes to sync (${ms(txgSync)}${every}), so writes wait for it.`
          : `One I/O in a thousand takes ${ms(clat.p999)} or more, ${rounded(times)} times the median of ${ms(clat.median)}.`,
        evidence: [
          `clat p99.9 ${ms(clat.p999)}, median ${ms(clat.median)}: ${rounded(times)} times (noted from ${TAIL})`,
          ...(txgSync === null ? [] : [`transaction groups take ${ms(txgSync)} to sync${every}`]),
        ],
      },
    ];
  },
  advise: ({ direction }, finding) => [
    ...(finding.element === "pool"
      ? [
          configuration(
            "Smaller and more even transaction groups: a lower zfs_dirty_data_max in /sys/module/zfs/parameters makes each shorter, for some throughput.",
          ),
        ]
      : []),
    again(
      "See what the tail is at a load below the most that the lab gives: a workload with a rate limit.",
      "benchmark.workload: mixed",
    ),
    ...(direction === "read"
      ? []
      : [noHelp("A log vdev doesn't shorten the tail of writes that are not synchronous.")]),
  ],
};
