import type { CoreLoad, HostLoad } from "../schema/evidence.ts";
import type { Found, Side, Situation } from "./rule.ts";
import { confidenceOf, hostOf, sides } from "./rule.ts";
import { percent } from "./words.ts";

/** One core of many. On a host with a single one it is the whole CPU, of which client-cpu and storage-cpu speak. */

/**
 * From here on one core counts as full in one kind of work. Samples are means over the run, and a core that has one
 * duty is kept from the rest by timers and by waiting for the next packet or request: lab A's limit was seen at 88 %.
 */
export const FULL = 85;
/** From here on it is worth knowing, as the next in line. */
export const NEAR = 70;

export const busyOf = ({ user, system, softirq }: CoreLoad): number => user + system + softirq;

/** The core with most of it; undefined where the host has one core, or none was measured. */
export function coreWithMost(host: HostLoad, of: (core: CoreLoad) => number): CoreLoad | undefined {
  if (host.cpus === 1) return undefined;
  return host.cores.reduce<CoreLoad | undefined>(
    (most, core) => (most !== undefined && of(most) >= of(core) ? most : core),
    undefined,
  );
}

/** What all cores together do, beside the one: the average that hides it. */
export function together({ averageBusy, averageSystem, cpus }: HostLoad): string[] {
  if (averageBusy !== null) return [`all ${cpus} cores together: ${percent(averageBusy)} busy`];
  return averageSystem === null
    ? []
    : [`all ${cpus} cores together: ${percent(averageSystem)} in system time`];
}

/** Both hosts' core with most of one kind of time, where that is near to full. */
export function fullCores(
  situation: Situation,
  kind: "softirq" | "system",
  sentence: (side: Side, core: CoreLoad, limits: boolean) => string,
): Found[] {
  return sides.flatMap((side): Found[] => {
    const host = hostOf(situation, side);
    const core = coreWithMost(host, (c) => c[kind]);
    if (core === undefined || core[kind] < NEAR) return [];
    const share = core[kind];
    const limits = share >= FULL;
    const interrupt = host.busiestInterrupt;
    return [
      {
        ...{ element: `${side} core`, limits, confidence: confidenceOf(share), share },
        sentence: sentence(side, core, limits),
        evidence: [
          `${host.host}, core ${core.core}: ${percent(share)} ${kind} (full from ${FULL} %)`,
          ...together(host),
          ...(kind === "softirq" && interrupt?.core === core.core
            ? [`interrupt ${interrupt.source}: ${Math.round(interrupt.perSecond)} a second on that core`]
            : []),
        ],
      },
    ];
  });
}

/** ", while all 12 cores together are busy for 31 %, which hides it" */
export function hidden(host: HostLoad): string {
  const all = host.averageBusy ?? host.averageSystem;
  if (all === null || all > 50) return "";
  return `; the average over its ${host.cpus} cores (${percent(all)}) hides it`;
}
