import { publishedCell } from "../report/published.ts";
import { duration, figure, labName, size } from "../report/words.ts";
import type { Table } from "../table.ts";
import type { Cell, Comparison, Difference, Series } from "./comparison.ts";

/** A comparison's tables, rounded for people. */

/** Said once below the figures. */
export const legend =
  "Medians; in brackets least and most of all repeats. * = more than noise, ~ = not more than noise, ? = not known.";

/** +12 % *, −3 % ~, +0.4 % ? */
export function differenceWords({ percent, moreThanNoise }: Difference): string {
  const size = Math.abs(percent);
  const number = size >= 9.95 ? size.toFixed(0) : size.toFixed(1);
  const sign = Number(number) === 0 ? "" : percent < 0 ? "−" : "+";
  return `${sign}${number} % ${moreThanNoise === null ? "?" : moreThanNoise ? "*" : "~"}`;
}

export function cellWords(cell: Cell | null): string {
  if (cell === null) return "–";
  const { values, median, minimum, maximum, difference } = cell;
  const spread = values.length > 1 ? ` (${figure(minimum)}–${figure(maximum)})` : "";
  return `${figure(median)}${spread}${difference === null ? "" : ` ${differenceWords(difference)}`}`;
}

/** What else than its name tells a test apart where names are alike. */
export const settingWords = ({ test }: Series): string =>
  test.kind === "fio"
    ? `file of ${size(test.size)}, ${duration(test.runtime)}`
    : test.kind === "files"
      ? `${test.files} files`
      : `${test.seconds} s`;

export function figuresTable({ columns, references, series }: Comparison): Table {
  return {
    head: ["", ...columns.map(({ name }) => name), ...references.map(({ name }) => labName(name))],
    rows: series.flatMap((one) =>
      one.rows.map(({ metric, unit, cells, published }) => [
        `${one.title}: ${metric}${unit === "" || unit === metric ? "" : `, ${unit}`}`,
        ...cells.map(cellWords),
        ...published.map((found) => publishedCell(found, unit)),
      ]),
    ),
  };
}

export function limitsTable({ columns, series }: Comparison): Table {
  return {
    head: ["limited by", ...columns.map(({ name }) => name)],
    words: true,
    rows: series
      .filter(({ limits }) => limits.some((limit) => limit !== null))
      .map(({ title, limits }) => [title, ...limits.map((limit) => limit ?? "–")]),
  };
}

export function differingTable({ columns, differing }: Comparison): Table {
  return {
    head: ["not alike", ...columns.map(({ name }) => name)],
    words: true,
    rows: differing.map(({ what, values }) => [what, ...values.map((value) => value ?? "–")]),
  };
}

export function invalidTable({ invalid }: Comparison): Table {
  return {
    head: ["no figures", "run", "why"],
    words: true,
    rows: invalid.map(({ column, run, reason }) => [column, run, reason]),
  };
}
