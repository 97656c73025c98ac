import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseExperiment, readExperiment } from "../../../bench/experiment/file.ts";
import { readStack } from "../../../bench/model/stack.ts";
import { project } from "../../../scripts/environment.ts";

test("every experiment that is shipped is right, and so is each of its stacks under it", async () => {
  const files = readdirSync(join(project, "experiments"));
  assert.ok(files.includes("layouts.yaml"));
  for (const file of files) {
    const { stacks, benchmark } = readExperiment(join(project, "experiments", file));
    for (const stack of stacks) {
      const lab = await readStack(stack, project, { occasion: "test", ...(benchmark && { benchmark }) });
      assert.deepEqual(
        lab.benchmark?.workload,
        benchmark?.workload === undefined ? lab.benchmark?.workload : [benchmark.workload],
      );
    }
  }
});

test("what is left out: each stack's own benchmark, and labs are taken down", () => {
  assert.deepEqual(parseExperiment("title: T\nstacks: [a]", "x.yaml"), {
    ...{ title: "T", stacks: ["a"], afterwards: "destroy" },
  });
  // The benchmark goes on as it is written: each stack's program reads it again.
  const text =
    "title: T\nstacks: [a]\nbenchmark: {workload: smoke, size: 64 MiB, repeats: 3}\nafterwards: keep";
  assert.deepEqual(parseExperiment(text, "x.yaml"), {
    ...{ title: "T", stacks: ["a"], afterwards: "keep" },
    benchmark: { workload: "smoke", size: "64 MiB", repeats: 3 },
  });
});

test("what is wrong is named", () => {
  const cases: [string, RegExp][] = [
    ["title: T\nstacks: []", /x\.yaml is not right/],
    ["title: T\nstacks: [a, a]", /each stack once/],
    ["title: T\nstacks: [../a]", /the name of a stack: lab for Pulumi\.lab\.yaml/],
    ["title: T\nstacks: [a]\nworkload: smoke", /Unrecognized key: "workload"/],
    ["title: T\nstacks: [a]\nbenchmark: {size: 64 XiB}", /64 XiB/],
    // A target is a lab's own: one name is not in all of them.
    [
      "title: T\nstacks: [a]\nbenchmark: {targets: [iqn.2026-09.com.example:a]}",
      /Unrecognized key: "targets"/,
    ],
    ["title: T\nstacks: [a]\nafterwards: leave", /afterwards/],
    ["title: [", /x\.yaml is no YAML/],
    ["", /x\.yaml is not right/],
  ];
  for (const [text, wanted] of cases) assert.throws(() => parseExperiment(text, "x.yaml"), wanted, text);
});

test("a file that isn't there, or whose name can be no folder's", () => {
  const folder = mkdtempSync(join(tmpdir(), "storage-lab-experiment-"));
  try {
    assert.throws(() => readExperiment(join(folder, "none.yaml")), /there is no such experiment file/);
    writeFileSync(join(folder, "My Layouts.yaml"), "title: T\nstacks: [a]");
    assert.throws(() => readExperiment(join(folder, "My Layouts.yaml")), /named in lower-case letters/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
