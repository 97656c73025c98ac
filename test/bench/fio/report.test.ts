import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFio } from "../../../bench/fio/report.ts";
import { latencyOf } from "../../../bench/fio/timing.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const round = (value: number | null | undefined): number => Number(value?.toPrecision(4));

test("the last of several reports, after what findmnt printed (3.39)", () => {
  const report = parseFio(recorded("fio--read-reports-after-findmnt--3.39"));
  assert.equal(report.version, "fio-3.39");
  assert.equal(report.error, 0);
  assert.deepEqual(report.warnings, []);
  assert.equal(report.options[0]?.bs, "524288");
  assert.equal(report.write, null);
  const { read } = report;
  assert.ok(read);
  assert.ok(read.seconds >= 5 && read.seconds < 7, `${read.seconds} s`);
  // Bytes a second over the time that fio itself counts.
  assert.equal(round(read.bandwidth), round(read.bytes / read.seconds / 1e6));
  assert.equal(round(read.iops), round(read.bytes / 524288 / read.seconds));
  const clat = latencyOf(read.clat);
  assert.ok(clat?.p99 && clat.p999 && clat.median < clat.p99 && clat.p99 <= clat.p999);
  assert.deepEqual(JSON.parse(report.text)["fio version"], "fio-3.39");
});

test("a write has a write side only (3.39, 3.33)", () => {
  for (const name of ["fio--write-reports-after-findmnt--3.39", "fio--write-reports--3.33"]) {
    const report = parseFio(recorded(name));
    assert.ok(report.write && report.write.bytes > 0 && (report.write.bandwidth ?? 0) > 0, name);
    assert.equal(report.read, null, name);
  }
});

test("both directions of a mixed load, over all of its jobs", () => {
  const report = parseFio(recorded("fio--plus-two-jobs-mixed--3.36"));
  const jobs = JSON.parse(report.text).jobs as Record<"read" | "write", { io_bytes: number; iops: number }>[];
  assert.equal(jobs.length, 2);
  for (const way of ["read", "write"] as const) {
    assert.equal(
      report[way]?.bytes,
      jobs.reduce((sum, job) => sum + job[way].io_bytes, 0),
    );
    assert.equal(
      report[way]?.iops,
      jobs.reduce((sum, job) => sum + job[way].iops, 0),
    );
  }
});

test("percentiles missing, lat or clat: latencies are ms of fio's completion latency", () => {
  const report = parseFio(recorded("fio--read-reports--3.33"));
  const ns = JSON.parse(report.text).jobs[0].read.clat_ns;
  assert.deepEqual(latencyOf(report.read?.clat ?? null), {
    mean: ns.mean / 1e6,
    median: ns.percentile["50.000000"] / 1e6,
    p90: ns.percentile["90.000000"] / 1e6,
    p99: ns.percentile["99.000000"] / 1e6,
    p999: ns.percentile["99.900000"] / 1e6,
    p9999: ns.percentile["99.990000"] / 1e6,
    maximum: ns.max / 1e6,
  });
  for (const version of ["3.28", "3.33", "3.36"]) {
    // --lat_percentiles=1: they stand under lat_ns, which is another time.
    const lat = parseFio(recorded(`fio--lat-percentiles--${version}`));
    assert.equal(latencyOf(lat.read?.clat ?? null), null);
    assert.deepEqual(lat.warnings, ["read: fio printed no completion latency percentiles"]);
    const off = parseFio(recorded(`fio--percentiles-off--${version}`));
    assert.equal(latencyOf(off.write?.clat ?? null), null);
    const others = parseFio(recorded(`fio--other-percentiles--${version}`));
    assert.equal(others.read?.clat?.percentiles?.size, 2);
  }
});

test("options only in the global section; disk_util absent", () => {
  const report = parseFio(recorded("fio--global-options-without-clat--3.33"));
  assert.equal(report.options[0]?.iodepth, "16");
  assert.equal(report.options[0]?.rw, "write");
  assert.deepEqual(report.warnings, ["write: fio printed no completion latency percentiles"]);
  for (const version of ["3.28", "3.33", "3.36"]) {
    const bare = parseFio(recorded(`fio--global-section-no-disk-util--${version}`));
    assert.equal("disk_util" in JSON.parse(bare.text), false);
    assert.equal(bare.options.length, 2);
    assert.ok(bare.options.every(({ bs }) => bs !== undefined));
    assert.ok(bare.read && bare.write);
  }
});

test("fio prints text before its JSON, even into the output: a job's error is told with it", () => {
  const full = parseFio(recorded("fio--no-space--3.39"));
  assert.equal(full.error, 28);
  assert.match(full.warnings.join(), /No space left on device/);
  assert.equal(parseFio(recorded("fio--no-file--3.33")).read, null);
});

const report = (side: object, jobs = 1): string => {
  const empty = { io_bytes: 0, bw_bytes: 0, bw: 0, iops: 0, runtime: 0 };
  const job = { error: 0, read: { ...empty, ...side }, write: empty };
  return JSON.stringify({ "fio version": "fio-3.28", jobs: Array.from({ length: jobs }, () => job) });
};

test("floats printed as nan or inf are null with a warning", () => {
  const text = report({ io_bytes: 1, iops: "X" }).replace('"X"', "-nan");
  const parsed = parseFio(`note: before\n${text}`);
  assert.equal(parsed.read?.iops, null);
  assert.deepEqual(parsed.warnings, [
    "note: before",
    "fio printed 1 values that are no numbers (nan, inf)",
    "read: fio printed no completion latency percentiles",
  ]);
});

test("bw is KiB/s, bw_bytes B/s: one is taken, as MB/s of 10^6", () => {
  assert.equal(parseFio(report({ io_bytes: 1, bw_bytes: 1024000, bw: 1000 })).read?.bandwidth, 1.024);
  const text = report({ io_bytes: 1, bw: 1000 }).replaceAll('"bw_bytes":0,', "");
  assert.equal(parseFio(text).read?.bandwidth, 1.024);
});

test("a job without a number makes no smaller sum", () => {
  const text = report({ io_bytes: 1, iops: 5 }, 2).replace('"iops":5', '"iops":inf');
  assert.equal(parseFio(text).read?.iops, null);
});

test("percentiles of several jobs can't be merged without bins: null with a warning, never an average", () => {
  const clat_ns = { N: 10, mean: 5, max: 9, percentile: { "50.000000": 4, "99.000000": 9 } };
  const parsed = parseFio(report({ io_bytes: 1, clat_ns }, 2));
  assert.equal(latencyOf(parsed.read?.clat ?? null), null);
  assert.deepEqual(parsed.warnings, [
    "read: percentiles of 2 jobs can't be merged without their bins (json+)",
  ]);
  assert.equal(parsed.read?.clat?.mean, 5);
});

test("no report is an error with fio's own words", () => {
  assert.throws(
    () => parseFio("fio: engine libaio not loadable\n"),
    /printed no JSON report; it said: fio: engine libaio not loadable/,
  );
  assert.throws(() => parseFio('{"filesystems": []}'), ParseError);
  assert.throws(() => parseFio('{"fio version": "fio-3.39", "jobs": [{}]}'), /not of the form/);
});
