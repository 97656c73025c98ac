import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MissingError, runSteps, type Step, type Work } from "../../scripts/steps.ts";

const logs = (): string => mkdtempSync(join(tmpdir(), "storage-lab-logs-"));

/** A step that is there once it has been brought. */
function step(name: string, bring: (work: Work) => Promise<void>, there = false): Step {
  return {
    name,
    why: "a test wants it",
    command: `bring ${name}`,
    check: async () => (there ? `${name} 1.0` : undefined),
    async bring(work) {
      await bring(work);
      there = true;
    },
  };
}

function screen(isTTY: boolean) {
  let text = "";
  return { isTTY, columns: 60, write: (more: string) => (text += more), text: () => text };
}

test("what is there is not brought, and nothing is printed", async () => {
  const output = screen(false);
  const never = step("Thing", () => assert.fail("brought"), true);
  assert.equal(await runSteps([never], logs(), output), 0);
  assert.equal(output.text(), "");
});

test("what is missing is named with its command, brought, and timed", async () => {
  const output = screen(false);
  const folder = logs();
  const missing = step("Big Thing", async ({ run }) => {
    assert.equal(await run("sh", ["-c", "echo out; echo err >&2"]), "out");
  });
  assert.equal(await runSteps([missing], folder, output), 1);
  assert.equal(
    output.text(),
    "Missing: Big Thing; a test wants it\n  $ bring Big Thing\n" +
      "  … Big Thing: begins\n  ✓ Big Thing: Big Thing 1.0 (0 s)\n",
  );
  const log = readFileSync(join(folder, "big-thing.log"), "utf8");
  assert.match(log, /^\$ sh -c echo out; echo err >&2\n/);
  assert.match(log, /^err$/m);
});

test("on a terminal the line is live and leaves no rest", async () => {
  const output = screen(true);
  await runSteps([step("Thing", async ({ note }) => note("half\nway"))], logs(), output);
  assert.ok(output.text().includes("\r\x1b[K  … Thing 0 s  begins"));
  assert.ok(output.text().endsWith("\r\x1b[K  ✓ Thing: Thing 1.0 (0 s)\n"));
});

test("a failure says what is missing, by which command, the last output, and where the rest is", async () => {
  const folder = logs();
  const failing = step("Thing", async ({ run }) => {
    await run("sh", ["-c", "echo no space left; exit 3"]);
  });
  await assert.rejects(runSteps([failing], folder, screen(false)), (error: Error) => {
    assert.ok(error instanceof MissingError);
    assert.match(error.message, /^Missing: Thing, which could not be brought by: bring Thing\n/);
    assert.match(error.message, /exit code 3/);
    assert.match(error.message, /^no space left$/m);
    assert.match(error.message, new RegExp(`The whole output is in ${folder}/thing\\.log\\.`));
    return true;
  });
});

test("a step that brings nothing is an error, and the steps after it do not run", async () => {
  const liar: Step = { ...step("Thing", async () => {}), check: async () => undefined };
  const next = step("Next", () => assert.fail("went on"));
  await assert.rejects(runSteps([liar, next], logs(), screen(false)), /still not there/);
});

test("a deadline ends the program and what it has started", async () => {
  const late = step("Thing", async ({ run }) => {
    await run("sh", ["-c", "sleep 60 & sleep 60"], { deadlineSeconds: 0.3 });
  });
  const start = Date.now();
  await assert.rejects(runSteps([late], logs(), screen(false)), /sh did not end within 0\.3 s/);
  assert.ok(Date.now() - start < 20_000);
});
