import type { Finding } from "../schema/diagnosis.ts";
import type { Result } from "../schema/result.ts";
import { markdownTable, type Table } from "../table.ts";
import { notesOf } from "./notes.ts";
import {
  coresTable,
  figuresTable,
  hostsTable,
  limitsTable,
  pathsTable,
  phasesTable,
  poolTable,
  preconditionsTable,
  settingsTable,
  validRuns,
  verdictsTable,
} from "./tables.ts";
import { duration, figure, labName, moment, testWords, titlesOf } from "./words.ts";

/** A result for a pull request or a terminal's pager: what was measured, the answer, then what it rests on. */

/** Words of hosts and labels stay words: nothing of them becomes markup. */
const plain = (text: string): string =>
  text.replace(/[\\`*_[\]<>#|~]/g, (sign) => `\\${sign}`).replaceAll("\n", " ");

const table = (made: Table): string =>
  markdownTable({ ...made, rows: made.rows.map((row) => row.map((cell) => escapeCell(cell))) });
/** The table itself escapes the bar. */
const escapeCell = (text: string): string => plain(text).replaceAll("\\|", "|");

const section = (title: string, made: Table): string[] =>
  made.rows.length === 0 ? [] : [`## ${title}`, table(made)];

/** A long table closed in a pull request, open to who wants it. */
const folded = (title: string, ...inside: string[]): string =>
  ["<details>", `<summary>${title}</summary>`, ...inside, "</details>"].join("\n\n");

export function markdown(result: Result): string {
  const { environment, reference, runs } = result;
  return [
    `# Benchmark of stack ${plain(result.stack)}, ${moment(result.started)}`,
    ...(result.virtual ? [`> **${notesOf(result)[0]}**`] : []),
    [
      `${runs.length} runs, ${validRuns(runs).length} of them valid, ${duration(result.seconds)} in all.`,
      `Beside our figures: ${plain(reference.title)} (${labName(reference.name)}), as published.`,
    ].join(" "),
    ...section("Figures", figuresTable(result)),
    ...section("Phases", phasesTable(result)),
    "MB/s = 10^6 bytes a second; clat = completion latency; MiB/s = 2^20 bytes a second.",
    ...section("What limits", limitsTable(result)),
    ...section("What is needed", verdictsTable(result)),
    "## To know before believing",
    notesOf(result)
      .slice(result.virtual ? 1 : 0)
      .map((note) => `- ${plain(note)}`)
      .join("\n"),
    ...advices(result),
    ...section("Where the CPU time went", coresTable(result)),
    ...section("ARC and pool during the runs", poolTable(result)),
    "Hits and misses are demand accesses; what prefetch brought in time counts as a hit, so look at the pool's reads too.",
    folded("Preconditions", ...preconditions(result)),
    folded(
      "What was measured on what",
      table(hostsTable(result)),
      table(pathsTable(result)),
      table(settingsTable(result)),
      ...environment.pools.map(({ status }) => fenced(status)),
    ),
    `Raw outputs, recordings and the request: ${plain(result.folder)}`,
    "",
  ].join("\n\n");
}

/** Evidence and advice of each diagnosed run. */
function advices({ runs }: Result): string[] {
  const titles = titlesOf(runs);
  const diagnosed = validRuns(runs).flatMap((run) =>
    run.diagnosis === null ? [] : [{ run, found: run.diagnosis }],
  );
  const lines = diagnosed.flatMap(({ run, found }) => {
    const findings = [...(found.limit === null ? [] : [found.limit]), ...found.others];
    if (findings.length === 0 && found.advice.length === 0) return [];
    return [
      `### ${plain(titles.get(run.spec.id) ?? run.spec.id)}`,
      [
        ...findings.map(findingLine),
        ...found.advice.map(({ step, sentence, key, atMost }) =>
          [
            `- *${step}*: ${plain(sentence)}`,
            ...(key === null ? [] : [` ${code(key)}`]),
            ...(atMost === null ? [] : [` (at most ${figure(atMost)} MB/s: the next limit)`]),
          ].join(""),
        ),
      ].join("\n"),
    ];
  });
  return lines.length === 0 ? [] : ["## Evidence and advice", ...lines];
}

const findingLine = ({ limits, sentence, evidence, confidence }: Finding): string =>
  `- ${limits ? `**${plain(sentence)}**` : plain(sentence)} Confidence ${confidence}: ${evidence.map(plain).join("; ")}.`;

function preconditions({ runs }: Result): string[] {
  const titles = titlesOf(runs);
  return runs.flatMap((run) => [
    `**${plain(titles.get(run.spec.id) ?? run.spec.id)}** ${plain(testWords(run.spec))}`,
    ...(run.preconditions.length === 0 ? [] : [table(preconditionsTable(run))]),
  ]);
}

/** A fence longer than any in the text, so that text can't end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
