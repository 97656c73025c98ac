import { says } from "./words.ts";

says("packet-loss", {
  holds: {
    element: "link",
    limits: false,
    confidence: "medium",
    sentence: "enp65s0 of storage drops 420 packets a second: each is sent again, and the sender slows down.",
    evidence: ["storage, enp65s0: 420 packets a second dropped or damaged (noted from 1)"],
  },
  nearly: null,
  not: null,
});
