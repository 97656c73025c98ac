import type { Result } from "../schema/result.ts";
import { type Table, textTable } from "../table.ts";
import { coresTable, figuresTable, limitsTable, phasesTable, verdictsTable } from "./tables.ts";
import { virtualNote } from "./words.ts";

/** What the terminal shows at a benchmark's end: figures, what limits, needs, cores, and where the rest is. */
export function terminal(result: Result): string {
  const tables = [figuresTable, phasesTable, limitsTable, verdictsTable, coresTable].map((make) =>
    make(result),
  );
  return [
    ...tables.filter(({ rows }) => rows.length > 0).map((made) => textTable(printable(made))),
    ...(result.virtual ? [virtualNote] : []),
    `Report: ${result.reports.html}`,
  ].join("\n\n");
}

/** A host's words move no cursor: control characters are shown, not sent. */
const printable = (made: Table): Table => ({
  ...made,
  rows: made.rows.map((row) =>
    row.map((cell) =>
      cell.replace(/\p{Cc}/gu, (sign) =>
        sign === "\n" ? " " : `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`,
      ),
    ),
  ),
});
