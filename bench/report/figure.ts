import type { Table } from "../table.ts";
import { type Drawing, svgOf } from "./charts.ts";
import { Markup, markup, nothing } from "./markup.ts";

/** Tables and charts as parts of a page; each chart with a sentence and its figures in a table. */

export function htmlTable({ head, rows, words }: Table, caption?: string): Markup {
  const columns = head.map((name) => markup`<th scope="col">${name}</th>`);
  const body = rows.map(
    (row) =>
      markup`<tr>${row.map((cell, n) =>
        n === 0
          ? markup`<th scope="row">${cell}</th>`
          : cell === "invalid"
            ? markup`<td><span class="bad">invalid</span></td>`
            : markup`<td>${cell}</td>`,
      )}</tr>`,
  );
  const label = caption === undefined ? nothing : markup`<caption>${caption}</caption>`;
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${caption ?? "table"}"><table${words ? markup` class="words"` : nothing}>${label}<thead><tr>${columns}</tr></thead><tbody>${body}</tbody></table></div>`;
}

export type Chart = {
  readonly id: string;
  readonly heading: string;
  readonly sentence: string;
  readonly drawing: Drawing;
  readonly table: Table;
};

/** The heading is of the level below that of the section around it. */
export function chartFigure({ id, heading, sentence, drawing, table }: Chart, level: 3 | 4): Markup {
  const title = level === 3 ? markup`<h3>${heading}</h3>` : markup`<h4>${heading}</h4>`;
  return markup`<figure class="chart" id="${id}">
<figcaption>${title}<p>${sentence}</p></figcaption>
<div class="canvas"><div class="static" role="img" aria-label="${heading}. ${sentence}">${new Markup(svgOf(drawing, id))}</div><div class="live"></div></div>
<details><summary>Figures of this chart</summary>${htmlTable(table, heading)}</details>
</figure>`;
}
