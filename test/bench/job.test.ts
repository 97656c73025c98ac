import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fioArgv, mounted, prefillArgv } from "../../bench/job.ts";
import { sampleRequest } from "./sample.ts";

test("fio's command line: lab A's options, sizes in plain bytes", () => {
  assert.deepEqual(fioArgv(sampleRequest, "read", 2), [
    ...[
      "fio",
      "--name=sequential",
      "--filename=/test/storage-lab-bench.data",
      "--size=268435456",
      "--bs=524288",
    ],
    ...["--iodepth=16", "--ioengine=libaio", "--direct=1", "--rw=read", "--runtime=8"],
    ...["--time_based", "--refill_buffers", "--status-interval=2", "--eta=never", "--output-format=json+"],
  ]);
  const ramp = { ...sampleRequest, workload: { ...sampleRequest.workload, rampTime: 5 } };
  assert.ok(fioArgv(ramp, "read", 2).includes("--ramp_time=5"));
});

test("what is mounted, and where, are arguments of the script, never text of it", () => {
  const [argv, ...rest] = [mounted("/dev/sdb", sampleRequest, ["fio", "a b"])];
  assert.equal(rest.length, 0);
  assert.deepEqual(argv?.slice(0, 4), ["unshare", "--mount", "sh", "-c"]);
  assert.deepEqual(argv?.slice(5), ["sh", "/dev/sdb", "/test", "xfs", "fio", "a b"]);
});

const folder = mkdtempSync(join(tmpdir(), "prefill-"));
after(() => rmSync(folder, { recursive: true }));

/** Run the prefill's script with `fio` replaced by a shell line. */
function prefill(size: number, fio: string) {
  const request = { ...sampleRequest, mount: folder, workload: { ...sampleRequest.workload, size } };
  const argv = prefillArgv(request, 5);
  const [sh = "", ...rest] = [...argv.slice(0, argv.indexOf("fio")), "sh", "-c", fio];
  return spawnSync(sh, rest, { encoding: "utf8" });
}
const file = join(folder, "storage-lab-bench.data");

test("the test file has its name once it is whole; what an interrupted one left goes first", () => {
  writeFileSync(`${file}.part`, "left");
  const ran = prefill(5, `[ ! -e ${file}.part ] && printf 12345 >${file}.part`);
  assert.deepEqual([ran.status, readFileSync(file, "utf8")], [0, "12345"]);
});

test("a whole file of that size is kept, without fio", () => {
  assert.equal(prefill(5, "exit 9").status, 0);
});

test("a file of another size is written again; a failure leaves nothing and keeps its status", () => {
  const ran = prefill(6, `echo 1 >${file}.part; exit 7`);
  assert.equal(ran.status, 7);
  assert.deepEqual(readdirSync(folder), []);
});

test("too little space is said before anything is written", () => {
  const ran = prefill(2 ** 50, `touch ${file}.part`);
  assert.equal(ran.status, 28);
  assert.match(ran.stderr, /needs 1125899906842624 bytes and the file system has \d+ free/);
  assert.ok(!existsSync(`${file}.part`));
});

test("both scripts are what a POSIX shell can read", () => {
  for (const argv of [prefillArgv(sampleRequest, 5), mounted("/dev/sdb", sampleRequest, []).slice(2)]) {
    execFileSync("sh", ["-n", "-c", argv[2] ?? ""]);
  }
});
