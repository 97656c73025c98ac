import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { perl } from "../../../bench/files/job.ts";
import { ini, io500Argv, shapedArgv, spaceOf } from "../../../bench/io500/job.ts";
import { parseShaped, parseShapedLine } from "../../../bench/io500/report.ts";
import { runIo500, shapedOf } from "../../../bench/io500/run.ts";
import { phases } from "../../../bench/io500/score.ts";
import type { PathState } from "../../../bench/schema/result.ts";
import type { Io500Test } from "../../../bench/schema/test.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";
import { benchHost, type Streamed, sampleClient, sampleRequest } from "../sample.ts";

const home = mkdtempSync(join(tmpdir(), "storage-lab-io500-"));
after(() => rmSync(home, { recursive: true, force: true }));
const program = perl(join(import.meta.dirname, "../../../bench/io500/shaped.pl"));
const run = (phase: string, seconds = 2, bytes = 6000000, files = 150) =>
  spawnSync("perl", ["-e", program, phase, home, ...[seconds, bytes, files].map(String)], {
    encoding: "utf8",
  });
const sample: Io500Test = {
  kind: "io500",
  workload: "io500",
  test: "io500",
  seconds: 5,
  size: 16777216,
  files: 300,
};
/** What it printed on a guest of the virtual lab, mounted by iSCSI. */
const printed = recorded("io500-shaped--guest--perl-5.40");

test("the program of the IO500's shape does each phase to what was written", () => {
  const ended = phases.map((phase) => {
    const { stdout, stderr, status } = run(phase);
    assert.equal(status, 0, `${phase}: ${stderr}`);
    if (phase === "mdtest-hard-write") {
      assert.equal(statSync(join(home, "ior-easy/data")).size, 2 * 2097152);
      assert.equal(statSync(join(home, "ior-hard/data")).size, 127 * 47008);
      assert.equal(statSync(join(home, "mdtest-easy/file.mdtest.0.149")).size, 0);
      assert.equal(statSync(join(home, "mdtest-hard/file.mdtest.0.149")).size, 3901);
    }
    const said = parseShapedLine(stdout.trimEnd().split("\n").at(-1) ?? "");
    assert.ok(said && "ended" in said && said.ended === phase);
    return [phase, said.count, said.bytes];
  });
  const [files, bytes] = [150, 150 * 3901];
  assert.deepEqual(ended, [
    ["ior-easy-write", 2, 2 * 2097152],
    ["mdtest-easy-write", files, 0],
    ["ior-hard-write", 127, 127 * 47008],
    ["mdtest-hard-write", files, bytes],
    // Four trees, four notes, two large files, and the small ones.
    ["find", 4 + 4 + 2 + 2 * files, 0],
    ["ior-easy-read", 2, 2 * 2097152],
    ["mdtest-easy-stat", files, 0],
    ["ior-hard-read", 127, 127 * 47008],
    ["mdtest-hard-stat", files, 0],
    ["mdtest-easy-delete", files, 0],
    ["mdtest-hard-read", files, bytes],
    ["mdtest-hard-delete", files, 0],
  ]);
  assert.deepEqual(readdirSync(join(home, "mdtest-hard")), []);
  truncateSync(join(home, "ior-hard/data"), 47008);
  assert.match(run("ior-hard-read").stderr, /from byte 47008 it is not what was written/);
  assert.match(run("mdtest-easy-stat").stderr, /file\.mdtest\.0\.0: No such file/);
  assert.match(run("ior-medium-write").stderr, /ior-medium-write is no phase/);
});

test("the stonewall ends a phase that writes", () => {
  rmSync(join(home, "ior-easy"), { recursive: true });
  rmSync(join(home, "ior-easy-write.n"));
  const said = parseShapedLine(run("ior-easy-write", 0).stdout.trimEnd());
  assert.deepEqual([said && "ended" in said && said.count], [0]);
});

describe("what it printed", () => {
  test("has figures in the IO500's units, and a score that is not official", () => {
    const found = shapedOf(printed);
    assert.deepEqual([found.official, found.invalid, found.phases.length], [false, null, 12]);
    const of = (name: string) => found.phases.find(({ phase }) => phase === name);
    assert.deepEqual([of("ior-easy-write")?.unit, of("find")?.unit], ["GiB/s", "kIOPS"]);
    assert.equal(of("mdtest-easy-write")?.value.toFixed(3), "0.300");
    assert.equal(found.score?.toFixed(4), "0.0583");
    assert.equal(found.preconditions[0]?.holds, true);
  });
  test("short runs, tiny sizes: no figures, with the reason", () => {
    const found = shapedOf(printed.replace(/("ended":"find".*"seconds":)[\d.]+/, "$10.05"));
    assert.deepEqual([found.phases, found.score], [[], null]);
    assert.match(found.invalid ?? "", /find took 0\.05 s, less than 0\.2 s/);
  });
  test("is read strictly", () => {
    assert.throws(
      () => parseShaped(printed.replace(/^.*"ended":"find".*\n/m, "")),
      /did not say how find ended/,
    );
    assert.throws(() => parseShapedLine('{"ended":"find","count":1}'), ParseError);
    assert.throws(() => parseShapedLine('{"at":"find"'), /not JSON/);
    assert.equal(parseShapedLine("   ]"), undefined);
  });
});

