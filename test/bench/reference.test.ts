import assert from "node:assert/strict";
import { test } from "node:test";
import { readReference, referenceNames } from "../../bench/reference.ts";

test("each published lab is there and is what its schema says", () => {
  assert.deepEqual(referenceNames(), ["lab-a", "lab-b", "lab-c", "lab-d"]);
  for (const name of referenceNames()) assert.equal(readReference(name).name, name);
});

/** The figures as published, read against the source once more. */
const figures: Record<
  string,
  [protocol: string, direction: string, metric: string, value: number, unit: string][]
> = {
  "lab-a": [
    ["iscsi", "write", "bandwidth", 431, "MB/s"],
    ["iser", "write", "bandwidth", 721, "MB/s"],
    ["iscsi", "read", "bandwidth", 1054, "MB/s"],
    ["iser", "read", "bandwidth", 2729, "MB/s"],
    ["iscsi", "write", "clat median", 17, "ms"],
    ["iser", "write", "clat median", 11, "ms"],
    ["iscsi", "write", "clat p99.9", 79, "ms"],
    ["iser", "write", "clat p99.9", 201, "ms"],
    ["iscsi", "read", "clat median", 7.8, "ms"],
    ["iser", "read", "clat median", 3, "ms"],
  ],
  "lab-b": [
    ["iscsi", "read", "IOPS", 34255.18, "IOPS"],
    ["iser", "read", "IOPS", 71108.85, "IOPS"],
    ["iscsi", "write", "IOPS", 36428.26, "IOPS"],
    ["iser", "write", "IOPS", 69495.7, "IOPS"],
    ["iscsi", "read", "bandwidth", 2740.8, "MBPS"],
    ["iser", "read", "bandwidth", 4126.53, "MBPS"],
    ["iscsi", "write", "bandwidth", 112.04, "MBPS"],
    ["iser", "write", "bandwidth", 106.48, "MBPS"],
  ],
};
for (const [name, rows] of Object.entries(figures)) {
  test(`${name}'s figures`, () => {
    for (const [protocol, direction, metric, value, unit] of rows) {
      const found = readReference(name).figures.find(
        (f) => f.protocol === protocol && f.direction === direction && f.metric === metric,
      );
      assert.deepEqual([found?.value, found?.unit], [value, unit], `${protocol} ${direction} ${metric}`);
    }
  });
}

test("lab C has four systems with four figures each, lab D its score", () => {
  assert.equal(readReference("lab-c").figures.length, 16);
  const [srp] = readReference("lab-c").figures.filter(
    (f) => f.protocol === "srp" && f.workload === "short files" && f.direction === "write",
  );
  assert.deepEqual([srp?.value, srp?.unit], [131, "MiB/s"]);
  const d = readReference("lab-d").figures;
  const [score, bandwidth, rate] = d.map(({ value }) => value);
  assert.ok(Math.abs(Math.sqrt((bandwidth ?? 0) * (rate ?? 0)) - (score ?? 0)) < 1e-3);
});

test("another lab is refused with those there are", () => {
  assert.throws(() => readReference("lab-z"), /no such lab; there are lab-a, lab-b, lab-c, lab-d/);
});
