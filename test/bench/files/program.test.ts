import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { filesArgv, perl } from "../../../bench/files/job.ts";
import { parseLine } from "../../../bench/files/report.ts";
import type { FilesTest } from "../../../bench/schema/test.ts";
import { sampleClient } from "../sample.ts";

/** files.pl and its shell script as they are, on this machine's own file system. */

const home = mkdtempSync(join(tmpdir(), "storage-lab-files-"));
after(() => rmSync(home, { recursive: true, force: true }));
const program = perl(join(import.meta.dirname, "../../../bench/files/files.pl"));
const run = (phase: string, folder: string, ...numbers: number[]) =>
  spawnSync("perl", ["-e", program, phase, folder, ...numbers.map(String)], { encoding: "utf8" });
const last = (text: string) => parseLine(text.trimEnd().split("\n").at(-1) ?? "");

describe("the program that writes and reads files", () => {
  for (const [files, size, folders] of [
    [10, 1, 1],
    [7, 16384, 4],
    [20, 5003, 3],
    [2, 1100001, 2],
    [2, 1048576, 256],
  ] as const) {
    test(`${files} files of ${size} bytes round ${folders} directories are read as written`, () => {
      const folder = join(home, `${files}-${size}`);
      for (const phase of ["write", "read"]) {
        const { stdout, stderr, status } = run(phase, folder, files, size, folders);
        assert.equal(status, 0, stderr);
        const said = last(stdout);
        assert.ok(said && "phase" in said);
        assert.deepEqual([said.phase, said.files, said.bytes], [phase, files, files * size]);
      }
      const side = Math.ceil(Math.sqrt(folders));
      const contents = Array.from({ length: files }, (_, n) => {
        const d = n % folders;
        return readFileSync(join(folder, String(Math.floor(d / side)), String(d % side), String(n)));
      });
      assert.ok(contents.every((content) => content.length === size));
      if (size > 8) assert.equal(new Set(contents.map((content) => content.toString("latin1"))).size, files);
    });
  }

  test("what it writes can't be compressed", () => {
    run("write", join(home, "random"), 2, 262144, 1);
    const text = readFileSync(join(home, "random/0/0/1"));
    const { stdout } = spawnSync("gzip", ["-1"], { input: text, maxBuffer: 1e7 });
    assert.ok(stdout.length > text.length, `${stdout.length} of ${text.length}`);
  });

  for (const [what, damage, message] of [
    [
      "another byte in it",
      (f: string) => writeFileSync(f, "X", { flag: "r+" }),
      /0\/0\/0: from byte 0 it is not what was written/,
    ],
    [
      "cut off",
      (f: string) => writeFileSync(f, readFileSync(f).subarray(0, 4000)),
      /0\/0\/0: 4000 bytes read, 16384 written/,
    ],
    [
      "longer",
      (f: string) => writeFileSync(f, "more", { flag: "a" }),
      /from byte 16384 it is not what was written/,
    ],
    ["gone", (f: string) => rmSync(f), /0\/0\/0: No such file/],
  ] as const) {
    test(`a file that is ${what} fails the read`, () => {
      const folder = join(home, what);
      run("write", folder, 3, 16384, 1);
      damage(join(folder, "0/0/0"));
      const { status, stderr } = run("read", folder, 3, 16384, 1);
      assert.notEqual(status, 0);
      assert.match(stderr, message);
    });
  }

  test("pages in the page cache are counted: just written files have some", () => {
    const folder = join(home, "cached");
    run("write", folder, 40, 16384, 1);
    const said = last(run("cached", folder, 40, 16384, 1).stdout);
    assert.ok(said && "cached" in said);
    assert.equal(said.cached.files, 14);
    // This machine may have neither Linux 6.5 nor fincore.
    assert.ok(said.cached.pages === null || said.cached.pages === 14 * 4, `${said.cached.pages}`);
  });
});

