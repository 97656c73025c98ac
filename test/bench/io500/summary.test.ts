import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { officialOf, summaryText } from "../../../bench/io500/run.ts";
import { geometricMean, phases, scoreOf } from "../../../bench/io500/score.ts";
import { parseSummary } from "../../../bench/io500/summary.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

/** The io500 program's own summary, of a run that was too short; without its marks it is that of a valid run. */
const short = recorded("io500--result-summary-short--02091cf254d8");
const valid = short.replaceAll(" [INVALID]", "");

describe("the summary of io500", () => {
  test("every phase that has a score, and the score", () => {
    const { phases: found, score, invalid } = parseSummary(valid);
    assert.deepEqual(
      found.map(({ phase }) => phase),
      [...phases],
    );
    assert.deepEqual(found[0], { phase: "ior-easy-write", value: 0.503487, unit: "GiB/s", seconds: 0.393 });
    assert.deepEqual(score, { bandwidth: 0.647279, metadata: 49.52322, total: 5.661746 });
    assert.deepEqual(invalid, []);
  });

  test("what it marks as invalid has no figure: the reason says which, and why in its own words", () => {
    assert.deepEqual(parseSummary(short).invalid, [
      ...["ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write", "the score"],
    ]);
    const why = "; ERROR INVALID stonewall-time 2s != 300s\n";
    const found = officialOf(`==> result_summary.txt <==\n${short}==> result.txt <==\n${why}${why}`);
    assert.deepEqual([found.phases, found.score, found.official], [[], null, true]);
    assert.equal(
      found.invalid,
      "io500 marks as invalid: ior-easy-write, mdtest-easy-write, ior-hard-write, mdtest-hard-write, the score: stonewall-time 2s != 300s",
    );
  });

  test("a valid one has its figures and its score", () => {
    const found = officialOf(`text\n==> result_summary.txt <==\n${valid}==> result.txt <==\n[run]\n`);
    assert.deepEqual(
      [found.phases.length, found.score, found.official, found.invalid],
      [12, 5.661746, true, null],
    );
  });

  for (const [what, text, message] of [
    ["an unknown line", `${valid}[RESULT] something else\n`, /unknown line "\[RESULT\] something else"/],
    ["another unit", valid.replace("0.503487 GiB/s", "0.503487 MB/s"), /unknown line/],
    [
      "no score: it has not ended",
      valid.replace(/^\[SCORE .*$/m, ""),
      /has no score: the program has not ended/,
    ],
    [
      "a phase that is missing",
      valid.replace(/^.*mdtest-hard-stat.*\n/m, ""),
      /has no phase mdtest-hard-stat/,
    ],
    [
      "a score that is not that of its phases",
      valid.replace("TOTAL 5.661746", "TOTAL 7.661746"),
      /its score is 7\.661746, and that of its phases 5\.66174/,
    ],
  ] as const) {
    test(`an error: ${what}`, () => {
      assert.throws(
        () => parseSummary(text),
        (error) => error instanceof ParseError && message.test(error.message),
      );
    });
  }
  test("an error: no summary at all", () => {
    assert.throws(() => summaryText("io500 died"), /left no result_summary\.txt/);
  });
});

test("the score is as published: geometric means, and of lab D's two the geometric mean", () => {
  assert.equal(geometricMean([2, 8]), 4);
  // Lab D: score 11.2798, from 2.96175 GiB/s and 42.959 kIOPS.
  assert.equal(geometricMean([2.96175, 42.959]).toFixed(4), "11.2798");
  const values = Object.fromEntries(
    phases.map((phase) => [phase, phase.startsWith("ior-") ? 2.96175 : 42.959]),
  );
  assert.equal(scoreOf(values as Parameters<typeof scoreOf>[0]).total.toFixed(4), "11.2798");
});
