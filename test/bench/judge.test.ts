import assert from "node:assert/strict";
import { test } from "node:test";
import { aboveLink, whyInvalid } from "../../bench/judge.ts";
import type { FioReport } from "../../bench/parse/fio.ts";
import { sampleRequest } from "./sample.ts";

const good: FioReport = {
  ...{ text: "{}", version: "fio-3.39", error: 0, options: { bs: "524288" }, seconds: 8.1, bytes: 2 ** 28 },
  ...{ bandwidth: 33, iops: 63, clat: null, warnings: [] },
};

const cases: [string, Partial<FioReport>, RegExp | undefined][] = [
  ["a good run", {}, undefined],
  ["fio's job failed", { error: 28, warnings: ["fio: no space"] }, /errno 28: fio: no space/],
  ["no I/O", { bytes: 0 }, /did no I\/O/],
  ["hardly any I/O", { bytes: 16 * 524288 }, /did 16 I\/Os at a depth of 16; below two rounds/],
  ["too short", { seconds: 7.1 }, /ran 7\.1 s of 8 s; below 90 %/],
  ["just long enough", { seconds: 7.2 }, undefined],
  ["fio took another block size", { options: { bs: "4000" } }, /took bs as 4000, 524288 was asked for/],
  ["fio doesn't say what it took", { options: {} }, /took bs as nothing/],
];
for (const [what, change, expected] of cases) {
  test(what, () => {
    const why = whyInvalid({ ...good, ...change }, { bs: "524288" }, sampleRequest.workload);
    if (expected === undefined) assert.equal(why, undefined);
    else assert.match(why ?? "", expected);
  });
}

test("faster than the slower link carries", () => {
  assert.equal(aboveLink(2729, [32_000, 32_000]), false);
  assert.equal(aboveLink(4100, [40_000, 32_000]), true);
  assert.equal(aboveLink(4100, [null, 40_000]), false);
  assert.equal(aboveLink(4100, [null, null]), null);
});
