import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { replaceEarlier } from "../../bench/earlier.ts";

const results = mkdtempSync(join(tmpdir(), "earlier-"));
after(() => rmSync(results, { recursive: true }));
const file = join(results, ".running");
const began = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19] ?? "";

test("nobody before: a note of ours while we run", async () => {
  const forget = await replaceEarlier(results, assert.fail);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { pid: process.pid, began: began(process.pid) });
  forget();
  assert.ok(!existsSync(file));
});

test("one that still runs is asked to end, and waited for", async () => {
  const child = spawn("sleep", ["60"]);
  const ended = once(child, "exit");
  writeFileSync(file, JSON.stringify({ pid: child.pid, began: began(child.pid ?? 0) }));
  const said: string[] = [];
  const forget = await replaceEarlier(results, (text) => said.push(text));
  assert.deepEqual(await ended, [null, "SIGTERM"]);
  assert.match(said.join(), new RegExp(`process ${child.pid}`));
  forget();
});

test("another process that has the number now is left alone", async () => {
  const child = spawn("sleep", ["60"]);
  writeFileSync(file, JSON.stringify({ pid: child.pid, began: "1" }));
  const forget = await replaceEarlier(results, assert.fail);
  assert.equal(child.exitCode, null);
  assert.ok(existsSync(`/proc/${child.pid}`));
  child.kill();
  forget();
});

test("a newer one's note is not taken back", async () => {
  const forget = await replaceEarlier(results, assert.fail);
  writeFileSync(file, JSON.stringify({ pid: 1, began: "0" }));
  forget();
  assert.ok(existsSync(file));
  rmSync(file);
});

test("a note that was cut off names nobody", async () => {
  writeFileSync(file, '{"pid": 12');
  (await replaceEarlier(results, assert.fail))();
});
