import assert from "node:assert/strict";
import { test } from "node:test";
import type { Finding } from "../../../../bench/schema/diagnosis.ts";
import { cases, judge } from "../cases.ts";

/** What a rule says in its cases, word for word; null: nothing. The limit as such is asserted by cases.test.ts. */

type Said = Pick<Finding, "limits" | "confidence" | "element" | "sentence"> & {
  /** A pattern where the model of the path (bench/model) has the words. */
  readonly evidence: readonly (string | RegExp)[];
};

/** Each case of the rule by its name without the rule's. */
export function says(rule: string, expected: Record<string, Said | null>): void {
  const all = cases(rule);
  test(`${rule}: each case is told here`, () => {
    const names = all.map(({ name }) => name.slice(rule.length + 2));
    assert.deepEqual(names.sort(), Object.keys(expected).sort());
  });
  for (const one of all) {
    test(one.name, () => {
      const { found } = judge(one);
      const said = [found.limit, ...found.others].find((finding) => finding?.rule === rule);
      const wanted = expected[one.name.slice(rule.length + 2)] ?? null;
      if (!wanted || !said) return assert.deepEqual(said ?? null, wanted);
      const evidence = said.evidence.map((line, n) => {
        const pattern = wanted.evidence[n];
        return pattern instanceof RegExp && pattern.test(line) ? pattern : line;
      });
      assert.deepEqual({ ...said, evidence }, { rule, ...wanted });
    });
  }
}
