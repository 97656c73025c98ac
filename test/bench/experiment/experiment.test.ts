import assert from "node:assert/strict";
import { test } from "node:test";
import { BusyError, experiment, type Surroundings, takeUp } from "../../../bench/experiment/experiment.ts";
import type { Experiment } from "../../../bench/experiment/file.ts";
import type { ExperimentState, LabState } from "../../../bench/experiment/state.ts";

/** An experiment on labs that are told what to answer, and refuse to be asked anything else. */

const layouts: Experiment = {
  ...{ name: "layouts", title: "Layouts", stacks: ["a", "b"], afterwards: "destroy" },
  benchmark: { workload: "smoke" },
};
const fingerprints = new Map([
  ["a", "fa"],
  ["b", "fb"],
]);
const now = new Date("2026-12-01T10:00:00Z");

/** What each step of each stack does, in order of use: "a up" → a folder, an error to throw, or what is done. */
type Script = Record<string, string | boolean | Error | (() => Promise<string>)>;

function bench(script: Script) {
  const left = new Map(Object.entries(script));
  const asked: string[] = [];
  const said: string[] = [];
  const saved: ExperimentState[] = [];
  const interruption = new AbortController();
  let time = 0;
  const answer = async (step: string): Promise<string | boolean> => {
    asked.push(step);
    time += 10;
    const its = left.get(step);
    assert.ok(its !== undefined, `nothing is known of ${step}`);
    left.delete(step);
    if (its instanceof Error) throw its;
    return typeof its === "function" ? await its() : its;
  };
  const surroundings: Surroundings = {
    labs: async (stack, { occasion, benchmark }) => {
      assert.deepEqual(benchmark, layouts.benchmark);
      assert.match(occasion, /^2026-/);
      return {
        stands: async () => (await answer(`${stack} stands`)) === true,
        up: async () => String(await answer(`${stack} up`)),
        destroy: async () => {
          await answer(`${stack} destroy`);
        },
      };
    },
    say: (text) => said.push(text),
    hear: () => {},
    signal: interruption.signal,
    save: (state) => saved.push(state),
    there: (folder) => folder !== "results/gone",
    clock: () => time,
  };
  const run = async (earlier?: ExperimentState, wanted: Experiment = layouts, prints = fingerprints) =>
    await experiment(wanted, takeUp(wanted, earlier, prints, surroundings, now), surroundings);
  return { run, asked, said, saved, interruption, unasked: left };
}

const stateOf = (...labs: LabState[]): ExperimentState => ({
  schema: 1,
  began: "2026-11-30T10:00:00Z",
  labs,
});
const labOf = (stack: string, its: Partial<LabState> = {}): LabState => ({
  ...{ stack, phase: "waiting", settings: `f${stack}`, occasion: "2026-11-30T10:00:00Z" },
  ...{ stood: false, standing: false, result: null, error: null, seconds: 0 },
  ...its,
});
const doneLab = (stack: string, its: Partial<LabState> = {}): LabState =>
  labOf(stack, { phase: "done", result: `results/${stack}/1`, seconds: 20, ...its });
const phases = ({ labs }: ExperimentState) =>
  labs.map(({ stack, phase, result, standing }) => [stack, phase, result, standing]);

test("each lab is built, measured and taken down before the next begins; every step is noted before it", async () => {
  const { run, asked, saved } = bench({
    ...{ "a stands": false, "a up": "results/a/1", "a destroy": true },
    ...{ "b stands": false, "b up": "results/b/1", "b destroy": true },
  });
  const found = await run();
  assert.deepEqual(asked, ["a stands", "a up", "a destroy", "b stands", "b up", "b destroy"]);
  assert.deepEqual(found, {
    ...{ schema: 1, began: "2026-12-01T10:00:00.000Z" },
    labs: [doneLab("a"), doneLab("b")].map((lab) => ({ ...lab, occasion: "2026-12-01T10:00:00.000Z" })),
  });
  assert.deepEqual(saved.at(-1), found);
  const noted = saved.map(({ labs }) =>
    labs.map(({ phase, standing }) => `${phase}${standing ? "+" : ""}`).join(),
  );
  assert.deepEqual(
    noted.filter((line, n) => line !== noted[n - 1]),
    ["waiting,waiting", "up+,waiting", "measured+,waiting", "measured,waiting", "done,waiting"].concat([
      "done,up+",
      "done,measured+",
      "done,measured",
      "done,done",
    ]),
  );
});

