import { says } from "./words.ts";

says("path-mtu", {
  "holds-mismatch": {
    element: "link",
    limits: true,
    confidence: "low",
    sentence:
      "The two ends of the link have different MTUs, 9000 and 1500: larger packets are dropped or cut, and TCP stalls until it finds the size.",
    evidence: ["MTU 9000 at one end, 1500 at the other (both ends must be the same)"],
  },
  "nearly-small": {
    element: "link",
    limits: false,
    confidence: "medium",
    sentence:
      "The MTU of 1500 bytes makes 164,384 packets a second of this run; 8960 bytes a packet would take 26,786.",
    evidence: [
      "1460 bytes of payload a packet, at most 8960 are possible",
      "164,384 packets a second (worth a change from 100,000)",
    ],
  },
  not: null,
});
