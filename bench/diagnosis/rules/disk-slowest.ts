import { configuration, hardware, noHelp } from "../bounds.ts";
import { disksOf, median, saysBusy } from "../disks.ts";
import type { Found, Rule } from "../rule.ts";
import { confidenceOf } from "../rule.ts";
import { ms, percent } from "../words.ts";

/** Fewer than three have no middle that one could stand out from. */
const LEAST = 3;
/** Busy above this while its peers are at most two thirds as busy: a vdev's write waits for the slowest of its disks. */
export const BUSY = 80;
export const PEERS = 2 / 3;
/** A wait this many times its peers' is a fault, not chance; below some ms it is no matter. */
export const SLOWER = 3;
export const WORTH_MS = 10;

/** One disk that is much busier or slower than its peers; zpool's totals hide it. */
export const diskSlowest: Rule = {
  name: "disk-slowest",
  rank: "element",
  fault: true,
  find: ({ evidence }): Found[] => {
    const disks = disksOf(evidence.pool.disks, "data");
    if (disks.length < LEAST) return [];
    const loads = disks.filter(saysBusy);
    const [busiest] = loads.toSorted((a, b) => (b.busy ?? 0) - (a.busy ?? 0));
    const waits = disks.filter(({ wait }) => wait !== null);
    const [slowest] = waits.toSorted((a, b) => (b.wait ?? 0) - (a.wait ?? 0));
    if (busiest !== undefined && loads.length >= LEAST) {
      const busy = busiest.busy ?? 0;
      const others = median(loads.filter((disk) => disk !== busiest).map((disk) => disk.busy ?? 0));
      if (busy >= BUSY && others <= busy * PEERS) {
        return [
          {
            ...{ element: "disks", limits: true, confidence: confidenceOf(busy), share: busy },
            sentence: `One disk holds up the others: ${busiest.disk} (${busiest.vdev}) is busy ${percent(busy)}, its peers ${percent(others)}.`,
            evidence: [
              `${busiest.disk}: busy ${percent(busy)} (from ${BUSY} %), the median of its ${loads.length - 1} peers ${percent(others)} (at most two thirds of it)`,
              ...(busiest.wait === null ? [] : [`${busiest.disk}: ${ms(busiest.wait)} an I/O`]),
            ],
          },
        ];
      }
    }
    if (slowest === undefined || waits.length < LEAST) return [];
    const wait = slowest.wait ?? 0;
    const others = median(waits.filter((disk) => disk !== slowest).map((disk) => disk.wait ?? 0));
    if (wait < WORTH_MS || wait < others * SLOWER) return [];
    return [
      {
        ...{ element: "disks", limits: false, confidence: "low", share: slowest.busy ?? 0 },
        sentence: `${slowest.disk} (${slowest.vdev}) takes ${ms(wait)} an I/O, its peers ${ms(others)}: look at it before it fails.`,
        evidence: [
          `${slowest.disk}: ${ms(wait)} an I/O, the median of its ${waits.length - 1} peers ${ms(others)} (${SLOWER} times is noted)`,
        ],
      },
    ];
  },
  advise: ({ names }, finding) => [
    configuration(
      `Look at the disk's health on the storage host (smartctl -a, dmesg) and its cable and bay; take it out of the pool to measure without it: ${finding.evidence[0]}.`,
      `pools.${names.pool}.offline`,
    ),
    hardware("Another disk of the same kind in its place, if it is slow by itself."),
    noHelp("More disks don't help while writes wait for this one."),
  ],
};
