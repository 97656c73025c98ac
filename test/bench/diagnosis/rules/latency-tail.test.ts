import { says } from "./words.ts";

says("latency-tail", {
  "holds-txg": {
    element: "pool",
    limits: false,
    confidence: "medium",
    sentence:
      "One I/O in a thousand takes 201 ms or more, 18.3 times the median: as long as a transaction group takes to sync (240 ms, one every 5 s), so writes wait for it.",
    evidence: [
      "clat p99.9 201 ms, median 11 ms: 18.3 times (noted from 10)",
      "transaction groups take 240 ms to sync, one every 5 s",
    ],
  },
  holds: {
    element: null,
    limits: false,
    confidence: "high",
    sentence: "One I/O in a thousand takes 160 ms or more, 20 times the median of 8.02 ms.",
    evidence: [
      "clat p99.9 160 ms, median 8.02 ms: 20 times (noted from 10)",
      "transaction groups take 900 ms to sync, one every 5 s",
    ],
  },
  nearly: null,
  "not-few": null,
  "not-lab-a-iscsi-write": null,
});
