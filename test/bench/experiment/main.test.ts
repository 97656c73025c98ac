import assert from "node:assert/strict";
import {
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
import { after, test } from "node:test";
import { conclude } from "../../../bench/experiment/conclude.ts";
import { main } from "../../../bench/experiment/main.ts";
import type { LabState } from "../../../bench/experiment/state.ts";
import { inProject } from "../../../bench/folder.ts";
import { RefusedError } from "../../../provider/errors.ts";
import { exampleResult } from "../example.ts";

const root = mkdtempSync(join(tmpdir(), "storage-lab-experiment-"));
after(() => rmSync(root, { recursive: true }));

test("what can't be measured is refused before anything is touched", async () => {
  for (const args of [[], ["a.yaml", "b.yaml"], ["--anew"]]) await assert.rejects(main(args), RefusedError);
  const file = join(root, "wrong.yaml");
  const cases: [string, RegExp][] = [
    ["stacks: [lab, none-such]", /nothing was touched:\n.*there is no Pulumi\.none-such\.yaml/],
    ["stacks: [lab]\nbenchmark: {workload: none-such}", /no workload none-such/],
    // Sixteen of 512 KiB in flight are more than the file.
    ["stacks: [lab]\nbenchmark: {workload: smoke, size: 1 MiB}", /is smaller than what is in flight/],
  ];
  for (const [text, wanted] of cases) {
    writeFileSync(file, `title: T\n${text}\n`);
    await assert.rejects(main([file]), wanted, text);
  }
  assert.equal(existsSync(inProject("results/experiments/wrong")), false);
});

const lab = (stack: string, its: Partial<LabState>): LabState => ({
  ...{ stack, phase: "done", settings: "", occasion: "1", stood: false, standing: false },
  ...{ result: null, error: null, seconds: 1 },
  ...its,
});

function measured(stack: string): LabState {
  const result = join(root, stack);
  mkdirSync(result, { recursive: true });
  writeFileSync(join(result, "result.json"), JSON.stringify(exampleResult({ stack })));
  return lab(stack, { result });
}

const layouts = {
  name: "layouts",
  title: "Layouts",
  stacks: ["a", "b", "c"],
  afterwards: "destroy",
} as const;
const ended = (...labs: LabState[]) =>
  conclude(
    { ...layouts, stacks: [...layouts.stacks] },
    { schema: 1, began: "2026-12-01T10:00:00Z", labs },
    root,
  );

test("it ends with the comparison in its folder, and tells a failure by its status", () => {
  assert.equal(ended(measured("a"), measured("b")), 0);
  const files = readdirSync(root).filter((name) => name.startsWith("comparison."));
  assert.deepEqual(files.sort(), ["comparison.html", "comparison.json", "comparison.md"]);
  const columns = (): string[] =>
    JSON.parse(readFileSync(join(root, "comparison.json"), "utf8")).columns.map(
      ({ name }: { name: string }) => name,
    );
  assert.deepEqual(columns(), ["a", "b"]);
  const failed = lab("c", { phase: "failed", error: "no such disk" });
  assert.equal(ended(measured("a"), failed), 1);
  assert.deepEqual(columns(), ["a"]);
  assert.match(
    readFileSync(join(root, "comparison.md"), "utf8"),
    /- c has no result, and no column: no such disk/,
  );
  // Measured, and still there: its figures count, and the status says that it isn't over.
  assert.equal(ended({ ...measured("a"), phase: "failed", error: "pool is busy" }), 1);
  assert.equal(ended(failed), 1);
});
