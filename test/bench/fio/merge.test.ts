import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countOf, mergeHistograms, percentileOf } from "../../../bench/fio/histogram.ts";
import { mergeReports } from "../../../bench/fio/merge.ts";
import { parseFio } from "../../../bench/fio/report.ts";
import { latencyOf } from "../../../bench/fio/timing.ts";
import { type Histogram, histogram } from "../../../bench/schema/recording.ts";
import { side } from "../../../bench/schema/result.ts";
import { recorded } from "../../recorded.ts";

/** The histogram of single latencies, each its own bin. */
const counted = (latencies: readonly number[]): Histogram => {
  const counts = new Map<number, number>();
  for (const ns of latencies) counts.set(ns, (counts.get(ns) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
};
const latencies = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 });

test("merging is the histogram of the union, and its percentiles are of all I/Os", () => {
  fc.assert(
    fc.property(
      fc.array(latencies, { maxLength: 5 }),
      fc.double({ min: 0.01, max: 100, noNaN: true }),
      (all, percent) => {
        const merged = mergeHistograms(all.map(counted));
        const union = all.flat().sort((a, b) => a - b);
        assert.deepEqual(merged, counted(union));
        assert.equal(countOf(merged), union.length);
        // Nearest rank: the smallest latency that at least so many percent of I/Os don't exceed.
        const rank = Math.max(1, Math.ceil((percent / 100) * union.length));
        assert.equal(percentileOf(merged, percent), union[rank - 1]);
      },
    ),
  );
});

test("never average percentiles over jobs: a slow client's tail stays", () => {
  const fast = counted(Array.from({ length: 990 }, () => 1));
  const slow = counted(Array.from({ length: 10 }, () => 1000));
  const merged = mergeHistograms([fast, slow]);
  assert.deepEqual(
    [50, 99, 99.1, 99.9].map((percent) => percentileOf(merged, percent)),
    [1, 1, 1000, 1000],
  );
  assert.equal(percentileOf([], 50), undefined);
});

for (const version of ["3.28", "3.33", "3.36"]) {
  test(`percentiles of bins are fio's own, of a group that it merged itself (${version})`, () => {
    for (const name of ["plus-group-mixed", "plus-fdatasync"]) {
      const report = parseFio(recorded(`fio--${name}--${version}`));
      for (const timing of [report.read?.clat, report.write?.clat, report.sync]) {
        if (!timing?.bins || !timing.percentiles) continue;
        assert.equal(countOf(timing.bins), timing.count);
        assert.ok(timing.percentiles.size > 10);
        for (const [percent, ns] of timing.percentiles)
          assert.equal(percentileOf(timing.bins, percent), ns, `p${percent}`);
      }
    }
  });
}

test("jobs of one report and clients of one run: one histogram, sums of bandwidth and IOPS", () => {
  const one = parseFio(recorded("fio--plus-two-jobs-mixed--3.36"));
  const other = parseFio(recorded("fio--plus-group-mixed--3.33"));
  const merged = mergeReports([one, other]);
  for (const way of ["read", "write"] as const) {
    const [a, b] = [one[way], other[way]];
    assert.ok(a?.clat?.bins && b?.clat?.bins);
    const latency = merged.latency[way];
    const figures = merged[way];
    assert.ok(latency && figures);
    assert.deepEqual(latency, mergeHistograms([a.clat.bins, b.clat.bins]));
    assert.equal(countOf(latency), a.ios + b.ios);
    assert.equal(figures.bandwidth, (a.bandwidth ?? 0) + (b.bandwidth ?? 0));
    assert.equal(figures.iops, (a.iops ?? 0) + (b.iops ?? 0));
    assert.equal(figures.bytes, a.bytes + b.bytes);
    assert.equal(figures.clat?.maximum, Math.max(a.clat.maximum ?? 0, b.clat.maximum ?? 0) / 1e6);
    // fio's mean is of the latencies, that of the bins of their middles.
    const mean = latency.reduce((sum, [ns, n]) => sum + ns * n, 0) / countOf(latency) / 1e6;
    assert.ok(
      Math.abs((figures.clat?.mean ?? 0) - mean) < 0.02 * mean,
      `${figures.clat?.mean} and ${mean} ms`,
    );
    histogram.parse(latency);
    side.parse(figures);
  }
});

test("a log's writes have the time of fdatasync beside their own", () => {
  const { write, read } = mergeReports([parseFio(recorded("fio--plus-fdatasync--3.36"))]);
  assert.equal(read, null);
  assert.ok(write?.sync && write.sync.median > 0 && write.clat);
  assert.equal(mergeReports([parseFio(recorded("fio--write-reports--3.33"))]).write?.sync, undefined);
});

test("clients without bins have no percentiles together; one alone has fio's own", () => {
  const report = parseFio(recorded("fio--note-before-report--3.33"));
  assert.equal(mergeReports([report, report]).read?.clat, null);
  const alone = mergeReports([report]).read;
  assert.deepEqual(alone?.clat, latencyOf(report.read?.clat ?? null));
  assert.ok(alone?.clat && alone.clat.p999 !== null);
});

test("a client whose fio printed no number is an error, not a smaller sum", () => {
  const report = parseFio(recorded("fio--plus-group-mixed--3.36"));
  assert.ok(report.read);
  const broken = { ...report, read: { ...report.read, iops: null } };
  assert.throws(() => mergeReports([report, broken]), /no number for IOPS, read/);
});