test("a lab that stood before is measured and left; so is every lab where they are kept", async () => {
  const stood = bench({
    ...{ "a stands": true, "a up": "results/a/1" },
    ...{ "b stands": false, "b up": "results/b/1", "b destroy": true },
  });
  assert.deepEqual(phases(await stood.run()), [
    ["a", "done", "results/a/1", true],
    ["b", "done", "results/b/1", false],
  ]);
  assert.ok(
    stood.said.some((line) => /^1\/2 a: stays up; take it down by: .* destroy --stack a$/.test(line)),
  );
  const kept = bench({ "a stands": false, "a up": "results/a/1", "b stands": false, "b up": "results/b/1" });
  await kept.run(undefined, { ...layouts, afterwards: "keep" });
  assert.equal(kept.unasked.size, 0);
});

test("a lab that fails is noted with its error and taken down, and the others go on", async () => {
  const { run, asked, said } = bench({
    ...{ "a stands": false, "a up": new Error("no such disk"), "a destroy": true },
    ...{ "b stands": false, "b up": "results/b/1", "b destroy": new Error("pool is busy") },
  });
  const { labs } = await run();
  assert.deepEqual(asked, ["a stands", "a up", "a destroy", "b stands", "b up", "b destroy"]);
  assert.deepEqual(
    labs.map(({ phase, standing, result, error }) => [phase, standing, result, error]),
    [
      ["failed", false, null, "no such disk"],
      ["failed", true, "results/b/1", "pool is busy"],
    ],
  );
  assert.ok(said.includes("1/2 a: failed: no such disk"));
  // The next time the one is measured, and the other only taken down.
  const again = bench({
    ...{ "a stands": false, "a up": "results/a/2", "a destroy": true },
    "b destroy": true,
  });
  assert.deepEqual(phases(await again.run(stateOf(...labs))), [
    ["a", "done", "results/a/2", false],
    ["b", "done", "results/b/1", false],
  ]);
  assert.deepEqual(again.asked, ["a stands", "a up", "a destroy", "b destroy"]);
});

test("interrupted while a lab is built: nothing is taken down, and the same lab is taken on later", async () => {
  const first = bench({
    "a stands": false,
    "a up": async () => {
      first.interruption.abort("SIGINT");
      throw new Error("update canceled");
    },
  });
  await assert.rejects(first.run(), /update canceled/);
  const left = first.saved.at(-1);
  assert.ok(left);
  assert.deepEqual(phases(left), [
    ["a", "up", null, true],
    ["b", "waiting", null, false],
  ]);
  const second = bench({
    ...{ "a up": "results/a/1", "a destroy": true },
    ...{ "b stands": false, "b up": "results/b/1", "b destroy": true },
  });
  const { labs } = await second.run(left);
  // Not asked whether it stands: it does, and the experiment has built it.
  assert.deepEqual(second.asked.slice(0, 2), ["a up", "a destroy"]);
  assert.ok(second.said.includes("1/2 a: is taken up where it was left"));
  // The same occasion, so that what its benchmark has measured so far is kept.
  assert.equal(labs[0]?.occasion, left.labs[0]?.occasion);
  assert.equal(labs[0]?.seconds, 30);
});

