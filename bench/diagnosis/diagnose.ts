import { elementsOf } from "../model/path.ts";
import type { Diagnosis, Element } from "../schema/diagnosis.ts";
import type { Evidence } from "../schema/evidence.ts";
import type { Hardware, Needs } from "../schema/needs.ts";
import { directionOf } from "../schema/words.ts";
import { adviceOf, finding, type Ranked } from "./advice.ts";
import type { Names, Rule, Situation } from "./rule.ts";
import { rules } from "./rules.ts";

/**
 * What limits a run: each rule looks at the evidence for its own cause; of the things that are full the one nearest
 * to its capacity is the limit, and the rest stands beside it. Pure, and total: any evidence gives a diagnosis.
 */

export type Known = {
  /** What the application needs; advice stops where it is met. Default: advice goes on. */
  readonly needs?: Needs | undefined;
  /** What hosts don't tell of their parts. Default: what they tell. */
  readonly hardware?: Hardware | undefined;
  /** The stack file's names, for keys in advice. Default: NAME for each. */
  readonly names?: Partial<Names> | undefined;
};

export function diagnose(evidence: Evidence, { needs, hardware, names }: Known = {}): Diagnosis {
  const elements = elementsOf(evidence, hardware).map(finite);
  const situation: Situation = {
    ...{ evidence, elements, needs, direction: directionOf(evidence.operation) },
    names: { pool: "NAME", volume: "POOL/NAME", target: "IQN", fabric: "NAME", ...names },
  };
  const ranked = findings(situation);
  const limiting = ranked.find(({ found }) => found.limits);
  const limit = limiting === undefined ? null : finding(limiting);
  return {
    limit,
    others: ranked.filter((one) => one !== limiting).map(finding),
    elements,
    advice: adviceOf(situation, ranked, limiting),
  };
}

/** A rate of nothing, or a layout that can't be, has no share and no bound. */
const finite = (element: Element): Element => {
  const known = (value: number | null): number | null =>
    value !== null && Number.isFinite(value) ? value : null;
  const { used, capacity, share, bound } = element;
  return {
    ...element,
    used: known(used),
    capacity: known(capacity),
    share: known(share),
    bound: known(bound),
  };
};

const order = { first: 0, element: 1, last: 2 } as const;

/** All findings, the limit first: about the run itself, then by how full the thing is, then as the rules stand. */
function findings(situation: Situation): Ranked[] {
  const ask = (rank: Rule["rank"], full: boolean): Ranked[] =>
    rules
      .filter((rule) => rule.rank === rank)
      .flatMap((rule) => rule.find(situation, full).map((found) => ({ rule, found })));
  const first = ask("first", false);
  // Figures of a run that went wrong mean nothing, so no rule looks at them.
  if (!situation.evidence.valid) return first;
  const elements = ask("element", false);
  const full = [...first, ...elements].some(({ found }) => found.limits);
  return [...first, ...elements, ...ask("last", full)].toSorted(
    (a, b) =>
      Number(b.found.limits) - Number(a.found.limits) ||
      order[a.rule.rank] - order[b.rule.rank] ||
      b.found.share - a.found.share,
  );
}
