import type { Run, ValidRun } from "./schema/result.ts";

/** The figures of a run by name, for tables, comparisons and CSV: one place that knows what of a run is a figure. */

export type Metric = {
  readonly metric: string;
  readonly unit: string;
  readonly value: number;
  readonly better: "higher" | "lower";
};

const higher = (metric: string, unit: string, value: number): Metric => ({
  metric,
  unit,
  value,
  better: "higher",
});
const lower = (metric: string, unit: string, value: number | null): Metric[] =>
  value === null ? [] : [{ metric, unit, value, better: "lower" }];

export function metricsOf(run: ValidRun): Metric[] {
  const both = run.read !== null && run.write !== null;
  const sides = (["read", "write"] as const).flatMap((direction) => {
    const side = run[direction];
    if (side === null) return [];
    const of = (name: string): string => (both ? `${direction} ${name}` : name);
    return [
      higher(of("bandwidth"), "MB/s", side.bandwidth),
      higher(of("IOPS"), "IOPS", side.iops),
      ...lower(of("clat median"), "ms", side.clat?.median ?? null),
      ...lower(of("clat p99"), "ms", side.clat?.p99 ?? null),
      ...lower(of("clat p99.9"), "ms", side.clat?.p999 ?? null),
      // Of writes that are each followed by fdatasync: what a database's commit waits for.
      ...lower(of("sync median"), "ms", side.sync?.median ?? null),
      ...lower(of("sync p99"), "ms", side.sync?.p99 ?? null),
    ];
  });
  const phases = run.phases.map(({ phase, value, unit }) => higher(phase, unit, value));
  // Of another name, so that no table sets it beside an official one.
  const score = run.official ? "score" : "score, not official";
  return [...sides, ...phases, ...(run.score === null ? [] : [higher(score, "", run.score)])];
}

/** What two runs must share to be the same measurement: everything but the repeat. */
export const seriesOf = ({ spec }: Pick<Run, "spec">): string => spec.id.replace(/-\d+$/, "");
