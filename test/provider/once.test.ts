import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CommandError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import { Frames } from "../../provider/shell.ts";
import { plansScript, type Step } from "../../provider/step.ts";

const file = (name: string): string => join(mkdtempSync(join(tmpdir(), "storage-lab-once-")), name);
const here = () => new Host({ name: "here", ssh: "local" });
const append = (path: string, word: string): string[] => ["sh", "-c", 'echo "$2" >>"$1"', "sh", path, word];
const note = (path: string, word: string): Step => ({ say: word, argv: append(path, word) });
const save = (path: string): Step => ({ say: "save", argv: append(path, "save"), onceAtEnd: true });
const options = { holder: "test", sideBySide: true } as const;

/** Runs plans of one round trip, as the host does, and returns each frame's status and stderr. */
async function run(plans: Step[][]): Promise<Map<string, { status: number; stderr: string }>> {
  const frames = new Frames();
  const { stdout, stderr } = await here().ask(["sh", "-c", plansScript(frames, plans)]);
  return frames.parse(stdout, stderr);
}

describe("a step that is to run once at the end", () => {
  test("runs once for all plans of a round trip, after them", async () => {
    const path = file("log");
    const answers = await run([
      [note(path, "one"), save(path)],
      [note(path, "two"), save(path)],
    ]);
    assert.equal(readFileSync(path, "utf8"), "one\ntwo\nsave\n");
    assert.deepEqual([...answers.keys()], ["0.0", "1.0", "0.1", "1.1"]);
    assert.deepEqual(
      [...answers.values()].map(({ status }) => status),
      [0, 0, 0, 0],
    );
  });

  test("runs for the plan that got there, not for the one that failed before", async () => {
    const path = file("log");
    const answers = await run([
      [{ say: "fail", argv: ["false"] }, save(path)],
      [note(path, "two"), save(path)],
    ]);
    assert.equal(readFileSync(path, "utf8"), "two\nsave\n");
    assert.equal(answers.get("0.1"), undefined);
    assert.equal(answers.get("1.1")?.status, 0);
  });

  test("does not run when no plan got there", async () => {
    const answers = await run([[{ say: "fail", argv: ["false"] }, save("/nowhere/log")]]);
    assert.deepEqual([...answers.keys()], ["0.0"]);
  });

  test("fails each plan that wanted it, with what it said", async () => {
    const broken: Step = { say: "save", argv: ["sh", "-c", "echo no room >&2; exit 3"], onceAtEnd: true };
    const failing = here().apply([{ say: "go", argv: ["true"] }, broken], options);
    await assert.rejects(failing, (error: Error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /^here: could not save: .* ended with 3 and said: no room$/);
      return true;
    });
    const answers = await run([[broken], [broken]]);
    assert.deepEqual([answers.get("0.0")?.status, answers.get("1.0")?.status], [3, 3]);
  });

  test("two different ones both run", async () => {
    const path = file("log");
    await run([[save(path)], [{ say: "other", argv: append(path, "other"), onceAtEnd: true }]]);
    assert.equal(readFileSync(path, "utf8"), "save\nother\n");
  });
});

test("a question that several ask at the same time is asked once, and each gets the answer", async () => {
  const path = file("asked");
  const argv = append(path, "asked");
  const host = here();
  const answers = await Promise.all([host.ask(argv), host.ask(["echo", "x"]), host.ask(argv)]);
  assert.equal(readFileSync(path, "utf8"), "asked\n");
  assert.deepEqual(
    answers.map(({ stdout }) => stdout),
    ["", "x\n", ""],
  );
});
