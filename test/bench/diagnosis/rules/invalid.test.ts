import { says } from "./words.ts";

says("invalid", {
  holds: {
    element: null,
    limits: true,
    confidence: "high",
    sentence:
      "This run is not valid, so nothing limits it that could be named: fio: job sequential reports error 5 (Input/output error).",
    evidence: ["fio: job sequential reports error 5 (Input/output error)"],
  },
  nearly: null,
  not: null,
});
