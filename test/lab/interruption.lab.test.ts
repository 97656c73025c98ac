import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Project, planned } from "./project.ts";

/**
 * `pulumi up` is killed in the middle and run again. Three kills on the way from nothing to a measured lab: while
 * the pool is made, while a session logs in, while fio runs. Nothing is cleaned by hand in between.
 */

let project: Project;

before(async () => {
  project = await Project.withLab();
});

after(() => project.remove("lab"));

const up = ["up", "--yes", "--skip-preview", "--stack", "lab"] as const;

/** The processes below this one, deepest first. */
function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
  return [...children.flatMap(descendants), ...children];
}

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");

/** Start an up and kill the engine, as the kernel does when memory is short, once its output matches. */
async function killAt(moment: RegExp): Promise<void> {
  const run = project.pulumi(...up);
  let seen = "";
  for await (const line of run.iterable({ from: "all" })) {
    seen += `${line}\n`;
    if (!moment.test(String(line))) continue;
    const engine = descendants(run.pid ?? 0).find((pid) => /pulumi up/.test(commandOf(pid)));
    assert.ok(engine, `an engine below ${run.pid}`);
    process.kill(engine, "SIGKILL");
  }
  const { exitCode } = await run;
  assert.notEqual(exitCode, 0, `killed at ${moment}, but it ended well:\n${seen}`);
}

/** No plugin of a killed engine works on. */
async function pluginsGone(): Promise<void> {
  const deadline = Date.now() + 20_000;
  const mine = () =>
    readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && commandOf(Number(pid)).includes(`${project.folder}/provider/main.ts`);
      } catch {
        return false;
      }
    });
  while (mine().length > 0) {
    assert.ok(Date.now() < deadline, `plugins still run: ${mine()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

for (const [what, moment] of [
  ["a pool is made", /Pool tank creating .*create pool tank/],
  ["a session logs in", /Session \S+ creating .*log in to/],
  ["fio runs", /Command benchmark creating .*(write|read).*MB\/s/],
] as const) {
  test(`the engine is killed while ${what}`, async () => {
    await killAt(moment);
    await pluginsGone();
  });
}

test("the next up ends in the declared state, measured, with nothing left over", async () => {
  const said = await project.must(...up);
  assert.match(said, /goes on with results\/lab\/\S+, begun .*: \d runs with figures are kept/);
  assert.doesNotMatch(said, /pending operations/, "nothing is left to be looked at by hand");
  const { results } = JSON.parse(await project.must("stack", "output", "--json", "--stack", "lab"));
  assert.deepEqual(
    results.map((run: { valid: boolean }) => run.valid),
    [true, true, true, true],
  );
  assert.deepEqual(await planned(project, "lab"), []);
  assert.equal(await project.on("lab", "initiator", "findmnt -nt xfs || true"), "");
  assert.equal(await project.on("lab", "initiator", "pidof fio mpstat || true"), "");
  assert.equal((await project.on("lab", "storage", "zpool list -Ho name")).trim(), "tank");
});
