import { says } from "./words.ts";

says("client-cpu", {
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
