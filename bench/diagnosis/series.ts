import { seriesOf } from "../metrics.ts";
import type { Run, Side, ValidRun } from "../schema/result.ts";
import type { FioTest } from "../schema/test.ts";
import { median } from "./disks.ts";
import { FROM_DISKS } from "./rules/arc-served.ts";

/** Runs as needs look at them: repeats together, and which need each kind of test answers. */

export type Load = "write" | "read" | "writeIops" | "readIops";
export const loads: readonly Load[] = ["write", "read", "writeIops", "readIops"];

/** Which test says something of which need: sequential ones of bandwidth, random 4 KiB ones of IOPS. */
export const loadOf = ({
  operation,
  blockSize,
}: Pick<FioTest, "operation" | "blockSize">): Load | undefined => {
  if (operation === "write" || operation === "read") return operation;
  if (blockSize !== 4096) return undefined;
  return operation === "randwrite" ? "writeIops" : operation === "randread" ? "readIops" : undefined;
};

type FioRun = { readonly run: ValidRun; readonly test: FioTest };

/** Repeats of one measurement count as one, by their median: the luckiest would flatter. */
export type Series = readonly FioRun[];

export function seriesOfRuns(runs: readonly Run[]): Series[] {
  const fio = runs.flatMap((run) =>
    // A RAM disk's figures are of the fabric alone.
    run.valid && run.spec.test.kind === "fio" && run.spec.test.backstore === "volume"
      ? [{ run, test: run.spec.test }]
      : [],
  );
  return [...Map.groupBy(fio, ({ run }) => seriesOf(run)).values()];
}

export const middle = (
  series: Series,
  of: (run: ValidRun) => number | null | undefined,
): number | undefined => {
  const values = series.map(({ run }) => of(run)).filter((value) => value !== null && value !== undefined);
  return values.length === 0 ? undefined : median(values);
};

const sideOf = (load: Load, run: ValidRun): Side | null =>
  load === "write" || load === "writeIops" ? run.write : run.read;
export const figureOf = (load: Load) => (run: ValidRun) =>
  load === "write" || load === "read" ? sideOf(load, run)?.bandwidth : sideOf(load, run)?.iops;

export const measuring = (all: readonly Series[], load: Load): Series[] =>
  all.filter(([first]) => first !== undefined && loadOf(first.test) === load);

/** The series that gives most of this load, and its figure; undefined: none measured it. */
export function bestOf(all: readonly Series[], load: Load): { series: Series; value: number } | undefined {
  const values = measuring(all, load).flatMap((series) => {
    const value = middle(series, figureOf(load));
    return value === undefined ? [] : [{ series, value }];
  });
  return values.toSorted((a, b) => b.value - a.value)[0];
}

/** Whether the storage host's memory served the reads of all of these runs. */
export const fromArc = (series: Series): boolean =>
  series.every(
    ({ run: { read, pool } }) =>
      read !== null && pool !== null && (pool.read / read.bandwidth) * 100 < FROM_DISKS,
  );
