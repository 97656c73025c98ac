import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { levels, rates } from "../../../bench/telemetry/counters.ts";
import type { Frame } from "../../../bench/telemetry/frames.ts";
import { placeFrames, placeSamples, timeLine } from "../../../bench/telemetry/time-line.ts";

/** Our clock stands at 1000 s. */
const at = (second: number, printed: Record<string, string> = {}, counter?: number): Frame => ({
  time: 1000 + second,
  files: new Map(counter === undefined ? [] : [["counter", String(counter)]]),
  printed: new Map(Object.entries(printed)),
});
const counter = (frame: Frame): number | undefined => {
  const text = frame.files.get("counter");
  return text === undefined ? undefined : Number(text);
};
const line = timeLine(1, 1_000_000, 1_004_000);

describe("which intervals are measured", () => {
  const rows: [string, number, number, number, number[]][] = [
    ["whole ones", 1, 1000, 4000, [2000, 3000, 4000]],
    ["one that begins a little before counts", 1, 1200, 4000, [2000, 3000, 4000]],
    ["one that begins long before does not", 1, 1300, 4000, [3000, 4000]],
    ["one that ends a little after counts", 1, 1000, 3800, [2000, 3000, 4000]],
    ["of two seconds", 2, 1000, 9000, [4000, 6000, 8000]],
    ["none fits", 5, 1300, 5000, []],
  ];
  for (const [what, interval, start, end, times] of rows) {
    test(what, () => assert.deepEqual(timeLine(interval, start, end), { interval, times }));
  }
});

describe("frames on the line", () => {
  test("a host whose clock is ahead stands at the same seconds as one whose clock is not", () => {
    const ours = [0, 1, 2, 3, 4].map((n) => at(n + 0.002));
    const theirs = ours.map((frame) => ({ ...frame, time: frame.time + 37.4 }));
    const placed = [placeFrames(ours, 0, line), placeFrames(theirs, 37_400, line)];
    assert.deepEqual(placed[0]?.slots, [1000, 1001, 1002, 1003, 1004]);
    assert.deepEqual(placed[1]?.slots, placed[0]?.slots);
    assert.deepEqual(
      placed.map(({ spans, gaps }) => [spans.filter((span) => span !== undefined).length, gaps]),
      [
        [4, []],
        [4, []],
      ],
    );
  });

  test("first zpool iostat or mpstat sample, an average since boot: what came before the measured time is dropped", () => {
    const frames = [-3, -2, -1, 0, 1, 2, 3, 4].map((n) => at(n, { mpstat: `sample ${n}\n` }, n));
    const placed = placeFrames(frames, 0, line);
    const { samples } = placeSamples(
      "mpstat",
      { frames, placed, line },
      (text) => text.startsWith("sample"),
      (text) => text.split("\n").filter((one) => one !== ""),
    );
    // Sample 2 was printed a moment after the frame of second 1, so it is of the interval that ended there.
    assert.deepEqual(samples, ["sample 2", "sample 3", "sample 4", undefined]);
  });

  test("a frame that is missing leaves a gap, and what came after is of the longer time", () => {
    const frames = [0, 1, 3, 4].map((n) => at(n, {}, n * 100));
    const placed = placeFrames(frames, 0, line);
    assert.deepEqual(rates(placed.spans, counter), [100, null, 100, 100]);
    assert.deepEqual(placed.gaps, ["no sample for 2.0 s from second 1 on, one each 1 s wanted"]);
  });

  test("frames that begin late or end early are said", () => {
    const placed = placeFrames(
      [2, 3].map((n) => at(n)),
      0,
      line,
    );
    assert.deepEqual(placed.gaps, ["no sample in the first 2 s", "no sample in the last 1 s"]);
    assert.deepEqual(placeFrames([], 0, line).gaps, ["no sample at all"]);
  });

  test("of two frames within one interval the last counts", () => {
    const frames = [at(0, {}, 0), at(0.9, {}, 90), at(1.1, {}, 110), at(2, {}, 200)];
    const { spans } = placeFrames(frames, 0, line);
    assert.deepEqual(
      rates(spans, counter).map((rate) => rate && Math.round(rate)),
      [100, 100, null, null],
    );
  });
});

describe("programs' samples", () => {
  const place = (printed: readonly string[]) => {
    const frames = printed.map((text, n) => at(n, { p: text }));
    const placed = placeFrames(frames, 0, line);
    return placeSamples(
      "p",
      { frames, placed, line },
      (text) => text.startsWith("="),
      (text) =>
        text
          .split("=")
          .slice(1)
          .map((one) => one.trim()),
    );
  };

  test("each is of the interval that had just ended when it came", () => {
    const found = place(["", "", "=a\n", "=b\n", "=c\n", "=d\n"]);
    assert.deepEqual(found, { samples: ["a", "b", "c", "d"], gaps: [] });
  });
  test("one that came together with the next was late", () => {
    assert.deepEqual(place(["", "", "=a\n", "", "=b\n=c\n", "=d\n"]).samples, ["a", "b", "c", "d"]);
  });
  test("one whose lines are cut by a frame counts by its first", () => {
    assert.deepEqual(place(["", "", "=a\n=b\n", "1\n", "=c\n", "=d\n"]).samples[2], "c");
  });
  test("one that never came is a gap", () => {
    assert.deepEqual(place(["", "", "=a\n", "", "=c\n", "=d\n"]), {
      samples: ["a", undefined, "c", "d"],
      gaps: ["p: 1 of 4 samples missing"],
    });
  });
});

describe("differences of counters", () => {
  const over = (values: readonly (number | undefined)[]) => {
    const frames = values.map((value, n) => at(n, {}, value));
    return rates(placeFrames(frames, 0, line).spans, counter);
  };
  test("a second", () => assert.deepEqual(over([5, 6, 8, 8, 108]), [1, 2, 0, 100]));
  test("a counter that was reset or wrapped says nothing for that interval, and goes on", () =>
    assert.deepEqual(over([4294967290, 4294967295, 4, 5, 7]), [5, null, 1, 2]));
  test("a counter that is missing at one end says nothing", () =>
    assert.deepEqual(over([1, undefined, 3, 4, 6]), [null, null, 1, 2]));
  test("a gauge is taken as it stands", () => {
    const { spans } = placeFrames(
      [0, 1, 2].map((n) => at(n, {}, 50 - n)),
      0,
      line,
    );
    assert.deepEqual(levels(spans, counter), [49, 48, null, null]);
  });
});
