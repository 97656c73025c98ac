import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { execa } from "execa";
import { metricsOf } from "../../bench/metrics.ts";
import { type Outcome, type Result, result, type ValidRun } from "../../bench/schema/result.ts";
import { Project } from "./project.ts";

/**
 * Every kind of test, by a workload file of one's own, on the virtual lab: cold and warm ARC, synchronous writes, a
 * stated load, files, the phases of an IO500, the target's RAM disk. The figures are real; what they are is not
 * judged, as the guests are emulated.
 */

let project: Project;

before(async () => {
  project = await Project.withLab();
});
after(() => project.remove("lab"));

const tests = `title: One of each
about: What the test of the lab runs.
source: This project's own.
tests:
  write: {operation: write, blockSize: 512 KiB, depth: 8, size: 64 MiB, runtime: 4 s}
  cold: {operation: read, blockSize: 512 KiB, depth: 8, size: 64 MiB, runtime: 4 s, arc: cold}
  warm: {operation: randread, blockSize: 16 KiB, depth: 8, size: 64 MiB, runtime: 4 s, arc: warm}
  log: {operation: write, blockSize: 4 KiB, depth: 1, size: 16 MiB, runtime: 4 s, sync: fdatasync}
  load: {operation: randrw, readShare: 70, blockSize: 8 KiB, depth: 4, rateIops: 40, size: 64 MiB, runtime: 6 s}
  fabric: {operation: read, blockSize: 512 KiB, depth: 8, size: 32 MiB, runtime: 4 s, backstore: ramdisk}
  files: {kind: files, files: 900, fileSize: 16 KiB, folders: 16}
  io500: {kind: io500, seconds: 3 s, size: 32 MiB, files: 1500}
`;
const needs = "{write: 1 MB/s, failures: 2, capacity: 1 GiB, latency: {percentile: 99, atMost: 60 s}}";

let found: Result;
const run = (name: string): ValidRun => {
  const one = found.runs.find(({ spec }) => spec.test.test === name);
  assert.ok(one !== undefined, name);
  if (!one.valid) throw new Error(`${name}: ${one.invalid}`);
  return one;
};

test("a workload file of one's own is measured whole, its preconditions hold, its reports are there", async () => {
  writeFileSync(join(project.folder, "one-of-each.yaml"), tests);
  project.edit(
    "Pulumi.lab.yaml",
    "initiators: [initiator]",
    "initiators: [initiator]\n      ramdisk: 64 MiB",
  );
  project.edit(
    "Pulumi.lab.yaml",
    /storage-lab:benchmark: .*/,
    `storage-lab:benchmark: {workload: ./one-of-each.yaml, protocols: iser, needs: ${needs}}`,
  );
  await project.must("up", "--yes", "--skip-preview", "--stack", "lab");
  const outputs = JSON.parse(await project.must("stack", "output", "--json", "--stack", "lab"));
  found = result.parse(JSON.parse(readFileSync(join(project.folder, outputs.summaryJson), "utf8")));
  assert.deepEqual(
    (outputs.results as Outcome["runs"]).filter(({ valid }) => !valid),
    [],
  );
  assert.equal(found.runs.length, 8);
  for (const file of [...Object.values(found.reports), ...found.runs.flatMap(({ files }) => files)]) {
    const paths = [join(project.folder, file), join(project.folder, outputs.rawFolder, file)];
    assert.ok(paths.some(existsSync), file);
  }
  assert.deepEqual(
    found.runs.flatMap(({ preconditions }) => preconditions.filter(({ holds }) => holds === false)),
    [],
  );
});

test("a cold ARC has nothing of the file, a warm one all of it", () => {
  const [cold, warm] = [run("cold"), run("warm")];
  // All of it once; what is read again comes from the ARC.
  const onceRead = Math.min(cold.read?.bytes ?? 0, 64 * 2 ** 20) / 1e6 / cold.seconds;
  assert.ok((cold.pool?.read ?? 0) > 0.5 * onceRead, `${cold.pool?.read} MB/s from the disks`);
  assert.ok((warm.arc.hitRatio ?? 0) > 0.95, `${warm.arc.hitRatio} of the accesses hit`);
});

test("a stated load is held, and named as the limit", () => {
  const { read, write, diagnosis } = run("load");
  const iops = (read?.iops ?? 0) + (write?.iops ?? 0);
  assert.ok(iops <= 44 && iops > 4, `${iops} IOPS of 40`);
  if (iops > 38) assert.equal(diagnosis?.limit?.rule, "throttled");
});

test("synchronous writes have the latency of their flush beside that of the write", () => {
  const metrics = metricsOf(run("log")).map(({ metric }) => metric);
  assert.ok(metrics.includes("sync p99"), metrics.join(", "));
});

test("the RAM disk leaves pool and disks alone", () => {
  const { pool, evidence } = run("fabric");
  assert.equal(evidence?.pool.backstore, "ramdisk");
  assert.ok((pool?.read ?? 0) < 0.1, `${pool?.read} MB/s from the pool`);
});

test("files and the IO500's phases have figures, and no score is called official", () => {
  const units = run("files").phases.map(({ phase, unit }) => `${phase} ${unit}`);
  assert.deepEqual(units.sort(), ["read MiB/s", "read files/s", "write MiB/s", "write files/s"]);
  const { score, official, phases } = run("io500");
  assert.ok((score ?? 0) > 0 && official === false);
  assert.ok(phases.length >= 10, phases.map(({ phase }) => phase).join(", "));
});

test("needs are judged", () => {
  assert.deepEqual(
    found.verdicts.map(({ met }) => met),
    [true, true, true, true],
    JSON.stringify(found.verdicts),
  );
});

test("telemetry has both hosts on one time line, core by core, disk by disk", () => {
  const { spec, files } = run("write");
  const name = files.find((file) => file.endsWith(`telemetry-${spec.id}.json`)) ?? "";
  const folder = join(project.folder, found.folder);
  const { hosts } = JSON.parse(readFileSync(join(folder, name.replace(/^.*\//, "")), "utf8"));
  const lengths = hosts.flatMap(({ cores }: { cores: { idle: unknown[] }[] }) =>
    cores.map((c) => c.idle.length),
  );
  assert.equal(hosts.length, 2);
  assert.ok(new Set(lengths).size === 1 && lengths[0] >= 3, String(lengths));
  assert.equal(hosts[0].vdevs.filter(({ depth }: { depth: number }) => depth === 2).length, 8);
});

test("the same again is not measured again; what is stored is compared, reported and diagnosed", async () => {
  const { exitCode } = await project.pulumi("preview", "--expect-no-changes", "--stack", "lab");
  assert.equal(exitCode, 0);
  const bench = (...args: string[]) =>
    execa(process.execPath, ["bench/main.ts", ...args], { cwd: project.folder, stdin: "ignore" });
  assert.match((await bench("compare", "lab", "lab-a", "--markdown")).stdout, /iSER write: bandwidth/);
  assert.match((await bench("report", found.folder, "--csv")).stdout, /\r\n.*,write,.*bandwidth/);
  assert.match((await bench("diagnose", found.folder)).stdout, /iser-one-of-each-write/);
});
