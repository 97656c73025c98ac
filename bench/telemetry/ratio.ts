/**
 * Student's t for a two-sided 95 % interval by degrees of freedom from 1, as tables of it have it (NIST/SEMATECH
 * e-Handbook of Statistical Methods, 1.3.6.7.2); above 30 the normal distribution's is near enough.
 */
const t95 = [
  ...[12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228],
  ...[2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086],
  ...[2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042],
];

export type Block = { readonly with: readonly number[]; readonly without: readonly number[] };

/** Geometric mean of the blocks' ratios with / without, and its 95 % interval; of one block no interval is known. */
export function ratioOf(blocks: readonly Block[]): { ratio: number; low: number; high: number } {
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const logs = blocks.map((block) => mean(block.with.map(Math.log)) - mean(block.without.map(Math.log)));
  const middle = mean(logs);
  const variance = logs.reduce((sum, log) => sum + (log - middle) ** 2, 0) / (logs.length - 1);
  const half = (t95[logs.length - 2] ?? 1.96) * Math.sqrt(variance / logs.length);
  const known = logs.length > 1;
  return {
    ratio: Math.exp(middle),
    low: known ? Math.exp(middle - half) : 0,
    high: known ? Math.exp(middle + half) : Number.POSITIVE_INFINITY,
  };
}
