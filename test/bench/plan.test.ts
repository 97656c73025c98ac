import assert from "node:assert/strict";
import { test } from "node:test";
import { estimate, mostRuns, planProblems, runsOf, testId } from "../../bench/plan.ts";
import type { FioTest, RunSpec, Test } from "../../bench/schema/test.ts";
import { runSpec } from "../../bench/schema/test.ts";
import { readWorkload, testsOf, workloadNames } from "../../bench/workload.ts";
import { RefusedError } from "../../provider/errors.ts";
import { fioTest } from "./fio/sample.ts";

const both = ["iscsi", "iser"] as const;
const asked = (tests: readonly Test[], repeats = 1) => ({ tests: [...tests], protocols: [...both], repeats });
const short = ({ protocol, test: { test: name }, repeat }: RunSpec) => `${protocol} ${name} ${repeat}`;

test("a repeat goes round all tests before the next, which takes the protocols the other way round", () => {
  const tests = [fioTest({ test: "read", operation: "read" }), fioTest({ test: "write" })];
  assert.deepEqual(runsOf(asked(tests, 3)).map(short), [
    ...["iscsi write 1", "iscsi read 1", "iser write 1", "iser read 1"],
    ...["iser write 2", "iser read 2", "iscsi write 2", "iscsi read 2"],
    ...["iscsi write 3", "iscsi read 3", "iser write 3", "iser read 3"],
  ]);
});

test("a workload's writes come before its mixed tests and reads; the workloads keep their order", () => {
  const of = (workload: string, name: string, operation: FioTest["operation"]) =>
    fioTest({ workload, test: name, operation, readShare: operation === "randrw" ? 70 : null });
  const tests = [
    ...[of("b", "r", "read"), of("b", "m", "randrw"), of("b", "w", "randwrite")],
    ...[of("a", "r", "randread"), of("a", "w", "write")],
  ];
  assert.deepEqual(
    runsOf({ ...asked(tests), protocols: ["iser"] }).map(({ test: t }) => `${t.workload} ${t.test}`),
    ["b w", "b m", "b r", "a w", "a r"],
  );
});

test("ids are short, of a file name's letters, one a run, and don't change with what is measured beside", () => {
  const wide = fioTest({
    workload: "random",
    test: "read-iops",
    operation: "randread",
    blockSize: 4096,
    depth: 32,
    jobs: 4,
  });
  assert.equal(testId(wide), "random-read-iops-4k-d32-j4");
  assert.equal(testId(fioTest({ blockSize: 1024 ** 2 })), "sequential-write-1m-d16-j1");
  assert.equal(testId(fioTest({ blockSize: 512 })), "sequential-write-512b-d16-j1");
  assert.equal(runsOf(asked([wide], 2))[1]?.id, "iser-random-read-iops-4k-d32-j4-1");
  const every = workloadNames().flatMap((name) => testsOf(readWorkload(name)));
  const runs = runsOf(asked(every, 3));
  assert.equal(new Set(runs.map(({ id }) => id)).size, every.length * 2 * 3);
  for (const run of runs) runSpec.parse(run);
});

const refusals: [string, Partial<FioTest>, RegExp][] = [
  [
    "a file smaller than what is in flight",
    { size: 1024 ** 2, jobs: 4 },
    /test file of 1 MiB is smaller than what is in flight, 512 KiB × depth 16 × 4 jobs = 32 MiB; make size larger/,
  ],
  ["a run of no time", { runtime: 0 }, /j1: runtime: Too small: expected number to be >0/],
  ["half a sector", { blockSize: 256 }, /blockSize: .*multiple of 512/],
  ["a mixed load without a share", { operation: "randrw" }, /randrw reads and writes; it needs readShare/],
  ["a share of one direction", { readShare: 70 }, /write has no readShare \(70\)/],
  [
    "syncing reads",
    { operation: "randread", sync: "fdatasync" },
    /randread writes nothing that fdatasync could sync/,
  ],
  [
    "a rate that jobs can't have in whole numbers",
    { rateIops: 1000, jobs: 3 },
    /rateIops 1000 can't be divided over 3 jobs in whole I\/Os a second; the next is 1002/,
  ],
  [
    "a rate that neither jobs nor directions can",
    { operation: "randrw", readShare: 75, rateIops: 1002, jobs: 4 },
    /over 4 jobs with 75 % reads in whole I\/Os a second; the next is 1008/,
  ],
];
for (const [what, change, message] of refusals) {
  test(`refused: ${what}`, () => {
    const problems = planProblems(asked([fioTest(change)]));
    assert.match(problems.join("\n"), message);
    assert.match(problems.join("\n"), /^sequential-write-(512k|256b)-d16-j\d: /);
    assert.throws(() => runsOf(asked([fioTest(change)])), RefusedError);
  });
}

test("a rate that divides is taken", () => {
  assert.deepEqual(
    planProblems(asked([fioTest({ operation: "randrw", readShare: 75, rateIops: 1008, jobs: 4 })])),
    [],
  );
});

test("a matrix of thousands of runs is refused with its numbers and hours", () => {
  const tests = Array.from({ length: 251 }, (_, n) => fioTest({ depth: n + 1, size: 2 ** 40, runtime: 180 }));
  assert.match(
    planProblems(asked(tests, 2)).join("\n"),
    new RegExp(
      `^2 protocols × 2 repeats × 251 tests are 1004 runs, about 52 hours; at most ${mostRuns}: take values out`,
    ),
  );
});

test("one test twice is refused: its files would be overwritten", () => {
  assert.match(
    planProblems(asked([fioTest(), fioTest()])).join("\n"),
    /test sequential-write-512k-d16-j1 is there twice/,
  );
});

const client = { name: "initiator" } as never;
const guess = (tests: readonly Test[], virtual: boolean, clients = 1) =>
  estimate({ ...asked(tests), virtual, clients: Array.from({ length: clients }, () => client) });

test("the estimate: measured and ramp time, prefill, a warm ARC, and what each run costs beside", () => {
  const { prefill, runs, total } = guess(testsOf(readWorkload("sequential")), false);
  assert.equal(Math.round(prefill), 276, "100 GiB at 400 MB/s, and fio's start");
  assert.deepEqual([...new Set(runs.map(({ seconds }) => seconds))], [188]);
  assert.equal(total, 10 + prefill + 4 * 188);
  const warm = guess(
    [fioTest({ operation: "read", arc: "warm", size: 4e9, runtime: 60, rampTime: 10 })],
    false,
    2,
  );
  assert.equal(warm.runs[0]?.seconds, 8 + 70 + 20, "two clients' files are read before");
  const ramdisk = guess([fioTest({ backstore: "ramdisk" })], false);
  assert.equal(ramdisk.prefill, 0);
});

test("smoke is a whole benchmark of both protocols in under two minutes in the virtual lab", () => {
  const { total } = guess(testsOf(readWorkload("smoke")), true);
  assert.ok(total < 110, `${total} s`);
});
