import assert from "node:assert/strict";
import { test } from "node:test";
import { summariseCpu } from "../../bench/cpu.ts";
import type { CpuSample } from "../../bench/parse/mpstat.ts";

/** Twelve cores: one in softirq, one in the kernel, ten idle, as in lab A's iSCSI write. */
const sample = (softirq: number): CpuSample => {
  const cores = Array.from({ length: 12 }, (_, core) => {
    if (core === 3) return { core, busy: softirq + 4, softirq, system: 2 };
    if (core === 7) return { core, busy: 76, softirq: 0, system: 75 };
    return { core, busy: 1, softirq: 0, system: 1 };
  });
  const average = (of: "busy" | "softirq" | "system") => cores.reduce((sum, c) => sum + c[of], 0) / 12;
  return {
    time: "",
    cores,
    all: { busy: average("busy"), softirq: average("softirq"), system: average("system") },
  };
};

test("the busiest core stands out where the average hides it", () => {
  const cpu = summariseCpu([sample(0), sample(86), sample(90), sample(0)], { first: 1, last: 2 });
  assert.equal(cpu.busiestCore, 3);
  assert.equal(cpu.softirq, 88);
  assert.equal(cpu.busy, 92);
  assert.equal(cpu.cores, 12);
  assert.ok(cpu.averageBusy < 16, `${cpu.averageBusy}`);
});
