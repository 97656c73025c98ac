import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "../../../bench/compare/compare.ts";
import type { Cell, Comparison } from "../../../bench/compare/comparison.ts";
import { layoutWords } from "../../../bench/compare/differing.ts";
import { readReference } from "../../../bench/reference.ts";
import type { Run } from "../../../bench/schema/result.ts";
import { exampleResult } from "../example.ts";
import { repeated } from "./repeated.ts";

function cell(found: Comparison, metric: string, column: number): Cell {
  const its = found.series[0]?.rows.find((row) => row.metric === metric)?.cells[column];
  if (!its) throw new Error(`no ${metric} in column ${column}`);
  return its;
}

const bandwidth = (found: Comparison, column = 1): Cell["difference"] =>
  cell(found, "bandwidth", column).difference;

test("differences to the first column, by how many repeats there are", () => {
  const cases: [
    string,
    number[],
    number[],
    { percent: number; moreThanNoise: boolean | null; unknown: string | null },
  ][] = [
    ["one run each", [400], [500], { percent: 25, moreThanNoise: null, unknown: "one run each" }],
    [
      "too few on one side",
      [400, 401, 402],
      [500, 501],
      { percent: 24.8, moreThanNoise: null, unknown: "2 and 3 runs; it takes 3 of each" },
    ],
    [
      "more than noise",
      [400, 401, 402],
      [500, 501, 502],
      { percent: 24.9, moreThanNoise: true, unknown: null },
    ],
    [
      "within noise",
      [300, 400, 500],
      [350, 450, 550],
      { percent: 12.5, moreThanNoise: false, unknown: null },
    ],
    [
      "no scatter at all",
      [400, 400, 400],
      [500, 500, 500],
      { percent: 25, moreThanNoise: null, unknown: "the repeats don't scatter at all" },
    ],
  ];
  for (const [name, theirs, ours, wanted] of cases) {
    const found = bandwidth(compare([repeated("a", theirs), repeated("b", ours)]));
    assert.ok(found, name);
    assert.ok(Math.abs(found.percent - wanted.percent) < 0.05, `${name}: ${found.percent}`);
    assert.deepEqual(
      { moreThanNoise: found.moreThanNoise, unknown: found.unknown },
      { moreThanNoise: wanted.moreThanNoise, unknown: wanted.unknown },
      name,
    );
  }
});

test("a column's spread over its repeats", () => {
  const { values, median, minimum, maximum, deviation, difference } = cell(
    compare([repeated("a", [410, 400, 402])]),
    "bandwidth",
    0,
  );
  assert.deepEqual(
    { values, median, minimum, maximum, difference },
    {
      ...{ values: [410, 400, 402], median: 402, minimum: 400, maximum: 410, difference: null },
    },
  );
  assert.ok(deviation !== null && Math.abs(deviation - Math.sqrt(28)) < 1e-9, String(deviation));
  assert.equal(cell(compare([repeated("a", [410])]), "bandwidth", 0).deviation, null);
});

test("compared with the best of each row: most of bandwidth, least of latency", () => {
  const found = compare([repeated("a", [400]), repeated("b", [500])], [], { against: "best" });
  const [row] = found.series[0]?.rows ?? [];
  assert.equal(row?.against, 1);
  assert.equal(bandwidth(found, 1), null);
  assert.equal(bandwidth(found, 0)?.percent.toFixed(1), "-20.0");
});

test("an invalid run is listed and in no median", () => {
  const invalid: Run = { ...(exampleResult().runs.find(({ valid }) => !valid) as Run) };
  const [bad, ...good] = repeated("b", [1, 500, 501, 502]).runs;
  if (!bad?.valid || invalid.valid) throw new Error("not as made");
  const broken: Run = {
    spec: bad.spec,
    command: "",
    preconditions: [],
    files: [],
    valid: false,
    invalid: "too short",
  };
  const found = compare([
    repeated("a", [400, 401, 402]),
    exampleResult({ stack: "b", runs: [broken, ...good] }),
  ]);
  assert.deepEqual(cell(found, "bandwidth", 1).values, [500, 501, 502]);
  assert.deepEqual(found.invalid, [{ column: "b", run: broken.spec.id, reason: "too short" }]);
  assert.ok(found.notes.some((note) => /have no figures and are in no median/.test(note)));
  // One that all have invalid has no figure, and a series all the same.
  const none = compare([exampleResult({ runs: [broken, ...exampleResult().runs.slice(1)] })]);
  assert.deepEqual(none.series[0]?.rows, []);
});

test("tests of one name and another size are not compared", () => {
  const larger = repeated("b", [500]);
  const runs = larger.runs.map((run): Run => {
    const { test: its } = run.spec;
    return its.kind === "fio" ? { ...run, spec: { ...run.spec, test: { ...its, size: its.size * 2 } } } : run;
  });
  const found = compare([repeated("a", [400]), { ...larger, runs }]);
  assert.deepEqual(
    found.series.map(({ title, rows }) => [title, rows[0]?.cells.map((one) => one?.median ?? null)]),
    [
      ["iSCSI write (file of 100 GiB, 3 min)", [400, null]],
      ["iSCSI write (file of 200 GiB, 3 min)", [null, 500]],
    ],
  );
  assert.ok(found.notes.some((note) => /^Only one column has figures of iSCSI write/.test(note)));
});

