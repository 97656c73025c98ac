import { median, sampleStandardDeviation } from "simple-statistics";
import { type Metric, metricsOf, seriesOf } from "../metrics.ts";
import type { Reference } from "../reference.ts";
import { publishedOf } from "../report/published.ts";
import { elementNames, moment, protocolNames, titlesOf } from "../report/words.ts";
import type { Result, Run, ValidRun } from "../schema/result.ts";
import type { RunSpec } from "../schema/test.ts";
import type { Protocol } from "../schema/words.ts";
import type { Cell, Column, Comparison, Difference, Row, Series, Spread } from "./comparison.ts";
import { differing } from "./differing.ts";
import { notesOf } from "./notes.ts";
import { enough, standing, welch } from "./statistics.ts";
import { settingWords } from "./tables.ts";

/**
 * Results side by side, test by test. Runs are of one series where all of their test is alike but the repeat; a run
 * without figures is listed and in no median.
 */

export type Options = {
  readonly title?: string;
  /** What each column is compared with: the first, or in each row the best. */
  readonly against?: "first" | "best";
  /** Protocols are columns, so that they are compared with each other. */
  readonly protocols?: boolean;
  readonly missing?: Comparison["missing"];
};

/** A column with the runs that are its own. */
export type Subject = { readonly column: Column; readonly result: Result; readonly runs: readonly Run[] };

export function compare(
  results: readonly Result[],
  references: readonly Reference[] = [],
  { title = "Comparison", against = "first", protocols = false, missing = [] }: Options = {},
): Comparison {
  const subjects = subjectsOf(results, protocols);
  const series = judged(
    seriesIn(subjects, protocols).map((runs) => oneSeries(runs, subjects, references, against, protocols)),
  );
  const without = {
    ...{ schema: 1 as const, title, against, columns: subjects.map(({ column }) => column) },
    references: references.map(({ name, title: its }) => ({ name, title: its })),
    series: titled(series),
    invalid: subjects.flatMap(({ column, runs }) =>
      runs.flatMap((run) =>
        run.valid ? [] : [{ column: column.name, run: run.spec.id, reason: run.invalid }],
      ),
    ),
    missing,
    differing: differing(subjects),
  };
  return { ...without, notes: notesOf(without, subjects) };
}

function subjectsOf(results: readonly Result[], protocols: boolean): Subject[] {
  return results.flatMap((result): Subject[] => {
    const twice = results.filter(({ stack }) => stack === result.stack).length > 1;
    const name = twice ? `${result.stack} ${moment(result.started)}` : result.stack;
    const { stack, started, folder, virtual } = result;
    const column = { name, stack, protocol: null, started, folder, virtual };
    if (!protocols) return [{ column, result, runs: result.runs }];
    const used: Protocol[] = [...new Set(result.runs.map(({ spec }) => spec.protocol))];
    return used.map((protocol) => ({
      column: {
        ...column,
        protocol,
        name: results.length === 1 ? protocolNames[protocol] : `${name} ${protocolNames[protocol]}`,
      },
      result,
      runs: result.runs.filter(({ spec }) => spec.protocol === protocol),
    }));
  });
}

const keyOf = ({ spec }: Run, protocols: boolean): string =>
  JSON.stringify([protocols ? null : spec.protocol, sorted(spec.test)]);
const sorted = (value: object): unknown => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));

/** All runs of each series, in the order in which series are met. */
function seriesIn(subjects: readonly Subject[], protocols: boolean): RunSpec[] {
  const met = new Map<string, RunSpec>();
  for (const run of subjects.flatMap(({ runs }) => runs)) {
    const key = keyOf(run, protocols);
    if (!met.has(key)) met.set(key, run.spec);
  }
  return [...met.values()];
}

function oneSeries(
  spec: RunSpec,
  subjects: readonly Subject[],
  references: readonly Reference[],
  against: "first" | "best",
  protocols: boolean,
): Series {
  const key = keyOf({ spec } as Run, protocols);
  const runs = subjects.map(({ runs: all }) =>
    all.filter((run): run is ValidRun => run.valid && keyOf(run, protocols) === key),
  );
  const metrics = new Map<string, Metric>();
  for (const run of runs.flat())
    for (const metric of metricsOf(run)) if (!metrics.has(metric.metric)) metrics.set(metric.metric, metric);
  return {
    title: seriesOf({ spec }),
    protocol: protocols ? null : spec.protocol,
    test: spec.test,
    rows: [...metrics.values()]
      .map((metric) => rowOf(metric, runs, spec, references, against))
      .filter((row) => !saysTheSame(spec, row)),
    limits: runs.map(([first]) => limitOf(first)),
  };
}

/**
 * MB/s of large blocks and IOPS of small ones are what is looked at; the other of the two is the same divided by the
 * block size, and to test it too would count each difference twice. What a published lab gives is kept.
 */
