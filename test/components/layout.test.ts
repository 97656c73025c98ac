import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  enclosures,
  enclosuresToLose,
  expandBraces,
  layoutKinds,
  redundancy,
  tolerated,
  type VdevLayout,
  vdevsOf,
} from "../../components/layout.ts";

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
    [["shelf1-bay1"], 1, true, /two enclosures or more, and here is one/],
  ] as const) {
    test(`${disks.join(" ")} by ${width} is refused`, () =>
      assert.throws(() => vdevsOf(disks, width, spread), message));
  }

  /** Some enclosures with as many bays each, and a width that the disks divide into. */
  const spread = fc
    .tuple(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 2, max: 9 }), fc.integer({ min: 1, max: 12 }))
    .filter(([shelves, bays, width]) => (shelves * bays) % width === 0)
    .map(([shelves, bays, width]) => {
      const patterns = Array.from({ length: shelves }, (_, n) => `e${n}-{1..${bays}}`);
      return { shelves, bays, width, patterns, vdevs: vdevsOf(patterns, width, true) };
    });

  test("every disk is used once", () => {
    fc.assert(
      fc.property(spread, ({ shelves, bays, width, vdevs }) => {
        const all = vdevs.flat();
        assert.equal(all.length, shelves * bays);
        assert.equal(new Set(all).size, all.length);
        for (const vdev of vdevs) assert.equal(vdev.length, width);
      }),
    );
  });

  test("with spread, no mirror is inside one enclosure, and none has two sides in one while there are others", () => {
    fc.assert(
      fc.property(spread, ({ shelves, width, vdevs }) => {
        for (const vdev of vdevs) {
          const counts = Map.groupBy(vdev, (disk) => disk.split("-")[0]);
          assert.equal(counts.size, Math.min(width, shelves));
          for (const { length } of counts.values()) assert.ok(length <= Math.ceil(width / shelves));
        }
      }),
    );
  });

  test("one pattern whose first brace counts the enclosures spreads as a list of them does", () => {
    fc.assert(
      fc.property(spread, ({ shelves, bays, width, vdevs }) => {
        assert.deepEqual(vdevsOf([`e{0..${shelves - 1}}-{1..${bays}}`], width, true), vdevs);
      }),
    );
  });
});

describe("failures that a layout tolerates", () => {
  const vdev = (type: VdevLayout["type"], ...disks: string[]): VdevLayout => ({ type, disks });
  const cases: [vdevs: VdevLayout[], enclosed: string[][], sentence: string][] = [
    [[vdev("stripe", "a"), vdev("stripe", "b")], [], "no failure"],
    [[vdev("mirror", "a", "b", "c")], [], "any 2 disks"],
    [[vdev("mirror", "a", "b"), vdev("mirror", "c", "d")], [], "any 1 disk of each vdev"],
    [[vdev("raidz2", "a", "b", "c", "d")], [], "any 2 disks"],
    [[vdev("draid3", ..."abcdefgh")], [], "any 3 disks"],
    [
      [vdev("mirror", "a1", "b1", "c1"), vdev("mirror", "a2", "b2", "c2")],
      [
        ["a1", "a2"],
        ["b1", "b2"],
        ["c1", "c2"],
      ],
      "any 2 disks of each vdev, or any 2 whole enclosures",
    ],
    [
      [vdev("raidz2", "a1", "b1", "a2", "b2")],
      [
        ["a1", "a2"],
        ["b1", "b2"],
      ],
      "any 2 disks, or any 1 whole enclosure",
    ],
    [
      [vdev("raidz1", "a1", "b1", "a2", "b2")],
      [
        ["a1", "a2"],
        ["b1", "b2"],
      ],
      "any 1 disk, no whole enclosure",
    ],
  ];
  for (const [vdevs, enclosed, sentence] of cases) {
    const name = vdevs.map(({ type, disks }) => `${type} of ${disks.join(" ")}`).join(", ");
    test(`${name}: ${sentence}`, () => assert.equal(tolerated(vdevs, enclosed), sentence));
  }

  /** Every choice of `count` items. */
  const choose = <T>(items: readonly T[], count: number): T[][] =>
    count === 0
      ? [[]]
      : items.flatMap((item, n) => choose(items.slice(n + 1), count - 1).map((rest) => [item, ...rest]));

  test("as counted by trying every failure: disks of a vdev, and whole enclosures", () => {
    /** By the layout's own definition, not by our arithmetic: what is left of a vdev gives all data back. */
    const survives = ({ type, disks }: VdevLayout, failed: readonly string[]): boolean => {
      const left = disks.filter((disk) => !failed.includes(disk)).length;
      if (type === "stripe") return left === disks.length;
      if (type === "mirror") return left >= 1;
      return left >= disks.length - Number(type.slice(-1));
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom(...layoutKinds),
        (shelves, bays, width, type) => {
          fc.pre((shelves * bays) % width === 0 && (type === "stripe" ? width === 1 : width > 3));
          const patterns = Array.from({ length: shelves }, (_, n) => `e${n}-{1..${bays}}`);
          const vdevs = vdevsOf(patterns, width, true).map((disks) => ({ type, disks }));
          for (const each of vdevs) {
            const most = redundancy(each);
            assert.ok(choose(each.disks, most).every((failed) => survives(each, failed)));
            assert.ok(!choose(each.disks, most + 1).every((failed) => survives(each, failed)));
          }
          const enclosed = enclosures(patterns);
          const most = enclosuresToLose(vdevs, enclosed);
          const all = (count: number): boolean =>
            choose(enclosed, count).every((lost) => vdevs.every((each) => survives(each, lost.flat())));
          assert.ok(all(most));
          assert.ok(!all(most + 1));
        },
      ),
      { numRuns: 60 },
    );
  });
});
