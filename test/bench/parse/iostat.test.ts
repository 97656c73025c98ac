import assert from "node:assert/strict";
import { test } from "node:test";
import { iostatOf, parseIostat } from "../../../bench/parse/iostat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertNear, assertTotal } from "./total.ts";

/** What iostat itself says of the sizes of requests, which the parser leaves out, by sample and disk. */
function sizes(name: string): Map<string, { read: number; written: number }>[] {
  const text = recorded(name);
  if (text.startsWith("{")) {
    return JSON.parse(text)
      .sysstat.hosts[0].statistics.map(({ disk }: { disk: Record<string, number>[] }) =>
        Map.groupBy(disk, (row) => row.disk_device),
      )
      .map(
        (groups: Map<string, Record<string, number>[]>) =>
          new Map(
            [...groups].map(([disk, [row]]) => [
              disk,
              { read: row?.["rareq-sz"], written: row?.["wareq-sz"] },
            ]),
          ),
      );
  }
  const columns = /^Device.*$/m.exec(text)?.[0].trim().split(/\s+/) ?? [];
  const [ofReads, ofWrites] = [columns.indexOf("rareq-sz"), columns.indexOf("wareq-sz")];
  return text
    .split(/^Device.*\n/m)
    .slice(1)
    .map((sample) => {
      const rows = sample.split("\n\n")[0]?.trimEnd().split("\n") ?? [];
      return new Map(
        rows.map((row) => {
          const fields = row.split(/\s+/);
          return [fields[0] ?? "", { read: Number(fields[ofReads]), written: Number(fields[ofWrites]) }];
        }),
      );
    });
}

const versionOf = (name: string): string => /([\d.]+)$/.exec(name)?.[1] ?? "";
const isJson = (name: string): boolean => name.startsWith("iostat--json");
/** Not asked for JSON. */
const broken = (name: string): boolean => isJson(name) && iostatOf(versionOf(name)).extension !== "json";

test("iostat JSON before sysstat 12.2.1 is not ended when iostat is, or has sectors for kilobytes: text is read", () => {
  const of = (version: string) =>
    recordings("iostat").filter((name) => broken(name) && versionOf(name) === version);
  const interrupted = [...of("11.6.1"), ...of("12.0.1")].filter((name) => name.includes("interrupted"));
  assert.equal(interrupted.length, 2);
  for (const name of interrupted) assert.throws(() => parseIostat(recorded(name)), ParseError, name);
  const doubled = of("12.1.7").flatMap((name) =>
    parseIostat(recorded(name)).flatMap(({ disks }, at) =>
      disks.flatMap(({ disk, writes, written }) =>
        writes > 10 ? written / (writes * 1024 * (sizes(name)[at]?.get(disk)?.written ?? 0)) : [],
      ),
    ),
  );
  assert.ok(doubled.length > 0);
  for (const times of doubled) assertNear(times, 2, 0.01, "kilobytes by size");
});

for (const name of recordings("iostat").filter((name) => !broken(name))) {
  const version = versionOf(name);
  test(`${name}: a sample a second; bytes are requests by their mean size, which iostat prints too`, () => {
    const samples = parseIostat(recorded(name));
    const wanted = sizes(name);
    assert.ok(samples.length >= 2, `${samples.length} samples`);
    assert.equal(samples.length, wanted.length);
    for (const [at, { time, disks }] of samples.entries()) {
      assert.match(time ?? "", /\d\d:\d\d:\d\d/);
      assert.ok(disks.length > 0);
      assert.equal(disks.length, wanted[at]?.size);
      for (const disk of disks) {
        const size = wanted[at]?.get(disk.disk);
        assert.ok(size, disk.disk);
        // Rates are printed to 1/100: of few requests little is known.
        const roundedBy =
          0.011 * 1024 * (1 + disk.reads + disk.writes) + 0.011 * 1024 * (size.read + size.written);
        assert.ok(Math.abs(disk.read - disk.reads * size.read * 1024) <= roundedBy, `${disk.disk} read`);
        assert.ok(
          Math.abs(disk.written - disk.writes * size.written * 1024) <= roundedBy,
          `${disk.disk} written`,
        );
        assert.equal(disk.wait === null, disk.reads + disk.writes === 0);
        assert.ok(disk.busy >= 0 && disk.queue >= 0);
        assert.equal(disk.discards === null, version < "12.1.2", "discards");
        assert.equal(disk.flushes === null, version < "12.3.1", "flushes");
      }
    }
    assert.equal(recorded(name).split("\n").filter(beginsSample(name)).length, samples.length);
  });
}

