import type { Advice, Diagnosis, Finding } from "../schema/diagnosis.ts";
import { percent } from "./words.ts";

/** A diagnosis as text: what limits, what says so, what comes next, what to do. */

const headings: Record<Advice["step"], string> = {
  configuration: "change first",
  "measure again": "measure again",
  hardware: "hardware that would help",
  "no help": "what would not help",
  "nothing to do": "nothing to do",
};

const evidenceOf = ({ evidence }: Finding): string[] => evidence.map((line) => `      ${line}`);

export function inWords({ limit, others, elements, advice }: Diagnosis): string {
  const used = elements
    .filter(({ share }) => share !== null)
    .map(({ element, name, share }) => `${element} (${name}) ${percent(share ?? 0)}`);
  const steps = Object.keys(headings) as Advice["step"][];
  return [
    ...(limit === null
      ? ["  limit: none found; nothing that was measured is full"]
      : [
          `  limit: ${limit.sentence}`,
          `      rule ${limit.rule}, confidence ${limit.confidence}`,
          ...evidenceOf(limit),
        ]),
    ...others.flatMap((one) => [`  also: ${one.sentence}`, ...evidenceOf(one)]),
    ...(used.length === 0 ? [] : [`  path: ${used.join(", ")}`]),
    ...steps.flatMap((step) => {
      const lines = advice.filter((one) => one.step === step);
      return lines.length === 0
        ? []
        : [
            `  ${headings[step]}:`,
            ...lines.map(({ sentence, key }) => `    - ${sentence}${key === null ? "" : ` [${key}]`}`),
          ];
    }),
  ].join("\n");
}
