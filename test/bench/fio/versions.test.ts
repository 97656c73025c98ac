import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, percentileOf } from "../../../bench/fio/histogram.ts";
import { mergeReports } from "../../../bench/fio/merge.ts";
import { type FioReport, type FioSide, parseFio } from "../../../bench/fio/report.ts";
import { documents } from "../../../bench/parse/documents.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertNear, assertTotal } from "../parse/total.ts";

/** Every recorded output of fio, 3.28 to 3.39, found by listing the folder (test/bench/record-programs makes them). */

type Job = Record<"read" | "write", Record<string, number>> & { error: number };
const names = recordings("fio");
const versionOf = (name: string): string => name.split("--").at(-1) ?? "";
const situationOf = (name: string): string => name.split("--")[1] ?? "";
const jobsOf = (report: FioReport): Job[] => JSON.parse(report.text).jobs;
/** Of more than nothing: fio rounds what it counts to ms and to KiB. */
const busy = (side: FioSide | null): side is FioSide => side !== null && side.seconds > 0.5 && side.ios > 20;

test("there are recordings of each of these versions", () => {
  const versions = new Set(names.map(versionOf));
  for (const version of ["3.28", "3.30", "3.33", "3.36", "3.39"]) assert.ok(versions.has(version), version);
});

for (const name of names) {
  const report = parseFio(recorded(name));

  test(`${name}: its own version, and the sums of its jobs`, () => {
    assert.equal(report.version, `fio-${versionOf(name)}`);
    const jobs = jobsOf(report);
    assert.equal(report.options.length, jobs.length);
    assert.equal(
      report.error !== 0,
      jobs.some(({ error }) => error !== 0),
    );
    for (const way of ["read", "write"] as const) {
      const bytes = jobs.reduce((sum, job) => sum + (job[way].io_bytes ?? 0), 0);
      assert.equal(report[way]?.bytes ?? 0, bytes);
    }
  });

  test(`${name}: \`bw\` is KiB/s, \`bw_bytes\` B/s, both what was moved by the time that it took`, () => {
    const jobs = jobsOf(report);
    for (const way of ["read", "write"] as const) {
      const side = report[way];
      if (!busy(side) || side.bandwidth === null) continue;
      // fio's bw has no fraction.
      const kib = jobs.reduce((sum, job) => sum + (job[way].bw ?? 0), 0);
      assert.ok(
        Math.abs((side.bandwidth * 1e6) / 1024 - kib) <= jobs.length + 1,
        `${side.bandwidth} MB/s, ${kib} KiB/s`,
      );
      const moved = jobs.reduce(
        (sum, { [way]: job }) => sum + (job.runtime ? (job.io_bytes ?? 0) / job.runtime / 1000 : 0),
        0,
      );
      assertNear(side.bandwidth, moved, 0.01, "MB/s");
      assertNear(side.bytes / side.ios, 1e6 * (side.bandwidth / (side.iops ?? 0)), 0.02, "bytes an I/O");
    }
  });

  test(`${name}: its bins hold all I/Os, and its percentiles are those of the bins`, () => {
    for (const timing of [report.read?.clat, report.write?.clat, report.sync]) {
      if (!timing?.bins) continue;
      assert.equal(countOf(timing.bins), timing.count);
      for (const [percent, ns] of timing.percentiles ?? [])
        assert.equal(percentileOf(timing.bins, percent), ns);
      const [fastest, slowest] = [timing.bins.at(0)?.[0] ?? 0, timing.bins.at(-1)?.[0] ?? 0];
      // The last bin holds the maximum: bins are a 64th of a power of two wide.
      assertNear(slowest, timing.maximum ?? 0, 1 / 32, "the slowest");
      assert.ok(timing.mean !== null && timing.mean >= fastest * 0.98 && timing.mean <= slowest * 1.02);
    }
    if (situationOf(name).startsWith("plus")) assert.ok(report.write?.clat?.bins, "json+ has bins");
  });

  test(`${name}: floats printed as nan or inf are null in any place, never another number`, () => {
    const words = ["nan", "-nan", "inf", "-inf"];
    let nth = 0;
    const damaged = report.text.replace(
      /("(?:iops|mean)" : )\d+\.\d+/g,
      (_, key: string) => `${key}${words[nth++ % words.length]}`,
    );
    const parsed = parseFio(`${damaged}\n`);
    for (const side of [parsed.read, parsed.write]) assert.equal(side?.iops ?? null, null);
    assert.ok(parsed.warnings.includes(`fio printed ${nth} values that are no numbers (nan, inf)`));
    if (parsed.read ?? parsed.write) assert.throws(() => mergeReports([parsed]), /no number for IOPS/);
  });

  test(`${name}: text before its JSON, between and after is kept as warnings and changes no figure`, () => {
    const text = recorded(name);
    const noise = "fio: this option is {deprecated\n";
    const parsed = parseFio(`${noise}${text}\n${noise}`);
    assert.equal(parsed.text, report.text);
    assert.deepEqual([parsed.read, parsed.write], [report.read, report.write]);
    assert.equal(parsed.warnings.length, report.warnings.length + 2);
  });
}

