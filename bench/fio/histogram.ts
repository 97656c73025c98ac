import type { Histogram } from "../schema/recording.ts";

/**
 * Latencies as fio counts them in bins: [ns, I/Os], ascending, no empty ones. fio's bins are the same in every
 * process and version (64 a power of two, io_u_plat in its stat.h), so histograms of jobs and clients add up exactly;
 * percentiles don't.
 */

/** The histogram of all I/Os together. */
export function mergeHistograms(histograms: readonly Histogram[]): Histogram {
  const counts = new Map<number, number>();
  for (const [ns, count] of histograms.flat()) counts.set(ns, (counts.get(ns) ?? 0) + count);
  return [...counts].sort(([a], [b]) => a - b);
}

export const countOf = (histogram: Histogram): number => histogram.reduce((sum, [, count]) => sum + count, 0);

/**
 * A percentile in ns, by fio's definition (calc_clat_percentiles): the first bin at which at least this share of all
 * I/Os is counted. Undefined of an empty histogram.
 */
export function percentileOf(histogram: Histogram, percent: number): number | undefined {
  const wanted = (percent / 100) * countOf(histogram);
  let sum = 0;
  for (const [ns, count] of histogram) {
    sum += count;
    if (sum >= wanted) return ns;
  }
  return histogram.at(-1)?.[0];
}
