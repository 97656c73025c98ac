import type { Advice } from "../schema/diagnosis.ts";
import { configuration } from "./bounds.ts";
import { FULL as CORE_FULL, NEAR as CORE_NEAR } from "./cores.ts";
import type { Found, Side, Situation } from "./rule.ts";
import { confidenceOf, hostOf } from "./rule.ts";
import { percent } from "./words.ts";

/**
 * A host's CPU as a whole counts as the limit from this average on. It never gets near 100 %: ZFS's own worker
 * threads take at most 80 % of the CPUs (zfs(4): zio_taskq_batch_pct) and work in bursts, a transaction group at a
 * time, so cores are full part of the time long before the mean is. Lab A's limit was seen at 69 %.
 */
export const SEVERAL_FULL = 65;
export const SEVERAL_NEAR = 50;

/** A single CPU has no other core that could idle meanwhile: as for one core of many. */
const bounds = (cpus: number) =>
  cpus === 1 ? { full: CORE_FULL, near: CORE_NEAR } : { full: SEVERAL_FULL, near: SEVERAL_NEAR };

export function fullCpu(situation: Situation, side: Side): Found[] {
  const host = hostOf(situation, side);
  const busy = host.averageBusy ?? host.averageSystem;
  if (busy === null) return [];
  const { full, near } = bounds(host.cpus);
  if (busy < near) return [];
  const limits = busy >= full;
  const [core] = host.cores;
  const parts =
    host.cpus === 1 && core !== undefined
      ? ` (${percent(core.user)} user, ${percent(core.system)} system, ${percent(core.softirq)} softirq)`
      : "";
  const kind = host.averageBusy === null ? "in system time alone" : "busy";
  const cpu = host.cpus === 1 ? `The only CPU of ${host.host}` : `The CPU of ${host.host} as a whole`;
  const figures =
    host.cpus === 1
      ? `${percent(busy)} ${kind}${parts}`
      : `${percent(busy)} ${kind}, on average over ${host.cpus} cores`;
  const emulated = situation.evidence.virtual
    ? " It is a guest under software emulation, which is what costs the time; real hosts differ."
    : "";
  return [
    {
      ...{ element: `${side} cpu`, limits, confidence: confidenceOf(busy), share: busy },
      sentence: limits
        ? `${cpu} is the limit: ${figures}.${emulated}`
        : `${cpu} is ${host.cpus === 1 ? "not far from full" : "used by half or more"}: ${figures}.${emulated}`,
      evidence: [
        `${host.host}: ${figures} (the limit from ${full} %)`,
        ...(host.averageBusy !== null && host.averageSystem !== null && host.cpus > 1
          ? [`${percent(host.averageSystem)} of it in system time`]
          : []),
      ],
    },
  ];
}

/** TCP's work, on whichever side the CPU is full; nothing of a run over iSER already. */
export const overIser = ({ evidence, names }: Situation): Advice[] =>
  evidence.protocol === "iscsi"
    ? [
        configuration(
          "Use the LUN by iSER: the network card places the data, TCP and its copies go. (soft-RoCE does that work in the CPU again.)",
          `targets.${names.target}.portals.iser`,
        ),
      ]
    : [];

export const quietHost = (host: string): Advice =>
  configuration(
    `Look that nothing else runs on ${host}, and that its CPU frequency governor is performance (/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor).`,
  );
