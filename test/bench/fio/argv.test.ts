import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { fioArgv } from "../../../bench/fio/argv.ts";
import { whyInvalid } from "../../../bench/fio/judge.ts";
import { mounted } from "../../../bench/fio/mounted.ts";
import { parseFio } from "../../../bench/fio/report.ts";
import { client, spec } from "./sample.ts";

test("lab A's job; sizes in plain bytes, since fio's KiB is 1000; no data twice", () => {
  assert.deepEqual(fioArgv(client, spec(), 2), [
    ...["fio", "--name=iscsi-sequential-write-512k-d16-j1-1", "--filename=/test/storage-lab-bench.data"],
    ...["--size=268435456", "--bs=524288", "--iodepth=16", "--ioengine=libaio", "--direct=1", "--rw=write"],
    ...["--runtime=8", "--time_based=1", "--refill_buffers=1", "--buffer_compress_percentage=0"],
    ...["--randrepeat=0", "--status-interval=2", "--eta=never", "--output-format=json+"],
  ]);
});

const cases: [string, Parameters<typeof spec>[0], string[]][] = [
  ["a ramp", { rampTime: 5 }, ["--ramp_time=5"]],
  [
    "jobs have parts of whole blocks, none in common",
    { jobs: 3, size: 10 * 524288 },
    ["--size=1572864", "--offset_increment=1572864", "--numjobs=3", "--group_reporting=1"],
  ],
  ["random blocks are drawn anew", { operation: "randread" }, ["--rw=randread", "--norandommap=1"]],
  ["a database's log", { sync: "fdatasync", depth: 1 }, ["--fdatasync=1", "--iodepth=1"]],
  ["a rate is divided over the jobs", { rateIops: 1000, jobs: 4 }, ["--rate_iops=250"]],
  [
    "a mixed load's rate is divided over both directions too",
    { operation: "randrw", readShare: 70, rateIops: 1000, jobs: 2 },
    ["--rw=randrw", "--rwmixread=70", "--rate_iops=350,150"],
  ],
];
for (const [what, change, options] of cases) {
  test(what, () => {
    const argv = fioArgv(client, spec(change), 2);
    for (const option of options) assert.ok(argv.includes(option), `${option} in ${argv.join(" ")}`);
  });
}

test("a RAM disk is named by its device, with nothing else different", () => {
  const on = fioArgv(client, spec(), 2, "/dev/disk/by-path/x");
  assert.ok(on.includes("--filename=/dev/disk/by-path/x"));
  assert.equal(on.length, fioArgv(client, spec(), 2).length);
});

test("what is mounted, and where, are arguments of the script, never text of it", () => {
  const argv = mounted("/dev/sdb", client, ["fio", "a b"]);
  assert.deepEqual(argv.slice(0, 4), ["unshare", "--mount", "sh", "-c"]);
  assert.deepEqual(argv.slice(5), ["sh", "/dev/sdb", "/test", "xfs", "fio", "a b"]);
  assert.equal(spawnSync("sh", ["-n", "-c", argv[4] ?? ""]).status, 0, "what a POSIX shell can read");
});

/** Against fio itself, where this machine has one: that it takes the options as they are meant. */
const fio = spawnSync("fio", ["--version"]).status === 0;
const folder = mkdtempSync(join(tmpdir(), "fio-"));
after(() => rmSync(folder, { recursive: true }));
const run = (change: Parameters<typeof spec>[0], ...more: string[]) => {
  const [here, what] = [{ mount: folder }, spec({ runtime: 1, depth: 4, ...change })];
  writeFileSync(join(folder, "storage-lab-bench.data"), "");
  truncateSync(join(folder, "storage-lab-bench.data"), what.test.size);
  // This machine's file system may have no direct I/O.
  const [program = "", ...argv] = fioArgv(here, what, 5).map((word) =>
    word === "--direct=1" ? "--direct=0" : word,
  );
  const { stdout, stderr, status } = spawnSync(program, [...argv, ...more], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const report = parseFio(stdout);
  const options = report.options.map((said) => ({ ...said, direct: "1" }));
  return { why: whyInvalid({ ...report, options }, here, what), report };
};

test("fio echoes each option, and moves a mixed load at the rate of the sum", { skip: !fio }, () => {
  const mixed = { operation: "randrw", readShare: 70, rateIops: 1000, jobs: 2, blockSize: 4096 } as const;
  const { why, report } = run({ ...mixed, size: 4 * 1024 ** 2 });
  assert.equal(why, undefined);
  assert.equal(report.options.length, 1, "one group");
  const [read = 0, write = 0] = [report.read?.iops, report.write?.iops].map((iops) => iops ?? 0);
  assert.ok(read + write > 500 && read + write < 1150, `${read} + ${write} IOPS`);
  assert.ok(read > write, `${read} reads, ${write} writes a second`);
});

test("zero buffers on lz4: what fio writes can't be compressed, and jobs write no block twice", {
  skip: !fio,
}, () => {
  const jobs = { operation: "write", jobs: 2, blockSize: 65536, size: 4 * 1024 ** 2 } as const;
  run(jobs, "--time_based=0", "--runtime=0");
  const data = readFileSync(join(folder, "storage-lab-bench.data"));
  assert.ok(gzipSync(data).length > 0.99 * data.length);
  const blocks = Array.from({ length: 64 }, (_, n) =>
    data.subarray(n * 65536, (n + 1) * 65536).toString("hex"),
  );
  assert.equal(new Set(blocks).size, 64, "both halves are written, each block with its own data");
  run(jobs, "--time_based=0", "--runtime=0");
  const again = readFileSync(join(folder, "storage-lab-bench.data")).subarray(0, 65536).toString("hex");
  assert.ok(!blocks.includes(again), "the next run writes other data");
});