const of = (situation: string) => names.filter((name) => situationOf(name) === situation);

test("percentiles missing or switched off: none, with a warning; lat's are not taken for clat's", () => {
  for (const name of [...of("percentiles-off"), ...of("lat-percentiles"), ...of("latency-off")]) {
    const report = parseFio(recorded(name));
    const side = report.read ?? report.write;
    assert.ok(busy(side), name);
    assert.equal(side.clat?.percentiles ?? null, null, name);
    assert.equal(mergeReports([report]).read?.clat ?? null, null, name);
    if (situationOf(name) === "latency-off") assert.equal(side.clat, null, name);
    else
      assert.deepEqual(report.warnings, [
        `${report.read ? "read" : "write"}: fio printed no completion latency percentiles`,
      ]);
  }
  for (const name of of("other-percentiles")) {
    assert.deepEqual([...(parseFio(recorded(name)).read?.clat?.percentiles?.keys() ?? [])], [50, 75], name);
  }
});

test("fio prints text before its JSON: a note of one version, an error of all", () => {
  const noted = of("note-before-report").filter((name) => !recorded(name).startsWith("{"));
  assert.ok(noted.length > 0);
  for (const name of noted) {
    assert.match(parseFio(recorded(name)).warnings.join(), /queue depth will be capped at 1/, name);
  }
  for (const name of of("no-space")) {
    const report = parseFio(recorded(name));
    assert.equal(report.error, 28, name);
    assert.match(report.warnings.join(), /No space left on device/, name);
  }
});

test("a file that is not there: no I/O and no error in the report, only in the exit status", () => {
  for (const name of of("no-file")) {
    const report = parseFio(recorded(name));
    assert.deepEqual([report.error, report.read, report.write], [0, null, null], name);
  }
});

test("of the reports of --status-interval the last counts", () => {
  for (const name of of("status-reports")) {
    const all = documents(recorded(name)).documents.map(({ text }) => parseFio(text));
    assert.ok(all.length >= 3, name);
    const bytes = all.map(({ read }) => read?.bytes ?? 0);
    assert.deepEqual(
      bytes,
      [...bytes].sort((a, b) => a - b),
      name,
    );
    assert.equal(parseFio(recorded(name)).read?.bytes, bytes.at(-1), name);
  }
});

test("two jobs one by one and as fio groups them: the same load, within a tenth", () => {
  for (const name of of("plus-two-jobs-mixed")) {
    const apart = parseFio(recorded(name));
    const together = parseFio(recorded(name.replace("two-jobs", "group")));
    assert.deepEqual([apart.options.length, together.options.length], [2, 1]);
    for (const way of ["read", "write"] as const) {
      // 300 reads and 150 writes a second and job, as asked for; short runs on a busy machine may do less.
      const [a, b] = [apart[way]?.iops ?? 0, together[way]?.iops ?? 0];
      assert.ok(
        a > 0 && b > 0 && a <= (way === "read" ? 600 : 300) * 1.1 && b <= (way === "read" ? 600 : 300) * 1.1,
        `${name} ${way}: ${a}, ${b}`,
      );
      const merged = mergeReports([apart])[way];
      assert.equal(merged?.bytes, apart[way]?.bytes);
      assert.ok(merged?.clat?.p999 && merged.clat.p999 >= merged.clat.median);
    }
  }
});

test("a nan in a text of fio's is no number that is missing", () => {
  for (const name of of("nan")) {
    assert.match(recorded(name), /"criterion" : "-?nan%"/, name);
    assert.doesNotMatch(parseFio(recorded(name)).warnings.join(), /no numbers/, name);
  }
});

test("options only in the global section count for each job; disk_util absent", () => {
  for (const name of of("global-section-no-disk-util")) {
    const report = parseFio(recorded(name));
    assert.equal("disk_util" in JSON.parse(report.text), false, name);
    assert.deepEqual(
      report.options.map(({ bs, ioengine, rw }) => [bs, ioengine, rw]),
      [
        ["4096", "psync", "write"],
        ["4096", "psync", "read"],
      ],
      name,
    );
    assert.ok(busy(report.read) && busy(report.write), name);
  }
});

test("any text is a report or a ParseError", () => {
  assertTotal(parseFio, recorded("fio--plus-fdatasync--3.36"));
  assertTotal(parseFio, recorded("fio--no-space--3.28"));
});
