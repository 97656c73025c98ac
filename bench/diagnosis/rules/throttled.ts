import { again, noHelp } from "../bounds.ts";
import type { Rule } from "../rule.ts";
import { percent, rounded } from "../words.ts";

/** fio holds a rate on average and paces by I/O: from here on the rate that was set is what was reached. */
export const REACHED = 95;

/** A rate was set, and the run reached it: the lab could do more than was asked of it. */
export const throttled: Rule = {
  name: "throttled",
  rank: "first",
  find({ evidence: { rateIops, iops } }) {
    if (rateIops === null || rateIops <= 0 || iops === null) return [];
    const share = (iops / rateIops) * 100;
    const limits = share >= REACHED;
    const [found, set] = [rounded(iops), rounded(rateIops)];
    return [
      {
        ...{ element: null, limits, confidence: "high", share },
        sentence: limits
          ? `The test's own rate limit holds the run back: ${found} of ${set} IOPS. Nothing is known of how much the lab could do.`
          : `The test's rate limit of ${set} IOPS was not reached (${found}): something else holds the run back.`,
        evidence: [`${found} IOPS of ${set} allowed: ${percent(share)} (reached from ${REACHED} %)`],
      },
    ];
  },
  advise: () => [
    again(
      "Latency under this load is what the run shows. For the most that the lab gives, measure without the rate.",
      "benchmark.workload: random",
    ),
    noHelp("No change of the lab makes a run faster that is held at a rate."),
  ],
};
