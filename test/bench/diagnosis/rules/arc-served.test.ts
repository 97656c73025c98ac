import { says } from "./words.ts";

says("arc-served", {
  holds: {
    element: "arc",
    limits: false,
    confidence: "high",
    sentence:
      "The reads came from the storage host's ARC, not from its disks: the figure shows the path and the CPUs, and says nothing of the pool.",
    evidence: [
      "the pool read 2.4 MB/s from its disks: 1 % of what was delivered (from the ARC below 10 %)",
      "99 % of demand accesses hit the ARC",
      "working set 64 GiB, ARC at most 16 GiB",
    ],
  },
  nearly: null,
  not: null,
});
