import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { TransportError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import type { Step } from "../../provider/step.ts";
import { type Fault, inject, kinds } from "./fault.ts";

const plan: Step[] = [
  { say: "one", argv: ["one"] },
  { say: "save", argv: ["save"], onceAtEnd: true },
  { say: "three", argv: ["three"] },
];

const says = (fault: Fault, place?: { from: number; number: number }): string[] | undefined =>
  inject(plan, fault, place)?.steps.map((step) => `${step.say}${"onceAtEnd" in step ? " (at end)" : ""}`);

for (const [at, expected] of [
  [0, ["fault: cut comes", "fault: cut", "one", "save (at end)", "three"]],
  // What runs at the end of the round trip is met there, by steps that run there too.
  [1, ["one", "fault: cut comes (at end)", "fault: cut (at end)", "save (at end)", "three"]],
  [2, ["one", "save (at end)", "fault: cut comes", "fault: cut", "three"]],
] as const) {
  test(`a fault at step ${at}`, () => {
    assert.deepEqual(says({ kind: "cut", at }), expected);
  });
}

test("a fault after the last step, however many there are", () => {
  const fault: Fault = { kind: "cut", at: 7, endOf: 2 };
  const expected = ["one", "save (at end)", "three", "fault: cut comes (at end)", "fault: cut (at end)"];
  assert.deepEqual(says(fault, { from: 4, number: 2 }), expected);
  assert.equal(says(fault), undefined, "another plan");
});

test("a fault's number counts over all plans of a run", () => {
  const second = { from: 3, number: 2 };
  assert.equal(says({ kind: "cut", at: 2 }, second), undefined, "before this plan");
  assert.deepEqual(says({ kind: "cut", at: 4 }, second)?.[1], "fault: cut comes (at end)");
  assert.equal(says({ kind: "cut", at: 6 }, second), undefined, "after this plan");
});

test("the strike is the step that the provider waits for", () => {
  for (const kind of kinds) {
    const injected = inject(plan, { kind, at: 2 });
    assert.equal(injected?.steps[3], injected?.strike);
    assert.equal(injected?.strike.say, `fault: ${kind}`);
  }
});

test("a fault within a step is left behind on the host and the step begins", () => {
  const strike = inject(plan, { kind: "reboot", at: 0, during: 1.5 })?.strike;
  assert.ok(strike && "argv" in strike);
  assert.match(strike.argv[2] ?? "", /setsid sh -c "sleep \$2; \$3" >\/dev\/null 2>&1 &/);
  assert.deepEqual(strike.argv.slice(3), ["sh", "", "1.5", "echo b >/proc/sysrq-trigger"]);
});

test("what the provider deals itself leaves nothing on the host", () => {
  const strike = inject(plan, { kind: "engine", at: 0, during: 1.5 })?.strike;
  assert.deepEqual(strike, { say: "fault: engine", argv: ["true"] });
});

const folder = mkdtempSync(join(tmpdir(), "storage-lab-fault-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs a plan of three steps on this machine; resolves to its failure and to the steps that were run. */
async function struck(fault: Fault, second: readonly string[]): Promise<{ error: unknown; done: string[] }> {
  const file = (n: number): string => join(folder, `${n}`);
  const steps: Step[] = [
    { say: "one", argv: ["touch", file(1)] },
    { say: "two", argv: second },
    { say: "three", argv: ["touch", file(3)] },
  ];
  const host = new Host({ name: "local", ssh: "local" });
  const error = await host
    .apply(inject(steps, fault)?.steps ?? [], { holder: "test", sideBySide: true })
    .catch((e: unknown) => e);
  const done = [1, 3].filter((n) => existsSync(file(n))).map(String);
  for (const n of done) rmSync(join(folder, n));
  return { error, done };
}

for (const kind of ["cut", "reboot"] as const) {
  test(`on this machine, ${kind} ends the shell of the plan where it is`, async () => {
    const { error, done } = await struck({ kind, at: 1, folder }, ["true"]);
    assert.ok(error instanceof TransportError);
    assert.deepEqual(done, ["1"]);
  });

  test(`on this machine, ${kind} within a step ends that step too`, async () => {
    const { error, done } = await struck({ kind, at: 1, during: 0.2, folder }, ["sleep", "60"]);
    assert.ok(error instanceof TransportError);
    assert.deepEqual(done, ["1"]);
  });
}

test("the disk of this machine itself is never filled", async () => {
  const { error, done } = await struck({ kind: "full", at: 1, folder: join(folder, "machine") }, ["true"]);
  assert.match(String(error), /could not fault: full/);
  assert.deepEqual(done, ["1"]);
  assert.equal(existsSync(join(folder, "ballast.0")), false);
});
