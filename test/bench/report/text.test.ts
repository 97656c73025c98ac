import assert from "node:assert/strict";
import { test } from "node:test";
import { readReference } from "../../../bench/reference.ts";
import { csv } from "../../../bench/report/csv.ts";
import { html } from "../../../bench/report/html.ts";
import { markdown } from "../../../bench/report/markdown.ts";
import { outcomeOf } from "../../../bench/report/outcome.ts";
import { terminal } from "../../../bench/report/terminal.ts";
import { virtualNote } from "../../../bench/report/words.ts";
import { outcome, type Result, type Run, type ValidRun } from "../../../bench/schema/result.ts";
import { exampleResult } from "../example.ts";

const found = exampleResult();
const [valid] = found.runs.filter((run): run is ValidRun => run.valid);
if (valid === undefined) throw new Error("the example has a valid run");
const withRuns = (...runs: Run[]): Result => exampleResult({ runs });
const cells = (text: string, name: string): string[] =>
  (text.split("\n").find((line) => line.startsWith(`| ${name} |`)) ?? "")
    .split("|")
    .map((cell) => cell.trim());

test("each protocol and direction stands beside lab A's published figures", () => {
  const text = markdown(found);
  const published = ["iSCSI write", "iSCSI read", "iSER write", "iSER read"].map((name) => {
    const row = cells(text, name);
    return [name, row[3], row[7], row[10]];
  });
  assert.deepEqual(published, [
    ["iSCSI write", "431", "17", "79"],
    ["iSCSI read", "1,054", "7.8", "–"],
    ["iSER write", "721", "11", "201"],
    ["iSER read", "2,729", "3", "–"],
  ]);
});

test("wherever figures of the virtual lab appear it is said what they are worth", () => {
  const virtual = exampleResult({ virtual: true });
  for (const text of [markdown(virtual), terminal(virtual)]) assert.ok(text.includes(virtualNote));
  for (const text of [markdown(found), terminal(found)]) assert.ok(!text.includes("emulation"));
});

test("unwritten areas, zero buffers, server cache: ARC, the pool's reads and compression stand beside the figures", () => {
  const text = markdown(found);
  assert.match(
    text,
    /iSER read: the pool read 61\.0 MB\/s from its vdevs for 2,729 MB\/s to the clients \(2 %\)/,
  );
  assert.match(text, /Compression ratio of tank\/lun0 after the runs: 1\.00/);
  assert.match(text, /\| iSCSI read \| left \| .* \| 99\.5 % \| 38\.0 \| 0\.60 \|/);
  const fast = withRuns({ ...valid, aboveLink: true });
  assert.match(markdown(fast), /above what the link carries: a cache served it/);
});

test("percentiles missing or switched off are a dash, and a p99.9 of few I/Os is said to be one", () => {
  const write = valid.write;
  if (write === null) throw new Error("the first run writes");
  const without = withRuns({ ...valid, write: { ...write, clat: null } });
  assert.deepEqual(cells(markdown(without), "iSCSI write").slice(6, 11), ["–", "17", "–", "–", "79"]);
  const few = withRuns({ ...valid, write: { ...write, bytes: 300 * 524288 } });
  assert.match(markdown(few), /little more than the slowest of them: iSCSI write \(300\)\./);
  assert.doesNotMatch(markdown(found), /the slowest of them/);
});

test("a run that went wrong has its reason and no figures, in every form", () => {
  const reason = "precondition ARC cold: wanted below 1 % of demand reads hit, found 23 % hit";
  assert.match(markdown(found), new RegExp(`iSER read-iops has no figures: ${reason}`));
  assert.deepEqual(cells(markdown(found), "iSER read-iops").slice(2, 5), ["invalid", "–", ""]);
  assert.match(terminal(found), /iSER read-iops +invalid/);
  const rows = csv(found)
    .split("\r\n")
    .filter((row) => row.includes("iser-random-read-iops"));
  assert.equal(rows.length, 1);
  assert.match(rows[0] ?? "", new RegExp(`,1,false,"${reason}",,,$`));
  assert.deepEqual(outcomeOf(found).runs.at(-1), { run: "iSER read-iops", valid: false, invalid: reason });
});

