import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseLock, removeStaleLocks } from "../../scripts/stale-lock.ts";

/** A process id that was in use and is not any more. */
const deadPid = (): number => spawnSync("true").pid;

/** A state folder with one lock; the answer says whether it is still there. */
async function after(lock: object | string): Promise<{ kept: boolean; said: string[] }> {
  const state = mkdtempSync(join(tmpdir(), "storage-lab-state-"));
  const folder = join(state, ".pulumi/locks/organization/storage-lab/lab");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "2f1c.json");
  writeFileSync(file, typeof lock === "string" ? lock : JSON.stringify(lock));
  const removed = await removeStaleLocks(`file://${state}`);
  return { kept: existsSync(file), said: removed.map(({ line }) => line) };
}

test("a dead engine's lock on this host is removed, and said", async () => {
  const pid = deadPid();
  const { kept, said } = await after({ pid, hostname: hostname(), timestamp: new Date().toISOString() });
  assert.equal(kept, false);
  assert.equal(said.length, 1);
  assert.match(
    said[0] ?? "",
    new RegExp(`^Removed the lock of an engine that is gone \\(process ${pid}\\): /`),
  );
});

test("another host's lock stays, whatever lives here", async () => {
  assert.deepEqual(await after({ pid: deadPid(), hostname: `not-${hostname()}` }), { kept: true, said: [] });
});

test("a living engine's lock stays", async () => {
  const lock = { pid: process.pid, hostname: hostname(), timestamp: new Date().toISOString() };
  assert.deepEqual(await after(lock), { kept: true, said: [] });
  assert.deepEqual(await after({ pid: process.pid, hostname: hostname() }), { kept: true, said: [] });
});

test("a process that began after the lock was taken does not hold it", async () => {
  const { kept } = await after({ pid: process.pid, hostname: hostname(), timestamp: "2001-02-03T04:05:06Z" });
  assert.equal(kept, false);
});

test("what is no lock stays", async () => {
  assert.deepEqual(await after("{"), { kept: true, said: [] });
  assert.deepEqual(await after({ pid: "12", hostname: hostname() }), { kept: true, said: [] });
  assert.equal(parseLock("null"), undefined);
});

test("a backend that is no folder is left alone", async () => {
  assert.deepEqual(await removeStaleLocks("s3://states"), []);
  assert.deepEqual(await removeStaleLocks(undefined), []);
  assert.deepEqual(await removeStaleLocks("file:///nowhere/at/all"), []);
});
