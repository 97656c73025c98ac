import { says } from "./words.ts";

says("client-cpu", {
  "holds-guest-iscsi-read": {
    element: "client cpu",
    limits: true,
    confidence: "medium",
    sentence:
      "The only CPU of initiator is the limit: 87 % busy (16 % user, 31 % system, 39 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["initiator: 87 % busy (16 % user, 31 % system, 39 % softirq) (the limit from 85 %)"],
  },
  "holds-guest-iser-random-read": {
    element: "client cpu",
    limits: true,
    confidence: "medium",
    sentence:
      "The only CPU of initiator is the limit: 86 % busy (20 % user, 59 % system, 7 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["initiator: 86 % busy (20 % user, 59 % system, 7 % softirq) (the limit from 85 %)"],
  },
  holds: {
    element: "client cpu",
    limits: true,
    confidence: "medium",
    sentence: "The CPU of client as a whole is the limit: 76 % busy, on average over 8 cores.",
    evidence: [
      "client: 76 % busy, on average over 8 cores (the limit from 65 %)",
      "46 % of it in system time",
    ],
  },
  "nearly-guest-iscsi-random-read": {
    element: "client cpu",
    limits: false,
    confidence: "medium",
    sentence:
      "The only CPU of initiator is not far from full: 80 % busy (18 % user, 46 % system, 16 % softirq). It is a guest under software emulation, which is what costs the time; real hosts differ.",
    evidence: ["initiator: 80 % busy (18 % user, 46 % system, 16 % softirq) (the limit from 85 %)"],
  },
  nearly: {
    element: "client cpu",
    limits: false,
    confidence: "medium",
    sentence: "The CPU of client as a whole is used by half or more: 58 % busy, on average over 8 cores.",
    evidence: [
      "client: 58 % busy, on average over 8 cores (the limit from 65 %)",
      "40 % of it in system time",
    ],
  },
  not: null,
});
