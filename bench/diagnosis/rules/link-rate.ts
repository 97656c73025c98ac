import { bounded, hardware, noHelp } from "../bounds.ts";
import { largerMtu } from "../receive-path.ts";
import type { Rule } from "../rule.ts";
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
            ? `The link is the limit: the run takes ${used}.`
            : `The run takes ${used}.`,
        evidence: [link.how],
      },
    ];
  },
  advise: (situation) => [
    ...largerMtu(situation).map((one) => ({
      ...one,
      sentence: `${one.sentence} It saves headers; that is a few percent of the link.`,
    })),
    bounded(situation, hardware("A faster link, or a second one with sessions of its own over it."), [
      "link",
    ]),
    noHelp("More or faster disks, more cores or more memory don't help while the link is full."),
  ],
};
