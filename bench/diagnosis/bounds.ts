import type { Advice, Element, ElementName } from "../schema/diagnosis.ts";
import type { Situation } from "./rule.ts";
import { mbs } from "./words.ts";

/** How far the rest of the path goes: what a change can bring at most. */

export type Bound = { readonly bound: number; readonly by: Element };

/**
 * The least that any other element allows, in MB/s of payload; undefined where none is known. An element whose own
 * bound is below what was measured is modelled on an assumption that the run has proved wrong, so it says nothing.
 */
export function nextBound(
  { elements, evidence }: Situation,
  without: readonly ElementName[],
): Bound | undefined {
  const measured = evidence.bandwidth ?? 0;
  const known = elements.flatMap((by) =>
    by.bound === null || by.bound < measured || without.includes(by.element) ? [] : [{ bound: by.bound, by }],
  );
  return known.reduce<Bound | undefined>(
    (least, one) => (least && least.bound <= one.bound ? least : one),
    undefined,
  );
}

/** " At most 1,333 MB/s then: LSI SAS2008 (…)." */
export const atMostThen = (next: Bound | undefined): string =>
  next === undefined
    ? ""
    : ` At most ${mbs(next.bound)} then, what ${next.by.name} allows (${next.by.element}).`;

export const cpuElements: readonly ElementName[] = [
  "client core",
  "client cpu",
  "storage core",
  "storage cpu",
];

/** Advice with what the rest of the path allows. */
export function bounded(
  situation: Situation,
  advice: Omit<Advice, "atMost">,
  without: readonly ElementName[],
): Advice {
  const next = nextBound(situation, without);
  return { ...advice, sentence: `${advice.sentence}${atMostThen(next)}`, atMost: next?.bound ?? null };
}

export const configuration = (sentence: string, key: string | null = null): Advice => ({
  ...{ step: "configuration", sentence, key, atMost: null },
});
export const again = (sentence: string, key: string | null = null): Advice => ({
  ...{ step: "measure again", sentence, key, atMost: null },
});
export const hardware = (sentence: string): Advice => ({
  ...{ step: "hardware", sentence, key: null, atMost: null },
});
export const noHelp = (sentence: string): Advice => ({
  ...{ step: "no help", sentence, key: null, atMost: null },
});
export const nothingToDo = (sentence: string): Advice => ({
  ...{ step: "nothing to do", sentence, key: null, atMost: null },
});
