import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFolder, inProject, shown } from "../../bench/folder.ts";

const results = mkdtempSync(join(tmpdir(), "results-"));
after(() => rmSync(results, { recursive: true }));
const when = new Date("2026-11-30T12:13:14.567Z");

test("a folder a run, even in the same second; latest is the one published last", () => {
  const first = createFolder(results, when);
  first.publish();
  const second = createFolder(results, when);
  assert.equal(readlinkSync(join(results, "latest")), "2026-11-30T12-13-14Z");
  second.publish();
  assert.equal(readlinkSync(join(results, "latest")), "2026-11-30T12-13-14Z-2");
  assert.deepEqual(readdirSync(results).sort(), ["2026-11-30T12-13-14Z", "2026-11-30T12-13-14Z-2", "latest"]);
});

test("files are written whole and never overwritten", () => {
  const folder = createFolder(results, when);
  const file = folder.write("fio.json", "first");
  assert.throws(() => folder.write("fio.json", "second"), { code: "EEXIST" });
  assert.equal(readFileSync(file, "utf8"), "first");
});

test("paths are shown as from the project's folder", () => {
  assert.equal(shown(inProject("results/lab")), "results/lab");
  assert.equal(shown("/var/tmp/results"), "/var/tmp/results");
});
