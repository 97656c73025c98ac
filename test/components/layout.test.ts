import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { expandBraces, vdevsOf } from "../../components/layout.ts";

describe("disk patterns", () => {
  const cases: [string, string[]][] = [
    ["disk", ["disk"]],
    ["bay{01..03}", ["bay01", "bay02", "bay03"]],
    ["{8..11}", ["8", "9", "10", "11"]],
    ["nvme-{a,b}", ["nvme-a", "nvme-b"]],
    ["e{1..2}-b{1..2}", ["e1-b1", "e1-b2", "e2-b1", "e2-b2"]],
  ];
  for (const [pattern, disks] of cases) test(pattern, () => assert.deepEqual(expandBraces(pattern), disks));

  for (const [pattern, message] of [
    ["bay{3..1}", /runs backwards/],
    ["bay{}", /is no range/],
    ["bay{a}", /is no range/],
    ["bay{a,,b}", /is no range/],
  ] as const) {
    test(`${pattern} is refused`, () => assert.throws(() => expandBraces(pattern), message));
  }
});

describe("vdevs", () => {
  test("neighbours form a vdev", () => {
    assert.deepEqual(vdevsOf(["d{1..6}"], 3, false), [
      ["d1", "d2", "d3"],
      ["d4", "d5", "d6"],
    ]);
  });

  test("72 disks in three enclosures make 24 mirrors with one side in each", () => {
    const mirrors = vdevsOf(["e{1..3}-b{01..24}"], 3, true);
    assert.equal(mirrors.length, 24);
    assert.deepEqual(mirrors[23], ["e1-b24", "e2-b24", "e3-b24"]);
  });

  test("enclosures may be patterns of their own", () => {
    assert.deepEqual(vdevsOf(["left-{1..2}", "right-{1..2}"], 2, true), [
      ["left-1", "right-1"],
      ["left-2", "right-2"],
    ]);
  });

  for (const [disks, width, spread, message] of [
    [["d{1..7}"], 3, false, /7 disks don't make whole vdevs of 3: 1 would be left over/],
    [["d1", "d1"], 2, false, /disk d1 is named twice/],
    [["a{1..2}", "b{1..3}"], 2, true, /different numbers of disks \(2, 3\)/],
  ] as const) {
    test(`${disks.join(" ")} by ${width} is refused`, () =>
      assert.throws(() => vdevsOf(disks, width, spread), message));
  }

  test("every disk is used once, and a vdev has two disks of one enclosure only when it is wider than there are enclosures", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 12 }),
        (e, bays, width) => {
          fc.pre((e * bays) % width === 0);
          const disks = Array.from(
            { length: e },
            (_, n) => `e${n}-{${Array.from({ length: bays + 1 }, (_, b) => `b${b}`).join(",")}}`,
          );
          fc.pre((e * (bays + 1)) % width === 0);
          const vdevs = vdevsOf(disks, width, true);
          const all = vdevs.flat();
          assert.equal(new Set(all).size, e * (bays + 1));
          for (const vdev of vdevs) {
            assert.equal(vdev.length, width);
            const used = new Set(vdev.map((disk) => disk.split("-")[0]));
            assert.equal(used.size, Math.min(width, e));
          }
        },
      ),
    );
  });
});
