import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, live } from "../../bench/progress.ts";

const report = (bytes: number, runtime: number, jobname = "write"): string =>
  JSON.stringify({
    jobs: [{ jobname, read: { io_bytes: 0, runtime: 0 }, write: { io_bytes: bytes, runtime } }],
  });

test("the rate is the current one, the time left that of all runs, and one core a host stands for it", () => {
  const said: string[] = [];
  const display = live((text) => said.push(text), "iscsi write", { seconds: 20 }, 60, 0);
  display.core("storage", { core: 0, busy: 12 });
  display.core("storage", { core: 3, busy: 92 });
  display.core("initiator", { core: 1, busy: 20 });
  display.fio(report(40e6, 2000));
  display.fio(report(50e6, 4000));
  assert.deepEqual(said, [
    "iscsi write: 20.0 MB/s, busiest core: initiator 1 at 20 %, storage 3 at 92 %, 1:18 left",
    "iscsi write: 5.0 MB/s, busiest core: initiator 1 at 20 %, storage 3 at 92 %, 1:16 left",
  ]);
});

test("what reads the file into the ARC is said as such, and the run after it counts from nothing", () => {
  const said: string[] = [];
  const display = live((text) => said.push(text), "x", { seconds: 9 }, 0, 0);
  display.fio(report(80e6, 2000, "warm"));
  display.fio(report(15e6, 3000));
  assert.deepEqual(said, ["x: reading into the ARC, 40.0 MB/s, 0:07 left", "x: 5.0 MB/s, 0:06 left"]);
});

test("a job that is done when its bytes are written", () => {
  const said: string[] = [];
  live((text) => said.push(text), "writing", { bytes: 100e6 }, 0, 0).fio(report(25e6, 1000));
  assert.deepEqual(said, ["writing: 25.0 MB/s, 0:03 left"]);
});

test("not more than a line in so many seconds; what is no report says nothing", () => {
  const said: string[] = [];
  const display = live((text) => said.push(text), "x", { seconds: 9 }, 0, 60);
  display.fio(report(1, 1000));
  display.fio('{"filesystems": []}');
  assert.deepEqual(said, []);
});

test("durations", () => {
  assert.deepEqual([0, 59.6, 3600, -1].map(duration), ["0:00", "1:00", "60:00", "0:00"]);
});
