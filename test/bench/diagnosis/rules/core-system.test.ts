import { says } from "./words.ts";

says("core-system", {
  holds: {
    element: "storage core",
    limits: true,
    confidence: "high",
    sentence:
      "One kernel thread is the limit, the target's or ZFS's: core 1 of r710 spends 96 % in the kernel; the average over its 12 cores (31 %) hides it.",
    evidence: ["r710, core 1: 96 % system (full from 85 %)", "all 12 cores together: 31 % in system time"],
  },
  nearly: {
    element: "storage core",
    limits: false,
    confidence: "medium",
    sentence:
      "Not far from full is a core with one kernel thread, the target's or ZFS's: core 1 of r710 spends 75 % in the kernel; the average over its 12 cores (31 %) hides it.",
    evidence: ["r710, core 1: 75 % system (full from 85 %)", "all 12 cores together: 31 % in system time"],
  },
  not: null,
});
