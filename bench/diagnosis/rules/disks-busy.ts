import type { Element } from "../../schema/diagnosis.ts";
import type { DiskLoad } from "../../schema/evidence.ts";
import { bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { disksOf, median, saysBusy } from "../disks.ts";
import { slimmerLayouts } from "../layouts.ts";
import type { Found, Rule, Situation } from "../rule.ts";
import { confidenceOf, elementNamed } from "../rule.ts";
import { ms, percent, rounded } from "../words.ts";

/** Of the time with an I/O in flight, over all data disks; the rest goes between two transaction groups. */
export const FULL = 85;
export const NEAR = 65;

function measured(disks: readonly DiskLoad[]): Found | undefined {
  const share = median(disks.map((disk) => disk.busy ?? 0));
  if (share < NEAR) return undefined;
  const limits = share >= FULL;
  const waits = disks.flatMap(({ wait }) => (wait === null ? [] : [wait]));
  const operations = disks.reduce((sum, disk) => sum + disk.operations, 0);
  return {
    ...{ element: "disks", limits, confidence: confidenceOf(share), share },
    sentence: limits
      ? `The disks are the limit: the ${disks.length} data disks are busy ${percent(share)} of the time.`
      : `The ${disks.length} data disks are busy ${percent(share)} of the time.`,
    evidence: [
      `median of ${disks.length} data disks: busy ${percent(share)} (full from ${FULL} %)`,
      `${rounded(operations)} I/Os a second over all of them`,
      ...(waits.length === 0 ? [] : [`${ms(median(waits))} an I/O`]),
    ],
  };
}

/** By what the disks could do, where it is stated or known; the time that one of them is busy is no such thing. */
function modelled(situation: Situation, trusted: (element: Element) => boolean): Found | undefined {
  const known = (["pool", "disks"] as const).flatMap((name) => {
    const element = elementNamed(situation, name);
    return element === undefined || element.unit === "%" || element.share === null || !trusted(element)
      ? []
      : [{ ...element, share: element.share }];
  });
  const [fullest] = known.toSorted((a, b) => b.share - a.share);
  if (fullest === undefined || fullest.share < NEAR) return undefined;
  const { element, share, from, how } = fullest;
  const limits = share >= FULL;
  const can = from === "assumed" ? "what such disks usually can" : "what they can";
  return {
    ...{ element, limits, confidence: confidenceOf(share, from), share: Math.min(share, 100) },
    sentence: limits
      ? `The disks are the limit: they do ${percent(share)} of ${can}.`
      : `The disks do ${percent(share)} of ${can}.`,
    evidence: [`${how}: ${percent(share)} (full from ${FULL} %)`],
  };
}

/** All data disks busy: the pool gives what its disks give. */
export const disksBusy: Rule = {
  name: "disks-busy",
  rank: "element",
  find: (situation) => {
    const disks = disksOf(situation.evidence.pool.disks, "data").filter(saysBusy);
    // What was measured goes before what such disks are assumed to do.
    const found =
      disks.length === 0
        ? modelled(situation, () => true)
        : (measured(disks) ?? modelled(situation, ({ from }) => from === "stated"));
    return found === undefined ? [] : [found];
  },
  advise: (situation) => {
    const { evidence, direction, names } = situation;
    const random = evidence.operation.startsWith("rand");
    const vdevs = evidence.pool.layout?.vdevs.filter(({ role }) => role === "data") ?? [];
    const parity = vdevs.some(({ kind }) => /raid/.test(kind));
    return [
      ...(random && parity
        ? [
            configuration(
              "Mirrors instead of RAID-Z: a RAID-Z vdev gives the random I/Os of about one disk, a mirror reads from each side. Compare it as a stack of its own.",
              `pools.${names.pool}.data.mirror: 2`,
            ),
          ]
        : []),
      ...(random ? [] : slimmerLayouts(situation)),
      ...(direction === "read"
        ? [
            configuration(
              "What is read again belongs into the ARC, then into an L2ARC on a fast device.",
              `pools.${names.pool}.cache`,
            ),
          ]
        : []),
      bounded(
        situation,
        hardware(
          random
            ? "SSDs for random I/O, or more vdevs: I/Os a second grow with the number of vdevs."
            : "More disks as further vdevs, or faster ones.",
        ),
        ["disks", "pool"],
      ),
      noHelp(
        direction === "write"
          ? `A faster link or a faster CPU doesn't help, and a log vdev only makes synchronous writes quicker: their data goes to the same disks afterwards.`
          : "A faster link or a faster CPU doesn't help while the disks are full.",
      ),
    ];
  },
};