test("interrupted between labs, and while one is taken down", async () => {
  const between = bench({
    "a stands": false,
    "a up": "results/a/1",
    "a destroy": async () => {
      between.interruption.abort("SIGTERM");
      return "";
    },
  });
  await assert.rejects(between.run());
  assert.deepEqual(
    between.saved.at(-1)?.labs.map(({ phase }) => phase),
    ["done", "waiting"],
  );
  const during = bench({
    "a destroy": async () => {
      during.interruption.abort("SIGINT");
      throw new Error("destroy canceled");
    },
  });
  await assert.rejects(during.run(stateOf(doneLab("a", { phase: "measured", standing: true }), labOf("b"))));
  assert.deepEqual(
    during.saved.at(-1)?.labs.map(({ phase }) => phase),
    ["measured", "waiting"],
  );
});

test("another Pulumi at a stack ends the experiment; the lab has not failed", async () => {
  const { run, saved } = bench({
    "a stands": false,
    "a up": new BusyError("another Pulumi works on stack a"),
  });
  await assert.rejects(run(), BusyError);
  assert.deepEqual(
    saved.at(-1)?.labs.map(({ phase }) => phase),
    ["up", "waiting"],
  );
});

test("what is measured stays, and nothing is asked of it", async () => {
  const { run, asked, said } = bench({});
  const all = stateOf(doneLab("a"), doneLab("b"));
  assert.deepEqual(await run(all), all);
  assert.deepEqual(asked, []);
  assert.deepEqual(said, ["1/2 a: measured before, results/a/1", "2/2 b: measured before, results/b/1"]);
});

test("measured again: a lab whose settings have changed, or whose result is gone; a lab that is new is measured", async () => {
  const { run, asked, said } = bench({
    ...{ "a stands": false, "a up": "results/a/2", "a destroy": true },
    ...{ "b stands": false, "b up": "results/b/2", "b destroy": true },
    ...{ "c stands": false, "c up": "results/c/1", "c destroy": true },
  });
  const wanted = { ...layouts, stacks: ["c", "a", "b"] };
  const earlier = stateOf(doneLab("a", { settings: "other" }), doneLab("b", { result: "results/gone" }));
  const { labs } = await run(earlier, wanted, new Map([...fingerprints, ["c", "fc"]]));
  assert.deepEqual(
    labs.map(({ stack, phase, occasion }) => [stack, phase, occasion]),
    ["c", "a", "b"].map((stack) => [stack, "done", "2026-12-01T10:00:00.000Z"]),
  );
  assert.equal(asked.length, 9);
  assert.match(said[0] ?? "", /^a: what its figures depend on has changed/);
  assert.match(said[1] ?? "", /^b: its result results\/gone is no longer there/);
});

test("a lab that is measured again and still stands is still the experiment's to take down", async () => {
  const { run, asked } = bench({ "a up": "results/a/2", "a destroy": true });
  const kept = doneLab("a", { standing: true, settings: "other" });
  await run(stateOf(kept, doneLab("b")));
  assert.deepEqual(asked, ["a up", "a destroy"]);
});

test("a lab that is no longer in the file, and was built for it, is told of", async () => {
  const { run, said } = bench({});
  const gone = (stack: string, stood: boolean) => labOf(stack, { phase: "up", standing: true, stood });
  await run(stateOf(doneLab("a"), doneLab("b"), gone("c", false), gone("d", true)));
  assert.deepEqual(
    said.filter((line) => line.includes("no longer")).map((line) => line.split(" ")[0]),
    ["c"],
  );
});

test("a lab that fails and can't be taken down has both reasons", async () => {
  const { run } = bench({
    ...{ "a stands": false, "a up": new Error("no such disk"), "a destroy": new Error("host is gone") },
    ...{ "b stands": false, "b up": "results/b/1", "b destroy": true },
  });
  const { labs } = await run();
  assert.deepEqual([labs[0]?.error, labs[0]?.standing], ["no such disk\nhost is gone", true]);
});
