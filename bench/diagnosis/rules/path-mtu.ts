import { configuration, noHelp } from "../bounds.ts";
import { largerMtu } from "../receive-path.ts";
import type { Found, Rule } from "../rule.ts";
import { rounded } from "../words.ts";

/**
 * From this many packets a second on, a small MTU is worth changing: at 1 to 2 µs of one core a packet (what the
 * kernel's receive path takes without aggregation) it is a tenth to a fifth of a core.
 */
export const MANY_PACKETS = 100_000;
/** RDMA's largest path MTU (InfiniBand specification); an Ethernet MTU of 4,200 or more leaves room for it. */
const RDMA_LARGEST = 4096;

/** The path MTU: two ends that differ, or one so small that packets cost more than data. */
export const pathMtu: Rule = {
  name: "path-mtu",
  rank: "last",
  fault: true,
  find: ({ evidence }, full): Found[] => {
    const { link, bandwidth, protocol } = evidence;
    const { mtu, peerMtu, rdmaMtu } = link;
    if (mtu !== null && peerMtu !== null && mtu !== peerMtu) {
      return [
        {
          // Large packets are lost or cut on the way, silently: nothing else that is measured shows it.
          ...{ element: "link", limits: !full, confidence: "low", share: 100 },
          sentence: `The two ends of the link have different MTUs, ${mtu} and ${peerMtu}: larger packets are dropped or cut, and TCP stalls until it finds the size.`,
          evidence: [`MTU ${mtu} at one end, ${peerMtu} at the other (both ends must be the same)`],
        },
      ];
    }
    const unit = protocol === "iser" && rdmaMtu !== null ? rdmaMtu : mtu === null ? null : mtu - 40;
    const best = protocol === "iser" ? RDMA_LARGEST : 8960;
    if (unit === null || unit >= best || bandwidth === null) return [];
    const packets = (bandwidth * 1e6) / unit;
    if (packets < MANY_PACKETS) return [];
    const what = protocol === "iser" ? `RDMA path MTU of ${rdmaMtu ?? unit}` : `MTU of ${mtu}`;
    return [
      {
        ...{ element: "link", limits: false, confidence: "medium", share: (unit / best) * 100 },
        sentence: `The ${what} bytes makes ${rounded(packets)} packets a second of this run; ${best} bytes a packet would take ${rounded((bandwidth * 1e6) / best)}.`,
        evidence: [
          `${unit} bytes of payload a packet, at most ${best} are possible`,
          `${rounded(packets)} packets a second (worth a change from ${rounded(MANY_PACKETS)})`,
        ],
      },
    ];
  },
  advise: (situation) => {
    const { mtu, peerMtu } = situation.evidence.link;
    return [
      ...(mtu !== peerMtu
        ? [
            configuration(
              "Give both ends the same MTU, and the switch between them no smaller one.",
              `fabric.${situation.names.fabric}.mtu: ${Math.max(mtu ?? 0, peerMtu ?? 0)}`,
            ),
          ]
        : largerMtu(situation)),
      noHelp("Hardware doesn't help a path whose ends disagree."),
    ];
  },
};
