import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hardware, needs } from "../../bench/schema/needs.ts";
import { hardwareOf, measuredTargets, needsOf, testsOfStack } from "../../stack-file/benchmark.ts";
import { bandwidth, milliseconds, share } from "../../stack-file/measure.ts";
import { parse, refused, target, whole } from "./sample.ts";

const on = (benchmark: object, change: object = {}) => {
  const lab = parse(() => ({ ...change, benchmark }));
  assert.ok(lab.benchmark);
  return { lab, benchmark: lab.benchmark };
};

test("today's keys stay valid; one value or a list, a path or a name", () => {
  const { benchmark } = on({
    ...{ workload: "sequential", size: "256 MiB", runtime: "15 s", blockSize: "512 KiB", depth: 16 },
  });
  assert.deepEqual(
    testsOfStack(benchmark).map(
      (one) => one.kind === "fio" && [one.size, one.runtime, one.blockSize, one.depth],
    ),
    Array.from({ length: 2 }, () => [268435456, 15, 524288, 16]),
  );
  const several = on({
    ...{
      workload: ["smoke", "sync"],
      size: "64 MiB",
      directions: "write",
      blockSize: [4096, "8K"],
      depth: [1, 2],
    },
  });
  // Two tests of smoke write, one of sync does; each with two block sizes and two depths.
  assert.equal(testsOfStack(several.benchmark).length, 3 * 2 * 2);
});

test("what is needed and what the hardware is, with units", () => {
  const { benchmark } = on({
    size: "1 GiB",
    needs: {
      ...{ write: "400 MB/s", read: "1 GiB/s", writeIops: 20000, clients: 3, syncShare: "30 %", failures: 2 },
      ...{ capacity: "10 TiB", latency: { percentile: 99.9, atMost: "2 ms" } },
    },
    hardware: {
      ...{ disk: { sequential: "180 MB/s", iops: 150 }, log: { sequential: "2 GB/s" } },
      ...{ hba: { bandwidth: "4 GB/s" }, link: { bandwidth: "32 Gbit/s" } },
    },
  });
  assert.deepEqual(needs.parse(needsOf(benchmark)), {
    ...{ write: 400, read: 1073.741824, writeIops: 20000, clients: 3, syncShare: 30, failures: 2 },
    ...{ capacity: 10 * 1024 ** 4, latency: { percentile: 99.9, ms: 2 } },
  });
  assert.deepEqual(hardware.parse(hardwareOf(benchmark)), {
    ...{ disk: { sequential: 180, iops: 150 }, log: { sequential: 2000 } },
    ...{ hba: { bandwidth: 4000 }, link: { bandwidth: 4000 } },
  });
  assert.equal(needsOf(on({ size: "1 GiB" }).benchmark), undefined);
});

test("words of measure", () => {
  assert.equal(bandwidth.parse("12.5 Mbit/s"), 1.5625);
  assert.equal(milliseconds.parse("500us"), 0.5);
  assert.equal(milliseconds.parse("500 µs"), 0.5);
  assert.equal(share.parse("12.5 %"), 12.5);
  for (const [word, text] of [
    [bandwidth, "400"],
    [bandwidth, "400 Mb/s"],
    [bandwidth, "-4 MB/s"],
    [milliseconds, "2 min"],
    [share, "0.3"],
  ] as const)
    assert.match(
      word.safeParse(text).error?.issues[0]?.message ?? "",
      new RegExp(`^"${text}" is no (bandwidth|time|share): write a number with`),
    );
});

const other = "iqn.2026-09.com.example.lab:other";
const twoTargets = (pools: object = {}) => ({
  pools: { ...whole().pools, ...pools },
  volumes: { ...whole().volumes, "tank/lun1": { size: "2 GiB" }, "far/lun0": { size: "2 GiB" } },
  targets: {
    ...whole().targets,
    [other]: {
      luns: ["tank/lun1"],
      portals: { iscsi: "10.10.10.1:3262", iser: "10.10.10.1:3263" },
      initiators: ["initiator"],
    },
  },
});
const far = {
  hosts: { ...whole().hosts, third: { ssh: "third" } },
  fabric: {
    link: {
      kind: "roce",
      device: "eth1",
      rdma: "mlx5_0",
      addresses: { storage: "10.10.10.1/24", initiator: "10.10.10.2/24", third: "10.10.10.3/24" },
    },
  },
};

