import type { PcieLink } from "../../schema/evidence.ts";
import { hardware } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { elementNamed, hostOf, sides } from "../rule.ts";
import { percent } from "../words.ts";

/** From this share of an element on, the lanes that its device lacks are why. */
export const SHORT = 85;

const lanes = (width: number, speed: number): string => `x${width} at ${speed} GT/s`;
const elementOf = { hba: "hba", nic: "link", nvme: "disks", other: null } as const;

/** A device that runs on fewer or slower lanes than it has: a smaller slot, a bad contact, power saving. */
export const pcieLanes: Rule = {
  name: "pcie-lanes",
  rank: "element",
  fault: true,
  find: (situation) =>
    sides.flatMap((side) =>
      hostOf(situation, side).pcie.flatMap((device: PcieLink): Found[] => {
        const { kind, width, maximumWidth, speed, maximumSpeed } = device;
        const element = elementOf[kind];
        if (element === null) return [];
        // A slot of half the speed is common and no fault; lanes that are there and not in use are lost.
        const share = ((width * speed) / (maximumWidth * maximumSpeed)) * 100;
        if (width >= maximumWidth && speed >= maximumSpeed) return [];
        const used = elementNamed(situation, element)?.share ?? 0;
        const limits = used >= SHORT && kind !== "nic";
        return [
          {
            ...{ element, limits, confidence: "medium", share: limits ? used : 100 - share },
            sentence: `${device.device} in ${hostOf(situation, side).host} runs on ${lanes(width, speed)} of PCIe and could on ${lanes(maximumWidth, maximumSpeed)}: it has ${percent(share)} of its bandwidth.`,
            evidence: [
              `in use ${lanes(width, speed)}, at most ${lanes(maximumWidth, maximumSpeed)}`,
              ...(used > 0
                ? [`the path's ${element}: ${percent(used)} of its capacity in use (full from ${SHORT} %)`]
                : []),
            ],
          },
        ];
      }),
    ),
  advise: (_, finding) => [
    hardware(
      `Put the card into a slot with all of its lanes, and look at its contacts (lspci -vv: LnkCap, LnkSta): ${finding.evidence[0]}.`,
    ),
  ],
};
