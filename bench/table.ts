/** Tables for people: Markdown for a file, aligned text for a terminal. */

export type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** All columns are words; else the first one is, and the others are figures. */
  readonly words?: true;
};

export function markdownTable({ head, rows, words }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  const rule = head.map((_, column) => (words || column === 0 ? "---" : "---:"));
  return [line(head), `|${rule.join("|")}|`, ...rows.map(line)].join("\n");
}

export function textTable({ head, rows, words }: Table): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        words || column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
