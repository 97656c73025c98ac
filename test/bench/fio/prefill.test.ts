import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { prefillArgv, prefillSize } from "../../../bench/fio/prefill.ts";
import { client, fioTest } from "./sample.ts";

test("one file for all tests: the largest, in whole MiB; none for files and RAM disks", () => {
  assert.equal(prefillSize([fioTest({ size: 4096 }), fioTest({ size: 5 * 1024 ** 2 + 512 })]), 6 * 1024 ** 2);
  assert.equal(prefillSize([fioTest({ backstore: "ramdisk" })]), 0);
  const files = {
    kind: "files",
    workload: "files",
    test: "short",
    files: 4,
    fileSize: 16384,
    folders: 2,
  } as const;
  assert.equal(prefillSize([files]), 0);
});

test("unwritten areas of a zvol: the whole file is written, of data that can't be compressed", () => {
  const argv = prefillArgv(client, 268435456, 5);
  assert.deepEqual(argv.slice(argv.indexOf("fio")), [
    ...["fio", "--name=prefill", "--filename=/test/storage-lab-bench.data.part", "--size=268435456"],
    ...["--bs=1048576", "--iodepth=16", "--ioengine=libaio", "--direct=1", "--rw=write"],
    ...["--refill_buffers=1", "--buffer_compress_percentage=0", "--randrepeat=0"],
    ...["--status-interval=5", "--eta=never", "--output-format=json+"],
  ]);
});

const folder = mkdtempSync(join(tmpdir(), "prefill-"));
after(() => rmSync(folder, { recursive: true }));

/** Run the prefill's script with `fio` replaced by a shell line. */
function prefill(size: number, fio: string) {
  const argv = prefillArgv({ mount: folder }, size, 5);
  const [sh = "", ...rest] = [...argv.slice(0, argv.indexOf("fio")), "sh", "-c", fio];
  return spawnSync(sh, rest, { encoding: "utf8" });
}
const file = join(folder, "storage-lab-bench.data");

test("the test file has its name once it is whole; what an interrupted one left goes first", () => {
  writeFileSync(`${file}.part`, "left");
  const ran = prefill(5, `[ ! -e ${file}.part ] && printf 12345 >${file}.part`);
  assert.deepEqual([ran.status, readFileSync(file, "utf8")], [0, "12345"]);
});

test("a whole file of at least that size is kept, without fio", () => {
  assert.equal(prefill(5, "exit 9").status, 0);
  assert.equal(prefill(4, "exit 9").status, 0);
});

test("a smaller file is written again; a failure leaves nothing and keeps its status", () => {
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
