import assert from "node:assert/strict";
import { test } from "node:test";
import type { Step } from "../../provider/step.ts";
import { type Fault, inject, kinds } from "./fault.ts";

const plan: Step[] = [
  { say: "one", argv: ["one"] },
  { say: "save", argv: ["save"], onceAtEnd: true },
  { say: "three", argv: ["three"] },
];

const says = (fault: Fault, from = 0): string[] | undefined =>
  inject(plan, fault, from)?.steps.map((step) => `${step.say}${"onceAtEnd" in step ? " (at end)" : ""}`);

for (const [at, expected] of [
  [0, ["fault: cut comes", "fault: cut", "one", "save (at end)", "three"]],
  // What runs at the end of the round trip is met there, by steps that run there too.
  [1, ["one", "fault: cut comes (at end)", "fault: cut (at end)", "save (at end)", "three"]],
  [2, ["one", "save (at end)", "fault: cut comes", "fault: cut", "three"]],
  [3, ["one", "save (at end)", "three", "fault: cut comes (at end)", "fault: cut (at end)"]],
] as const) {
  test(`a fault at step ${at}`, () => {
    assert.deepEqual(says({ kind: "cut", at }), expected);
  });
}

test("a fault's number counts over all plans of a run", () => {
  assert.equal(says({ kind: "cut", at: 2 }, 3), undefined, "before this plan");
  assert.deepEqual(says({ kind: "cut", at: 4 }, 3)?.[1], "fault: cut comes (at end)");
  assert.equal(says({ kind: "cut", at: 7 }, 3), undefined, "after this plan");
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
