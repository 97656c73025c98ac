import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFolder } from "../../bench/folder.ts";
import { sampleRequest } from "./sample.ts";

const main = join(import.meta.dirname, "../../bench/main.ts");
const bench = (args: string[], input = "") =>
  spawnSync(process.execPath, [main, ...args], { input, encoding: "utf8" });

const folder = mkdtempSync(join(tmpdir(), "show-"));
after(() => rmSync(folder, { recursive: true }));

test("a request that is wrong is refused by its key, before anything is touched", () => {
  const ran = bench(["run"], JSON.stringify({ ...sampleRequest, folder: "", stak: 1 }));
  assert.equal(ran.status, 1);
  assert.equal(ran.stdout, "");
  assert.match(ran.stderr, /the request is not of the form known here/);
  assert.match(ran.stderr, /Unrecognized key: "stak"/);
  assert.match(ran.stderr, /→ at folder/);
});

test("what is no JSON is said to be none", () => {
  const ran = bench(["run"], "mount: /test");
  assert.deepEqual([ran.status, ran.stdout], [1, ""]);
  assert.match(ran.stderr, /the request on stdin is not JSON/);
});

test("an unknown command shows the usage", () => {
  for (const args of [[], ["bake"], ["run", "now"], ["show", "a", "b"]]) {
    const ran = bench(args);
    assert.deepEqual([ran.status, ran.stderr.startsWith("usage: ")], [1, true]);
  }
});

const text = "# Benchmark of stack lab\n";
test("show prints the summary of a run, or of a stack's latest", () => {
  const run = createFolder(folder, new Date());
  run.write("summary.md", text);
  run.publish();
  for (const where of [folder, run.path]) {
    assert.deepEqual([bench(["show", where]).status, bench(["show", where]).stdout], [0, text]);
  }
});

test("show without a run says where it looked", () => {
  const ran = bench(["show", join(folder, "none")]);
  assert.equal(ran.status, 1);
  assert.match(ran.stderr, /none: no summary\.md in it/);
});
