import assert from "node:assert/strict";
import { test } from "node:test";
import { readReference } from "../../../bench/reference.ts";
import { publishedOf } from "../../../bench/report/published.ts";
import { duration, figure, given, size, testWords, titlesOf } from "../../../bench/report/words.ts";
import type { RunSpec } from "../../../bench/schema/test.ts";
import { exampleResult } from "../example.ts";

test("figures have three digits that count, and nothing that is there reads as zero", () => {
  assert.deepEqual([2729.4, 431, 99.97, 21.34, 9.996, 7.8, 0.4212, 0.0042, 0, -73].map(figure), [
    "2,729",
    "431",
    "100",
    "21.3",
    "10.0",
    "7.80",
    "0.42",
    "0.0042",
    "0.00",
    "-73.0",
  ]);
  assert.deepEqual([2, 7.8, 34255.18].map(given), ["2", "7.8", "34,255.18"]);
  assert.deepEqual([512, 4096, 524288, 134217728, 2 ** 30, 1541148672, 17592186044416].map(size), [
    "512 bytes",
    "4 KiB",
    "512 KiB",
    "128 MiB",
    "1 GiB",
    "1.44 GiB",
    "16 TiB",
  ]);
  assert.deepEqual([42, 60, 185, 7200, 7800].map(duration), [
    "42 s",
    "1 min",
    "3 min 5 s",
    "2 h",
    "2 h 10 min",
  ]);
});

const [first] = exampleResult().runs;
if (first?.spec.test.kind !== "fio") throw new Error("the example begins with a fio run");
const fio = first.spec.test;
const spec = (id: string, over: Partial<RunSpec>, of: Partial<typeof fio> = {}) => ({
  spec: { ...first.spec, id, ...over, test: { ...fio, ...of } },
});

test("a run's title says what tells it apart from the others, and no more", () => {
  assert.deepEqual(
    [...titlesOf(exampleResult().runs).values()],
    ["iSCSI write", "iSCSI read", "iSER write", "iSER read", "iSER read-iops"],
  );
  const swept = [
    spec("a", {}, { depth: 1 }),
    spec("b", {}, { depth: 8 }),
    spec("c", { repeat: 2 }, { depth: 8 }),
    spec("d", { protocol: "iser" }, { depth: 8 }),
  ];
  assert.deepEqual(
    [...titlesOf(swept).values()],
    ["iSCSI write depth 1 #1", "iSCSI write depth 8 #1", "iSCSI write depth 8 #2", "iSER write"],
  );
});

test("a run on the RAM disk says so, and no publication stands beside it", () => {
  const memory = spec("a", {}, { backstore: "ramdisk" });
  assert.deepEqual([...titlesOf([memory]).values()], ["iSCSI write, RAM disk"]);
  const { figures } = readReference("lab-a");
  const bandwidth = { direction: "write", metric: "bandwidth" } as const;
  assert.deepEqual(
    publishedOf(figures, first.spec, bandwidth).map(({ value }) => value),
    [431],
  );
  assert.deepEqual(publishedOf(figures, memory.spec, bandwidth), []);
});

test("a test in words names what changes its figure", () => {
  const words = testWords(spec("a", {}, { sync: "fdatasync", rateIops: 2000, backstore: "ramdisk" }).spec);
  for (const part of [
    "512 KiB blocks",
    "depth 16",
    "fdatasync after each write",
    "at most 2,000 IOPS",
    "memory",
  ])
    assert.ok(words.includes(part), `${part} in ${words}`);
});
