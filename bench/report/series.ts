import type { Histogram } from "../schema/recording.ts";
import { known, meanOf, type Series } from "../series.ts";

/** Long series made short enough to draw, and read at places. */

export const highestOf = (series: Series): number | null => {
  const values = known(series);
  return values.length === 0 ? null : values.reduce((most, value) => Math.max(most, value));
};

/** Means of so many neighbours that at most `most` remain; null where all of them are missing. */
export function thinned(series: Series, most: number): { values: (number | null)[]; every: number } {
  const every = Math.max(1, Math.ceil(series.length / most));
  const values = Array.from({ length: Math.ceil(series.length / every) }, (_, n) =>
    meanOf(series.slice(n * every, (n + 1) * every)),
  );
  return { values, every };
}

/** Sums of several series, sample by sample; null where all are missing. */
export function added(all: readonly Series[]): (number | null)[] {
  const length = Math.max(0, ...all.map((series) => series.length));
  return Array.from({ length }, (_, n) => {
    const values = known(all.map((series) => series[n] ?? null));
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
  });
}

/** [ms, percent of I/Os that took at most so long], from fio's bins: steps below a 50th of the way are joined. */
export function cumulative(bins: Histogram): [ms: number, percent: number][] {
  const all = bins.reduce((sum, [, ios]) => sum + ios, 0);
  const points: [number, number][] = [];
  let seen = 0;
  for (const [n, [edge, ios]] of bins.entries()) {
    seen += ios;
    const ms = edge / 1e6;
    const [before, share] = points.at(-1) ?? [0, 0];
    const percent = (seen / all) * 100;
    if (n === bins.length - 1 || percent - share >= 2 || ms >= before * 1.1) points.push([ms, percent]);
  }
  return points;
}
