import { again } from "../bounds.ts";
import type { Rule } from "../rule.ts";

/** A run that went wrong has no figures, so nothing can be said of its limit. */
export const invalid: Rule = {
  name: "invalid",
  rank: "first",
  find({ evidence }) {
    if (evidence.valid) return [];
    const why = evidence.invalid ?? "no reason is stored";
    return [
      {
        ...{ element: null, limits: true, confidence: "high", share: 100 },
        sentence: `This run is not valid, so nothing limits it that could be named: ${why}.`,
        evidence: [why],
      },
    ];
  },
  advise: () => [
    again("Set right what made the run invalid, and run pulumi up again: a finished run is kept."),
  ],
};
