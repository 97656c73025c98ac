import assert from "node:assert/strict";
import { test } from "node:test";
import { ratioOf } from "../../../bench/telemetry/ratio.ts";

const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 1e-4, `${a} is not ${b}`);

test("the mean of the blocks' ratios and Student's interval of it", () => {
  // ln ratios -0.02, -0.01, 0.00: mean -0.01, standard error 0.01 / sqrt(3), t of 2 degrees 4.303.
  const block = (log: number) => ({ with: [100 * Math.exp(log), 100 * Math.exp(log)], without: [100, 100] });
  const { ratio, low, high } = ratioOf([block(-0.02), block(-0.01), block(0)]);
  near(ratio, Math.exp(-0.01));
  near(low, Math.exp(-0.01 - (4.303 * 0.01) / Math.sqrt(3)));
  near(high, Math.exp(-0.01 + (4.303 * 0.01) / Math.sqrt(3)));
});

test("a lab that gets faster from run to run favours neither: A B B A", () => {
  const grown = (n: number): number => 100 * 1.03 ** n;
  const { ratio } = ratioOf([
    { with: [grown(0), grown(3)], without: [grown(1), grown(2)] },
    { with: [grown(4), grown(7)], without: [grown(5), grown(6)] },
  ]);
  near(ratio, 1);
});

test("one block has no interval", () => {
  assert.deepEqual(ratioOf([{ with: [99, 99], without: [99, 99] }]), {
    ratio: 1,
    low: 0,
    high: Number.POSITIVE_INFINITY,
  });
});
