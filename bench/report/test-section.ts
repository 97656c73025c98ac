import type { Recording } from "../schema/recording.ts";
import type { Run, ValidRun } from "../schema/result.ts";
import type { Protocol } from "../schema/words.ts";
import { meanOf } from "../series.ts";
import { byLatency, byPercentile, type Line, overTime, shares, timed } from "./charts.ts";
import type { Chart } from "./figure.ts";
import { added, cumulative, highestOf, thinned } from "./series.ts";
import { sidesOf } from "./tables.ts";
import { duration, figure, orDash, percent } from "./words.ts";

/** The charts that set the runs of one test side by side: both protocols, all repeats. */

export type Drawn = {
  readonly run: ValidRun;
  readonly recording: Recording | undefined;
  readonly title: string;
};

const colours: Record<Protocol, readonly [first: string, further: string]> = {
  iscsi: ["var(--iscsi)", "var(--iscsi-more)"],
  iser: ["var(--iser)", "var(--iser-more)"],
};
/** Repeats are of the protocol's second colour; of a mixed run what was written is dashed. */
const look = ({ spec, read, write }: ValidRun, direction: "read" | "write") => ({
  colour: colours[spec.protocol][spec.repeat === 1 ? 0 : 1],
  dashed: read !== null && write !== null && direction === "write",
});

const nameOf = ({ run, title }: Drawn, direction: "read" | "write"): string =>
  run.read !== null && run.write !== null ? `${title}, ${direction}` : title;

export function chartsOf(id: string, runs: readonly Drawn[]): Chart[] {
  return [bandwidth(id, runs), percentiles(id, runs), distribution(id, runs)].filter(
    (made) => made !== undefined,
  );
}

function bandwidth(id: string, runs: readonly Drawn[]): Chart | undefined {
  const drawn = runs.flatMap((one) => {
    const { recording } = one;
    if (recording === undefined) return [];
    return sidesOf(one.run).flatMap(({ direction }) => {
      const moved = added(
        recording.clients.map((client) => client[direction === "read" ? "read" : "written"]),
      );
      const { values, every } = thinned(moved, 180);
      const interval = recording.interval * every;
      return meanOf(moved) === null
        ? []
        : [{ one, direction, moved, values, interval, step: recording.interval }];
    });
  });
  if (drawn.length === 0) return undefined;
  const lines: Line[] = drawn.map(({ one, direction, values, interval }) => ({
    ...{ name: nameOf(one, direction), ...look(one.run, direction), points: timed(values, interval) },
  }));
  const sentences = drawn.map(({ one, direction, moved }) => {
    const least = moved.reduce<number | null>((low, v) => (v === null ? low : Math.min(low ?? v, v)), null);
    return `${nameOf(one, direction)} moved ${orDash(meanOf(moved))} MB/s on average, between ${orDash(least)} and ${orDash(highestOf(moved))}.`;
  });
  const tables = drawn.map(({ moved }) => thinned(moved, 12));
  const longest = Math.max(...tables.map(({ values }) => values.length));
  const span = Math.max(...drawn.map(({ step }, n) => step * (tables[n]?.every ?? 1)));
  return {
    id: `${id}-bandwidth`,
    heading: "Bandwidth over time",
    sentence: sentences.join(" "),
    drawing: overTime(lines, "MB/s"),
    table: {
      head: [`means of ${duration(span)} up to`, ...lines.map(({ name }) => `${name} MB/s`)],
      rows: Array.from({ length: longest }, (_, n) => [
        duration((n + 1) * span),
        ...tables.map(({ values }) => orDash(values[n])),
      ]),
    },
  };
}

const clatOf = (runs: readonly Drawn[]) =>
  runs.flatMap((one) =>
    sidesOf(one.run).flatMap(({ direction, side }) =>
      side.clat === null ? [] : [{ one, direction, clat: side.clat }],
    ),
  );

function percentiles(id: string, runs: readonly Drawn[]): Chart | undefined {
  const drawn = clatOf(runs);
  if (drawn.length === 0) return undefined;
  const values = drawn.map(({ clat }) => [clat.median, clat.p90, clat.p99, clat.p999, clat.p9999]);
  const lines = drawn.map(({ one, direction }, n) => ({
    ...{ name: nameOf(one, direction), ...look(one.run, direction) },
    // A logarithmic axis has no zero.
    points: (values[n] ?? []).map((value, x) => [x, value === null || value <= 0 ? null : value] as const),
  }));
  return {
    id: `${id}-percentiles`,
    heading: "Completion latency by percentile",
    sentence: drawn
      .map(
        ({ one, direction, clat }) =>
          `${nameOf(one, direction)}: half of the I/Os took at most ${figure(clat.median)} ms, 999 of 1,000 at most ${orDash(clat.p999)} ms, the slowest ${orDash(clat.maximum)} ms.`,
      )
      .join(" "),
    drawing: byPercentile(lines),
    table: {
      head: ["ms", ...shares.map((share) => `${share} %`), "mean", "maximum"],
      rows: drawn.map(({ one, direction, clat }, n) => [
        nameOf(one, direction),
        ...[...(values[n] ?? []), clat.mean, clat.maximum].map((value) => orDash(value)),
      ]),
    },
  };
}

function distribution(id: string, runs: readonly Drawn[]): Chart | undefined {
  const drawn = runs.flatMap((one) =>
    (["read", "write"] as const).flatMap((direction) => {
      const bins = one.recording?.latency[direction];
      return bins === null || bins === undefined || bins.length === 0
        ? []
        : [{ one, direction, points: cumulative(bins.filter(([edge]) => edge > 0)) }];
    }),
  );
  if (drawn.length === 0) return undefined;
  const lines = drawn.map(({ one, direction, points }) => ({
    ...{ name: nameOf(one, direction), ...look(one.run, direction) },
    points: points.map(([ms, share]) => [Number(ms.toPrecision(4)), Number(share.toPrecision(5))] as const),
  }));
  const limits = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].filter((limit) =>
    drawn.some(({ points }) => (points[0]?.[0] ?? 0) <= limit && (points.at(-1)?.[0] ?? 0) >= limit / 2.5),
  );
  const within = (points: readonly (readonly [number, number])[], limit: number): number =>
    points.filter(([ms]) => ms <= limit).at(-1)?.[1] ?? 0;
  return {
    id: `${id}-cdf`,
    heading: "How many I/Os took at most so long",
    sentence: drawn
      .map(({ one, direction, points }) => {
        const tenth = points.find(([, share]) => share >= 10)?.[0];
        const ninetieth = points.find(([, share]) => share >= 90)?.[0];
        return `${nameOf(one, direction)}: eight in ten I/Os took between ${orDash(tenth)} and ${orDash(ninetieth)} ms.`;
      })
      .join(" "),
    drawing: byLatency(lines),
    table: {
      head: ["at most", ...lines.map(({ name }) => name)],
      rows: limits.map((limit) => [
        `${limit} ms`,
        ...drawn.map(({ points }) => {
          const share = within(points, limit);
          return share > 99 && share < 100 ? `${share.toFixed(2)} %` : percent(share);
        }),
      ]),
    },
  };
}

/** Runs of one test, in the order of their first. */
export function byTest<T extends Run>(runs: readonly T[], key: (run: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const run of runs) groups.set(key(run), [...(groups.get(key(run)) ?? []), run]);
  return [...groups.values()];
}
