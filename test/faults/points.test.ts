import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { kinds } from "./fault.ts";
import { operations, pointName, pointsOf, random, sampleOf, turnsOf } from "./points.ts";
import { parseReport } from "./report.ts";

const seen = parseReport(
  [
    '{"planned":["note it","create pool tank"]}',
    '{"step":0,"seconds":0.1}',
    '{"step":1,"seconds":3.2}',
    '{"planned":["wait for it"]}',
    "",
  ].join("\n"),
);

test("the report of a run", () => {
  assert.deepEqual(seen, {
    steps: ["note it", "create pool tank", "wait for it"],
    plans: 2,
    seconds: new Map([
      [0, 0.1],
      [1, 3.2],
    ]),
    struck: false,
  });
  assert.equal(parseReport('{"struck":true}\n').struck, true);
});

test("points: before each step, within a long one, after the last", () => {
  assert.deepEqual(pointsOf("zfs:Pool", "create", seen, ["cut"]).map(pointName), [
    "zfs:Pool create cut 0",
    "zfs:Pool create cut 1",
    "zfs:Pool create cut 1 +1.6",
    "zfs:Pool create cut 2",
    "zfs:Pool create cut end",
  ]);
  assert.equal(pointsOf("zfs:Pool", "create", seen).length, 4 * kinds.length + 2);
  assert.deepEqual(
    pointsOf("zfs:Pool", "create", seen)
      .filter(({ during }) => during !== undefined)
      .map(({ kind }) => kind),
    ["cut", "reboot"],
  );
});

test("an operation without steps has no points", () => {
  assert.deepEqual(pointsOf("zfs:Pool", "delete", parseReport("")), []);
});

const points = operations.flatMap((operation) => pointsOf("zfs:Pool", operation, seen));

test("by turns, each place is struck by so many kinds, and each kind strikes", () => {
  const places = (of: typeof points) => new Set(of.map((p) => `${p.operation} ${p.at} ${p.during}`));
  for (const seed of [1, 2, 3]) {
    const once = turnsOf(points, 1, seed);
    assert.equal(once.length, places(points).size);
    assert.deepEqual(places(once), places(points));
    assert.deepEqual(new Set(once.map(({ kind }) => kind)), new Set(kinds));
  }
  assert.deepEqual(new Set(turnsOf(points, kinds.length, 1).map(pointName)), new Set(points.map(pointName)));
  assert.notDeepEqual(turnsOf(points, 1, 1), turnsOf(points, 1, 2));
});

test("a small sample has every kind and every operation", () => {
  const sample = sampleOf(points, 8, random(1));
  assert.deepEqual(new Set(sample.map(({ kind }) => kind)), new Set(kinds));
  assert.deepEqual(new Set(sample.map(({ operation }) => operation)), new Set(operations));
});

test("a sample is of the size asked for, without doubles, the same for the same seed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 200 }), fc.integer(), (count, seed) => {
      const sample = sampleOf(points, count, random(seed));
      assert.equal(sample.length, Math.min(count, points.length));
      assert.equal(new Set(sample.map(pointName)).size, sample.length);
      assert.deepEqual(sampleOf(points, count, random(seed)), sample);
    }),
  );
});
