import assert from "node:assert/strict";
import { test } from "node:test";
import { expectFio, overlap, togetherPrecondition } from "../../../bench/run/fio.ts";
import { poolOf, servedByArc } from "../../../bench/run/measure.ts";
import { CommandError } from "../../../provider/errors.ts";
import { exampleRecording } from "../example.ts";
import { benchHost } from "../sample.ts";

const { hosts } = exampleRecording();
const [storage] = hosts;
if (storage === undefined) throw new Error("the example records a storage host");
const pool = storage.vdevs.find(({ role }) => role === "pool");
if (pool === undefined) throw new Error("the example has a pool");

test("server cache: a read above what the disks delivered is marked, with both figures", () => {
  assert.deepEqual(servedByArc(100, { read: 96, write: 0 }), []);
  assert.deepEqual(servedByArc(null, { read: 0, write: 50 }), []);
  assert.deepEqual(servedByArc(100, null), []);
  assert.deepEqual(servedByArc(17.35, { read: 0, write: 0.5 }), [
    "read faster than the disks: 17.4 MB/s to the clients, of which the pool's vdevs delivered 0.0 MB/s; 100 % came from the ARC",
  ]);
});

test("several pools are added; a gap is no zero", () => {
  const of = (read: (number | null)[], written: number[]) => ({ ...pool, read, written });
  const two = [{ ...storage, vdevs: [of([10, null, 20], [1, 1, 1]), of([5, 5, 5], [3, 3, 3])] }];
  assert.deepEqual(poolOf({ hosts: two }), { read: 20, write: 4 });
  assert.equal(poolOf({ hosts: [{ ...storage, vdevs: [] }] }), null);
});

test("of several clients' times the common one is measured; too little in common is none", () => {
  const windows = [
    { start: 0, end: 10_000 },
    { start: 500, end: 10_500 },
  ];
  assert.deepEqual(overlap(windows), { start: 500, end: 10_000 });
  assert.deepEqual(togetherPrecondition(windows), {
    name: "clients at once",
    wanted: "at least 90 % of the measured time common to all clients",
    found: "95.0 %, begun 0.50 s apart",
    holds: true,
  });
  const apart = togetherPrecondition([windows[0] ?? { start: 0, end: 0 }, { start: 11_000, end: 21_000 }]);
  assert.deepEqual([apart.holds, apart.found], [false, "0.0 %, begun 11.00 s apart"]);
});

test("fio's failure in its own words, not all of them", () => {
  const answer = { argv: [], status: 1, stdout: "fio: a\nfio: b\n", stderr: "fio: c\nfio: d\n" };
  assert.throws(
    () => expectFio(benchHost("initiator", {}), answer, "fio"),
    (error) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.message, "initiator: fio failed with status 1: fio: a; fio: b; fio: c (and 1 more)");
      return true;
    },
  );
  expectFio(benchHost("initiator", {}), { ...answer, status: 0 }, "fio");
});
