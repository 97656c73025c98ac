import { says } from "./words.ts";

says("slog", {
  "holds-busy": {
    element: "slog",
    limits: true,
    confidence: "high",
    sentence: "The log vdev (SLOG) is the limit: its devices are busy 98 % of the time.",
    evidence: ["2 log devices: busy 98 % (full from 85 %)"],
  },
  "holds-latency": {
    element: "slog",
    limits: true,
    confidence: "medium",
    sentence: "Synchronous writes wait for the log vdev (SLOG): 1.1 ms of 1.6 ms each.",
    evidence: [
      "log devices: 1.1 ms an I/O, 69 % of a write's 1.6 ms (the limit from 50 %)",
      "625 commits of the intent log a second",
    ],
  },
  "holds-without": {
    element: "disks",
    limits: true,
    confidence: "medium",
    sentence:
      "Synchronous writes wait for the pool's data disks, as there is no log vdev (SLOG): 11 ms of 14.1 ms each.",
    evidence: [
      "data devices: 11 ms an I/O, 78 % of a write's 14.1 ms (the limit from 50 %)",
      "71 commits of the intent log a second",
    ],
  },
  nearly: null,
  not: null,
});
