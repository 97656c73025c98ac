import assert from "node:assert/strict";
import { test } from "node:test";
import type { Result, Run, ValidRun } from "../../bench/result.ts";
import { figure, size, summary, terminal, virtualNote } from "../../bench/summary.ts";
import { markdownTable, textTable } from "../../bench/table.ts";
import { sampleResult } from "./sample.ts";

const valid = sampleResult.runs.find((run): run is ValidRun => run.valid);
if (valid === undefined) throw new Error("the sample has a valid run");
const withRuns = (...runs: Run[]): Result => ({ ...sampleResult, runs });

test("figures have three digits that count", () => {
  assert.deepEqual([2729.4, 431, 21.34, 7.8, 0.4212].map(figure), ["2,729", "431", "21.3", "7.80", "0.42"]);
  assert.deepEqual([524288, 134217728, 2 ** 30, 1541148672].map(size), [
    "512 KiB",
    "128 MiB",
    "1 GiB",
    "1.44 GiB",
  ]);
});

test("each protocol and direction stands beside lab A's published figures", () => {
  const lines = summary(sampleResult).split("\n");
  for (const [name, published] of [
    ["iSCSI write", ["431", "17", "79"]],
    ["iSCSI read", ["1,054", "7.8", "–"]],
    ["iSER write", ["721", "11", "201"]],
    ["iSER read", ["2,729", "3", "–"]],
  ] as const) {
    const row = lines.find((line) => line.startsWith(`| ${name} |`))?.split(" | ");
    assert.deepEqual([row?.[2], row?.[5], row?.[8]?.replace(" |", "")], published, name);
  }
});

test("wherever figures of the virtual lab appear it is said what they are worth", () => {
  for (const text of [summary(sampleResult), terminal(sampleResult)]) assert.ok(text.includes(virtualNote));
  const real = { ...sampleResult, virtual: false };
  for (const text of [summary(real), terminal(real)]) assert.ok(!text.includes("emulation"));
});

test("it is said that reads come mostly from ARC, and what the pool read meanwhile", () => {
  const text = summary(sampleResult);
  assert.match(text, /reads come mostly from ARC, not from disks/);
  assert.match(text, /iSER read: the pool read [\d.]+ MB\/s from its vdevs/);
});

test("a run that went wrong has its reason and no figures", () => {
  const invalid: Run = {
    ...{ protocol: "iser", direction: "read", command: "fio" },
    ...{ valid: false, invalid: "fio ran 3 s of 8 s" },
  };
  const text = summary(withRuns(valid, invalid));
  assert.match(text, /^\| iSER read \| invalid \| 2,729 \|/m);
  assert.match(text, /iSER read has no figures: fio ran 3 s of 8 s/);
  assert.doesNotMatch(text, /^\| iSER read, storage/m);
});

test("warnings, and a rate above the link's, are marked", () => {
  const text = summary(withRuns({ ...valid, warnings: ["fio printed inf"], aboveLink: true, clat: null }));
  assert.match(text, /fio printed inf/);
  assert.match(text, /above what the link carries/);
});

test("a tail of few I/Os is said to be one", () => {
  const few = { ...valid, bytes: 300 * sampleResult.workload.blockSize };
  assert.match(summary(withRuns(few)), /little more than the slowest of them: iSCSI write \(300\)\./);
  assert.doesNotMatch(summary(withRuns({ ...valid, bytes: 1e12 })), /the slowest of them/);
});

test("the environment: hosts, both MTUs, paths, volume, layout, raw files", () => {
  const text = summary(sampleResult);
  for (const part of [
    "kernel 6.12",
    "eth1, MTU 4200",
    "rxe0, active MTU 4096",
    "iscsi_tcp",
    "iscsi_iser",
    "volblocksize 16384",
    "compression off",
    "mirror-0",
    sampleResult.folder,
  ]) {
    assert.ok(text.includes(part), part);
  }
});

test("tables", () => {
  const table = {
    head: ["", "MB/s"],
    rows: [
      ["a|b", "1"],
      ["c", "1,000"],
    ],
  };
  assert.equal(markdownTable(table), "|  | MB/s |\n|---|---:|\n| a\\|b | 1 |\n| c | 1,000 |");
  assert.equal(textTable(table), "      MB/s\n---  -----\na|b      1\nc    1,000");
});
