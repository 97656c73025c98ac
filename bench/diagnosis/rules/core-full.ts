import { again, bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { busyOf, coreWithMost, FULL, hidden, together } from "../cores.ts";
import { easeReceivePath } from "../receive-path.ts";
import type { Found, Rule } from "../rule.ts";
import { confidenceOf, hostOf, sides } from "../rule.ts";
import { percent } from "../words.ts";

/** A mixture leaves less idle between its parts than one duty does, so it counts as full later than that. */
export const MIXED_FULL = 92;
export const MIXED_NEAR = 80;

/** One core full of a mixture, none of whose parts fills it alone; or of a program, which on a client is fio. */
export const coreFull: Rule = {
  name: "core-full",
  rank: "element",
  find: (situation) =>
    sides.flatMap((side): Found[] => {
      const host = hostOf(situation, side);
      const core = coreWithMost(host, busyOf);
      if (core === undefined || core.softirq >= FULL || core.system >= FULL) return [];
      const share = Math.min(100, busyOf(core));
      if (share < MIXED_NEAR) return [];
      const limits = share >= MIXED_FULL;
      const parts = `${percent(core.user)} user, ${percent(core.system)} system, ${percent(core.softirq)} softirq`;
      const program =
        core.user >= 50 ? (side === "client" ? ", mostly with fio itself" : ", mostly with a program") : "";
      return [
        {
          ...{ element: `${side} core`, limits, confidence: confidenceOf(share), share },
          sentence: `Core ${core.core} of ${host.host} is ${limits ? "full" : "not far from full"}${program}: ${parts}${hidden(host)}.`,
          evidence: [
            `${host.host}, core ${core.core}: ${percent(share)} busy (full from ${MIXED_FULL} %): ${parts}`,
            ...together(host),
          ],
        },
      ];
    }),
  advise: (situation, { element }) => {
    const side = element === "client core" ? "client" : "storage";
    const host = hostOf(situation, side);
    const core = coreWithMost(host, busyOf);
    if (side === "client" && core !== undefined && core.user >= 50) {
      return [
        again(
          "fio fills a core: the benchmark limits itself. Give it more jobs, each a process on a core of its own.",
          `benchmark.jobs: ${situation.evidence.jobs * 2}`,
        ),
        noHelp("No change of the lab helps while fio itself is what is full."),
      ];
    }
    if (core !== undefined && core.softirq >= core.system) return easeReceivePath(situation, side);
    return [
      bounded(
        situation,
        configuration(
          "Spread the load over several sessions: more targets, each with LUNs of its own, so that more cores take part.",
          "targets",
        ),
        [`${side} core`],
      ),
      hardware(`A CPU with faster single cores in ${host.host}.`),
      noHelp("A faster link or more disks don't help while one core is full."),
    ];
  },
};
