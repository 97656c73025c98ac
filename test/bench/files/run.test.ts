import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseFiles, parseLine } from "../../../bench/files/report.ts";
import { runFiles, whyInvalid } from "../../../bench/files/run.ts";
import type { PhaseProgress } from "../../../bench/phased.ts";
import type { PathState } from "../../../bench/schema/result.ts";
import type { FilesTest } from "../../../bench/schema/test.ts";
import { CommandError, ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";
import { benchHost, type Streamed, sampleClient, sampleRequest } from "../sample.ts";

/** What it printed on a guest of the virtual lab, findmnt's tables among it: 1,000 short files. */
const printed = recorded("files-pl--guest--perl-5.40").replaceAll(
  /"uuid": "[^"]+"/g,
  `"uuid": "${sampleClient.filesystem.uuid}"`,
);
const asked: FilesTest = {
  ...{ kind: "files", workload: "files", test: "short" },
  ...{ files: 1000, fileSize: 16384, folders: 256 },
};
const path: PathState = {
  ...{ client: "initiator", protocol: "iser", portal: "10.10.10.1:3261", device: "/dev/disk/by-path/x" },
  ...{ block: "/dev/sdb", session: "session2", transport: "iscsi_iser", negotiated: {} },
};

function attempt(streamed: Streamed, signal = new AbortController().signal, ownsMountPoint = true) {
  const host = benchHost("initiator", {}, (line) =>
    line.includes("-remove.service") ? { lines: [[0, printed]] } : streamed,
  );
  const bench = {
    request: sampleRequest,
    run: { stack: "lab", id: "1" },
    storage: host,
    clients: [],
    signal,
  };
  const spec = { id: "iscsi-files-short-1", protocol: "iscsi" as const, repeat: 1, test: asked };
  const heard: PhaseProgress[] = [];
  const ended = runFiles(bench, { client: sampleClient, host, ownsMountPoint }, path, spec, (one) =>
    heard.push(one),
  );
  return { host, heard, ended };
}