test("targets: the first by name, unless some are listed", () => {
  const pools = { far: { host: "storage", data: { stripe: 1, disks: "by-id/x" } } };
  const two = { ...twoTargets(pools), hosts: { ...whole().hosts, storage: { ssh: "storage" } } };
  const iqns = (benchmark: object) => measuredTargets(on(benchmark, two).lab).map(([iqn]) => iqn);
  assert.deepEqual(iqns({ size: "1 GiB" }), [other]);
  assert.deepEqual(iqns({ size: "1 GiB", targets: [target, other] }), [target, other]);
});

const file = (text: string): string => {
  const path = join(folder, "own.yaml");
  writeFileSync(path, text);
  return path;
};
const folder = mkdtempSync(join(tmpdir(), "stack-"));
after(() => rmSync(folder, { recursive: true }));

const cases: [string, object, object, RegExp][] = [
  ["an unknown workload", { workload: "rand" }, {}, /benchmark\.workload: no workload rand: there are files/],
  [
    "a workload file that is not right",
    { workload: file("title: x") },
    {},
    /benchmark\.workload: .*own\.yaml is not right/,
  ],
  [
    "a test file that doesn't fit its volume",
    { workload: "sequential" },
    {},
    /benchmark\.size: the tests need 100 GiB \(107374182400 bytes\) of a file system on tank\/lun0, a volume of 2 GiB \(2147483648 bytes\): say a smaller size here, or make the volume larger/,
  ],
  ["many files that don't fit", { workload: "files" }, {}, /benchmark\.size: the tests need 40 GiB/],
  [
    "a RAM disk that isn't declared",
    { workload: "transport" },
    {},
    /targets\.iqn\.2026-09\.com\.example\.lab:tank\.ramdisk: the tests need a RAM disk of 256 MiB \(268435456 bytes\), and the target has none: write ramdisk: 256 MiB here/,
  ],
  [
    "no test of that direction",
    { workload: "sync", directions: ["read"] },
    {},
    /benchmark\.directions: sync has no test of read; nothing would be measured/,
  ],
  [
    "a matrix of thousands of runs",
    { workload: "smoke", size: "1 GiB", repeats: 200 },
    {},
    /storage-lab:benchmark: 2 protocols × 200 repeats × 3 tests are 1200 runs, about 4 hours; at most 1000/,
  ],
  [
    "a file smaller than what is in flight",
    { size: "4 MiB", jobs: 2 },
    {},
    /storage-lab:benchmark: sequential-write-512k-d16-j2: the test file of 4 MiB is smaller than what is in flight/,
  ],
  ["one workload twice", { workload: ["smoke", "smoke"] }, {}, /test smoke-write-512k-d16-j1 is there twice/],
  [
    "an unknown target",
    { size: "1 GiB", targets: [other] },
    {},
    /benchmark\.targets: no target iqn\..*other; targets: iqn\./,
  ],
  [
    "one target twice",
    { size: "1 GiB", targets: [target, target] },
    {},
    /benchmark\.targets: each target once/,
  ],
  [
    "targets of two hosts",
    { size: "1 GiB", targets: [target, other] },
    {
      ...twoTargets({ far: { host: "third", data: { stripe: 1, disks: "by-id/x" } } }),
      ...far,
      targets: {
        ...whole().targets,
        [other]: {
          luns: ["far/lun0"],
          portals: { iscsi: "10.10.10.3:3260", iser: "10.10.10.3:3261" },
          initiators: ["initiator"],
        },
      },
    },
    /benchmark\.targets: they are on different hosts \(storage, third\); one benchmark measures one storage host/,
  ],
  [
    "an unknown lab",
    { size: "1 GiB", reference: "lab-z" },
    {},
    /benchmark\.reference: no published lab lab-z; there are lab-a, lab-b/,
  ],
  ["one protocol twice", { protocols: ["iser", "iser"] }, {}, /benchmark\.protocols: each protocol once/],
  ["a need without unit", { needs: { write: "400" } }, {}, /benchmark\.needs\.write: "400" is no bandwidth/],
  ["an interval of nothing", { interval: "0 s" }, {}, /benchmark\.interval: at least 1 s/],
  [
    "64MB, which may be two sizes",
    { size: "64MB" },
    {},
    /benchmark\.size: "64MB" is no size: .*67108864 bytes/,
  ],
];
for (const [what, benchmark, change, message] of cases) {
  test(`refused: ${what}`, () => {
    assert.match(
      refused(() => on(benchmark, change)),
      message,
    );
  });
}

test("a RAM disk that is large enough", () => {
  const targets = { [target]: { ...whole().targets[target], ramdisk: "256 MiB" } };
  assert.equal(testsOfStack(on({ workload: "transport" }, { targets }).benchmark).length, 4);
});
