import { textTable } from "../table.ts";
import type { Comparison } from "./comparison.ts";
import { differingTable, figuresTable, invalidTable, legend, limitsTable } from "./tables.ts";

/** A comparison for the terminal. */
export function terminal(found: Comparison): string {
  const tables = [limitsTable, differingTable, invalidTable].map((make) => make(found));
  return [
    found.title,
    textTable(figuresTable(found)),
    legend,
    ...tables.filter(({ rows }) => rows.length > 0).map(textTable),
    ...found.notes,
  ]
    .map(printable)
    .join("\n\n");
}

/** A host's words move no cursor: control characters are shown, not sent. */
const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n]/gu, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
