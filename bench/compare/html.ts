import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chartFigure, htmlTable } from "../report/figure.ts";
import { Markup, markup, nothing } from "../report/markup.ts";
import { labName, moment } from "../report/words.ts";
import type { Table } from "../table.ts";
import { chartsOf } from "./chart.ts";
import type { Comparison } from "./comparison.ts";
import { differingTable, figuresTable, invalidTable, legend, limitsTable } from "./tables.ts";

/** A comparison as one HTML file in the report's dress: charts are drawn into it, so it needs no script at all. */

const style = (): Markup => new Markup(readFileSync(join(import.meta.dirname, "../report/page.css"), "utf8"));

export function html(found: Comparison): string {
  const { title, columns, references, notes } = found;
  const charts = chartsOf(found);
  const part = (id: string, heading: string, made: Table): Markup =>
    made.rows.length === 0
      ? nothing
      : markup`<section id="${id}"><h2>${heading}</h2>${htmlTable(made, heading)}</section>`;
  const names = columns.map(({ name }) => name).join(", ");
  const beside = references.map((one) => `${one.title} (${labName(one.name)}), as published`).join("; ");
  const document = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${style()}</style>
</head>
<body>
<a class="skip" href="#figures">To the figures</a>
<main>
<header>
<p class="kicker">Storage benchmarks compared</p>
<h1>${title}</h1>
<p class="lead">${names}.${beside === "" ? "" : ` Beside them ${beside}.`}</p>
</header>
<aside class="virtual" role="note"><ul>${notes.map((note) => markup`<li>${note}</li>`)}</ul></aside>
<section id="figures"><h2>Figures</h2>${htmlTable(figuresTable(found), "Figures")}<p>${legend}</p></section>
${charts.length === 0 ? nothing : markup`<section id="charts"><h2>Side by side</h2><div class="charts">${charts.map((one) => chartFigure(one, 3))}</div></section>`}
${part("limits", "What limits", limitsTable(found))}
${part("differing", "Not alike", differingTable(found))}
${part("invalid", "Runs without figures", invalidTable(found))}
${part("sources", "Where it is from", {
  head: ["column", "measured", "raw outputs"],
  words: true,
  rows: columns.map(({ name, started, folder }) => [name, moment(started), folder]),
})}
</main>
<footer><p>MB/s = 10^6 bytes a second; MiB = 2^20 bytes; clat = completion latency. Written by storage-lab. Charts by Apache ECharts 6.1.0 (Apache License 2.0).</p></footer>
</body>
</html>
`;
  return document.text;
}
