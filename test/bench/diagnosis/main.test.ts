import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { diagnoseStored, main } from "../../../bench/diagnosis/main.ts";
import { exampleResult } from "../example.ts";

const folder = mkdtempSync(join(tmpdir(), "storage-lab-diagnose-"));
test.after(() => rmSync(folder, { recursive: true }));
const store = (name: string, value: unknown): string => {
  mkdirSync(join(folder, name, ".."), { recursive: true });
  writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  return join(folder, name);
};

test("a stored result is diagnosed again, run by run; one without figures says why", () => {
  const file = store("whole/result.json", exampleResult());
  const text = diagnoseStored(file, false);
  for (const { spec } of exampleResult().runs) assert.match(text, new RegExp(`^${spec.id}$`, "m"));
  assert.match(text, /iscsi-\S+\n {2}limit: The TCP\/IP receive path of one core is the limit/);
  assert.match(text, /no figures: precondition ARC cold/);
  const parsed: unknown = JSON.parse(diagnoseStored(file, true));
  assert.ok(Array.isArray(parsed) && parsed.length === exampleResult().runs.length);
});

test("what was stated of the hardware comes from the request beside it", () => {
  const file = store("stated/result.json", exampleResult());
  assert.doesNotMatch(diagnoseStored(file, false), /as stated/);
  store("stated/request.json", { hardware: { hba: { bandwidth: 1400 } } });
  assert.match(diagnoseStored(file, false), /1,400 MB\/s as stated/);
});

test("an older or foreign file is refused with its name and the way out", () => {
  const old = store("old/result.json", { schema: 1, runs: [] });
  assert.throws(
    () => diagnoseStored(old, false),
    /old\/result\.json is no result of version 2.*measure again/s,
  );
  const text = store("text/result.json", "no JSON");
  assert.throws(() => diagnoseStored(text, false), /text\/result\.json can't be read as JSON/);
});

test("wrong arguments are refused with the usage", async () => {
  for (const args of [[], ["a", "b"], ["--what"], [join(folder, "nowhere")]])
    await assert.rejects(main(args), /usage: npm run -s bench -- diagnose/);
  await assert.rejects(main([folder]), /no result\.json in it, nor in its latest/);
});
