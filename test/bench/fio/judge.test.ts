import assert from "node:assert/strict";
import { test } from "node:test";
import { expectedOptions } from "../../../bench/fio/argv.ts";
import { aboveLink, whyInvalid } from "../../../bench/fio/judge.ts";
import type { FioReport, FioSide } from "../../../bench/fio/report.ts";
import type { FioTest } from "../../../bench/schema/test.ts";
import { client, spec } from "./sample.ts";

const side = (change: Partial<FioSide> = {}): FioSide => ({
  ...{ ios: 512, bytes: 2 ** 28, seconds: 8.1, bandwidth: 33, iops: 63, slat: null, clat: null, ...change },
});
const options = (test: Partial<FioTest>, change: Record<string, string> = {}) => [
  { ...expectedOptions(client, spec(test)), ...change },
];
const good: FioReport = {
  ...{ text: "{}", version: "fio-3.39", error: 0, options: options({}), read: null, write: side() },
  ...{ sync: null, warnings: [] },
};
const mixed = { operation: "randrw", readShare: 70 } as const;

const cases: [string, Partial<FioReport>, Partial<FioTest>, RegExp | undefined][] = [
  ["a good run", {}, {}, undefined],
  ["any job error fails the run", { error: 28, warnings: ["fio: no space"] }, {}, /errno 28: fio: no space/],
  ["no I/O", { write: null }, {}, /did no I\/O/],
  [
    "tiny sizes: hardly any I/O",
    { write: side({ ios: 16 }) },
    {},
    /did 16 I\/Os at a depth of 16; below two rounds/,
  ],
  [
    "hardly any I/O for so many jobs",
    { options: options({ jobs: 64 }) },
    { jobs: 64 },
    /did 512 I\/Os at 64 jobs with a depth of 16/,
  ],
  ["short runs", { write: side({ seconds: 7.1 }) }, {}, /ran 7\.1 s of 8 s; below 90 %/],
  ["just long enough", { write: side({ seconds: 7.2 }) }, {}, undefined],
  [
    "bs=4KiB means 4000 bytes in fio: it says what it took",
    { options: options({}, { bs: "4000" }) },
    {},
    /took bs as 4000, 524288 was asked for/,
  ],
  ["fio doesn't say what it took", { options: [{}] }, {}, /took filename as nothing/],
  [
    "the second job took something else",
    { options: [...options({}), ...options({}, { rw: "read" })] },
    {},
    /took rw as read/,
  ],
  ["no number", { write: side({ iops: null }) }, {}, /printed no number for bandwidth or IOPS, write/],
  ["a mixed load", { options: options(mixed), read: side() }, mixed, undefined],
  ["a mixed load without reads", { options: options(mixed) }, mixed, /did no read of a mixed load/],
];
for (const [what, change, of, expected] of cases) {
  test(what, () => {
    const why = whyInvalid({ ...good, ...change }, client, spec(of));
    if (expected === undefined) assert.equal(why, undefined);
    else assert.match(why ?? "", expected);
  });
}

test("faster than the link: above what the slowest carries", () => {
  assert.equal(aboveLink(2729, [32_000, 32_000]), false);
  assert.equal(aboveLink(4100, [40_000, 32_000]), true);
  assert.equal(aboveLink(4100, [null, 40_000]), false);
  assert.equal(aboveLink(4100, [null, null]), null);
});
