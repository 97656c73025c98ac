import { says } from "./words.ts";

says("throttled", {
  holds: {
    element: null,
    limits: true,
    confidence: "high",
    sentence:
      "The test's own rate limit holds the run back: 1,000 of 1,000 IOPS. Nothing is known of how much the lab could do.",
    evidence: ["1,000 IOPS of 1,000 allowed: 100 % (reached from 95 %)"],
  },
  nearly: {
    element: null,
    limits: false,
    confidence: "high",
    sentence: "The test's rate limit of 1,000 IOPS was not reached (910): something else holds the run back.",
    evidence: ["910 IOPS of 1,000 allowed: 91 % (reached from 95 %)"],
  },
  not: null,
});
