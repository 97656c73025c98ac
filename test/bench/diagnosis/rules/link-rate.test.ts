import { says } from "./words.ts";

says("link-rate", {
  "holds-ethernet": {
    element: "link",
    limits: true,
    confidence: "high",
    sentence: "The link is the limit: the run takes 99 % of what Ethernet carries.",
    evidence: [/carries 1,250 MB\/s/],
  },
  "holds-infiniband": {
    element: "link",
    limits: true,
    confidence: "high",
    sentence: "The link is the limit: the run takes 97 % of what InfiniBand carries.",
    evidence: [/carries 4,000 MB\/s/],
  },
  "holds-slot": {
    ...{ element: "link", limits: true, confidence: "high" },
    sentence:
      "The PCIe slot of a network card is the limit: the run takes 97 % of what InfiniBand, Mellanox MT26428 of dl380 in PCIe 2.0 x8 carries.",
    evidence: [/slot carries 3,362 MB\/s, less than the link's 4,000 MB\/s/],
  },
  "nearly-lab-a-iser-read": {
    element: "link",
    limits: false,
    confidence: "medium",
    sentence: "The run takes 68 % of what InfiniBand carries.",
    evidence: [/carries 4,000 MB\/s/],
  },
  "not-possible": {
    element: "link",
    limits: false,
    confidence: "high",
    sentence:
      "The run took 202 % of what Ethernet carries, which can't be: a cache on the client served it, several links share the load, or the link tells a wrong rate.",
    evidence: [/carries 1,250 MB\/s/],
  },
  not: null,
});
