import type { Advice, Finding } from "../schema/diagnosis.ts";
import { again, noHelp, nothingToDo } from "./bounds.ts";
import { answers } from "./needs.ts";
import type { Found, Rule, Situation } from "./rule.ts";
import { mbs, percent } from "./words.ts";

/**
 * What to do, in the order of lab A's method: the need first; then the configuration, which costs nothing; measure
 * again and see what limits now; only then parts that fit, and what would be money for nothing.
 */

export type Ranked = { readonly rule: Rule; readonly found: Found };

export const finding = ({ rule, found: { share: _, ...found } }: Ranked): Finding => ({
  rule: rule.name,
  ...found,
});

const steps: readonly Advice["step"][] = [
  "configuration",
  "measure again",
  "hardware",
  "no help",
  "nothing to do",
];

export function adviceOf(
  situation: Situation,
  ranked: readonly Ranked[],
  limiting: Ranked | undefined,
): Advice[] {
  const advise = (one: Ranked): Advice[] => one.rule.advise(situation, finding(one));
  if (limiting?.rule.name === "invalid") return advise(limiting);
  const asked = situation.needs === undefined ? [] : answers(situation.needs, situation.evidence);
  const missed = asked.filter(({ met }) => met === false);
  if (asked.length > 0 && asked.every(({ met }) => met)) {
    const met = asked.map(({ need }) => need).join(", ");
    return [nothingToDo(`What is needed of this run is met (${met}): nothing has to be changed or bought.`)];
  }
  const faults = ranked.filter(({ rule, found }) => rule.fault && !found.limits);
  const wanted = limiting === undefined ? withoutLimit(situation, ranked, advise) : advise(limiting);
  const all = [
    ...wanted,
    ...faults.flatMap(advise).filter(({ step }) => step === "configuration" || step === "hardware"),
  ];
  const untilThen = untilMet(all, missed, limiting);
  return inOrder(situation.evidence.virtual ? onGuests(untilThen) : untilThen);
}

/** Emulated parts cost what no real ones do: nothing of them says what to buy. */
const onGuests = (all: readonly Advice[]): Advice[] => [
  ...all.filter(({ step }) => step !== "hardware"),
  noHelp(
    "Decide on no hardware by this run: its hosts are guests under software emulation, and real ones are limited elsewhere. Measure those.",
  ),
];

/** Nothing measured is full: what to measure, so that the next run says more. */
function withoutLimit(
  { elements, evidence }: Situation,
  ranked: readonly Ranked[],
  advise: (one: Ranked) => Advice[],
): Advice[] {
  const unknown = elements.filter(({ share }) => share === null).map(({ element }) => element);
  const more = ranked
    .filter(({ rule }) => rule.rank === "last" || rule.name === "arc-served" || rule.name === "throttled")
    .flatMap(advise);
  const deeper = again(
    "Measure with a deeper queue: if only the latency grows, something is full that was not measured.",
    evidence.sync ? "benchmark.jobs" : `benchmark.depth: ${evidence.depth * 4}`,
  );
  return [
    ...more.filter(({ step }) => step === "measure again"),
    ...(ranked.some(({ rule }) => rule.name === "queue-depth") ? [] : [deeper]),
    ...(unknown.length === 0
      ? []
      : [
          again(
            `Not known of this run: the use of ${unknown.join(", ")}. What hosts don't tell can be stated under benchmark.hardware.`,
          ),
        ]),
    noHelp("Nothing that was measured is full, so no part of the path is worth money yet."),
  ];
}

/** A need that the configuration may meet by itself leaves hardware for later. */
function untilMet(
  all: readonly Advice[],
  missed: ReturnType<typeof answers>,
  limiting: Ranked | undefined,
): Advice[] {
  const bandwidth = missed.filter(({ unit }) => unit === "MB/s");
  const needed = Math.max(...bandwidth.map(({ wanted }) => wanted));
  const enough = all.find(({ step, atMost }) => step === "configuration" && (atMost ?? 0) >= needed);
  const measure =
    limiting === undefined || all.some(({ step }) => step === "measure again")
      ? []
      : [
          again(
            "Change one thing at a time and measure again: pulumi up for a setting, a stack of its own (storage-lab:base) for another layout; then set them side by side: npm run -s bench -- compare.",
          ),
        ];
  if (missed.length === 0 || bandwidth.length < missed.length || enough === undefined)
    return [...all, ...measure];
  return [
    ...all.filter(({ step }) => step !== "hardware"),
    ...measure,
    noHelp(
      `Hardware is not due yet: the configuration may bring ${mbs(enough.atMost ?? 0)}, and ${mbs(needed)} are needed (${percent(((enough.atMost ?? 0) / needed - 1) * 100)} above).`,
    ),
  ];
}

function inOrder(all: readonly Advice[]): Advice[] {
  const once = all.filter((one, n) => all.findIndex(({ sentence }) => sentence === one.sentence) === n);
  return once.toSorted((a, b) => steps.indexOf(a.step) - steps.indexOf(b.step));
}
