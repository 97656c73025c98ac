import type { Histogram } from "../schema/recording.ts";
import type { Latency } from "../schema/result.ts";
import { mergeHistograms, percentileOf } from "./histogram.ts";

/** Latencies of one kind (slat, clat, sync) in ns, as fio reports them. */
export type Timing = {
  /** How many I/Os; 0 where fio doesn't say. */
  readonly count: number;
  readonly mean: number | null;
  readonly maximum: number | null;
  /** json+ only. */
  readonly bins: Histogram | null;
  /** fio's own, by percent; null where missing, switched off, or of several that can't be merged. */
  readonly percentiles: ReadonlyMap<number, number> | null;
};

/** All of them as one. Percentiles come of the bins alone: those of several jobs are never averaged. */
export function mergeTimings(timings: readonly (Timing | null)[]): Timing | null {
  const [first, ...more] = timings.filter((timing) => timing !== null);
  if (first === undefined || more.length === 0) return first ?? null;
  const all = [first, ...more];
  const count = all.reduce((sum, timing) => sum + timing.count, 0);
  const binned = all.flatMap(({ bins }) => (bins === null ? [] : [bins]));
  const means = all.flatMap(({ mean, count: n }) => (mean === null || n === 0 ? [] : [mean * n]));
  const maxima = all.flatMap(({ maximum }) => (maximum === null ? [] : [maximum]));
  return {
    count,
    mean: means.length < all.length ? null : means.reduce((a, b) => a + b, 0) / count,
    maximum: maxima.length < all.length ? null : Math.max(...maxima),
    bins: binned.length < all.length ? null : mergeHistograms(binned),
    percentiles: null,
  };
}

const ms = (ns: number | null | undefined): number | null => (typeof ns === "number" ? ns / 1e6 : null);

/** In ms, for a result; null without a median. */
export function latencyOf(timing: Timing | null): Latency | null {
  if (timing === null) return null;
  const at = (percent: number): number | null =>
    ms(
      timing.bins === null || timing.bins.length === 0
        ? timing.percentiles?.get(percent)
        : percentileOf(timing.bins, percent),
    );
  const median = at(50);
  if (median === null) return null;
  return {
    ...{ mean: ms(timing.mean), median, p90: at(90), p99: at(99), p999: at(99.9), p9999: at(99.99) },
    maximum: ms(timing.maximum),
  };
}
