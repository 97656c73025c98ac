import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Recording } from "../schema/recording.ts";
import type { Result, Run, Side } from "../schema/result.ts";
import { meanOf } from "../series.ts";
import { type Chart, chartFigure, htmlTable } from "./figure.ts";
import { heatData, heatScale } from "./heat.ts";
import { data, href, Markup, markup, nothing } from "./markup.ts";
import { notesOf } from "./notes.ts";
import { publishedCell, publishedOf } from "./published.ts";
import { type Detail, heatsOf, poolChart, runSection } from "./run-section.ts";
import { sweepsOf } from "./sweep.ts";
import {
  figuresTable,
  hostsTable,
  limitsTable,
  metWords,
  pathsTable,
  phasesTable,
  scoreWords,
  settingsTable,
  sidesOf,
  validRuns,
  verdictsTable,
} from "./tables.ts";
import { byTest, chartsOf } from "./test-section.ts";
import {
  duration,
  elementNames,
  figure,
  labName,
  moment,
  orDash,
  protocolNames,
  testKey,
  testWords,
  titlesOf,
  virtualNote,
} from "./words.ts";

/**
 * A result as one HTML file that opens offline and asks nothing of any network: charts stand in it as SVG, and where
 * JavaScript is on ECharts, which the file carries compressed, draws them again with tooltips.
 */

/** Up to so many runs the summary is of cards, and each run's details are open. */
const few = 8;

const beside = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8");

/** The library is a third of its size so; the page's script inflates it when a chart comes into view. */
let library: string | undefined;
function echartsCompressed(): string {
  const path = createRequire(import.meta.url).resolve("echarts/dist/echarts.common.min.js");
  library ??= gzipSync(readFileSync(path), { level: 9 }).toString("base64");
  return library;
}

