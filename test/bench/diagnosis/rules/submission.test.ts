import { says } from "./words.ts";

says("submission", {
  holds: {
    element: null,
    limits: true,
    confidence: "medium",
    sentence:
      "fio's jobs spend 96 % of their time in handing I/Os over: the kernel takes them no faster, as its queue for the disk is full or one CPU prepares them all.",
    evidence: ["8,000 IOPS of 1 job × 0.12 ms submission latency: 96 % of each job's time (full from 85 %)"],
  },
  nearly: null,
  not: null,
});
