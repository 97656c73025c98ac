import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { chill, coldPrecondition, restoreArgv, warmPrecondition } from "../../../bench/run/arc.ts";
import { recorded } from "../../recorded.ts";
import { benchHost, sampleRequest } from "../sample.ts";

const scratch = mkdtempSync(join(tmpdir(), "arc-"));
after(() => rmSync(scratch, { recursive: true }));

const arcstats = "cat /proc/spl/kstat/zfs/arcstats";
const holding = (bytes: number): string =>
  recorded("arcstats--before-read--2.3.9").replace(/^(data_size\s+4\s+)\d+$/m, `$1${bytes}`);

test("server cache: cold is read back, in bytes of data that the ARC still holds", async () => {
  for (const [held, holds] of [
    [0, true],
    [2_000_000, true],
    [2_000_001, false],
  ] as const) {
    const host = benchHost("storage", { [arcstats]: holding(held) });
    const found = await coldPrecondition(host, 100e6);
    assert.equal(found.holds, holds, `${held} bytes`);
    assert.match(found.wanted, /at most 2\.0 MB of data, 2 % of the test file \(100\.0 MB\)/);
  }
});

test("server cache: warm is a hit ratio that was measured, and says where the file is too large", () => {
  assert.equal(warmPrecondition(0.95, 1e9, 4e9).holds, true);
  const cold = warmPrecondition(0.4, 8e9, 4e9);
  assert.equal(cold.holds, false);
  assert.match(
    cold.found,
    /40\.0 % served by the ARC; the test file has 8000\.0 MB, the ARC at most 4000\.0 MB/,
  );
  assert.equal(warmPrecondition(null, 1e9, 4e9).holds, null);
});

test("the ARC is emptied by a unit of the run, which is stopped with it", async () => {
  const host = benchHost("storage", {}, () => ({ lines: [] }));
  const bench = { request: sampleRequest, run: { stack: "lab", id: "1" }, storage: host, clients: [] };
  await chill({ ...bench, signal: new AbortController().signal }, "tank", "x-cold");
  const [line = ""] = host.streamed;
  assert.match(line, /--unit=storage-lab-bench:lab:1:x-cold\.service /);
  assert.match(line, / tank$/);
  // Set back in any case: when it ends, when it is stopped, when nobody listens any more.
  assert.match(line, /trap \S+restore\S+ EXIT$/m);
  assert.match(line, /TERM INT HUP PIPE/);
});

test("an ARC that could not be emptied is an error in the script's words", async () => {
  const host = benchHost("storage", {}, () => ({
    lines: [],
    status: 1,
    stderr: "cannot create 'tank/storage-lab-bench-cold': out of space\n",
  }));
  const bench = { request: sampleRequest, run: { stack: "lab", id: "1" }, storage: host, clients: [] };
  await assert.rejects(
    chill({ ...bench, signal: new AbortController().signal }, "tank", "x-cold"),
    /storage: the ARC could not be emptied: cannot create .* out of space/,
  );
});

/** The script that sets back, with its note and ZFS's parameters in folders of ours, and a `zfs` that tells. */
function restored(note: string | undefined, scratchThere = true) {
  const folder = mkdtempSync(join(scratch, "case-"));
  const [parameters, bin, noteFile] = ["parameters", "bin", "note"].map((name) => join(folder, name));
  mkdirSync(parameters ?? "");
  mkdirSync(bin ?? "");
  if (note !== undefined) writeFileSync(noteFile ?? "", note);
  const zfs = join(bin ?? "", "zfs");
  writeFileSync(
    zfs,
    `#!/bin/sh\necho "$@" >>${folder}/asked\n[ "$1" != list ] || exit ${scratchThere ? 0 : 1}\n`,
  );
  chmodSync(zfs, 0o755);
  const script = (restoreArgv[2] ?? "")
    .replace("/run/storage-lab-bench-arc", noteFile ?? "")
    .replace("/sys/module/zfs/parameters", parameters ?? "")
    // A file keeps its last value only; the order of all is what counts.
    .replaceAll(/>"\$p\/(\w+)"/g, `>>"$p/$1"`);
  const ran = spawnSync("sh", ["-c", script], {
    encoding: "utf8",
    env: { PATH: `${bin}:${process.env.PATH}` },
  });
  const said = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);
  return {
    status: ran.status,
    parameters: Object.fromEntries(
      ["zfs_arc_max", "zfs_arc_min", "dbuf_cache_max_bytes"].map((name) => [
        name,
        said(join(parameters ?? "", name)),
      ]),
    ),
    asked: said(join(folder, "asked")),
    note: said(noteFile ?? ""),
  };
}

test("what a killed benchmark left is set back: the values in force, then the parameters' own; its zvol goes", () => {
  assert.deepEqual(restored("tank 0 0 18446744073709551615 963217920 48160896\n"), {
    status: 0,
    parameters: {
      zfs_arc_max: "963217920\n0\n",
      zfs_arc_min: "48160896\n0\n",
      dbuf_cache_max_bytes: "18446744073709551615\n",
    },
    asked: "list -H -o name tank/storage-lab-bench-cold\ndestroy tank/storage-lab-bench-cold\n",
    note: undefined,
  });
});

test("nothing is set back where nothing was changed, nothing destroyed that is not there", () => {
  const nothing = { zfs_arc_max: undefined, zfs_arc_min: undefined, dbuf_cache_max_bytes: undefined };
  assert.deepEqual(restored(undefined), {
    status: 0,
    parameters: nothing,
    asked: undefined,
    note: undefined,
  });
  assert.equal(restored("tank 0 0 1 2 3\n", false).asked, "list -H -o name tank/storage-lab-bench-cold\n");
});