function saysTheSame({ test }: RunSpec, { metric, published }: Row): boolean {
  if (test.kind !== "fio" || published.some((found) => found.length > 0)) return false;
  return metric.endsWith(test.blockSize < 65536 ? "bandwidth" : "IOPS");
}

function limitOf(run: ValidRun | undefined): string | null {
  const limit = run?.diagnosis?.limit;
  if (!limit) return null;
  return limit.element === null ? limit.rule : elementNames[limit.element];
}

function rowOf(
  { metric, unit, better }: Metric,
  runs: readonly (readonly ValidRun[])[],
  spec: RunSpec,
  references: readonly Reference[],
  against: "first" | "best",
): Row {
  const spreads = runs.map((its) =>
    spreadOf(
      its.flatMap((run) => metricsOf(run).flatMap((one) => (one.metric === metric ? [one.value] : []))),
    ),
  );
  const base = baseOf(spreads, against, better);
  const other = base === null ? null : (spreads[base] ?? null);
  const grain = unit === "ms" ? latencyGrain : 0;
  return {
    ...{ metric, unit, better, against: base },
    cells: spreads.map(
      (spread, n): Cell | null =>
        spread && {
          ...spread,
          difference: other === null || n === base ? null : differenceOf(spread, other, grain),
        },
    ),
    published: references.map(({ figures }) => publishedOf(figures, spec, nameOf(metric, unit, spec))),
  };
}

/** A metric as the published labs name it. */
function nameOf(
  metric: string,
  unit: string,
  { test }: RunSpec,
): { direction: "read" | "write" | undefined; metric: string } {
  // A phase is named by its direction alone.
  if (test.kind === "files" && unit === "MiB/s" && (metric === "read" || metric === "write"))
    return { direction: metric, metric: "bandwidth" };
  if (test.kind !== "fio" || test.readShare !== null) return { direction: undefined, metric };
  return { direction: test.operation.endsWith("read") ? "read" : "write", metric };
}

/** fio counts latencies in bins of which 64 make an octave at their widest: a percentile is right to 1/64 of itself. */
const latencyGrain = 1 / 64;

function spreadOf(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  return {
    values,
    median: median([...values]),
    minimum: Math.min(...values),
    maximum: Math.max(...values),
    deviation: values.length < 2 ? null : sampleStandardDeviation([...values]),
  };
}

function baseOf(
  spreads: readonly (Spread | null)[],
  against: "first" | "best",
  better: "higher" | "lower",
): number | null {
  if (against === "first") return spreads[0] ? 0 : null;
  const sign = better === "higher" ? 1 : -1;
  const best = spreads.reduce<number | null>((most, spread, n) => {
    const other = most === null ? null : (spreads[most] ?? null);
    return spread !== null && (other === null || sign * spread.median > sign * other.median) ? n : most;
  }, null);
  return best;
}

function differenceOf(spread: Spread, base: Spread, grain: number): Difference {
  const percent = base.median === 0 ? 0 : (spread.median / base.median - 1) * 100;
  const [ours, theirs] = [spread.values.length, base.values.length];
  const unknown = (why: string): Difference => ({ percent, moreThanNoise: null, p: null, unknown: why });
  if (ours === 1 && theirs === 1) return unknown("one run each");
  if (ours < enough || theirs < enough)
    return unknown(`${ours} and ${theirs} runs; it takes ${enough} of each`);
  const p = welch(spread.values, base.values, grain);
  if (p === null) return unknown("the repeats don't scatter at all");
  return { percent, moreThanNoise: false, p, unknown: null };
}

/** Which differences stand, of all that were tested in this comparison. */
function judged(series: readonly Series[]): Series[] {
  const tested = series.flatMap(({ rows }) =>
    rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.difference?.p ?? [])),
  );
  const stand = standing(tested);
  let n = 0;
  return series.map((one) => ({
    ...one,
    rows: one.rows.map((row) => ({
      ...row,
      cells: row.cells.map((cell) => {
        const difference = cell?.difference;
        if (!cell || !difference || difference.p === null) return cell;
        const moreThanNoise = stand[n] ?? false;
        n += 1;
        return { ...cell, difference: { ...difference, moreThanNoise } };
      }),
    })),
  }));
}

/** As short as tells them apart; where protocols are columns, a title doesn't say one. */
function titled(series: readonly Series[]): Series[] {
  const specs = series.map(({ title, protocol, test }, n) => ({
    spec: { id: `${title}-${n}`, protocol: protocol ?? "iscsi", repeat: 1, test } as RunSpec,
  }));
  const titles = titlesOf(specs);
  const named = series.map((one, n) => {
    const title = titles.get(specs[n]?.spec.id ?? "") ?? one.title;
    return { ...one, title: one.protocol === null ? title.replace(/^iSCSI /, "") : title };
  });
  // The same by name, and not the same test.
  return named.map((one) => {
    const isAlone = named.every((other) => other === one || other.title !== one.title);
    return isAlone ? one : { ...one, title: `${one.title} (${settingWords(one)})` };
  });
}