/** Each form by a version that is asked for it. */
const beginsSample = (name: string) => iostatOf(isJson(name) ? "12.7.5" : "12.1.7").beginsSample;

test("figures by hand: kilobytes are of 1024 bytes, the wait is of reads and writes by their number", () => {
  const [sample] = parseIostat(recorded("iostat--text--sysstat-12.5.2"));
  const row = /^vda .*$/m.exec(recorded("iostat--text--sysstat-12.5.2"))?.[0].split(/\s+/).map(Number) ?? [];
  const [, r = 0, rkB = 0, , , rWait = 0, , w = 0, wkB = 0, , , wWait = 0] = row;
  const [disk] = sample?.disks ?? [];
  assert.ok(disk && w > 0);
  assert.deepEqual([disk.reads, disk.writes, disk.read, disk.written], [r, w, rkB * 1024, wkB * 1024]);
  assertNear(disk.wait ?? 0, (r * rWait + w * wWait) / (r + w), 1e-9, "wait");
  assert.deepEqual([disk.queue, disk.busy], row.slice(-2));
});

const heading12 =
  "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util";
const heading11 =
  "Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util";

test("older columns by their names: svctm, avgqu-sz, no discards and no flushes", () => {
  const nothing = { discards: null, flushes: null, flushWait: null };
  const rates = {
    disk: "sda",
    reads: 1,
    writes: 3,
    read: 4096,
    written: 65536,
    readWait: 1,
    writeWait: 5,
    wait: 4,
    queue: 0.5,
    busy: 12.5,
  };
  const later = `${heading12}\nsda 1.00 3.00 4.00 64.00 0.00 0.00 0.00 0.00 1.00 5.00 0.50 4.00 21.33 0.10 12.50\n`;
  const sooner = `${heading11}\nsda 0.00 0.00 1.00 3.00 4.00 64.00 34.00 0.50 4.00 1.00 5.00 0.10 12.50\n`;
  for (const text of [later, sooner]) {
    assert.deepEqual(parseIostat(text), [{ time: null, disks: [{ ...rates, ...nothing }] }]);
  }
});

test("a disk without a request has no wait", () => {
  const text = `${heading12}\nsda ${"0.00 ".repeat(15)}\n`;
  const [disk] = parseIostat(text)[0]?.disks ?? [];
  assert.deepEqual([disk?.wait, disk?.readWait, disk?.writeWait], [null, null, null]);
});

test("JSON from sysstat 12.2.1 on, text before: it was broken with -y, or in its units", () => {
  const json = ["iostat", "-x", "-y", "-t", "-k", "-o", "JSON", "1"];
  for (const version of ["12.2.1", "12.5.2", "12.7.5", "13.0"])
    assert.deepEqual(iostatOf(version).argv, json);
  for (const version of ["11.6.1", "12.0.5", "12.2.0", ""]) {
    assert.deepEqual(iostatOf(version).argv, ["iostat", "-x", "-y", "-t", "-k", "1"]);
  }
});

const row = (value: string) => `sda ${value} ${"0.00 ".repeat(14)}`;
for (const [what, bad, said] of [
  [
    "JSON that was cut off",
    recorded("iostat--json--sysstat-12.7.5").slice(0, 700),
    /not whole JSON; its last line/,
  ],
  ["JSON of another form", '{"sysstat": {"hosts": []}}', /not of the form/],
  ["a row before any heading", row("0.00"), /before any heading/],
  ["a row with fewer figures", `${heading12}\nsda 0.00`, /15 figures expected/],
  ["nan", `${heading12}\n${row("nan")}`, /r\/s "nan" is no figure/],
  ["megabytes", `${heading12.replace("rkB/s", "rMB/s")}\n${row("0.00")}`, /no column rkB\/s/],
  ["words", "iostat: command not found\n", /unknown line "iostat: command not found"/],
] as const) {
  test(`${what}: an error that says so`, () =>
    assert.throws(
      () => parseIostat(bad),
      (error) => error instanceof ParseError && said.test(error.message),
    ));
}

test("any text is parsed or a ParseError", () => {
  assertTotal(parseIostat, recorded("iostat--text--sysstat-12.5.2"));
  assertTotal(parseIostat, recorded("iostat--json--sysstat-12.7.5"));
});
