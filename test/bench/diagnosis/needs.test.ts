import assert from "node:assert/strict";
import { test } from "node:test";
import { answers, verdictsOf } from "../../../bench/diagnosis/needs.ts";
import { type Needs, verdict } from "../../../bench/schema/needs.ts";
import type { Latency, Result, Run, Side, ValidRun } from "../../../bench/schema/result.ts";
import type { FioTest } from "../../../bench/schema/test.ts";
import { exampleResult } from "../example.ts";
import { evidenceOfCase } from "./cases.ts";

const example = exampleResult();
const [base] = example.runs.filter((run) => run.valid);
if (base === undefined || base.spec.test.kind !== "fio") throw new Error("the example has a valid fio run");
const fio = base.spec.test;

const latency = (median: number, more: Partial<Latency> = {}): Latency => ({
  ...{ mean: median, median, p90: null, p99: null, p999: null, p9999: null, maximum: null },
  ...more,
});
const side = (bandwidth: number, iops: number, clat: Latency | null = null): Side => ({
  ...{ bytes: 1e9, bandwidth, iops, clat, slat: null },
});

/** A valid run of this test; its id makes the series. */
function run(
  id: string,
  test: Partial<FioTest>,
  sides: { read?: Side; write?: Side },
  clients = 1,
): ValidRun {
  return {
    ...(base as ValidRun),
    spec: { id, protocol: "iser", repeat: 1, test: { ...fio, ...test } },
    ...{ read: sides.read ?? null, write: sides.write ?? null },
    pool: { read: sides.read?.bandwidth ?? 0, write: sides.write?.bandwidth ?? 0 },
    clients: Array.from({ length: clients }, (_, n) => ({ client: `client${n}`, read: null, write: null })),
  };
}
const written = (id: string, bandwidth: number, clat?: Latency) =>
  run(id, { operation: "write" }, { write: side(bandwidth, bandwidth * 2, clat ?? null) });
const random = (id: string, operation: "randwrite" | "randread", iops: number, more: Partial<FioTest> = {}) =>
  run(
    id,
    { operation, blockSize: 4096, ...more },
    {
      [operation === "randwrite" ? "write" : "read"]: side((iops * 4096) / 1e6, iops, latency(1, { p99: 3 })),
    },
  );

const judged = (
  needs: Needs,
  runs: readonly Run[],
  environment: Result["environment"] = example.environment,
) =>
  verdictsOf(needs, runs, environment).map((one) => {
    assert.deepEqual(verdict.parse(one), one);
    const { need, found, met, margin } = one;
    return { need, found, met, margin: margin === null ? null : Math.round(margin * 10) / 10 };
  });

test("bandwidth: the best kind of run counts, whichever protocol it was", () => {
  const runs = [written("iscsi-write-1", 431), written("iser-write-1", 721)];
  assert.deepEqual(judged({ write: 600 }, runs), [
    { need: "600 MB/s written", found: 721, met: true, margin: 20.2 },
  ]);
  assert.deepEqual(judged({ write: 900 }, runs), [
    { need: "900 MB/s written", found: 721, met: false, margin: -19.9 },
  ]);
});

test("repeats count by their median, so that the luckiest decides nothing", () => {
  const runs = [written("iser-write-1", 690), written("iser-write-2", 700), written("iser-write-3", 900)];
  assert.deepEqual(judged({ write: 800 }, runs), [
    { need: "800 MB/s written", found: 700, met: false, margin: -12.5 },
  ]);
});

test("a run without figures, or of another kind, says nothing", () => {
  const invalid = example.runs.filter((one) => !one.valid);
  assert.ok(invalid.length > 0);
  const other = random("iser-randwrite-16k-1", "randwrite", 9000, { blockSize: 16384 });
  assert.deepEqual(
    judged({ writeIops: 5000, read: 100 }, [...invalid, other, written("iser-write-1", 700)]),
    [
      { need: "100 MB/s read", found: null, met: null, margin: null },
      { need: "5,000 random 4 KiB writes a second", found: null, met: null, margin: null },
    ],
  );
});

test("IOPS are of random 4 KiB I/Os", () => {
  const runs = [random("a-1", "randread", 71109), random("b-1", "randread", 34255)];
  assert.deepEqual(judged({ readIops: 50000 }, runs), [
    { need: "50,000 random 4 KiB reads a second", found: 71109, met: true, margin: 42.2 },
  ]);
});

test("a read that the ARC served says so; a RAM disk's run answers nothing", () => {
  const read = (pool: number): ValidRun => ({
    ...run("r-1", { operation: "read" }, { read: side(2729, 5205) }),
    pool: { read: pool, write: 0 },
  });
  assert.equal(judged({ read: 2000 }, [read(100)])[0]?.need, "2,000 MB/s read (measured from the ARC)");
  assert.equal(judged({ read: 2000 }, [read(2700)])[0]?.need, "2,000 MB/s read");
  const ramdisk = run("t-1", { operation: "write", backstore: "ramdisk" }, { write: side(3000, 6000) });
  assert.equal(judged({ write: 2000 }, [ramdisk])[0]?.met, null);
});

