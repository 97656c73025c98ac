import { meanOf, type Series } from "../series.ts";
import { Markup, markup, type Put } from "./markup.ts";
import { highestOf, thinned } from "./series.ts";
import { percent } from "./words.ts";

/**
 * A heat map of shares in percent: a row a core or disk, time from left to right. Cells of one shade that stand side
 * by side are one rectangle, and all of a shade one path: a hundredth of what a rectangle a cell would weigh.
 */

export type HeatRow = { readonly name: string; readonly series: Series };
export type Heat = {
  readonly id: string;
  readonly rows: readonly HeatRow[];
  readonly interval: number;
  /** What the shade says: softirq. */
  readonly what: string;
};

export const columnsAtMost = 90;
/** Shade n stands for up to n × 10 %; what is below 5 % is left blank. */
export const shades = 10;
export const shadeOf = (value: number): number =>
  value < 5 ? 0 : Math.min(shades, Math.max(1, Math.ceil(value / 10)));

/** What the page's script shows under the pointer: whole percents, -1 where there is none. */
export type HeatData = { rows: string[]; what: string; seconds: number; values: number[][] };

export function heatData({ rows, interval, what }: Heat): HeatData {
  const cells = rows.map(({ series }) => thinned(series, columnsAtMost));
  return {
    rows: rows.map(({ name }) => name),
    what,
    seconds: interval * (cells[0]?.every ?? 1),
    values: cells.map(({ values }) => values.map((value) => (value === null ? -1 : Math.round(value)))),
  };
}

function paths(values: readonly (readonly number[])[]): string {
  const shapes = new Map<number, string>();
  for (const [y, row] of values.entries()) {
    for (let x = 0; x < row.length; ) {
      const shade = row[x] === -1 ? -1 : shadeOf(row[x] ?? 0);
      let width = 1;
      while (x + width < row.length && (row[x + width] === -1 ? -1 : shadeOf(row[x + width] ?? 0)) === shade)
        width += 1;
      if (shade !== 0) shapes.set(shade, `${shapes.get(shade) ?? ""}M${x} ${y}h${width}v1h-${width}z`);
      x += width;
    }
  }
  return [...shapes]
    .sort(([a], [b]) => a - b)
    .map(([shade, shape]) => `<path class="${shade === -1 ? "gap" : `h${shade}`}" d="${shape}"/>`)
    .join("");
}

/** The row with the highest mean: what the sentence names. */
export function hottest(
  rows: readonly HeatRow[],
): { name: string; mean: number; highest: number } | undefined {
  return rows
    .flatMap(({ name, series }) => {
      const mean = meanOf(series);
      return mean === null ? [] : [{ name, mean, highest: highestOf(series) ?? mean }];
    })
    .sort((a, b) => b.mean - a.mean)
    .at(0);
}

export function heatSentence({ rows, what }: Heat): string {
  const most = hottest(rows);
  if (most === undefined) return `${what}: no sample.`;
  const means = rows.flatMap(({ series }) => meanOf(series) ?? []);
  const average = means.reduce((sum, mean) => sum + mean, 0) / means.length;
  return `Most ${what}: ${most.name}, ${percent(most.mean)} on average and ${percent(most.highest)} at most${rows.length === 1 ? "" : `; all ${rows.length} together ${percent(average)}`}.`;
}

export function heatMap(heat: Heat, heading: string): Markup {
  const found = heatData(heat);
  const columns = found.values[0]?.length ?? 0;
  const rows = found.rows.length;
  const height = rows <= 32 ? 12 : rows <= 72 ? 8 : 5;
  // A label needs 12 pixels; between labels rows go without one.
  const each = Math.ceil(12 / height);
  const labels: Put = found.rows.map(
    (name, n) =>
      markup`<span style="height:${height}px">${n % each === 0 ? name.replace(/^core /, "") : ""}</span>`,
  );
  const sentence = heatSentence(heat);
  const end = Math.round(columns * found.seconds);
  return markup`<figure class="heat" id="${heat.id}" data-rows="${rows}" data-columns="${columns}">
<figcaption><h5>${heading}</h5><p>${sentence}</p></figcaption>
<div class="field"><div class="labels" aria-hidden="true">${labels}</div>
<svg role="img" aria-label="${heading}. ${sentence}" viewBox="0 0 ${columns} ${rows}" preserveAspectRatio="none" shape-rendering="crispEdges" style="height:${rows * height}px">${new Markup(paths(found.values))}</svg>
<div class="ticks" aria-hidden="true"><span>0 s</span><span>${Math.round(end / 2)} s</span><span>${end} s</span></div></div>
<output class="readout"></output>
<details><summary>Figures of this chart</summary>${heatTable(heat)}</details>
</figure>`;
}

function heatTable({ rows, what }: Heat): Markup {
  const cells = rows.map(({ name, series }) => {
    const [mean, highest] = [meanOf(series), highestOf(series)];
    return markup`<tr><th scope="row">${name}</th><td>${mean === null ? "–" : mean.toFixed(1)}</td><td>${highest === null ? "–" : highest.toFixed(1)}</td></tr>`;
  });
  return markup`<div class="scroll"><table><thead><tr><th></th><th scope="col">${what} %, mean</th><th scope="col">highest</th></tr></thead><tbody>${cells}</tbody></table></div>`;
}

/** What the shades stand for; once a page. */
export const heatScale: Markup = markup`<p class="scale" role="img" aria-label="Shades from 0 to 100 percent"><span>0 %</span><b>${Array.from(
  { length: shades },
  (_, n) => markup`<i class="h${n + 1}"></i>`,
)}</b><span>100 %</span></p>`;
