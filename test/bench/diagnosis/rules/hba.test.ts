import { says } from "./words.ts";

says("hba", {
  holds: {
    element: "hba",
    limits: true,
    confidence: "medium",
    sentence:
      "The way to the disks is the limit: LSI SAS2008 moves 89 % of what it can, as the layout writes each byte more than once.",
    evidence: [/3 times 1,000 MB\/s .*PCIe 2\.0 x8 .*: 89 % \(full from 85 %\)$/],
  },
  nearly: {
    element: "hba",
    limits: false,
    confidence: "medium",
    sentence:
      "Next in line is the way to the disks: LSI SAS2008 moves 64 % of what it can, as the layout writes each byte more than once.",
    evidence: [/3 times 721 MB\/s .*PCIe 2\.0 x8 .*: 64 % \(full from 85 %\)$/],
  },
  not: null,
});
