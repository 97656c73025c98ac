import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { planProblems } from "../../bench/plan.ts";
import { test as schema } from "../../bench/schema/test.ts";
import { type Overrides, parseWorkload, readWorkload, testsOf, workloadNames } from "../../bench/workload.ts";

const of = (name: string, overrides?: Overrides) => testsOf(readWorkload(name), overrides);
const size = 8 * 1024 ** 3;

test("the workloads that there are, each one that can be run as it stands", () => {
  assert.deepEqual(workloadNames(), [
    ...["files", "io500", "mixed", "random", "sequential", "smoke", "sync", "transport"],
  ]);
  for (const name of workloadNames()) {
    const workload = readWorkload(name);
    assert.ok(workload.title && workload.about && workload.source, name);
    const tests = testsOf(workload);
    for (const one of tests) schema.parse(one);
    assert.deepEqual(planProblems({ tests, protocols: ["iscsi", "iser"], repeats: 1 }), [], name);
  }
});

test("sequential is lab A's job as published", () => {
  const published = { blockSize: 512 * 1024, depth: 16, jobs: 1, size: 100 * 1024 ** 3, runtime: 180 };
  const rest = {
    rampTime: 0,
    sync: "none",
    readShare: null,
    rateIops: null,
    arc: "left",
    backstore: "volume",
  };
  assert.deepEqual(of("sequential"), [
    { kind: "fio", workload: "sequential", test: "write", operation: "write", ...published, ...rest },
    { kind: "fio", workload: "sequential", test: "read", operation: "read", ...published, ...rest },
  ]);
});

test("random has lab B's four tests, swept over depth and jobs", () => {
  const tests = of("random").flatMap((one) => (one.kind === "fio" ? [one] : []));
  const named = (name: string) => tests.filter(({ test: own }) => own === name);
  for (const name of ["read-iops", "write-iops"]) {
    assert.deepEqual([...new Set(named(name).map(({ blockSize }) => blockSize))], [4096]);
    assert.deepEqual(
      named(name).map(({ depth, jobs }) => `${depth}x${jobs}`),
      ["1x1", "1x4", "8x1", "8x4", "32x1", "32x4", "128x1", "128x4"],
    );
  }
  assert.deepEqual(
    named("write-throughput").map(({ depth, operation }) => [depth, operation]),
    [...[4, 16, 64].map((depth) => [depth, "write"])],
  );
  assert.ok(tests.every(({ operation, arc }) => arc === (operation.endsWith("read") ? "warm" : "left")));
});

test("files is lab C's load as published", () => {
  assert.deepEqual(of("files"), [
    { kind: "files", workload: "files", test: "short", files: 163840, fileSize: 16384, folders: 256 },
    { kind: "files", workload: "files", test: "long", files: 40, fileSize: 1024 ** 3, folders: 1 },
  ]);
});

test("sync, mixed and transport are what they say", () => {
  assert.deepEqual(
    of("sync").map((one) => one.kind === "fio" && [one.blockSize, one.depth, one.sync, one.operation]),
    [4096, 8192, 16384].map((block) => [block, 1, "fdatasync", "write"]),
  );
  assert.deepEqual(
    of("mixed").map((one) => one.kind === "fio" && [one.operation, one.readShare, one.rateIops, one.arc]),
    [1000, 4000, 16000].map((rate) => ["randrw", 70, rate, "warm"]),
  );
  for (const one of of("transport")) assert.equal(one.kind === "fio" && one.backstore, "ramdisk");
});

test("a stack's values stand in for the workload's, lists as a matrix", () => {
  const tests = of("sequential", {
    ...{ size, runtime: 15, rampTime: 2, blockSize: [4096, 65536], depth: [1, 8], jobs: [1, 2] },
    ...{ directions: ["read"], arc: "cold" },
  });
  assert.equal(tests.length, 8);
  assert.deepEqual(
    tests.map((one) => one.kind === "fio" && `${one.blockSize} ${one.depth} ${one.jobs}`),
    [
      ...["4096 1 1", "4096 1 2", "4096 8 1", "4096 8 2"],
      ...["65536 1 1", "65536 1 2", "65536 8 1", "65536 8 2"],
    ],
  );
  for (const one of tests) {
    assert.ok(one.kind === "fio");
    assert.deepEqual([one.test, one.size, one.runtime, one.rampTime, one.arc], ["read", size, 15, 2, "cold"]);
  }
});

