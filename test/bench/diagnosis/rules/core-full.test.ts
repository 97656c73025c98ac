import { says } from "./words.ts";

says("core-full", {
  "holds-fio": {
    element: "client core",
    limits: true,
    confidence: "high",
    sentence:
      "Core 2 of client is full, mostly with fio itself: 78 % user, 18 % system, 1 % softirq; the average over its 8 cores (16 %) hides it.",
    evidence: [
      "client, core 2: 97 % busy (full from 92 %): 78 % user, 18 % system, 1 % softirq",
      "all 8 cores together: 16 % busy",
    ],
  },
  "holds-mixture": {
    element: "storage core",
    limits: true,
    confidence: "high",
    sentence:
      "Core 3 of storage is full: 0 % user, 50 % system, 45 % softirq; the average over its 8 cores (27 %) hides it.",
    evidence: [
      "storage, core 3: 95 % busy (full from 92 %): 0 % user, 50 % system, 45 % softirq",
      "all 8 cores together: 27 % busy",
    ],
  },
  nearly: {
    element: "storage core",
    limits: false,
    confidence: "medium",
    sentence:
      "Core 3 of storage is not far from full: 0 % user, 46 % system, 40 % softirq; the average over its 8 cores (26 %) hides it.",
    evidence: [
      "storage, core 3: 86 % busy (full from 92 %): 0 % user, 46 % system, 40 % softirq",
      "all 8 cores together: 26 % busy",
    ],
  },
  not: null,
});