test("latency counts at the load that is needed: a quick run below it does not", () => {
  const needs: Needs = { write: 600, latency: { percentile: 99, ms: 20 } };
  const slow = written("deep-1", 700, latency(11, { p99: 30 }));
  const quick = written("shallow-1", 200, latency(2, { p99: 4 }));
  const [, found] = judged(needs, [slow, quick]);
  assert.deepEqual(found, {
    need: "p99 of the completion latency at most 20 ms",
    ...{ found: 30, met: false, margin: -50 },
  });
  const [, none] = judged(needs, [quick]);
  assert.deepEqual([none?.found, none?.met, none?.margin], [null, null, null]);
});

test("of several loads the slowest latency decides", () => {
  const needs: Needs = { write: 600, readIops: 5000, latency: { percentile: 99, ms: 20 } };
  const runs = [written("w-1", 700, latency(9, { p99: 18 })), random("r-1", "randread", 6000)];
  assert.deepEqual(judged(needs, runs).at(-1)?.found, 18);
  const unanswered = judged(needs, [runs[1] as ValidRun]).at(-1);
  assert.deepEqual([unanswered?.met, unanswered?.found], [null, null]);
});

test("a percentile that isn't stored is judged by the next above it, which can't flatter", () => {
  const needs: Needs = { latency: { percentile: 95, ms: 20 } };
  const at = (p99: number) => judged(needs, [written("w-1", 700, latency(9, { p90: 12, p99 }))])[0];
  assert.deepEqual(at(18), {
    need: "p95 of the completion latency at most 20 ms, judged by p99",
    ...{ found: 18, met: true, margin: 10 },
  });
  assert.equal(at(25)?.met, null);
});

test("clients, failures and capacity", () => {
  const runs = [written("w-1", 700), run("two-1", { operation: "write" }, { write: side(800, 1600) }, 2)];
  const found = judged({ clients: 2, failures: 2, capacity: 10e12 }, runs);
  assert.deepEqual(found.slice(0, 2), [
    { need: "2 clients at once", found: 2, met: true, margin: 0 },
    { need: "2 disks may fail at once", found: 2, met: true, margin: 0 },
  ]);
  // 24 mirrors of 1 TB, less a 32nd for ZFS itself.
  const capacity = found[2];
  assert.equal(capacity?.met, true);
  assert.ok((capacity.found ?? 0) > 22.5e12 && (capacity.found ?? 0) < 24e12, String(capacity.found));
  assert.equal(judged({ failures: 3 }, runs)[0]?.met, false);
});

test("a layout that isn't known answers neither failures nor capacity", () => {
  const pools = example.environment.pools.map((pool) => ({ ...pool, layout: null }));
  const found = judged({ failures: 0, capacity: 1 }, [], { ...example.environment, pools });
  assert.deepEqual(
    found.map(({ met, found: value }) => [met, value]),
    [
      [null, null],
      [null, null],
    ],
  );
});

test("the synchronous share is measured by runs that flush after each write", () => {
  const sync = run(
    "sync-1",
    { operation: "write", blockSize: 4096, sync: "fdatasync" },
    { write: side(60, 14648) },
  );
  assert.deepEqual(judged({ write: 500, syncShare: 10 }, [written("w-1", 700), sync]).at(-1), {
    ...{ need: "50 MB/s written synchronously", found: 60, met: true, margin: 20 },
  });
  assert.deepEqual(judged({ syncShare: 10 }, [written("w-1", 700)]), [
    { need: "10 % of the writes synchronous", found: null, met: null, margin: null },
  ]);
});

test("latency is not taken from runs that flush, whose completion latency leaves the flush out", () => {
  const sync = run(
    "sync-1",
    { operation: "write", sync: "fdatasync" },
    { write: side(700, 1400, latency(0.1, { p99: 0.2 })) },
  );
  assert.equal(judged({ latency: { percentile: 99, ms: 20 } }, [sync])[0]?.met, null);
  const evidence = { ...evidenceOfCase("storage-cpu--holds-lab-a-iser-write"), sync: true };
  assert.deepEqual(answers({ latency: { percentile: 50, ms: 20 } }, evidence), []);
});

test("one run answers only what it measured", () => {
  const needs: Needs = { write: 700, read: 3000, latency: { percentile: 99.9, ms: 100 } };
  const found = answers(needs, evidenceOfCase("storage-cpu--holds-lab-a-iser-write"));
  assert.deepEqual(
    found.map(({ need, met }) => [need, met]),
    [
      ["700 MB/s written", true],
      ["p99.9 of the completion latency at most 100 ms", false],
    ],
  );
});
