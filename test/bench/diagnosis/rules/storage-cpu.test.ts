import { says } from "./words.ts";

says("storage-cpu", {
  "holds-guest-iscsi-write": {
    element: "storage cpu",
    limits: true,
    confidence: "high",
    sentence:
      "The only CPU of storage is the limit: 99 % busy (1 % user, 85 % system, 13 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 99 % busy (1 % user, 85 % system, 13 % softirq) (the limit from 85 %)"],
  },
  "holds-guest-iser-write": {
    element: "storage cpu",
    limits: true,
    confidence: "high",
    sentence:
      "The only CPU of storage is the limit: 100 % busy (1 % user, 82 % system, 17 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 100 % busy (1 % user, 82 % system, 17 % softirq) (the limit from 85 %)"],
  },
  "holds-guest-raidz1-iser-read": {
    element: "storage cpu",
    limits: true,
    confidence: "medium",
    sentence:
      "The only CPU of storage is the limit: 86 % busy (16 % user, 66 % system, 4 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 86 % busy (16 % user, 66 % system, 4 % softirq) (the limit from 85 %)"],
  },
  "holds-guest-raidz1-iser-write": {
    element: "storage cpu",
    limits: true,
    confidence: "high",
    sentence:
      "The only CPU of storage is the limit: 97 % busy (10 % user, 72 % system, 15 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 97 % busy (10 % user, 72 % system, 15 % softirq) (the limit from 85 %)"],
  },
  "holds-lab-a-iser-write": {
    element: "storage cpu",
    limits: true,
    confidence: "medium",
    sentence: "The CPU of r710 as a whole is the limit: 69 % in system time alone, on average over 12 cores.",
    evidence: ["r710: 69 % in system time alone, on average over 12 cores (the limit from 65 %)"],
  },
  "nearly-guest-iscsi-read": null,
  "nearly-guest-iser-read": {
    element: "storage cpu",
    limits: false,
    confidence: "medium",
    sentence:
      "The only CPU of storage is not far from full: 82 % busy (1 % user, 78 % system, 3 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 82 % busy (1 % user, 78 % system, 3 % softirq) (the limit from 85 %)"],
  },
  "nearly-guest-raidz1-iscsi-write": {
    element: "storage cpu",
    limits: false,
    confidence: "medium",
    sentence:
      "The only CPU of storage is not far from full: 73 % busy (16 % user, 48 % system, 10 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["storage: 73 % busy (16 % user, 48 % system, 10 % softirq) (the limit from 85 %)"],
  },
  nearly: {
    element: "storage cpu",
    limits: false,
    confidence: "medium",
    sentence:
      "The CPU of r710 as a whole is used by half or more: 60 % in system time alone, on average over 12 cores.",
    evidence: ["r710: 60 % in system time alone, on average over 12 cores (the limit from 65 %)"],
  },
  not: null,
});