test("a size scales files down: fewer, then smaller; a RAM disk has no ARC to be cold", () => {
  assert.deepEqual(
    of("files", { size: 512 * 1024 ** 2 }).map(
      (one) => one.kind === "files" && [one.files, one.fileSize, one.folders],
    ),
    [
      [32768, 16384, 256],
      [1, 512 * 1024 ** 2, 1],
    ],
  );
  const [small] = of("files", { size: 20000 });
  assert.deepEqual(small?.kind === "files" && [small.files, small.folders], [1, 1]);
  assert.deepEqual(of("io500", { size, runtime: 20 }), [
    { kind: "io500", workload: "io500", test: "io500", seconds: 20, size, files: 1000000 },
  ]);
  for (const one of of("transport", { arc: "warm" })) assert.equal(one.kind === "fio" && one.arc, "left");
});

const folder = mkdtempSync(join(tmpdir(), "workload-"));
after(() => rmSync(folder, { recursive: true }));
const own = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const head = "title: Mine\nabout: What I run.\nsource: Me.\ntests:\n";

test("a workload of one's own is a file: no code, named by it", () => {
  const file = own(
    "my-load.yaml",
    `${head}  log: {operation: [write, randwrite], blockSize: 8192, size: 64M, runtime: 9 s}\n`,
  );
  assert.deepEqual(
    of(file).map(
      (one) =>
        one.kind === "fio" && [one.workload, one.test, one.operation, one.blockSize, one.size, one.depth],
    ),
    [
      ["my-load", "log-write", "write", 8192, 67108864, 1],
      ["my-load", "log-randwrite", "randwrite", 8192, 67108864, 1],
    ],
  );
});

const wrong: [string, string, RegExp][] = [
  [
    "MB",
    `${head}  a: {operation: read, blockSize: 4 KiB, size: 64 MB, runtime: 9 s}`,
    /"64 MB" is no size: .*64000000 bytes[\s\S]*→ at tests\.a\.size/,
  ],
  [
    "a time without unit",
    `${head}  a: {operation: read, blockSize: 4K, size: 64M, runtime: 9}`,
    /→ at tests\.a\.runtime/,
  ],
  [
    "an unknown key",
    `${head}  a: {operation: read, blockSize: 4K, size: 64M, runtime: 9 s, iodepth: 4}`,
    /Unrecognized key: "iodepth"/,
  ],
  [
    "an unknown operation",
    `${head}  a: {operation: trim, blockSize: 4K, size: 64M, runtime: 9 s}`,
    /→ at tests\.a\.operation/,
  ],
  ["an unknown kind", `${head}  a: {kind: dbench}`, /→ at tests\.a\.kind/],
  [
    "a test's name",
    `${head}  A B: {kind: files, files: 1, fileSize: 1K}`,
    /a test's name is lower-case letters/,
  ],
  ["no test", "title: a\nabout: b\nsource: c\ntests: {}", /at least one test/],
  ["no YAML", "title: [", /is no YAML: /],
];
for (const [what, text, message] of wrong) {
  test(`refused: ${what}`, () => {
    assert.throws(
      () => parseWorkload(text, "own.yaml"),
      (error) => {
        assert.ok(error instanceof RangeError);
        assert.match(error.message, /^own\.yaml is /);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}

test("a workload that isn't there: the names there are, or the path that was looked at", () => {
  assert.throws(
    () => readWorkload("rand"),
    /no workload rand: there are files, io500, .*named by its path, such as \.\/rand\.yaml/,
  );
  assert.throws(
    () => readWorkload("./none.yaml"),
    new RegExp(`no workload file ${process.cwd()}/none\\.yaml`),
  );
  assert.throws(() => readWorkload(own("My.yaml", head)), /file is named in lower-case letters/);
});
