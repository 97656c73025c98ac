import { says } from "./words.ts";

says("disk-slowest", {
  holds: {
    element: "disks",
    limits: true,
    confidence: "high",
    sentence: "One disk holds up the others: sdg (mirror-2) is busy 98 %, its peers 41 %.",
    evidence: [
      "sdg: busy 98 % (from 80 %), the median of its 7 peers 41 % (at most two thirds of it)",
      "sdg: 48 ms an I/O",
    ],
  },
  nearly: {
    element: "disks",
    limits: false,
    confidence: "low",
    sentence: "sdg (mirror-2) takes 24 ms an I/O, its peers 6 ms: look at it before it fails.",
    evidence: ["sdg: 24 ms an I/O, the median of its 7 peers 6 ms (3 times is noted)"],
  },
  not: null,
});
