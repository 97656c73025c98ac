import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, type Result } from "./result.ts";
import { isGood, parseResults, sum, table } from "./table.ts";

const result = (more: Partial<Result>): Result => ({
  type: "zfs:Pool",
  operation: "create",
  kind: "cut",
  at: 0,
  step: "create pool tank",
  outcome: "survived",
  seconds: 7,
  ...more,
});

test("the table and its sum", () => {
  const results = [
    result({}),
    result({ at: 1 }),
    result({ at: 2, outcome: "lost" }),
    result({ kind: "reboot", outcome: "missed" }),
    result({ operation: "delete", kind: "full" }),
  ];
  assert.equal(
    table(results),
    [
      "| type | operation | cut | provider | engine | reboot | full |",
      "| --- | --- | --- | --- | --- | --- | --- |",
      "| zfs:Pool | create | 3/2/1 | – | – | – | – |",
      "| zfs:Pool | delete | – | – | – | – | 1/1/0 |",
    ].join("\n"),
  );
  assert.equal(sum(results), "faults: 4 injected, 3 survived, 1 lost");
});

test("a run is good when faults struck and none was lost", () => {
  assert.equal(isGood([result({})]), true);
  assert.equal(isGood([result({}), result({ outcome: "lost" })]), false);
  assert.equal(isGood([]), false, "nothing was tried");
  assert.equal(isGood([result({ outcome: "missed" })]), false, "nothing struck");
});

test("results are read again, but for a last line that was cut off", () => {
  const line = JSON.stringify(result({}));
  assert.deepEqual(parseResults(`${line}\n${line}\n`), [result({}), result({})]);
  assert.deepEqual(parseResults(`${line}\n${line.slice(0, 30)}`), [result({})]);
  assert.throws(() => parseResults(`${line.slice(0, 30)}\n${line}\n`), /line 1 is no result/);
});

for (const [name, expected, found, before, says] of [
  ["nothing differs", "a\nb", "b\na", undefined, []],
  ["a line is missing", "a\nb", "a", undefined, ["- b"]],
  ["a line is too many", "a", "a\nc", undefined, ["+ c"]],
  ["after a delete a reboot put back what stood before", "mtu 4200", "mtu 1500", "mtu 1500", []],
  ["after a delete something is left", "a", "a\nlun0", "a", ["+ lun0"]],
] as const) {
  test(`facts: ${name}`, () => assert.deepEqual(differences(expected, found, before), says));
}
