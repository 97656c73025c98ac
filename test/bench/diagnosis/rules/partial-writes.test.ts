import { says } from "./words.ts";

says("partial-writes", {
  holds: {
    element: "pool",
    limits: false,
    confidence: "high",
    sentence:
      "Writes of 4 KiB change parts of 16 KiB blocks, so ZFS reads each block before it writes it whole.",
    evidence: [
      "the pool read 21 MB/s while 6.1 MB/s were written: 344 % (noted from 10 %)",
      "I/Os of 4 KiB, volblocksize 16 KiB",
    ],
  },
  nearly: null,
  not: null,
});