/** The script with mount(8) and its like noted instead of run: what it does in which order. */
function inScript(change: Partial<FilesTest>, bin: Record<string, string> = {}) {
  const root = mkdtempSync(join(home, "script-"));
  const [stubs, mount, log] = [join(root, "bin"), join(root, "mnt"), join(root, "log")];
  for (const folder of [stubs, mount]) mkdirSync(folder);
  writeFileSync(log, "");
  const note = (name: string) => `#!/bin/sh\necho ${name} "$@" >>${log}\n`;
  const all = {
    mount: note("mount"),
    umount: note("umount"),
    blockdev: note("blockdev"),
    findmnt: note("findmnt"),
    sync: note("sync"),
    ...bin,
  };
  for (const [name, text] of Object.entries(all)) {
    writeFileSync(join(stubs, name), text);
    chmodSync(join(stubs, name), 0o755);
  }
  const test: FilesTest = {
    kind: "files",
    workload: "files",
    test: "short",
    files: 20,
    fileSize: 4096,
    folders: 4,
    ...change,
  };
  const [command = "", ...args] = filesArgv("/dev/sdx", { ...sampleClient, mount }, test);
  const leftover = join(mount, "storage-lab-bench.files");
  mkdirSync(leftover);
  const ended = spawnSync(command, args, { encoding: "utf8", env: { PATH: `${stubs}:${process.env.PATH}` } });
  return { ...ended, log: readFileSync(log, "utf8").replaceAll(root, ""), left: readdirSync(mount) };
}

describe("the script around it", () => {
  test("unmounts and mounts between write and read, looks at the cache, removes everything", () => {
    const { status, stdout, stderr, log, left } = inScript({});
    assert.equal(status, 0, stderr);
    assert.deepEqual(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.slice(0, 16)),
      ['{"phase":"write"', '{"cached":{"file', '{"phase":"read",'],
    );
    assert.deepEqual(log.trimEnd().split("\n"), [
      "sync -f /mnt",
      "sync -f /mnt/storage-lab-bench.files",
      "sync -f /mnt/storage-lab-bench.files",
      "umount -- /mnt",
      "blockdev --flushbufs /dev/sdx",
      "mount -t xfs -- /dev/sdx /mnt",
      "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID --mountpoint /mnt",
    ]);
    assert.deepEqual(left, []);
  });

  test("too little space is refused with both numbers, before anything is written", () => {
    const stat = '#!/bin/sh\n[ "$3" = %d ] && echo 1000 || echo "10 * 4096"\n';
    const { status, stderr, left } = inScript({}, { stat });
    assert.equal(status, 28);
    assert.match(stderr, /20 files of 4096 bytes need 16879616 bytes and the file system has 40960 free/);
    assert.deepEqual(left, []);
  });

  test("too few inodes are refused with both numbers", () => {
    const stat = '#!/bin/sh\n[ "$3" = %d ] && echo 19 || echo "99999999 * 4096"\n';
    const { status, stderr } = inScript({}, { stat });
    assert.equal(status, 28);
    assert.match(stderr, /20 files need as many inodes and the file system has 19 free/);
  });

  test("when a step fails or it is asked to end, the files are removed all the same", () => {
    const failing = inScript({}, { umount: "#!/bin/sh\necho umount: target is busy >&2; exit 32\n" });
    assert.equal(failing.status, 32);
    assert.match(failing.stderr, /target is busy/);
    assert.deepEqual(failing.left, []);
    const ended = inScript({}, { umount: "#!/bin/sh\nkill -TERM $PPID\n" });
    assert.equal(ended.status, 143);
    assert.deepEqual(ended.left, []);
    assert.ok(!existsSync("/mnt/storage-lab-bench.files"));
  });

  test("a program that dies is no host that does not answer: its status is not ssh's 255", () => {
    const { status, stderr, left } = inScript(
      {},
      { mount: "#!/bin/sh\nprintf X | dd conv=notrunc of=$5/storage-lab-bench.files/0/0/0 2>&1\n" },
    );
    assert.equal(status, 1);
    assert.match(stderr, /0\/0\/0: from byte 0 it is not what was written/);
    assert.deepEqual(left, []);
  });

  test("no variable of systemd's own in it: systemd-run would replace it", () => {
    for (const argument of filesArgv("/dev/sdx", sampleClient, {
      kind: "files",
      workload: "",
      test: "",
      files: 1,
      fileSize: 1,
      folders: 1,
    }))
      assert.doesNotMatch(argument, /\$\{/);
  });
});
