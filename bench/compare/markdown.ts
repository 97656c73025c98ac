import { markdownTable, type Table } from "../table.ts";
import type { Comparison } from "./comparison.ts";
import { differingTable, figuresTable, invalidTable, legend, limitsTable } from "./tables.ts";

/** A comparison for a pull request. */
export function markdown(found: Comparison): string {
  const section = (title: string, made: Table): string[] =>
    made.rows.length === 0 ? [] : [`## ${title}`, table(made)];
  return [
    `# ${plain(found.title)}`,
    found.notes.map((note) => `- ${plain(note)}`).join("\n"),
    ...section("Figures", figuresTable(found)),
    plain(legend),
    ...section("What limits", limitsTable(found)),
    ...section("Not alike", differingTable(found)),
    ...section("Runs without figures", invalidTable(found)),
    found.columns.map(({ name, folder }) => `- ${plain(name)}: ${plain(folder)}`).join("\n"),
    "",
  ].join("\n\n");
}

/** Words of hosts and labels stay words: nothing of them becomes markup. */
const plain = (text: string): string =>
  text.replace(/[\\`*_[\]<>#|~]/g, (sign) => `\\${sign}`).replaceAll("\n", " ");

/** The table itself escapes the bar. */
const table = (made: Table): string =>
  markdownTable({
    ...made,
    head: made.head.map(cell),
    rows: made.rows.map((row) => row.map(cell)),
  });
const cell = (text: string): string => plain(text).replaceAll("\\|", "|");
