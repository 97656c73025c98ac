import { mean, sampleVariance } from "simple-statistics";

/**
 * Whether two means differ by more than their repeats scatter.
 *
 * Welch's t-test, two-sided (B. L. Welch, Biometrika 34, 1947): it does not take the two spreads to be alike, and says
 * something from three repeats on. The Mann–Whitney test asks less of the figures, but of three against three its
 * smallest p is 0.1, so it would never find anything in the few repeats that storage is measured with. What Welch asks
 * for is that a figure scatters about evenly around its mean, which bandwidths and medians do better than far
 * percentiles.
 */

/** Repeats on both sides from which the test is made. */
export const enough = 3;

/** A share of p below which a difference counts as more than noise. */
export const level = 0.05;

/**
 * The two-sided p-value of equal means; null where it can't be said: fewer than two values on a side, or no scatter at
 * all. `grain`: what a value is rounded to by how it was measured, as a share of it, which scatters evenly within it.
 */
export function welch(a: readonly number[], b: readonly number[], grain = 0): number | null {
  if (a.length < 2 || b.length < 2) return null;
  const side = (values: readonly number[]) => {
    const middle = mean([...values]);
    const squared = (sampleVariance([...values]) + (middle * grain) ** 2 / 12) / values.length;
    return { middle, squared, freedom: values.length - 1 };
  };
  const [x, y] = [side(a), side(b)];
  const squared = x.squared + y.squared;
  if (squared === 0) return null;
  const t = (x.middle - y.middle) / Math.sqrt(squared);
  const freedom = squared ** 2 / (x.squared ** 2 / x.freedom + y.squared ** 2 / y.freedom);
  return studentTail(t, freedom);
}

/** The chance of |T| ≥ |t| in Student's distribution of so many degrees of freedom, which need not be whole. */
export const studentTail = (t: number, freedom: number): number =>
  incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);

/**
 * The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz and Stegun 26.5.8), from
 * the side on which that converges, evaluated by Lentz's method.
 */
export function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front =
    Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const away = (value: number): number => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 500; m += 1) {
    for (const factor of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / away(1 + factor * d);
      c = away(1 + factor / c);
      fraction *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** ln Γ(x) for x > 0: Stirling's series (Abramowitz and Stegun 6.1.41), from 10 on; below by Γ(x+1) = x Γ(x). */
export function logGamma(x: number): number {
  if (x < 10) return logGamma(x + 1) - Math.log(x);
  const [r, s] = [1 / x, 1 / (x * x)];
  const series = r * (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188))));
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}

/**
 * Which of many p-values stand when so many were tried: Benjamini and Hochberg's procedure (1995), by which at most
 * `level` of those that stand are expected to be noise. With one test in twenty right by chance, a table of sixty
 * differences would else have three that are none.
 */
export function standing(ps: readonly number[]): boolean[] {
  const sorted = [...ps].sort((a, b) => a - b);
  const bound = sorted.findLast((p, n) => p <= ((n + 1) / sorted.length) * level);
  return ps.map((p) => bound !== undefined && p <= bound);
}
