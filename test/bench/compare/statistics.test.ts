import assert from "node:assert/strict";
import { test } from "node:test";
import { incompleteBeta, logGamma, standing, studentTail, welch } from "../../../bench/compare/statistics.ts";

const near = (found: number | null, wanted: number, within = 1e-9): void =>
  assert.ok(found !== null && Math.abs(found - wanted) <= within, `${found} is not ${wanted}`);

test("Student's tail is that of printed tables and of closed forms", () => {
  // Critical values of the two-sided 5 % and 1 %, as every table has them.
  for (const [freedom, t, p] of [
    [1, 12.7062, 0.05],
    [2, 4.30265, 0.05],
    [4, 2.77645, 0.05],
    [10, 2.22814, 0.05],
    [30, 2.75, 0.01],
    [120, 1.97993, 0.05],
  ] as const)
    near(studentTail(t, freedom), p, 5e-6);
  // One degree: Cauchy. Two: 1 - t / √(2 + t²).
  for (const t of [0.1, 1, 3, 50]) {
    near(studentTail(t, 1), 1 - (2 / Math.PI) * Math.atan(t), 1e-12);
    near(studentTail(t, 2), 1 - t / Math.sqrt(2 + t * t), 1e-12);
  }
  assert.equal(studentTail(0, 5), 1);
});

test("the functions under it are those of their definitions", () => {
  near(logGamma(1), 0, 1e-11);
  near(logGamma(0.5), Math.log(Math.sqrt(Math.PI)), 1e-11);
  near(logGamma(11), Math.log(3628800), 1e-11);
  near(incompleteBeta(0.3, 1, 1), 0.3, 1e-12);
  near(incompleteBeta(0.3, 2, 3), 1 - 0.7 ** 4 - 4 * 0.3 * 0.7 ** 3, 1e-12);
  assert.deepEqual([incompleteBeta(0, 2, 3), incompleteBeta(1, 2, 3)], [0, 1]);
});

test("Welch's test by hand: t = 1, 4 degrees; and unequal spreads", () => {
  // Both variances 1: t = (3 - 2) / √(2/3), 4 degrees of freedom.
  const t = 1 / Math.sqrt(2 / 3);
  // Student's tail of 4 degrees in closed form.
  const x = t / Math.sqrt(4 + t * t);
  near(welch([1, 2, 3], [2, 3, 4]), 1 - x * (1 + 0.5 * (1 - x * x)), 1e-12);
  // Variances 1 and 100, three each: (1 + 100)² / (1 + 100²) × 2 degrees, not 4.
  near(welch([9, 10, 11], [0, 10, 20]), 1);
  const freedom = ((1 + 100) ** 2 / (1 + 100 ** 2)) * 2;
  near(welch([9, 10, 11], [20, 30, 40]), studentTail(20 / Math.sqrt(101 / 3), freedom), 1e-12);
});

test("what can't be said is null: one value, no scatter", () => {
  assert.equal(welch([1], [2, 3, 4]), null);
  assert.equal(welch([5, 5, 5], [6, 6, 6]), null);
});

test("values that were rounded scatter within their grain: two bins side by side are no difference", () => {
  const [a, b] = [
    [17.43, 17.43, 17.43],
    [17.7, 17.7, 17.7],
  ];
  const p = welch(a, b, 1 / 64);
  assert.ok(p !== null && p > 0.01, String(p));
  assert.ok((welch(a, [35, 35, 35], 1 / 64) ?? 1) < 1e-4);
});

test("of many differences those stand that would at so many tries", () => {
  // Benjamini and Hochberg, 1995, table 1: 15 p-values, of which their procedure keeps four.
  const published = [
    ...[0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459],
    ...[0.324, 0.4262, 0.5719, 0.6528, 0.759, 1],
  ];
  assert.equal(standing(published).filter(Boolean).length, 4);
  assert.deepEqual(standing([0.9, 0.0001]), [false, true]);
  assert.deepEqual(standing([0.04]), [true]);
  assert.deepEqual(standing(Array.from({ length: 20 }, (_, n) => 0.04 + n * 0.04)), Array(20).fill(false));
  assert.deepEqual(standing([]), []);
});
