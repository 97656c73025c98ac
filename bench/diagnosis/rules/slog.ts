import type { Evidence } from "../../schema/evidence.ts";
import { configuration, hardware, noHelp } from "../bounds.ts";
import { disksOf, median, saysBusy } from "../disks.ts";
import type { Found, Rule, Situation } from "../rule.ts";
import { confidenceOf, elementNamed, writeTime } from "../rule.ts";
import { ms, percent, rounded } from "../words.ts";

/** Of the log devices' bandwidth or time. */
export const FULL = 85;
/** Of a synchronous write's latency: above half, the log is what it waits for. */
export const WAITS = 50;

/** Whether writes are on stable storage before they are acknowledged: by the test, or by the volume's property. */
const synchronous = ({ sync, pool }: Evidence): boolean =>
  pool.layout?.sync !== "disabled" && (sync || pool.layout?.sync === "always");

function busy(situation: Situation): Found | undefined {
  const modelled = elementNamed(situation, "slog");
  // The time that one device is busy is judged here, by its kind.
  const element = modelled?.unit === "%" ? undefined : modelled;
  const log = disksOf(situation.evidence.pool.disks, "log").filter(saysBusy);
  const time = log.length === 0 ? 0 : median(log.map((disk) => disk.busy ?? 0));
  const share = Math.max(element?.share ?? 0, time);
  if (share < FULL) return undefined;
  const byTime = time >= (element?.share ?? 0);
  return {
    ...{ element: "slog", limits: true, share: Math.min(100, share) },
    confidence: confidenceOf(share, byTime ? "measured" : element?.from),
    sentence: `The log vdev (SLOG) is the limit: ${byTime ? `its devices are busy ${percent(time)} of the time` : `it takes ${percent(share)} of what its devices can`}.`,
    evidence: [
      ...(byTime ? [`${log.length} log devices: busy ${percent(time)} (full from ${FULL} %)`] : []),
      ...(element?.share == null ? [] : [element.how]),
    ],
  };
}

/** ms of one write: with the flush after it where there is one, which fio's clat leaves out. */
function latencyOf(evidence: Evidence): number | undefined {
  const { iops, clat, sync } = evidence;
  if (sync && iops !== null && iops > 0) return writeTime(evidence, iops);
  const latency = clat?.mean ?? clat?.median ?? 0;
  return latency > 0 ? latency : undefined;
}

/** Each write waits for the log: the log's latency is the write's. */
function waiting({ evidence }: Situation, role: "log" | "data"): Found | undefined {
  const waits = disksOf(evidence.pool.disks, role).flatMap(({ wait }) => (wait === null ? [] : [wait]));
  const latency = latencyOf(evidence);
  if (waits.length === 0 || latency === undefined) return undefined;
  // A mirror's write has ended when the slowest of its sides has.
  const wait = role === "log" ? Math.max(...waits) : median(waits);
  const share = (wait / latency) * 100;
  if (share < WAITS) return undefined;
  const which =
    role === "log" ? "the log vdev (SLOG)" : "the pool's data disks, as there is no log vdev (SLOG)";
  return {
    ...{ element: role === "log" ? "slog" : "disks", limits: true, confidence: "medium" },
    share: Math.min(100, share),
    sentence: `Synchronous writes wait for ${which}: ${ms(wait)} of ${ms(latency)} each.`,
    evidence: [
      `${role} devices: ${ms(wait)} an I/O, ${percent(Math.min(100, share))} of a write's ${ms(latency)} (the limit from ${WAITS} %)`,
      ...(evidence.pool.zilCommits === null
        ? []
        : [`${rounded(evidence.pool.zilCommits)} commits of the intent log a second`]),
    ],
  };
}

/** Synchronous writes, which the intent log holds up: on a log vdev, or on the data disks where there is none. */
export const slog: Rule = {
  name: "slog",
  rank: "element",
  find: (situation) => {
    const { evidence, direction } = situation;
    const layout = evidence.pool.layout;
    if (direction === "read" || layout === null || evidence.pool.backstore === "ramdisk") return [];
    const hasLog = layout.vdevs.some(({ role }) => role === "log");
    // Data that is not synchronous can go by the log as well, where the initiator sends flushes.
    const found = hasLog ? busy(situation) : undefined;
    if (found !== undefined) return [found];
    if (!synchronous(evidence)) return [];
    const used = hasLog && layout.logbias !== "throughput";
    const waits = waiting(situation, used ? "log" : "data");
    if (waits === undefined) return [];
    if (!hasLog || used) return [waits];
    const sentence = `${waits.sentence} The log vdev is not used: logbias is throughput.`;
    return [{ ...waits, sentence: sentence.replace(", as there is no log vdev (SLOG)", "") }];
  },
  advise: ({ evidence, names }) => {
    const layout = evidence.pool.layout;
    const hasLog = layout?.vdevs.some(({ role }) => role === "log") ?? false;
    return [
      ...(layout?.logbias === "throughput"
        ? [
            configuration(
              "Have synchronous writes go by the log vdev.",
              `volumes.${names.volume}.logbias: latency`,
            ),
          ]
        : []),
      ...(layout?.sync === "always"
        ? [
            configuration(
              "Only what the application itself flushes has to be synchronous, if it flushes what matters.",
              `volumes.${names.volume}.sync: standard`,
            ),
          ]
        : []),
      hasLog
        ? hardware(
            "Log devices with a lower write latency and protection against power loss; a second log vdev shares the load.",
          )
        : hardware(
            `A mirrored log vdev on two SSDs with protection against power loss (pools.${names.pool}.log: { mirror: 2, disks: … }).`,
          ),
      noHelp("A larger ARC or L2ARC, a faster link or more data disks don't shorten a synchronous write."),
    ];
  },
};
