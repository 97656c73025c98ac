import { says } from "./words.ts";

says("core-softirq", {
  "holds-lab-a-iscsi-read": {
    element: "client core",
    limits: true,
    confidence: "high",
    sentence:
      "The TCP/IP receive path of one core is the limit: core 0 of dl380 is 95 % in softirq; the average over its 24 cores (5 %) hides it.",
    evidence: ["dl380, core 0: 95 % softirq (full from 85 %)", "all 24 cores together: 5 % busy"],
  },
  "holds-lab-a-iscsi-write": {
    element: "storage core",
    limits: true,
    confidence: "medium",
    sentence:
      "The TCP/IP receive path of one core is the limit: core 0 of r710 is 88 % in softirq; the average over its 12 cores (31 %) hides it.",
    evidence: ["r710, core 0: 88 % softirq (full from 85 %)", "all 12 cores together: 31 % in system time"],
  },
  nearly: {
    element: "storage core",
    limits: false,
    confidence: "medium",
    sentence:
      "Not far from full is the TCP/IP receive path of one core: core 0 of r710 is 80 % in softirq; the average over its 12 cores (31 %) hides it.",
    evidence: ["r710, core 0: 80 % softirq (full from 85 %)", "all 12 cores together: 31 % in system time"],
  },
  not: null,
});
