import { validRuns } from "../report/tables.ts";
import { virtualNote } from "../report/words.ts";
import type { Subject } from "./compare.ts";
import type { Comparison } from "./comparison.ts";
import { enough, level } from "./statistics.ts";

/** What has to be known before a comparison is believed, the weightiest first. */
export function notesOf(
  { columns, references, series, invalid, missing, against }: Omit<Comparison, "notes">,
  subjects: readonly Subject[],
): string[] {
  const emulated = columns.filter(({ virtual }) => virtual).map(({ name }) => name);
  const real = columns.filter(({ virtual }) => !virtual).map(({ name }) => name);
  const besides = [...real, ...(references.length > 0 ? ["the published labs"] : [])];
  const differences = series.flatMap(({ rows }) =>
    rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.difference ?? [])),
  );
  const tested = differences.filter(({ p }) => p !== null).length;
  const unknown = differences.filter(({ moreThanNoise }) => moreThanNoise === null).length;
  return [
    ...missing.map(({ name, reason }) => `${name} has no result, and no column: ${reason.split("\n")[0]}`),
    ...(emulated.length > 0 ? [virtualNote] : []),
    ...(emulated.length > 0 && besides.length > 0
      ? [
          `${list(emulated)} ${emulated.length === 1 ? "is" : "are"} emulated, ${list(besides)} ${besides.length === 1 && real.length === 1 ? "is" : "are"} not: a difference between them says nothing of any layout, protocol or hardware.`,
        ]
      : []),
    ...tails(subjects),
    ...lone(series, columns.length),
    ...(tested > 0
      ? [
          `“More than noise” is by Welch's t-test over the repeats, ${tested} differences tested; at most ${level * 100} % of those that stand are expected to be noise (Benjamini–Hochberg).`,
        ]
      : []),
    ...(unknown > 0
      ? [
          `Of ${unknown} of ${differences.length} differences it is not known whether they are more than noise: it takes ${enough} runs of each side (benchmark.repeats).`,
        ]
      : []),
    ...(new Set(subjects.map(({ result }) => result)).size > 1 && tested > 0
      ? [
          "Repeats are of one build of each lab. How much a figure changes from one build of the same lab to the next is not in their spread.",
        ]
      : []),
    ...(invalid.length > 0 ? [`${invalid.length} runs have no figures and are in no median.`] : []),
    against === "best"
      ? "Differences are of medians, to the best column of each row."
      : `Differences are of medians, to ${columns[0]?.name ?? "the first"}.`,
  ];
}

/** A percentile needs samples beyond it. */
function tails(subjects: readonly Subject[]): string[] {
  const few = subjects.filter(({ runs }) =>
    validRuns(runs).some(({ spec: { test }, read, write }) =>
      [read, write].some(
        (side) => test.kind === "fio" && side !== null && side.bytes / test.blockSize < 1000,
      ),
    ),
  );
  return few.length === 0
    ? []
    : [
        `Runs of fewer than 1,000 I/Os are among those of ${list(few.map(({ column }) => column.name))}: their p99.9 is little more than the slowest I/O.`,
      ];
}

/** Tests that only one column has: nothing to compare. */
function lone(series: Comparison["series"], columns: number): string[] {
  if (columns < 2) return [];
  const alone = series.filter(
    ({ rows }) =>
      rows.length > 0 && rows.every(({ cells }) => cells.filter((cell) => cell !== null).length < 2),
  );
  return alone.length === 0
    ? []
    : [
        `Only one column has figures of ${list(alone.map(({ title }) => title))}: the same test is one whose size, times and all other settings are the same.`,
      ];
}

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
