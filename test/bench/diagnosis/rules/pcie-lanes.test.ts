import { says } from "./words.ts";

says("pcie-lanes", {
  holds: {
    element: "hba",
    limits: true,
    confidence: "medium",
    sentence:
      "LSI SAS2308 in storage runs on x1 at 8 GT/s of PCIe and could on x8 at 8 GT/s: it has 13 % of its bandwidth.",
    evidence: [
      "in use x1 at 8 GT/s, at most x8 at 8 GT/s",
      "the path's hba: 92 % of its capacity in use (full from 85 %)",
    ],
  },
  nearly: {
    element: "hba",
    limits: false,
    confidence: "medium",
    sentence:
      "LSI SAS2308 in storage runs on x4 at 8 GT/s of PCIe and could on x8 at 8 GT/s: it has 50 % of its bandwidth.",
    evidence: [
      "in use x4 at 8 GT/s, at most x8 at 8 GT/s",
      "the path's hba: 15 % of its capacity in use (full from 85 %)",
    ],
  },
  not: null,
});
