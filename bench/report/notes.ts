import type { Result, Run, ValidRun } from "../schema/result.ts";
import { fasterThanDisks } from "../schema/words.ts";
import { sidesOf, validRuns } from "./tables.ts";
import { count, figure, percent, size, titlesOf, virtualNote } from "./words.ts";

/** Everything that has to be known before a figure is believed; each a sentence or two, for all reports. */
export function notesOf(result: Result): string[] {
  const { runs, environment, virtual } = result;
  const titles = titlesOf(runs);
  const title = ({ spec }: Run): string => titles.get(spec.id) ?? spec.id;
  const valid = validRuns(runs);
  return [
    ...(virtual ? [virtualNote] : []),
    ...runs.flatMap((run) => (run.valid ? [] : [`${title(run)} has no figures: ${run.invalid}`])),
    ...valid.flatMap((run) => run.warnings.map((warning) => `${title(run)}: ${warning}`)),
    ...tails(valid, title),
    ...valid.flatMap((run) =>
      run.aboveLink ? [`${title(run)} is above what the link carries: a cache served it, not the path.`] : [],
    ),
    ...overheads(valid, title),
    ...reads(valid, environment.arcMaximum, title),
    ...environment.volumes.map(
      ({ name, properties }) =>
        `Compression ratio of ${name} after the runs: ${properties.compressratio ?? "not known"}.`,
    ),
  ];
}

/** Measuring must not change much of what is measured. */
function overheads(valid: readonly ValidRun[], title: (run: Run) => string): string[] {
  const much = valid.flatMap((run) =>
    run.overhead !== null && run.overhead >= 1 ? [`${title(run)} (${figure(run.overhead)} %)`] : [],
  );
  return much.length === 0
    ? []
    : [`The telemetry itself took 1 % or more of a host's CPU time in ${much.join(", ")}.`];
}

/** Whether reads came from the ARC or from disks is the first thing to ask of a read's figure. */
function reads(valid: readonly ValidRun[], arcMaximum: number, title: (run: Run) => string): string[] {
  const served = valid.flatMap((run) => {
    const { read, pool } = run;
    const { test } = run.spec;
    return read === null || pool === null || test.kind !== "fio" || test.backstore === "ramdisk"
      ? []
      : [{ run, read, pool }];
  });
  if (served.length === 0) return [];
  // Those that were measured to be faster than the disks have a warning of their own.
  const unsaid = served.filter(
    ({ run }) => !run.warnings.some((warning) => warning.startsWith(fasterThanDisks)),
  );
  return [
    `direct=1 goes round the clients' page cache; the storage host's ARC stays on (at most ${size(arcMaximum)}). What it holds is not read from disks${unsaid.length === 0 ? "." : ":"}`,
    ...unsaid.map(({ run, read, pool }) => {
      const fromDisks = percent(Math.min(100, (pool.read / read.bandwidth) * 100));
      return `${title(run)}: the pool read ${figure(pool.read)} MB/s from its vdevs for ${figure(read.bandwidth)} MB/s to the clients (${fromDisks}).`;
    }),
  ];
}

/** A percentile needs samples beyond it. */
function tails(valid: readonly ValidRun[], title: (run: Run) => string): string[] {
  const few = valid.flatMap((run) => {
    const { test } = run.spec;
    if (test.kind !== "fio") return [];
    const ios = Math.min(...sidesOf(run).map(({ side }) => Math.round(side.bytes / test.blockSize)));
    return ios < 1000 ? [`${title(run)} (${count(ios)})`] : [];
  });
  return few.length === 0
    ? []
    : [`p99.9 of fewer than 1,000 I/Os is little more than the slowest of them: ${few.join(", ")}.`];
}