describe("a run of kind files", () => {
  test("has two phases, in MB of 2^20 and in files a second, and the windows of both", async () => {
    const { ended, heard, host } = attempt({ lines: [[0, printed]] });
    const found = await ended;
    const { write, read } = parseFiles(printed);
    assert.deepEqual(
      found.phases.map(({ phase, unit }) => `${phase} ${unit}`),
      ["write MiB/s", "write files/s", "read MiB/s", "read files/s"],
    );
    assert.equal(found.phases[0]?.value, 16384000 / 1048576 / write.seconds);
    // Lab C's: short files' megabytes times 64 are their files a second.
    assert.equal(((found.phases[2]?.value ?? 0) * 64).toFixed(6), found.phases[3]?.value.toFixed(6));
    assert.equal(found.seconds, write.seconds + read.seconds);
    assert.deepEqual([found.score, found.official, found.invalid], [null, null, null]);
    assert.deepEqual(
      found.windows.map(({ phase, start, end }) => [phase, Math.round(end - start)]),
      [
        ["write", Math.round(write.seconds * 1000)],
        ["read", Math.round(read.seconds * 1000)],
      ],
    );
    assert.deepEqual(Object.keys(found.files), ["files-iscsi-files-short-1.out"]);
    assert.ok(heard.every(({ done, bandwidth }) => done !== null && done <= 1 && (bandwidth ?? 0) >= 0));
    assert.match(host.streamed[0] ?? "", /--unit=storage-lab-bench:lab:1:iscsi-files-short-1\.service/);
    assert.match(host.streamed[0] ?? "", /--property='?ExecStopPost=-\/usr\/bin\/rmdir \/test/);
  });

  for (const [what, cached, holds, found] of [
    [
      "dropped, and proved",
      '{"files":16,"pages":0,"by":"cachestat"}',
      true,
      /^0 pages of 16 of the files, by cachestat$/,
    ],
    [
      "not dropped",
      '{"files":16,"pages":3,"by":"fincore"}',
      false,
      /^3 pages of 16 of the files, by fincore$/,
    ],
    [
      "not to be looked at on this kernel",
      '{"files":0,"pages":null,"by":""}',
      null,
      /not looked: .*util-linux-extra/,
    ],
  ] as const) {
    test(`the client's cache is ${what}`, async () => {
      const text = printed.replace(/^\{"cached":.*$/m, `{"cached":${cached}}`);
      const { preconditions } = await attempt({ lines: [[0, text]] }).ended;
      const one = preconditions.find(({ name }) => name === "client cache dropped");
      assert.equal(one?.holds, holds);
      assert.match(one?.found ?? "", found);
    });
  }

  test("where the program itself takes the time there is a warning, and then no figure", async () => {
    const with30 = printed.replace(/("phase":"read".*"seconds":)[\d.]+(.*"user":)[\d.]+/, "$110.00$23.00");
    const { warnings, preconditions } = await attempt({ lines: [[0, with30]] }).ended;
    assert.match(warnings.join(), /read: 30 % of the time went into making or comparing contents/);
    assert.equal(preconditions.at(-1)?.holds, true);
    const with60 = printed.replace(/("phase":"read".*"seconds":)[\d.]+(.*"user":)[\d.]+/, "$110.00$26.00");
    assert.equal((await attempt({ lines: [[0, with60]] }).ended).preconditions.at(-1)?.holds, false);
  });

  test("short runs, tiny sizes: no figures, with the reason", async () => {
    const text = printed.replace(/("phase":"write".*?"seconds":)[\d.]+/, "$10.40");
    const found = await attempt({ lines: [[0, text]] }).ended;
    assert.deepEqual(found.phases, []);
    assert.match(
      found.invalid ?? "",
      /^write took 0\.4 s, less than 1 s, which says nothing: take more files/,
    );
  });

  test("fewer files or bytes than asked for are no figure", () => {
    const report = parseFiles(printed);
    assert.equal(whyInvalid(report, asked), null);
    assert.match(
      whyInvalid({ ...report, read: { ...report.read, bytes: 1 } }, asked) ?? "",
      /^read: 1000 files and 1 bytes, asked for 1000 files and 16384000 bytes$/,
    );
  });

  test("too little space is refused in both numbers, and what was left is removed by a unit of its own", async () => {
    const said =
      "1000 files of 16384 bytes need 34185216 bytes and the file system has 7 free: make the volume larger or the files fewer";
    const [first = ""] = printed.split('{"at"');
    const { ended, host } = attempt({ lines: [[0, first]], status: 28, stderr: `${said}\n` });
    await assert.rejects(ended, (error) => error instanceof CommandError && error.message.endsWith(said));
    assert.equal(host.streamed[1], "systemctl stop 'storage-lab-bench:lab:1:iscsi-files-short-[1].service'");
    assert.match(
      host.streamed[2] ?? "",
      /iscsi-files-short-1-remove\.service .* rm -rf -- \/test\/storage-lab-bench\.files$/s,
    );
  });

  test("after an interruption the files are removed, although the interruption goes on", async () => {
    const control = new AbortController();
    const { ended, host } = attempt(
      {
        lines: [
          [0, printed],
          [60_000, "never"],
        ],
      },
      control.signal,
    );
    setTimeout(() => control.abort(), 20);
    await assert.rejects(ended);
    assert.match(host.streamed.at(-1) ?? "", /-remove\.service/);
  });
});

describe("what the program prints", () => {
  test("is read strictly", () => {
    assert.equal(parseLine('   "filesystems": ['), undefined);
    assert.throws(() => parseLine('{"at":"write"'), ParseError);
    assert.throws(() => parseLine('{"at":"stat","files":1,"bytes":1,"seconds":1}'), /unknown line/);
    assert.throws(() => parseLine('{"phase":"write","files":1.5}'), ParseError);
  });
  for (const [what, cut, message] of [
    ["no read", /^\{"phase":"read".*$/m, /did not say how the read ended/],
    ["no look at the cache", /^\{"cached".*$/m, /did not say what the client's cache holds/],
  ] as const) {
    test(`without an end is an error: ${what}`, () => {
      assert.throws(() => parseFiles(printed.replace(cut, "")), message);
    });
  }
});
