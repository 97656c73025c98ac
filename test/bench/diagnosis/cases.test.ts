import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../../../bench/diagnosis/rules.ts";
import { diagnosis } from "../../../bench/schema/diagnosis.ts";
import { cases, judge } from "./cases.ts";

const all = cases();

test("each rule has a case where it holds, one where it nearly does, one where it doesn't", () => {
  for (const { name } of rules) {
    const kinds = all
      .filter((one) => one.name.startsWith(`${name}--`))
      .map((one) => one.name.slice(name.length + 2).split("-")[0]);
    assert.deepEqual(new Set(kinds), new Set(["holds", "nearly", "not"]), name);
  }
});

test("a case is of a rule that there is, and expects it by its name", () => {
  const names = rules.map(({ name }) => name);
  for (const { name, expected } of all) {
    const [rule = "", rest = ""] = name.split("--");
    assert.ok(names.includes(rule), `${name}: no rule ${rule}`);
    const wanted = [expected.limit, ...expected.others];
    if (rest.startsWith("holds")) assert.ok(wanted.includes(rule), `${name} doesn't expect ${rule}`);
    else assert.notEqual(expected.limit, rule, `${name} expects ${rule} as the limit`);
    if (rest.startsWith("not") && !expected.others.includes(rule))
      assert.ok(expected.absent.includes(rule), `${name} doesn't expect ${rule} to be absent`);
  }
});

for (const one of all) {
  test(one.name, () => {
    const { found, wrong } = judge(one);
    assert.deepEqual(wrong, []);
    assert.deepEqual(diagnosis.parse(found), found);
  });
}
