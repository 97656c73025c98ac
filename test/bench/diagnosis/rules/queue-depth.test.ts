import { says } from "./words.ts";

says("queue-depth", {
  "holds-eight": {
    element: null,
    limits: true,
    confidence: "medium",
    sentence:
      "Too few I/Os at once: 8 I/Os in flight at 6.53 ms each make 1,221 IOPS (Little's law), and nothing on the path is near its capacity. Latency limits, not throughput.",
    evidence: [
      "7.98 of 8 in flight by IOPS × mean latency: 100 % (full from 80 %)",
      "most used of the path is storage core 3: 56 % (below 70 % is not near)",
    ],
  },
  "holds-one": {
    element: null,
    limits: true,
    confidence: "high",
    sentence:
      "Too few I/Os at once: single I/Os at 0.17 ms each make 5,200 IOPS (Little's law), and nothing on the path is near its capacity. Latency limits, not throughput.",
    evidence: [
      "0.9 of 1 in flight by IOPS × mean latency: 90 % (full from 80 %)",
      "most used of the path is storage core 3: 56 % (below 70 % is not near)",
    ],
  },
  "nearly-cores-unknown": {
    element: null,
    limits: false,
    confidence: "low",
    sentence:
      "The queue was full all the time: 16 I/Os in flight at 6 ms each make 2,603 IOPS (Little's law). Nothing that was measured is near its capacity, but not every core was, so whether a deeper queue gives more is open.",
    evidence: [
      "15.6 of 16 in flight by IOPS × median latency: 98 % (full from 80 %)",
      "most used of the path is InfiniBand: 34 % (below 65 % is not near)",
    ],
  },
  nearly: null,
  not: null,
});
