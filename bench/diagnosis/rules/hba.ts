import { bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { slimmerLayouts } from "../layouts.ts";
import type { Rule } from "../rule.ts";
import { confidenceOf, elementNamed } from "../rule.ts";
import { percent } from "../words.ts";

/** The headers of PCIe are in the element's capacity; what stays free is between transaction groups. */
export const FULL = 85;
/** Half of it is the next in line, as transaction groups write in bursts above the mean. */
export const NEAR = 50;

/** The HBA, or the PCIe lanes that it sits on, against what the layout makes of each byte. */
export const hba: Rule = {
  name: "hba",
  rank: "element",
  find: (situation) => {
    const element = elementNamed(situation, "hba");
    if (element === undefined || element.share === null || element.share < NEAR) return [];
    const { share, from, name, how } = element;
    const limits = share >= FULL;
    const writing = situation.direction !== "read" ? ", as the layout writes each byte more than once" : "";
    return [
      {
        ...{ element: "hba", limits, confidence: confidenceOf(share, from), share: Math.min(100, share) },
        sentence: limits
          ? `The way to the disks is the limit: ${name} moves ${percent(share)} of what it can${writing}.`
          : `Next in line is the way to the disks: ${name} moves ${percent(share)} of what it can${writing}.`,
        evidence: [`${how}: ${percent(share)} (full from ${FULL} %)`],
      },
    ];
  },
  advise: (situation) => [
    ...slimmerLayouts(situation),
    ...(situation.evidence.pool.layout?.compression === "off"
      ? [
          configuration(
            "Compression before the disks, where the data compresses (the benchmark's own does not, so it can't show it).",
            `volumes.${situation.names.volume}.compression: lz4`,
          ),
        ]
      : []),
    bounded(
      situation,
      hardware(
        "A second HBA with its own lanes and half of the disks, or one of a newer PCIe generation in a slot of it.",
      ),
      ["hba"],
    ),
    noHelp("More disks behind the same HBA, a faster link or a log vdev don't help."),
  ],
};