test("both refuse too little space by one number for all", () => {
  assert.equal(spaceOf(sample), 2 * 16777216 + 300 * 6144 + 16777216);
  for (const argv of [shapedArgv("/dev/sdx", sampleClient, sample), io500Argv(sampleClient, sample)]) {
    assert.ok(argv.includes(String(spaceOf(sample))));
    for (const word of argv) assert.doesNotMatch(word, /\$\{/, "systemd would replace it");
  }
});

test("io500's ini: on the mount, results beside it, caches dropped, sizes in whole transfers", () => {
  assert.equal(
    ini(sampleClient, "/run/r", { ...sample, seconds: 300, size: 16777217 }),
    [
      ...[
        "[global]",
        "datadir = /test/storage-lab-bench.io500",
        "timestamp-datadir = FALSE",
        "resultdir = /run/r",
      ],
      ...[
        "timestamp-resultdir = FALSE",
        "drop-caches = TRUE",
        "drop-caches-cmd = sh -c 'echo 3 > /proc/sys/vm/drop_caches'",
      ],
      ...[
        "[debug]",
        "stonewall-time = 300",
        "[ior-easy]",
        "blockSize = 16777216",
        "[ior-hard]",
        "segmentCount = 356",
      ],
      ...["[mdtest-easy]", "n = 300", "[mdtest-hard]", "n = 300", ""],
    ].join("\n"),
  );
});

describe("a run", () => {
  const path: PathState = {
    ...{ client: "initiator", protocol: "iscsi", portal: "10.10.10.1:3260", device: "/dev/disk/by-path/x" },
    ...{ block: "/dev/sda", session: "session1", transport: "iscsi_tcp", negotiated: {} },
  };
  const table = JSON.stringify({
    filesystems: [
      {
        source: "/dev/sda",
        target: "/test",
        fstype: "xfs",
        options: "rw",
        uuid: sampleClient.filesystem.uuid,
      },
    ],
  });
  const look = "sh -c 'command -v io500 || true'";
  const attempt = (where: string, test: Io500Test, streamed: Streamed) => {
    const host = benchHost("initiator", { [look]: where }, (line) =>
      line.includes("-remove.service") ? { lines: [[0, table]] } : streamed,
    );
    const bench = {
      request: sampleRequest,
      run: { stack: "lab", id: "1" },
      storage: host,
      clients: [],
      signal: new AbortController().signal,
    };
    const spec = { id: "iscsi-io500-1", protocol: "iscsi" as const, repeat: 1, test };
    const heard: string[] = [];
    const ended = runIo500(
      bench,
      { client: sampleClient, host, ownsMountPoint: false },
      path,
      spec,
      ({ phase }) => heard.push(phase),
    );
    return { host, heard, ended };
  };

  test("without io500: phases of its shape, and says so", async () => {
    const { ended, heard } = attempt("", sample, { lines: [[0, `${table}\n${printed}`]] });
    const found = await ended;
    assert.equal(found.official, false);
    assert.match(found.warnings.join(), /IO500-shaped: .* no official score/);
    assert.deepEqual(Object.keys(found.files), ["io500-shaped-iscsi-io500-1.out"]);
    assert.deepEqual(
      found.windows.map(({ phase }) => phase),
      [...phases],
    );
    assert.ok(heard.includes("ior-easy-read"));
  });
  test("with io500 but less than its 300 s: the same, and why", async () => {
    const found = await attempt("/usr/local/bin/io500\n", sample, { lines: [[0, `${table}\n${printed}`]] })
      .ended;
    assert.equal(found.official, false);
    assert.match(
      found.warnings.join(),
      /io500 program is there; it takes a score for valid from 300 s .* this test has 5 s/,
    );
  });
  test("with io500 and its time: the program's own score, or its own word that it is none", async () => {
    const summary = recorded("io500--result-summary-short--02091cf254d8");
    const of = (text: string) =>
      `${table}\n${text}==> result_summary.txt <==\n${text}==> result.txt <==\n[run]`;
    const test = { ...sample, seconds: 300 };
    const valid = attempt("/usr/local/bin/io500\n", test, {
      lines: [[0, of(summary.replaceAll(" [INVALID]", ""))]],
    });
    const found = await valid.ended;
    assert.deepEqual(
      [found.official, found.score, found.phases.length, found.warnings],
      [true, 5.661746, 12, []],
    );
    assert.equal(found.windows.length, 12);
    assert.ok(valid.host.streamed[0]?.includes("stonewall-time = 300"));
    const marked = await attempt("/usr/local/bin/io500\n", test, { lines: [[0, of(summary)]] }).ended;
    assert.deepEqual([marked.phases, marked.score], [[], null]);
    assert.match(marked.invalid ?? "", /io500 marks as invalid/);
  });
  test("one that fails is an error in its own words, and what it left is removed", async () => {
    const { ended, host } = attempt("", sample, {
      ...{
        lines: [[0, table]],
        status: 28,
        stderr: "two files need 1 bytes and the file system has 0 free\n",
      },
    });
    await assert.rejects(
      ended,
      /phases of the IO500's shape in \/test\/storage-lab-bench\.io500 failed: two files need 1 bytes/,
    );
    assert.ok(host.streamed.at(-1)?.endsWith("rm -rf -- /test/storage-lab-bench.io500"));
  });
});