export function html(result: Result, recordings: readonly Recording[]): string {
  const titles = titlesOf(result.runs);
  const details: Detail[] = result.runs.map((run, n) => ({
    id: `run-${n + 1}`,
    run,
    title: titles.get(run.spec.id) ?? run.spec.id,
    recording: recordings.find((one) => one.run === run.spec.id),
  }));
  const tests = byTest(validRuns(result.runs), testKey).map((runs, n) => ({
    runs,
    charts: chartsOf(
      `test-${n + 1}`,
      runs.map((run) => ({
        run,
        title: titles.get(run.spec.id) ?? run.spec.id,
        recording: recordings.find((one) => one.run === run.spec.id),
      })),
    ),
  }));
  const sweeps = sweepsOf(validRuns(result.runs));
  const charts = [
    ...sweeps,
    ...tests.flatMap((one) => one.charts),
    ...details.flatMap((one) => poolChart(one) ?? []),
  ];
  const heats = details.flatMap(heatsOf);
  const open = result.runs.length <= few;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Benchmark of ${result.stack}, ${moment(result.started)}</title>
<style>${new Markup(beside("page.css"))}</style>
</head>
<body>
<a class="skip" href="#answer">To the answer</a>
<main>
${header(result)}
${result.virtual ? markup`<aside class="virtual" role="note"><strong>Emulated hosts: this shows function, not speed.</strong> ${virtualNote}</aside>` : nothing}
${answer(result, details, open, sweeps)}
${needs(result)}
${figures(result)}
${tests.map(({ runs, charts }) => testSection(runs, charts, tests.length <= few / 2))}
<section id="runs"><h2>Each run</h2>${heats.length === 0 ? nothing : heatScale}${details.map((one) => runSection(one, open))}</section>
${setting(result)}
</main>
<footer><p>MB/s = 10^6 bytes a second; MiB = 2^20 bytes; clat = completion latency, from submission to completion, over all jobs and clients by merged histograms. Written by storage-lab. Charts by Apache ECharts 6.1.0 (Apache License 2.0).</p></footer>
${data("charts", Object.fromEntries(charts.map(({ id, drawing }) => [id, drawing])))}
${data("heats", Object.fromEntries(heats.map(({ heat }) => [heat.id, heatData(heat)])))}
<script type="application/gzip" id="library">${new Markup(echartsCompressed())}</script>
<script>${new Markup(beside("page.js"))}</script>
</body>
</html>
`;
  return page.text;
}

function header({ stack, started, seconds, runs, environment, reference }: Result): Markup {
  const protocols = [...new Set(runs.map(({ spec }) => protocolNames[spec.protocol]))].join(" and ");
  const invalid = runs.filter(({ valid }) => !valid).length;
  const hosts = environment.clients.map(({ name }) => name).join(", ");
  return markup`<header>
<p class="kicker">Storage benchmark</p>
<h1>${stack}</h1>
<p class="lead">${protocols} from ${hosts} to ${environment.storage.name}, ${moment(started)}: ${runs.length} runs in ${duration(seconds)}${invalid === 0 ? ", all valid" : `, ${invalid} of them invalid`}. Beside it ${reference.title} (${labName(reference.name)}), as published.</p>
</header>`;
}

/** The answer first: how much, and what limits it. */
function answer(
  result: Result,
  details: readonly Detail[],
  cards: boolean,
  sweeps: readonly Chart[],
): Markup {
  const swept =
    sweeps.length === 0
      ? nothing
      : markup`<div class="charts">${sweeps.map((one) => chartFigure(one, 3))}</div>`;
  const inside = cards
    ? markup`<div class="cards">${details.map((one) => card(result, one))}</div>`
    : answers(result, details);
  return markup`<section id="answer"><h2>The answer</h2>${cards ? againstEachOther(result).map((one) => markup`<p class="lead">${one}</p>`) : nothing}${swept}${inside}</section>`;
}

/**
 * How the protocols compare where both ran the same test with figures. Not said of emulated hosts, whose speeds mean
 * nothing; whether a difference is more than noise is for `bench compare`, so the number of runs stands there.
 */
function againstEachOther({ virtual, runs }: Result): string[] {
  if (virtual) return [];
  return byTest(validRuns(runs), testKey).flatMap((group) =>
    (["write", "read"] as const).flatMap((direction) => {
      const of = (protocol: "iscsi" | "iser"): number[] =>
        group
          .filter(({ spec }) => spec.protocol === protocol)
          .flatMap((run) => run[direction]?.bandwidth ?? []);
      const [iscsi, iser] = [of("iscsi"), of("iser")];
      const [theirs, ours] = [meanOf(iscsi), meanOf(iser)];
      const [first] = group;
      if (theirs === null || ours === null || first === undefined) return [];
      const many =
        iscsi.length === 1 && iser.length === 1
          ? "one run each"
          : `means of ${iscsi.length} and ${iser.length} runs`;
      const { test } = first.spec;
      const where = test.kind !== "fio" || test.readShare === null ? test.test : `${test.test}, ${direction}`;
      return [`${where}: iSER moved ${figure(ours / theirs)} times what iSCSI did (${many}).`];
    }),
  );
}

/** Of many runs a row each: how much, and what limits. */
function answers(result: Result, details: readonly Detail[]): Markup {
  const limits = limitsTable(result).rows;
  const rows = details.map(({ id, run, title }, n) => {
    const sides = run.valid ? sidesOf(run) : [];
    const cell = (value: (side: Side) => number): string =>
      sides.map(({ side }) => figure(value(side))).join(" + ") || "–";
    const [, limit = "", confidence = "", why = ""] = limits[n] ?? [];
    return markup`<tr><th scope="row"><a href="#${id}">${title}</a></th><td>${cell((side) => side.bandwidth)}</td><td>${cell((side) => side.iops)}</td><td>${run.valid ? markup`${limit} <small>${why} ${confidence === "" ? "" : `Confidence ${confidence}.`}</small>` : markup`<span class="bad">invalid</span> <small>${why}</small>`}</td></tr>`;
  });
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="Each run's figures and limit"><table class="words"><thead><tr><th scope="col"></th><th scope="col">MB/s</th><th scope="col">IOPS</th><th scope="col">limited by</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function card({ reference }: Result, { id, run, title }: Detail): Markup {
  const head = markup`<h3><a href="#${id}">${title}</a></h3>`;
  if (!run.valid)
    return markup`<article class="card invalid">${head}<p class="big">no figures</p><p>${run.invalid}</p></article>`;
  const sides = sidesOf(run);
  const [first] = sides;
  const isSmall = run.spec.test.kind === "fio" && run.spec.test.blockSize < 65536;
  const metric = isSmall ? { metric: "IOPS", unit: "IOPS" } : { metric: "bandwidth", unit: "MB/s" };
  const values = sides.map(({ side }) => figure(isSmall ? side.iops : side.bandwidth)).join(" + ");
  const big =
    sides.length > 0
      ? markup`<p class="big">${values} <small>${metric.unit}</small></p>`
      : run.score === null
        ? markup`${run.phases.map(({ phase, value, unit }) => markup`<p class="big"><small>${phase}</small> ${figure(value)} <small>${unit}</small></p>`)}`
        : markup`<p class="big">${figure(run.score)} <small>${scoreWords(run)}</small></p>`;
  const theirs =
    first === undefined || sides.length > 1
      ? []
      : publishedOf(reference.figures, run.spec, { direction: first.direction, metric: metric.metric });
  const lines = [
    ...(first?.side.clat
      ? [`median ${figure(first.side.clat.median)} ms, p99.9 ${orDash(first.side.clat.p999)} ms`]
      : []),
    ...(theirs.length > 0 ? [`${labName(reference.name)}: ${publishedCell(theirs, metric.unit)}`] : []),
  ];
  const limit = run.diagnosis?.limit;
  return markup`<article class="card ${run.spec.protocol}">${head}${big}<p class="small">${lines.join(" · ")}</p>${
    run.diagnosis === null
      ? nothing
      : limit
        ? markup`<p class="limited"><span>Limited by ${limit.element === null ? limit.rule : elementNames[limit.element]}</span> ${limit.sentence} <small>Confidence ${limit.confidence}.</small></p>`
        : markup`<p class="limited"><span>No limit found</span> Nothing that was measured is near its capacity.</p>`
  }${run.aboveLink ? markup`<p class="note">Above what the link carries: a cache served it.</p>` : nothing}</article>`;
}

function needs(result: Result): Markup {
  const { verdicts } = result;
  if (verdicts.length === 0) return nothing;
  const missed = verdicts.filter(({ met }) => met === false).length;
  const unknown = verdicts.filter(({ met }) => met === null).length;
  const parts = [
    `${verdicts.length - missed - unknown} of ${verdicts.length} needs are met`,
    ...(missed > 0 ? [`${missed} not`] : []),
    ...(unknown > 0 ? [`${unknown} not measured`] : []),
  ];
  const table = verdictsTable(result).rows.map((row, n) => {
    const met = verdicts[n]?.met ?? null;
    const sign = met === null ? "?" : met ? "✓" : "✗";
    return markup`<tr><th scope="row">${row[0] ?? ""}</th><td>${row[2] ?? ""} ${row[2] === "–" ? "" : (row[3] ?? "")}</td><td><span class="${met === null ? "unknown" : met ? "good" : "bad"}">${sign} ${metWords(met)}</span></td><td>${row[5] ?? ""}</td></tr>`;
  });
  return markup`<section id="needs"><h2>What is needed</h2><p>${parts.join(", ")}.</p><div class="scroll" tabindex="0" role="region" aria-label="Needs"><table class="words"><thead><tr><th scope="col">need</th><th scope="col">found</th><th scope="col">met</th><th scope="col">margin</th></tr></thead><tbody>${table}</tbody></table></div></section>`;
}

function figures(result: Result): Markup {
  const fio = figuresTable(result);
  const phases = phasesTable(result);
  return markup`<section id="figures"><h2>Figures</h2>${
    fio.rows.length === 0
      ? nothing
      : htmlTable(fio, `Measured, beside ${labName(result.reference.name)} as published`)
  }${phases.rows.length === 0 ? nothing : htmlTable(phases, "Phases")}
<h3>To know before believing</h3><ul class="notes">${notesOf(result)
    .slice(result.virtual ? 1 : 0)
    .map((note) => markup`<li>${note}</li>`)}</ul></section>`;
}

function testSection(runs: readonly Run[], charts: readonly Chart[], open: boolean): Markup {
  const [first] = runs;
  if (first === undefined || charts.length === 0) return nothing;
  const { spec } = first;
  return markup`<section class="test"><details${open ? markup` open` : nothing}><summary><h2>${spec.test.workload}: ${spec.test.test}</h2></summary><p>${testWords(spec)}</p>
<div class="charts">${charts.map((one) => chartFigure(one, 3))}</div></details></section>`;
}

function setting(result: Result): Markup {
  const { environment, reports } = result;
  const file = (path: string): string => path.split("/").at(-1) ?? path;
  const links = [reports.json, reports.csv, reports.markdown].map(file);
  return markup`<section id="environment"><h2>What was measured on what</h2>
${htmlTable(hostsTable(result), "Hosts, as read back from them")}
${htmlTable(pathsTable(result), "Paths to the LUN, with what sessions negotiated")}
${htmlTable(settingsTable(result), "Pools, volumes, targets, file systems")}
${environment.pools.map(({ name, status }) => markup`<details><summary>zpool status ${name}</summary><pre><code>${status}</code></pre></details>`)}
<h3>Files</h3><p>All raw outputs are in <code>${result.folder}</code>; the result in other forms: ${links.map((one, n) => markup`${n === 0 ? "" : ", "}<a href="${href(one)}">${one}</a>`)}.</p></section>`;
}
