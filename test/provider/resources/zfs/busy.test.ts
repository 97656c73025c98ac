import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { onceReleased } from "../../../../provider/resources/zfs/busy.ts";

const folder = mkdtempSync(join(tmpdir(), "busy-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs the step here, with a deadline of one second. */
const run = (held: string, ...argv: string[]) => runFor("1", held, ...argv);

function runFor(seconds: string, held: string, ...argv: string[]): { status: number | null; stderr: string } {
  const step = onceReleased("take it away", held, argv);
  const words = step.argv.map((word) => (word === "60" ? seconds : word));
  const { status, stderr } = spawnSync(words[0] ?? "", words.slice(1), {
    input: step.stdin,
    encoding: "utf8",
  });
  return { status, stderr: stderr.trim() };
}

describe("running a command once its object is released", () => {
  test("runs it where nothing holds the object", () => {
    assert.deepEqual(run(join(folder, "it's free"), "true"), { status: 0, stderr: "" });
  });

  test("gives another failure back at once, in its own words", () => {
    assert.deepEqual(run(folder, "sh", "-c", "echo no such pool >&2; exit 3"), {
      status: 1,
      stderr: "no such pool",
    });
  });

  test("tries again while the command says busy", () => {
    const once = join(folder, "once");
    const script = 'if [ -e "$1" ]; then exit 0; fi; echo >"$1"; echo target is busy; exit 1';
    const again = runFor("60", join(folder, "x"), "sh", "-c", script, "sh", once);
    assert.deepEqual(again, { status: 0, stderr: "" });
    assert.deepEqual(run(join(folder, "x"), "sh", "-c", "echo target is busy; exit 1"), {
      status: 1,
      stderr: "target is busy",
    });
  });

  test("a dataset that is mounted nowhere is held by nobody", () => {
    assert.deepEqual(run("no/such-dataset", "true"), { status: 0, stderr: "" });
  });

  test("names who holds it, by the program's name alone, and does not run the command", async () => {
    const file = join(folder, "held");
    writeFileSync(file, "");
    const holder = spawn("sh", ["-c", 'exec 3<"$1"; echo ready; read -r _', "sh", file, "--password=secret"]);
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    const ran = join(folder, "ran");
    const { status, stderr } = run(file, "touch", ran);
    holder.kill();
    assert.equal(status, 1);
    assert.equal(stderr, `process ${holder.pid} (sh) is in it`);
    assert.equal(spawnSync("test", ["-e", ran]).status, 1);
  });
});
