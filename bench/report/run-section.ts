import type { Advice, Diagnosis, Element, Finding } from "../schema/diagnosis.ts";
import type { HostRecording, Recording } from "../schema/recording.ts";
import type { Run, ValidRun } from "../schema/result.ts";
import { meanOf } from "../series.ts";
import { overTime, timed } from "./charts.ts";
import { type Chart, chartFigure, htmlTable } from "./figure.ts";
import { type Heat, type HeatRow, heatMap } from "./heat.ts";
import { href, type Markup, markup, nothing } from "./markup.ts";
import { highestOf, thinned } from "./series.ts";
import { coresTable, poolTable, preconditionsTable, scoreWords, sidesOf, undiagnosed } from "./tables.ts";
import { duration, figure, orDash, percent, testWords } from "./words.ts";

/** One run: what limits it and what to do, the path, cores and pool over time, what it rests on. */

export type Detail = {
  readonly id: string;
  readonly run: Run;
  readonly title: string;
  readonly recording: Recording | undefined;
};

export function poolChart({ id, run, recording }: Detail): Chart | undefined {
  const storage = recording?.hosts.find(({ role }) => role === "storage");
  const pools = storage?.vdevs.filter(({ role }) => role === "pool") ?? [];
  if (!run.valid || recording === undefined || pools.length === 0) return undefined;
  const { interval } = recording;
  const log = storage?.vdevs.filter(({ role, depth }) => role === "log" && depth === 1) ?? [];
  const lines = [
    ...pools.flatMap(({ vdev, read, written }) => [
      { name: `${vdev} read`, colour: "var(--read)", series: read },
      { name: `${vdev} written`, colour: "var(--written)", series: written },
    ]),
    ...log.map(({ vdev, written }) => ({
      name: `SLOG ${vdev} written`,
      colour: "var(--log)",
      series: written,
    })),
  ].map((line) => ({ ...line, thin: thinned(line.series, 180), table: thinned(line.series, 12) }));
  const every = (lines[0]?.table.every ?? 1) * interval;
  return {
    id: `${id}-pool`,
    heading: "Pool over time",
    sentence: lines
      .map(
        ({ name, series }) =>
          `${name}: ${orDash(meanOf(series))} MB/s on average, ${orDash(highestOf(series))} at most.`,
      )
      .join(" "),
    drawing: overTime(
      lines.map(({ name, colour, thin }, n) => ({
        ...{ name, colour, dashed: n % 2 === 0 && lines.length > 1 },
        points: timed(thin.values, interval * thin.every),
      })),
      "MB/s",
    ),
    table: {
      head: [`means of ${duration(every)} up to`, ...lines.map(({ name }) => `${name} MB/s`)],
      rows: Array.from({ length: lines[0]?.table.values.length ?? 0 }, (_, n) => [
        duration((n + 1) * every),
        ...lines.map(({ table }) => orDash(table.values[n])),
      ]),
    },
  };
}

const disksAtMost = 24;

/** Softirq and system time of each core of each host, and how busy the busiest disks were. */
export function heatsOf({ id, recording }: Detail): { heat: Heat; heading: string }[] {
  if (recording === undefined) return [];
  const { interval } = recording;
  const rowsOf = (host: HostRecording, what: "softirq" | "system"): HeatRow[] =>
    host.cores.map((core) => ({ name: `core ${core.core}`, series: core[what] }));
  const cores = recording.hosts.flatMap((host, n) =>
    (["softirq", "system"] as const).map((what) => ({
      heat: { id: `${id}-heat-${n}-${what}`, rows: rowsOf(host, what), interval, what },
      heading: `${host.host}: ${what} time by core`,
    })),
  );
  const disks = recording.hosts.flatMap((host, n) => {
    if (host.role !== "storage" || host.disks.length === 0) return [];
    const rows = host.disks
      .map(({ disk, busy }) => ({ name: disk, series: busy }))
      .sort((a, b) => (meanOf(b.series) ?? 0) - (meanOf(a.series) ?? 0));
    const shown = rows.slice(0, disksAtMost);
    const which =
      shown.length < rows.length ? `the ${shown.length} busiest of ${rows.length} disks` : "its disks";
    return [
      {
        heat: { id: `${id}-heat-${n}-disks`, rows: shown, interval, what: "busy" },
        heading: `${host.host}: ${which}`,
      },
    ];
  });
  return [...cores, ...disks];
}

const placeNames: Record<Element["element"], string> = {
  ...{ "client core": "Client: one core", "client cpu": "Client: all cores", link: "Link" },
  ...{ "storage core": "Storage: one core", "storage cpu": "Storage: all cores", arc: "ARC" },
  ...{ pool: "Pool", slog: "SLOG", hba: "HBA", disks: "Disks" },
};

/** The path from the client to the disks, each element with the part of it that the run took. */
function pathOf({ elements, limit }: Diagnosis): Markup {
  if (elements.length === 0) return nothing;
  const rows = elements.map((one) => {
    const isLimit = limit !== null && one.element === limit.element;
    return markup`<li${isLimit ? markup` class="limit"` : nothing}>
<span class="element">${placeNames[one.element]}${isLimit ? markup` <b>limits</b>` : nothing}</span>
<span class="name">${one.name}</span>
<span class="bar" role="img" aria-label="${one.share === null ? "use not known" : `${percent(one.share)} used`}"><i style="width:${Math.min(100, one.share ?? 0).toFixed(1)}%"></i></span>
<span class="use">${useOf(one)}</span>
<span class="how">${one.how}${one.bound === null ? "" : `. It alone would allow at most ${figure(one.bound)} MB/s`} (capacity ${one.from})</span></li>`;
  });
  return markup`<h4>The path, from the client to the disks</h4><ol class="path">${rows}</ol>`;
}

