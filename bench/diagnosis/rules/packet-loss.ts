import { configuration } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { hostOf, sides } from "../rule.ts";
import { rounded } from "../words.ts";

/** Each loss halves TCP's window or makes RDMA send again from there: one a second is felt on a lossless fabric. */
export const LOST = 1;

/** Packets that an interface dropped or got with errors while the run was measured. */
export const packetLoss: Rule = {
  name: "packet-loss",
  rank: "element",
  fault: true,
  find: (situation) =>
    sides.flatMap((side): Found[] => {
      const { host, network } = hostOf(situation, side);
      if (network === null || network.dropped < LOST) return [];
      return [
        {
          ...{ element: "link", limits: false, confidence: "medium", share: 0 },
          sentence: `${network.interface} of ${host} drops ${rounded(network.dropped)} packets a second: each is sent again, and the sender slows down.`,
          evidence: [
            `${host}, ${network.interface}: ${rounded(network.dropped)} packets a second dropped or damaged (noted from ${LOST})`,
          ],
        },
      ];
    }),
  advise: () => [
    configuration(
      "Look at the interface's counters (ethtool -S, ip -s link) and its ring (ethtool -g), at flow control on the switch, and at the cable.",
    ),
  ],
};
