import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { hold, readState, writeState } from "../../../bench/experiment/state.ts";

const root = mkdtempSync(join(tmpdir(), "storage-lab-experiment-"));
after(() => rmSync(root, { recursive: true }));

test("the state is read as it was written, and no part of it is left", () => {
  const state = { schema: 1 as const, began: "2026-12-01T10:00:00Z", labs: [] };
  assert.equal(readState(root), undefined);
  writeState(root, state);
  assert.deepEqual(readState(root), state);
  assert.deepEqual(readdirSync(root), ["state.json"]);
});

test("a state of another form is refused, with the way out", () => {
  for (const text of ['{"schema": 2}', "not json", ""]) {
    writeFileSync(join(root, "state.json"), text);
    assert.throws(() => readState(root), /state\.json is no experiment's state of version 1; move it away/);
  }
});

test("two experiments at once of one name are refused; one of a dead process is taken over", () => {
  const folder = join(root, "layouts");
  const release = hold(folder);
  assert.throws(
    () => hold(folder),
    new RegExp(`belongs to an experiment that runs \\(process ${process.pid}\\)`),
  );
  assert.deepEqual(readdirSync(folder), [".running"]);
  release();
  assert.equal(existsSync(join(folder, ".running")), false);
  // A number that another process has now: it began at another time.
  for (const left of [JSON.stringify({ pid: process.pid, began: "1" }), "", "{"]) {
    writeFileSync(join(folder, ".running"), left);
    hold(folder)();
  }
  assert.deepEqual(readdirSync(folder), []);
});
