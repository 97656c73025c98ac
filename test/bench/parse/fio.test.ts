import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFio } from "../../../bench/parse/fio.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const round = (value: number | null | undefined): number => Number(value?.toPrecision(4));

test("the last of several reports, after what findmnt printed (3.39)", () => {
  const report = parseFio(recorded("fio--read-reports-after-findmnt--3.39"), "read");
  assert.equal(report.version, "fio-3.39");
  assert.equal(report.error, 0);
  assert.deepEqual(report.warnings, []);
  assert.equal(report.options.bs, "524288");
  assert.ok(report.seconds >= 5 && report.seconds < 7, `${report.seconds} s`);
  // Bytes a second over the time that fio itself counts.
  assert.equal(round(report.bandwidth), round(report.bytes / report.seconds / 1e6));
  assert.equal(round(report.iops), round(report.bytes / 524288 / report.seconds));
  assert.ok(report.clat && report.clat.median < report.clat.p99 && report.clat.p99 <= report.clat.p999);
  assert.deepEqual(JSON.parse(report.text)["fio version"], "fio-3.39");
});

test("the write side of a write (3.39, 3.33), and nothing on the other side", () => {
  for (const name of ["fio--write-reports-after-findmnt--3.39", "fio--write-reports--3.33"]) {
    const report = parseFio(recorded(name), "write");
    assert.ok(report.bytes > 0 && (report.bandwidth ?? 0) > 0, name);
    assert.equal(parseFio(recorded(name), "read").bytes, 0, name);
  }
});

test("latencies are ms, from fio's ns", () => {
  const text = recorded("fio--read-reports--3.33");
  const ns = JSON.parse(parseFio(text, "read").text).jobs[0].read.clat_ns.percentile;
  const { clat } = parseFio(text, "read");
  assert.deepEqual(clat, {
    median: ns["50.000000"] / 1e6,
    p99: ns["99.000000"] / 1e6,
    p999: ns["99.900000"] / 1e6,
  });
});

test("options of the global section count, percentiles that are switched off are null with a warning", () => {
  const report = parseFio(recorded("fio--global-options-without-clat--3.33"), "write");
  assert.equal(report.options.iodepth, "16");
  assert.equal(report.options.rw, "write");
  assert.equal(report.clat, null);
  assert.deepEqual(report.warnings, ["fio printed no completion latency percentiles"]);
});

test("a job's error is told, with the text that fio printed into its JSON output", () => {
  const full = parseFio(recorded("fio--no-space--3.39"), "write");
  assert.equal(full.error, 28);
  assert.match(full.warnings.join(), /No space left on device/);
  assert.equal(parseFio(recorded("fio--no-file--3.33"), "read").bytes, 0);
});

const report = (side: object, jobs = 1): string => {
  const empty = { io_bytes: 0, bw_bytes: 0, bw: 0, iops: 0, runtime: 0 };
  const job = { error: 0, read: { ...empty, ...side }, write: empty };
  return JSON.stringify({ "fio version": "fio-3.28", jobs: Array.from({ length: jobs }, () => job) });
};

test("nan and inf are null with a warning", () => {
  const text = report({ io_bytes: 1, iops: "X" }).replace('"X"', "-nan");
  const parsed = parseFio(`note: before\n${text}`, "read");
  assert.equal(parsed.iops, null);
  assert.deepEqual(parsed.warnings, [
    "note: before",
    "fio printed 1 values that are no numbers (nan, inf)",
    "fio printed no completion latency percentiles",
  ]);
});

test("bw is KiB/s where bw_bytes is missing", () => {
  const text = report({ io_bytes: 1, bw: 1000 }).replaceAll('"bw_bytes":0,', "");
  assert.equal(parseFio(text, "read").bandwidth, 1.024);
});

test("several jobs are refused: their percentiles can't be averaged", () => {
  assert.throws(() => parseFio(report({}, 2), "read"), ParseError);
});

test("no report is an error with fio's own words", () => {
  assert.throws(
    () => parseFio("fio: engine libaio not loadable\n", "read"),
    /printed no JSON report; it said: fio: engine libaio not loadable/,
  );
  assert.throws(() => parseFio('{"filesystems": []}', "read"), ParseError);
  assert.throws(() => parseFio('{"fio version": "fio-3.39", "jobs": [{}]}', "read"), /not of the form/);
});
