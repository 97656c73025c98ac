import { bounded, hardware, noHelp } from "../bounds.ts";
import { largerMtu } from "../receive-path.ts";
import type { Rule, Situation } from "../rule.ts";
import { confidenceOf, elementNamed } from "../rule.ts";
import { percent } from "../words.ts";

/**
 * The headers of every protocol on the way are in the element's capacity already; what stays free above this are
 * acknowledgements, requests and the gaps between bursts.
 */
export const FULL = 90;
export const NEAR = 65;
/** Faster than the link by more than a rounding or a rate that is told in round figures can make. */
export const IMPOSSIBLE = 105;

/** The path takes the narrower of the link and the PCIe slots of its network cards. */
function isSlot(situation: Situation): boolean {
  const capacity = elementNamed(situation, "link")?.capacity ?? null;
  const { rate } = situation.evidence.link;
  return capacity !== null && rate !== null && capacity < rate;
}

/** The link's data rate, after line coding and headers. */
export const linkRate: Rule = {
  name: "link-rate",
  rank: "element",
  find: (situation) => {
    const link = elementNamed(situation, "link");
    if (link === undefined || link.share === null || link.share < NEAR) return [];
    const { share } = link;
    const possible = share <= IMPOSSIBLE;
    const limits = possible && share >= FULL;
    const used = `${percent(share)} of what ${link.name} carries`;
    return [
      {
        ...{ element: "link", limits, share },
        confidence: confidenceOf(share, link.from),
        sentence: !possible
          ? `The run took ${used}, which can't be: a cache on the client served it, several links share the load, or the link tells a wrong rate.`
          : limits
            ? `${isSlot(situation) ? "The PCIe slot of a network card" : "The link"} is the limit: the run takes ${used}.`
            : `The run takes ${used}.`,
        evidence: [link.how],
      },
    ];
  },
  advise: (situation) => {
    const slot = isSlot(situation);
    return [
      ...largerMtu(situation).map((one) => ({
        ...one,
        sentence: `${one.sentence} It saves headers; that is a few percent of the link.`,
      })),
      bounded(
        situation,
        hardware(
          slot
            ? "A slot with more or newer lanes for the network card, or a card that uses them: the link itself carries more."
            : "A faster link, or a second one with sessions of its own over it.",
        ),
        ["link"],
      ),
      noHelp(
        slot
          ? "A faster link on the same lanes doesn't help, nor do disks, cores or memory."
          : "More or faster disks, more cores or more memory don't help while the link is full.",
      ),
    ];
  },
};
