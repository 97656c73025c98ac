import assert from "node:assert/strict";
import { test } from "node:test";
import { mpstatOf, parseMpstat, sysstatVersion } from "../../../bench/parse/mpstat.ts";
import { parseMpstatText } from "../../../bench/parse/mpstat-text.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertTotal } from "./total.ts";

const { beginsSample, liveCore } = mpstatOf("12.7.5");

/** Before 12.0.4 and 12.1.4, mpstat doesn't end its JSON on SIGINT, as which it is ended here; 12.0 calls all CPUs -1. */
const broken = (name: string): boolean =>
  (/^mpstat--json-interrupted/.test(name) && versionOf(name) < "12.1") ||
  /^mpstat--json--sysstat-12\.0/.test(name);
const versionOf = (name: string): string => /([\d.]+)$/.exec(name)?.[1] ?? "";
const asked = (name: string): string => (/^mpstat--json/.test(name) ? "json" : "text");

for (const name of recordings("mpstat", /^(json|text)/).filter((name) => !broken(name))) {
  test(`${name}: shares make up 100, the average is that of all cores`, () => {
    const samples = (asked(name) === "json" ? parseMpstat : parseMpstatText)(recorded(name));
    assert.ok(samples.length >= 2);
    const begins = mpstatOf(asked(name) === "json" ? "12.7.5" : "12.1.7").beginsSample;
    assert.equal(recorded(name).split("\n").filter(begins).length, samples.length);
    for (const { time, cores, all } of samples) {
      assert.match(time, /^\d\d:\d\d:\d\d$/);
      assert.deepEqual(
        cores.map(({ core }) => core),
        [...cores.keys()],
      );
      for (const row of [all, ...cores]) {
        const { busy, user, system, interrupt, softirq, iowait, steal, guest, idle } = row;
        const parts = user + system + interrupt + softirq + steal + guest;
        assert.ok(Math.abs(parts + iowait + idle - 100) < 0.1, `${parts + iowait + idle} %`);
        assert.ok(Math.abs(parts - busy) < 0.1, `${busy} % busy, of parts ${parts} %`);
      }
      // Cores count their ticks apart, so their mean is that of all within some ticks only.
      const mean = cores.reduce((sum, core) => sum + core.busy, 0) / cores.length;
      assert.ok(Math.abs(mean - all.busy) < 5, `${mean} and ${all.busy}`);
    }
  });
}

test("mpstat JSON of sysstat 11.6–12.1 is broken: it is an error, their text is read", () => {
  const names = recordings("mpstat").filter(broken);
  assert.ok(names.length > 0);
  for (const name of names) {
    const version = versionOf(name);
    assert.throws(() => parseMpstat(recorded(name)), ParseError, name);
    const { argv, parse } = mpstatOf(version);
    assert.deepEqual(argv, ["mpstat", "-P", "ALL", "1"], version);
    assert.ok(parse(recorded(`mpstat--text--sysstat-${version}`)).length >= 2, version);
  }
});

test("figures by hand", () => {
  const [sample] = parseMpstatText(recorded("mpstat--text-two-cpus--12.6.1"));
  assert.deepEqual(sample?.cores[1], {
    ...{ core: 1, busy: 100, user: 19.05 + 27.62, system: 45.71, interrupt: 0, softirq: 6.67 },
    ...{ iowait: 0, steal: 0.95, guest: 0, idle: 0 },
  });
});

test("any text is parsed or a ParseError", () => {
  assertTotal(parseMpstat, recorded("mpstat--json-two-cpus--12.6.1"));
  assertTotal(parseMpstatText, recorded("mpstat--text-two-cpus--12.6.1"));
});

const seven = {
  ...{ busy: 6, user: 1, system: 2, interrupt: 0, softirq: 3 },
  ...{ iowait: 60, steal: 0, guest: 0, idle: 34 },
};

test("waiting for I/O is not busy", () => {
  const row =
    '"usr": 1, "nice": 0, "sys": 2, "iowait": 60, "irq": 0, "soft": 3, "steal": 0, "guest": 0, "gnice": 0';
  assert.deepEqual(liveCore(`  {"cpu": "7", ${row}, "idle": 34},`), {
    core: 7,
    ...seven,
  });
});

test("the lines of a report under way", () => {
  const lines = recorded("mpstat--json-two-cpus--12.6.1").split("\n");
  assert.equal(lines.filter(beginsSample).length, 2);
  assert.deepEqual(
    lines.flatMap((line) => liveCore(line)?.core ?? []),
    [0, 1, 0, 1],
  );
});

test("what was cut off is an error that quotes its end", () => {
  const text = recorded("mpstat--json--12.7.5").slice(0, 900);
  assert.throws(
    () => parseMpstat(text),
    (error) => error instanceof ParseError && /not whole JSON/.test(error.message),
  );
  assert.throws(() => parseMpstat('{"sysstat": {}}'), /not of the form/);
});

test("a sample without the row for all CPUs is an error", () => {
  const text = recorded("mpstat--json--12.7.5").replaceAll('"cpu": "all"', '"cpu": "1"');
  assert.throws(() => parseMpstat(text), /no row for all CPUs/);
});

test("the text of older versions holds the same", () => {
  const text = recorded("mpstat--text-two-cpus--12.6.1");
  const { parse, beginsSample: begins, liveCore: live } = mpstatOf("12.1.7");
  const parsed = parse(text);
  assert.deepEqual(
    parsed.map(({ cores }) => cores.map(({ core }) => core)),
    [
      [0, 1],
      [0, 1],
    ],
  );
  const lines = text.split("\n");
  assert.equal(lines.filter(begins).length, 2);
  assert.deepEqual(
    lines.flatMap((line) => live(line) ?? []),
    parsed.flatMap(({ cores }) => cores),
  );
  const heading = "12:00:01 CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle";
  const row = (cpu: string) => `12:00:01 ${cpu} 1.00 0.00 2.00 60.00 0.00 3.00 0.00 0.00 0.00 34.00`;
  assert.deepEqual(parse(`${heading}\n${row("all")}\n${row("7")}\n`)[0]?.cores, [{ core: 7, ...seven }]);
  for (const bad of [
    row("7"),
    "12:00:01 PM  CPU",
    `${heading}\n12:00:01 all 1.00`,
    "12:00:01 CPU %user",
    "mpstat: x",
  ]) {
    assert.throws(() => parse(bad), ParseError, bad);
  }
  assert.deepEqual(parse(`${heading}\n`), []);
});

test("the version decides: JSON before 12.2 is broken", () => {
  assert.equal(sysstatVersion(recorded("mpstat--version--12.7.5"), "storage"), "12.7.5");
  assert.equal(sysstatVersion(recorded("mpstat--version--12.6.1"), "storage"), "12.6.1");
  const asks = (version: string) => mpstatOf(version).argv.includes("JSON");
  assert.deepEqual(["11.6.0", "12.1.7", "12.2.0", "12.7.5", "13.0.1"].map(asks), [
    false,
    false,
    true,
    true,
    true,
  ]);
  assert.throws(() => sysstatVersion("busybox", "storage"), ParseError);
});
