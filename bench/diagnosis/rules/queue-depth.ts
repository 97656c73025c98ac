import type { Element, ElementName } from "../../schema/diagnosis.ts";
import type { Evidence } from "../../schema/evidence.ts";
import { again, noHelp } from "../bounds.ts";
import { NEAR as CORE_NEAR } from "../cores.ts";
import { saysBusy } from "../disks.ts";
import { SEVERAL_NEAR as CPU_NEAR } from "../host-cpu.ts";
import type { Found, Rule } from "../rule.ts";
import { outstanding, writers, writeTime } from "../rule.ts";
import { ms, percent, rounded } from "../words.ts";
import { NEAR as DISKS_NEAR } from "./disks-busy.ts";
import { NEAR as HBA_NEAR } from "./hba.ts";
import { NEAR as LINK_NEAR } from "./link-rate.ts";

/** By Little's law the I/Os in flight are IOPS × latency. From this share of the depth on, the queue was always full. */
export const FULL = 80;
/** From here on, percent, each element's own rule takes note of it, which leaves open what limits. */
const NOTED: Record<ElementName, number> = {
  ...{ "client core": CORE_NEAR, "storage core": CORE_NEAR },
  ...{ "client cpu": CPU_NEAR, "storage cpu": CPU_NEAR },
  ...{ link: LINK_NEAR, hba: HBA_NEAR, disks: DISKS_NEAR, pool: DISKS_NEAR, slog: DISKS_NEAR, arc: 100 },
};

/** What the law needs: IOPS, and the mean of the completion latency (the median where the mean isn't known). */
export function inFlight(evidence: Evidence): { count: number; latency: number; by: string } | undefined {
  const { iops, clat, sync } = evidence;
  if (iops === null || iops <= 0 || clat === null) return undefined;
  // The flush after each write is no part of fio's clat, and each job waits for its own.
  if (sync) return { count: writers(evidence), latency: writeTime(evidence, iops), by: "write-and-flush" };
  const latency = clat.mean ?? clat.median;
  return { count: (iops * latency) / 1000, latency, by: clat.mean === null ? "median" : "mean" };
}

/** Whether both hosts' CPU was seen, cores too; else a full core may be what nobody looked at. */
const cpusKnown = ({ client, storage }: Evidence): boolean =>
  [client, storage].every((host) => host.cores.length === host.cpus);

/** The time that a disk is busy says nothing where it serves many I/Os at once. */
const says = ({ element, unit }: Element, { pool }: Evidence): boolean =>
  unit !== "%" ||
  (element !== "disks" && element !== "slog") ||
  pool.disks.some((disk) => disk.role === (element === "disks" ? "data" : "log") && saysBusy(disk));

/** Too few I/Os at once: each waits for its latency, and nothing on the path is busy meanwhile. */
export const queueDepth: Rule = {
  name: "queue-depth",
  rank: "last",
  find: ({ evidence, elements }, full): Found[] => {
    const flight = inFlight(evidence);
    if (flight === undefined || full || evidence.rateIops !== null) return [];
    const allowed = evidence.sync ? writers(evidence) : outstanding(evidence);
    const share = (flight.count / allowed) * 100;
    if (share < FULL) return [];
    const used = elements.filter((one) => one.share !== null && says(one, evidence));
    if (used.some(({ element, share: part }) => (part ?? 0) >= NOTED[element])) return [];
    const [most] = used.toSorted((a, b) => (b.share ?? 0) - (a.share ?? 0));
    const known = cpusKnown(evidence);
    const depth = allowed === 1 ? "single I/Os" : `${rounded(allowed)} I/Os in flight`;
    const law = `${depth} at ${ms(flight.latency)} each make ${rounded(evidence.iops ?? 0)} IOPS (Little's law)`;
    return [
      {
        ...{ element: null, limits: known, share: Math.min(100, share) },
        confidence: !known ? "low" : allowed === 1 ? "high" : "medium",
        sentence: known
          ? `Too few I/Os at once: ${law}, and nothing on the path is near its capacity. Latency limits, not throughput.`
          : `The queue was full all the time: ${law}. Nothing that was measured is near its capacity, but not every core was, so whether a deeper queue gives more is open.`,
        evidence: [
          `${rounded(flight.count)} of ${rounded(allowed)} in flight by IOPS × ${flight.by} latency: ${percent(share)} (full from ${FULL} %)`,
          ...(most === undefined
            ? []
            : [
                `most used of the path is ${most.name}: ${percent(most.share ?? 0)} (below ${NOTED[most.element]} % is not near)`,
              ]),
        ],
      },
    ];
  },
  advise: ({ evidence }) => [
    again(
      "Measure with a deeper queue: if the figure grows, the queue was the limit; if only the latency does, something else is.",
      evidence.sync ? "benchmark.jobs" : `benchmark.depth: ${evidence.depth * 4}`,
    ),
    noHelp(
      "Faster parts help here only as far as they shorten a single I/O; more of them (disks, cores, links) don't.",
    ),
  ],
};
