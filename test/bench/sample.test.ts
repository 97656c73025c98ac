import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { recording } from "../../bench/schema/recording.ts";
import { result } from "../../bench/schema/result.ts";

const read = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, name), "utf8"));

/** The result of a benchmark of two guests of the virtual lab, and the recording of one of its runs. */
test("a real result and a real recording are of the published form, and of one benchmark", () => {
  const found = result.parse(read("sample-result.json"));
  const told = recording.parse(read("sample-recording.json"));
  assert.ok(found.runs.length >= 4 && found.runs.every(({ valid }) => valid));
  assert.ok(found.runs.some(({ spec }) => spec.id === told.run));
});
