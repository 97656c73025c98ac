import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { diagnose } from "../../../bench/diagnosis/diagnose.ts";
import { rules } from "../../../bench/diagnosis/rules.ts";
import type { Diagnosis } from "../../../bench/schema/diagnosis.ts";
import { type Evidence, evidence } from "../../../bench/schema/evidence.ts";

/**
 * What the diagnosis is measured by: evidence of runs whose limit is known. A file is one case, named
 * RULE--holds, RULE--nearly or RULE--not, with a word of what is special about it.
 */

const ruleName = z.enum(rules.map(({ name }) => name));

const caseFile = z.strictObject({
  source: z
    .string()
    .regex(/^(published|recorded|derived): /)
    .describe(
      "Where the evidence is from: published by a lab, recorded here, derived from either or made up.",
    ),
  expected: z.strictObject({
    limit: ruleName.nullable().describe("The rule that names the limit; null: none may be named."),
    others: z.array(ruleName).describe("Rules that must be among the other findings."),
    absent: z.array(ruleName).describe("Rules that must find nothing."),
  }),
  evidence,
});

export type Case = z.infer<typeof caseFile> & { readonly name: string };

const folder = join(import.meta.dirname, "cases");

/** All cases, or those of one rule, by name. */
export function cases(rule?: string): Case[] {
  const names = readdirSync(folder).sort();
  return names
    .filter((file) => rule === undefined || file.startsWith(`${rule}--`))
    .map((file) => ({
      name: file.slice(0, -".json".length),
      ...caseFile.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))),
    }));
}

export type Judged = { readonly one: Case; readonly found: Diagnosis; readonly wrong: readonly string[] };

/** Diagnoses a case; `wrong` says what differs from what is expected, nothing where all is right. */
export function judge(one: Case): Judged {
  const { expected } = one;
  const found = diagnose(one.evidence);
  const others = found.others.map(({ rule }) => rule);
  const named = [...(found.limit === null ? [] : [found.limit.rule]), ...others];
  const limit = found.limit?.rule ?? null;
  return {
    ...{ one, found },
    wrong: [
      ...(limit === expected.limit
        ? []
        : [`limit ${limit ?? "none"} instead of ${expected.limit ?? "none"}`]),
      ...expected.others.filter((rule) => !others.includes(rule)).map((rule) => `${rule} is missing`),
      ...expected.absent.filter((rule) => named.includes(rule)).map((rule) => `${rule} was found`),
    ],
  };
}

/** The evidence of one case, to be changed a little. */
export function evidenceOfCase(name: string): Evidence {
  const found = cases().find((one) => one.name === name);
  if (found === undefined) throw new TypeError(`no case ${name} in ${folder}`);
  return found.evidence;
}
