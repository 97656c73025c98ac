import assert from "node:assert/strict";
import { test } from "node:test";
import { mpstatOf, parseMpstat, sysstatVersion } from "../../../bench/parse/mpstat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const { beginsSample, liveCore } = mpstatOf("12.7.5");

const names = { "mpstat--json--12.7.5": [3, 1], "mpstat--json-two-cpus--12.6.1": [2, 2] } as const;

for (const [name, [samples, cores]] of Object.entries(names)) {
  test(name, () => {
    const parsed = parseMpstat(recorded(name));
    assert.equal(parsed.length, samples);
    for (const sample of parsed) {
      assert.equal(sample.cores.length, cores);
      for (const { busy, system, softirq } of sample.cores) {
        assert.ok(busy >= 0 && busy <= 100 && system + softirq <= busy + 0.1);
      }
    }
  });
}

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