function useOf({ used, capacity, share, unit }: Element): string {
  if (used === null && capacity === null) return "not measured";
  if (unit === "%") return orDash(used, percent);
  if (capacity === null) return `${orDash(used)} ${unit}`;
  const parts = `${orDash(used)} of ${figure(capacity)} ${unit}`;
  return share === null ? parts : `${percent(share)}: ${parts}`;
}

const findingOf = ({ sentence, evidence, confidence, rule }: Finding): Markup =>
  markup`<li>${sentence}<ul class="evidence">${evidence.map((one) => markup`<li>${one}</li>`)}</ul><small>confidence ${confidence}, rule ${rule}</small></li>`;

const adviceOf = ({ step, sentence, key, atMost }: Advice): Markup =>
  markup`<li><span class="step">${step}</span> ${sentence}${key === null ? nothing : markup` <code>${key}</code>`}${
    atMost === null
      ? nothing
      : markup` <small>at most ${figure(atMost)} MB/s, the next limit of the path</small>`
  }</li>`;

function diagnosisOf(run: ValidRun): Markup {
  const { diagnosis } = run;
  if (diagnosis === null) return markup`<p>This run is ${undiagnosed(run)}.</p>`;
  const { limit, others, advice } = diagnosis;
  return markup`${
    limit === null
      ? markup`<p class="verdict">Nothing that was measured is near its capacity.</p>`
      : markup`<ul class="verdict">${findingOf(limit)}</ul>`
  }${others.length === 0 ? nothing : markup`<h4>Next in line, and worth knowing</h4><ul>${others.map(findingOf)}</ul>`}${
    advice.length === 0
      ? nothing
      : markup`<h4>What to do, in this order</h4><ol class="advice">${advice.map(adviceOf)}</ol>`
  }${pathOf(diagnosis)}`;
}

function measured({ recording }: Detail): Markup {
  if (recording === undefined)
    return markup`<p class="note">There is no recording of this run, so there are no charts of it over time.</p>`;
  const gaps = recording.hosts.flatMap(({ host, gaps }) => gaps.map((gap) => `${host}: ${gap}`));
  const unread = recording.hosts.flatMap(({ host, unread = [] }) => unread.map((one) => `${host}: ${one}`));
  const overheads = recording.hosts.flatMap(({ host, collector }) =>
    collector === null ? [] : [`${figure(collector.share)} % of the CPU time of ${host}`],
  );
  return markup`${gaps.length === 0 ? nothing : markup`<p class="note">Samples missing: ${gaps.join("; ")}</p>`}${
    unread.length === 0 ? nothing : markup`<p class="small">Not recorded: ${unread.join("; ")}.</p>`
  }${
    overheads.length === 0 ? nothing : markup`<p class="small">Measuring took ${overheads.join(", ")}.</p>`
  }`;
}

export function runSection(detail: Detail, open: boolean): Markup {
  const { id, run, title, recording } = detail;
  const files = markup`<h4>Raw outputs</h4><ul class="files">${run.files.map((file) => markup`<li><a href="${href(file)}">${file}</a></li>`)}</ul>`;
  const basis = markup`<h4>What it rests on</h4>${
    run.preconditions.length === 0 ? nothing : htmlTable(preconditionsTable(run), "Preconditions, read back")
  }<p>${testWords(run.spec)}</p><pre class="command"><code>${run.command}</code></pre>`;
  if (!run.valid)
    return markup`<details class="run" id="${id}"${open ? markup` open` : nothing}><summary><h3>${title}</h3> <span class="bad">invalid</span></summary>
<p class="reason"><strong>No figures:</strong> ${run.invalid}</p>${basis}${files}</details>`;
  const moved = sidesOf(run)
    .map(({ side }) => `${figure(side.bandwidth)} MB/s`)
    .join(" + ");
  const phases = run.phases.map(({ phase, value, unit }) => `${phase} ${figure(value)} ${unit}`).join(", ");
  const head =
    moved !== "" ? moved : run.score === null ? phases : `${figure(run.score)}, ${scoreWords(run)}`;
  const pool = poolChart(detail);
  const heats = heatsOf(detail);
  return markup`<details class="run" id="${id}"${open ? markup` open` : nothing}><summary><h3>${title}</h3> <span class="head">${head}</span></summary>
${diagnosisOf(run)}
${run.warnings.map((warning) => markup`<p class="note">${warning}</p>`)}
<h4>Cores</h4>${htmlTable(coresTable({ runs: [run] }), "The busiest core beside the average, which would hide it")}
${heats.length === 0 ? nothing : markup`<div class="heats">${heats.map(({ heat, heading }) => heatMap(heat, heading))}</div>`}
${run.pool === null ? nothing : markup`<h4>ARC and pool</h4>${htmlTable(poolTable({ runs: [run] }), "Demand accesses of the ARC, and what the pool moved")}`}
${pool === undefined ? nothing : chartFigure(pool, 4)}
${measured(detail)}${run.clients.length < 2 ? nothing : clients(run)}${basis}${files}
<p class="small">Began ${run.began}, ${duration(run.seconds)} measured${recording === undefined ? "" : `, a sample every ${recording.interval} s`}.</p></details>`;
}

const clients = (run: ValidRun): Markup =>
  markup`<h4>Clients</h4>${htmlTable({
    head: ["client", "read MB/s", "written MB/s"],
    rows: run.clients.map(({ client, read, write }) => [client, orDash(read), orDash(write)]),
  })}`;