test("the limit, its evidence and the advice with its key are said", () => {
  const text = markdown(found);
  assert.match(
    text,
    /\| iSCSI read \| one core of the client \| high \| The TCP receive path of one core limits/,
  );
  assert.match(
    text,
    /\*configuration\*: Spread the receive path .* `storage-lab:fabric\.link\.steering: rps` \(at most 1,338 MB\/s/,
  );
  assert.match(text, /core 2: 88 % softirq \(above 80 %\)/);
  assert.match(text, /\| p99\.9 of at most 100 ms \| 100 \| 173 \| ms \| not met \| −73 % \|/);
});

test("a host's words are no markup, no cell, no escape sequence", () => {
  const hostile = "<img src=x> | [a](b) `c` \u001b[2J";
  const [cpu] = valid.cpus;
  if (cpu === undefined) throw new Error("the first run has CPUs");
  const bad = withRuns({ ...valid, cpus: [{ ...cpu, host: hostile }], warnings: [hostile] });
  assert.doesNotMatch(markdown(bad), /(?<!\\)<img|(?<!\\)\[a\]|(?<!\\)`c/);
  const row = markdown(bad)
    .split("\n")
    .find((line) => line.includes("\\<img") && line.startsWith("|"));
  assert.equal(row?.match(/(?<!\\)\|/g)?.length, 8);
  assert.ok(!terminal(bad).includes("\u001b"));
});

/** RFC 4180, read back. */
function parse(text: string): string[][] {
  const rows = [...text.matchAll(/((?:"(?:[^"]|"")*"|[^,"\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^,"\r\n]*))*)\r\n/g)];
  return rows.map(([, row = ""]) =>
    [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(([, quoted, plain]) =>
      quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'),
    ),
  );
}

test("CSV: one row a run and metric, exact values, RFC 4180", () => {
  const [head = [], ...rows] = parse(csv(found));
  assert.ok(rows.every((row) => row.length === head.length));
  const row = rows.find((one) => one[head.indexOf("run")]?.startsWith("iser-sequential-write"));
  const named = Object.fromEntries(head.map((name, n) => [name, row?.[n]]));
  assert.deepEqual(named, {
    ...{ stack: "r710", virtual: "false", started: "2026-11-20T09:08:11Z" },
    ...{
      run: "iser-sequential-write-512k-d16-j1-1",
      protocol: "iser",
      workload: "sequential",
      test: "write",
    },
    ...{
      kind: "fio",
      operation: "write",
      block_size: "524288",
      depth: "16",
      jobs: "1",
      clients: "1",
      repeat: "1",
    },
    ...{ valid: "true", invalid: "", metric: "bandwidth", value: "721", unit: "MB/s" },
  });
  const reason = 'said "no",\r\nand =1+1';
  const { spec, command, preconditions, files } = valid;
  const bad = withRuns({ spec, command, preconditions, files, valid: false, invalid: reason });
  assert.equal(parse(csv(bad))[1]?.[head.indexOf("invalid")], reason);
  const formula = withRuns({ spec, command, preconditions, files, valid: false, invalid: "=1+1" });
  assert.equal(parse(csv(formula))[1]?.[head.indexOf("invalid")], "'=1+1");
});

test("the outcome is of the contract's form", () => {
  const made = outcome.parse(outcomeOf(found));
  assert.deepEqual(made.runs[0], {
    ...{ run: "iSCSI write", valid: true, "write MB/s": 431, IOPS: 822.1 },
    ...{ "clat median ms": 17.04, "clat p99.9 ms": 75.5, "limited by": valid.diagnosis?.limit?.sentence },
  });
  assert.equal(made.folder, found.folder);
});

test("files and the IO500 have phases; a score of ours is never taken for an official one", () => {
  const of = (test: ValidRun["spec"]["test"], over: Partial<ValidRun>): ValidRun => ({
    ...{ ...valid, read: null, write: null, evidence: null, diagnosis: null },
    spec: { ...valid.spec, id: `iscsi-${test.test}-1`, test },
    ...over,
  });
  const phase = (name: string, value: number, unit: string) => ({ phase: name, value, unit, seconds: 60 });
  const { name, title, figures } = readReference("lab-c");
  const phased = exampleResult({
    reference: { name, title, figures },
    runs: [
      of(
        { kind: "files", workload: "files", test: "long", files: 40, fileSize: 2 ** 30, folders: 1 },
        { phases: [phase("write", 651, "MiB/s"), phase("read", 629, "MiB/s")] },
      ),
      of(
        { kind: "io500", workload: "io500", test: "io500", seconds: 300, size: 2 ** 40, files: 1e6 },
        { phases: [phase("ior-easy-write", 2.9, "GiB/s")], score: 3.1, official: false },
      ),
    ],
  });
  const text = markdown(phased);
  assert.match(text, /\| iSCSI long \| write \| 651 \| MiB\/s \| 60\.0 \| .*650 \(Linux, iSCSI\) \|/);
  assert.match(text, /score of an IO500-shaped profile, not official \| 3\.10 \|/);
  assert.match(csv(phased), /"score, not official",3\.1,/);
  assert.match(outcomeOf(phased).runs[1]?.run ?? "", /not official/);
  assert.deepEqual(outcomeOf(phased).runs[0]?.phases, { "write MiB/s": 651, "read MiB/s": 629 });
  const page = html(phased, []);
  assert.match(page, /<p class="big">3\.10\s*<small>score of an IO500-shaped profile, not official<\/small>/);
  assert.match(page, /<small>write<\/small>\s*651\s*<small>MiB\/s/);
});
