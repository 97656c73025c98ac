import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, samplesWithin } from "../../bench/collect.ts";
import { benchHost, type Streamed } from "./sample.ts";

const run = { stack: "lab", id: "1" };
const unit = { name: "storage-lab-bench:lab:1:mpstat.service", description: "mpstat", seconds: 10 };
const started = (streamed: Streamed) => {
  const host = benchHost("storage", {}, () => streamed);
  return collect(host, run, "mpstat", unit, ["mpstat"], (line) => line.startsWith("sample"));
};

test("it runs from its first sample on, and gives all that it printed when it is stopped", async () => {
  const collector = started({
    lines: [
      [0, "{"],
      [5, "sample 1"],
      [5, "sample 2"],
      [60_000, "sample 3"],
    ],
  });
  await collector.running;
  assert.equal(collector.arrivals.length, 1);
  while (collector.arrivals.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(await collector.stop(), "{\nsample 1\nsample 2\n");
});

test("it ends before its first sample: an error with its words", async () => {
  const collector = started({ lines: [], status: 1, stderr: "Failed to find executable mpstat\n" });
  await assert.rejects(
    collector.running,
    /storage: mpstat ended before its first sample: Failed to find executable/,
  );
  await assert.rejects(collector.stop(), /printed nothing and said: Failed to find executable mpstat/);
});

test("only samples whose whole interval lies inside the measured time count", () => {
  const arrivals = [1000, 2000, 3000, 4000, 5000, 6000];
  // fio measured from 1500 to 5100: the second from 1000 to 2000 was half empty, that to 6000 began to end.
  assert.deepEqual(samplesWithin(arrivals, 1500, 5100), { first: 2, last: 4 });
  assert.deepEqual(samplesWithin(arrivals, 1100, 5100), { first: 1, last: 4 });
  assert.equal(samplesWithin(arrivals, 8000, 9000), undefined);
  assert.equal(samplesWithin([], 0, 9000), undefined);
});