test("protocols as columns are compared with each other", () => {
  const found = compare([exampleResult()], [], { protocols: true });
  assert.deepEqual(
    found.columns.map(({ name, protocol }) => [name, protocol]),
    [
      ["iSCSI", "iscsi"],
      ["iSER", "iser"],
    ],
  );
  const write = found.series.find(({ title }) => title === "write");
  const [row] = write?.rows ?? [];
  assert.deepEqual(
    row?.cells.map((one) => Math.round(one?.median ?? 0)),
    [431, 721],
  );
  assert.equal(row?.cells[1]?.difference?.percent.toFixed(0), "67");
  assert.ok(found.differing.some(({ what }) => what === "session transport"));
});

test("published labs stand beside by protocol, direction and metric; what they lack is a gap", () => {
  const found = compare([exampleResult()], [readReference("lab-a"), readReference("lab-d")]);
  const row = (title: string, metric: string) =>
    found.series
      .find((one) => one.title === title)
      ?.rows.find((one) => one.metric === metric)
      ?.published.map((figures) => figures.map(({ value }) => value));
  assert.deepEqual(row("iSCSI write", "bandwidth"), [[431], []]);
  assert.deepEqual(row("iSER write", "clat p99.9"), [[201], []]);
  assert.deepEqual(row("iSER read", "clat p99"), [[], []]);
  // The same as MB/s, at one block size.
  assert.equal(row("iSER read", "IOPS"), undefined);
});

test("an emulated lab beside hardware, or beside a publication, is warned of", () => {
  const warned = (found: Comparison) => found.notes.filter((note) => /says nothing of any/.test(note));
  const [emulated, real] = [repeated("lab", [20], { virtual: true }), repeated("r710", [400])];
  assert.deepEqual(warned(compare([emulated, real])), [
    "lab is emulated, r710 is not: a difference between them says nothing of any layout, protocol or hardware.",
  ]);
  assert.equal(warned(compare([emulated], [readReference("lab-a")])).length, 1);
  assert.deepEqual(warned(compare([emulated, repeated("other", [30], { virtual: true })])), []);
  assert.deepEqual(warned(compare([real])), []);
});

test("what differs beside the figures is named, by a host's part and not its name", () => {
  const a = repeated("a", [400]);
  const b = repeated("b", [400]);
  const { environment } = b;
  const [volume] = environment.volumes;
  if (volume === undefined) throw new Error("no volume");
  const [pool] = environment.pools;
  if (!pool?.layout) throw new Error("no layout");
  const changed = {
    ...environment,
    storage: { ...environment.storage, name: "elsewhere", kernel: "6.1.0" },
    volumes: [
      { ...volume, properties: { ...volume.properties, volblocksize: "65536", compressratio: "9.99" } },
    ],
    pools: [
      { ...pool, layout: { ...pool.layout, vdevs: pool.layout.vdevs.filter(({ role }) => role === "data") } },
      { ...pool, name: "second" },
    ],
  };
  const found = compare([a, { ...b, environment: changed }]).differing;
  assert.deepEqual(found, [
    {
      what: "pool layout",
      values: ["24 × mirror of 3; log: mirror of 2; ashift 12", "24 × mirror of 3; ashift 12"],
    },
    { what: "volume volblocksize", values: ["16384", "65536"] },
    { what: "storage host kernel", values: ["6.12.0-oracle", "6.1.0"] },
    { what: "pool 2", values: [null, "there"] },
  ]);
  assert.deepEqual(compare([a, b]).differing, []);
});

test("a precondition that could be read in one alone, and an ARC that served one alone, are named", () => {
  const a = exampleResult({ stack: "a" });
  const b = exampleResult({ stack: "b" });
  const runs = b.runs.map((run): Run => {
    const preconditions = run.preconditions.map((one) => ({
      ...one,
      holds: one.holds === null ? true : one.holds,
    }));
    return run.valid && run.read !== null
      ? { ...run, preconditions, arc: { ...run.arc, hitRatio: 0.2 } }
      : { ...run, preconditions };
  });
  const found = compare([a, { ...b, runs }]).differing;
  assert.deepEqual(found.find(({ what }) => what.startsWith("ARC hits of iser"))?.values, [
    "about 100 %",
    "about 20 %",
  ]);
  assert.deepEqual(found.find(({ what }) => what.startsWith("precondition"))?.values, [
    "could not be read",
    null,
  ]);
});

test("a stack that is there twice has its moments in its columns' names", () => {
  const later = repeated("a", [1], { started: "2026-11-21T10:00:00Z" });
  assert.deepEqual(
    compare([repeated("a", [1]), later]).columns.map(({ name }) => name),
    ["a 2026-11-20 09:08 UTC", "a 2026-11-21 10:00 UTC"],
  );
});

test("layouts in words", () => {
  const vdev = { role: "data" as const, data: null, spares: 0, diskSize: null, count: 1 };
  const layout = { ashift: 9, volblocksize: null, compression: null, sync: null, logbias: null };
  const words = (vdevs: Parameters<typeof layoutWords>[0]["vdevs"]) => layoutWords({ ...layout, vdevs });
  assert.equal(words([{ ...vdev, kind: "raidz1", disks: 6 }]), "raidz1 of 6; ashift 9");
  assert.equal(
    words([
      { ...vdev, kind: "disk", disks: 1, count: 2 },
      { ...vdev, kind: "disk", disks: 1, role: "cache" },
    ]),
    "2 × disk; cache: disk; ashift 9",
  );
});
