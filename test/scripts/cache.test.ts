import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { buildFolder, contentKey, locked, pointTo } from "../../scripts/cache.ts";
import { project } from "../../scripts/environment.ts";

const scratch = (): string => mkdtempSync(join(tmpdir(), "storage-lab-cache-"));

test("a key changes with a file's content, its place and the words beside it, and with nothing else", async () => {
  const tree = (files: Record<string, string>): string => {
    const folder = join(scratch(), "recipe");
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return folder;
  };
  const key = await contentKey([tree({ a: "1", "sub/b": "2" })], "x64");
  assert.match(key, /^[0-9a-f]{16}$/);
  assert.equal(await contentKey([tree({ "sub/b": "2", a: "1" })], "x64"), key);
  assert.notEqual(await contentKey([tree({ a: "1", "sub/b": "3" })], "x64"), key);
  assert.notEqual(await contentKey([tree({ a: "1", b: "2" })], "x64"), key);
  assert.notEqual(await contentKey([tree({ a: "1", "sub/b": "2" })], "arm64"), key);
});

test("a folder is made whole or not at all, and the next try clears what an interrupted one left", async () => {
  const folder = join(scratch(), "image/4711");
  const half = async (staging: string) => {
    writeFileSync(join(staging, "root"), "half");
    throw new Error("interrupted");
  };
  await assert.rejects(buildFolder(folder, half), /interrupted/);
  assert.equal(existsSync(folder), false);

  const killed = join(folder, "../.new-4711");
  mkdirSync(killed);
  writeFileSync(join(killed, "root"), "left by a killed one");
  await buildFolder(folder, async (staging) => {
    assert.deepEqual(readdirSync(staging), []);
    writeFileSync(join(staging, "root"), "whole");
  });
  assert.equal(readFileSync(join(folder, "root"), "utf8"), "whole");
  assert.deepEqual(readdirSync(join(folder, "..")), ["4711"]);
});

test("a link is pointed anew in one step, and is relative", async () => {
  const root = scratch();
  await pointTo(join(root, "current"), join(root, "a"));
  await pointTo(join(root, "current"), join(root, "b/c"));
  assert.equal(readlinkSync(join(root, "current")), "b/c");
});

test("two at once work one after the other, and the second says that it waits", async () => {
  const root = scratch();
  const order: string[] = [];
  let waited = 0;
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((done) => setTimeout(done, 900));
    order.push(`${name} ends`);
  };
  await Promise.all(["a", "b"].map((name) => locked(root, () => waited++, work(name))));
  const first = order[0]?.[0];
  const second = first === "a" ? "b" : "a";
  assert.deepEqual(order, [`${first} begins`, `${first} ends`, `${second} begins`, `${second} ends`]);
  assert.ok(waited >= 1);
});

test("a holder that is killed gives the lock back", async () => {
  const root = scratch();
  const script = `
    import { locked } from ${JSON.stringify(join(project, "scripts/cache.ts"))};
    await locked(${JSON.stringify(root)}, () => {}, async () => {
      console.log("holds");
      await new Promise((done) => setTimeout(done, 60_000));
    });`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((done) => holder.stdout.once("data", done));
  holder.kill("SIGKILL");
  assert.equal(
    await locked(
      root,
      () => {},
      async () => "mine",
    ),
    "mine",
  );
});
