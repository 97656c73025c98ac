import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gated, gateFolder, isWaiting, open, sayingTestFile, testFileOf } from "../../../bench/run/start.ts";
import { benchHost } from "../sample.ts";

const scratch = mkdtempSync(join(tmpdir(), "gate-"));
after(() => rmSync(scratch, { recursive: true }));

/** The gate's script with its FIFO in a folder of ours. */
const here = (folder: string, argv: string[]): string[] =>
  gated(folder, argv).map((word) => word.replace(/^\/run\//, `${scratch}/`));

test("a client waits until it is told, and begins at the moment that it was told", async () => {
  const folder = gateFolder("run", "job");
  spawnSync("mkdir", [join(scratch, folder)]);
  const [command = "", ...args] = here(folder, ["date", "+%s%3N"]);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  const waits = Promise.withResolvers<void>();
  child.stdout.on("data", (text) => {
    said += String(text);
    if (said.split("\n").some(isWaiting)) waits.resolve();
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  await waits.promise;
  const moment = Date.now() + 400;
  writeFileSync(join(scratch, folder, "gate"), `${moment}\n`);
  assert.equal(await ended, 0);
  const began = Number(said.trim().split("\n").at(-1));
  assert.ok(began >= moment && began < moment + 400, `${began - moment} ms after the moment`);
});

test("all are told one moment, each in the time of its own clock", async () => {
  // A host whose clock is an hour ahead.
  const ahead = benchHost("ahead", {});
  const right = benchHost("right", {});
  const asked = (host: typeof ahead, hours: number) => ({
    ...host,
    ask: (argv: readonly string[]) =>
      Promise.resolve({
        argv,
        status: 0,
        stderr: "",
        stdout: `${(Date.now() / 1000 + hours * 3600).toFixed(9)}\n`,
      }),
  });
  await open(
    [
      { host: asked(ahead, 1), folder: "a" },
      { host: asked(right, 0), folder: "b" },
    ],
    "lab",
  );
  const [one, two] = [ahead, right].map(({ applied }) =>
    applied.map((step) => ("argv" in step ? step.argv : [])),
  );
  assert.deepEqual(
    one?.map((argv) => argv.slice(0, -1)),
    [["timeout", "20", "sh", "-c", 'printf "%s\\n" "$1" >"$0"', "/run/a/gate"]],
  );
  const difference = Number(one?.[0]?.at(-1)) - Number(two?.[0]?.at(-1)) - 3600e3;
  assert.ok(Math.abs(difference) < 100, `${difference} ms apart`);
  assert.ok(Number(two?.[0]?.at(-1)) > Date.now() + 1000, "time to tell everybody");
});

test("the test file's size and what is allocated of it are said before fio begins", () => {
  const file = join(scratch, "data");
  writeFileSync(file, "x".repeat(8192));
  const [command = "", ...args] = sayingTestFile(file, ["echo", "began"]);
  const { stdout } = spawnSync(command, args, { encoding: "utf8" });
  assert.match(stdout, /began\n$/);
  const found = testFileOf(stdout);
  assert.equal(found?.size, 8192);
  assert.ok((found?.allocated ?? 0) >= 8192);
  const sparse = join(scratch, "sparse");
  spawnSync("truncate", ["-s", "1M", sparse]);
  const [again = "", ...rest] = sayingTestFile(sparse, ["true"]);
  assert.deepEqual(testFileOf(spawnSync(again, rest, { encoding: "utf8" }).stdout), {
    size: 1048576,
    allocated: 0,
  });
  assert.equal(testFileOf('{"filesystems": []}\n'), undefined);
});

test("without its file nothing begins", () => {
  const [command = "", ...args] = sayingTestFile(join(scratch, "none"), ["echo", "began"]);
  const ran = spawnSync(command, args, { encoding: "utf8" });
  assert.deepEqual([ran.status, ran.stdout], [1, ""]);
});
