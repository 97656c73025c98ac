import { says } from "./words.ts";

says("disks-busy", {
  "holds-random-read": {
    element: "disks",
    limits: true,
    confidence: "high",
    sentence: "The disks are the limit: the 8 data disks are busy 99 % of the time.",
    evidence: [
      "median of 8 data disks: busy 99 % (full from 85 %)",
      "1,040 I/Os a second over all of them",
      "20 ms an I/O",
    ],
  },
  holds: {
    element: "disks",
    limits: true,
    confidence: "high",
    sentence: "The disks are the limit: the 8 data disks are busy 96 % of the time.",
    evidence: [
      "median of 8 data disks: busy 96 % (full from 85 %)",
      "1,040 I/Os a second over all of them",
      "14 ms an I/O",
    ],
  },
  nearly: {
    element: "disks",
    limits: false,
    confidence: "medium",
    sentence: "The 8 data disks are busy 74 % of the time.",
    evidence: [
      "median of 8 data disks: busy 74 % (full from 85 %)",
      "1,040 I/Os a second over all of them",
      "10 ms an I/O",
    ],
  },
  "not-nvme": null,
  not: null,
});
