import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "puppeteer-core";
import { shadeOf } from "../../../bench/report/heat.ts";
import { html } from "../../../bench/report/html.ts";
import { launch, skip } from "../browser.ts";
import { exampleRecording, exampleResult } from "../example.ts";

/** The report as a reader has it: opened from a file, in a browser. Pictures are kept in $STORAGE_LAB_SCREENSHOTS. */

const folder = mkdtempSync(join(tmpdir(), "storage-lab-report-"));
const file = pathToFileURL(join(folder, "report.html")).href;
const result = exampleResult();
const recordings = result.runs.filter(({ valid }) => valid).map(({ spec }) => exampleRecording(spec.id));
const write = recordings.find(({ run }) => run.startsWith("iser-sequential-write"));
if (write === undefined) throw new Error("the example has an iser write");

let running: Browser | undefined;

before(async () => {
  if (skip !== false) return;
  writeFileSync(join(folder, "report.html"), html(result, recordings));
  running = await launch(join(folder, "profile"));
});

after(async () => {
  await running?.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

type Wanted = { width?: number; dark?: boolean; javaScript?: boolean };

/** The report in a page of its own; whatever goes wrong there, or is asked of a network, is told. */
async function opened(
  { width = 1280, dark = false, javaScript = true }: Wanted,
  look: (page: Page) => Promise<void>,
) {
  if (running === undefined) throw new Error("the browser is not running");
  const page = await running.newPage();
  const told: string[] = [];
  page.on("console", (message) => told.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => told.push(`error: ${error}`));
  page.on("request", (request) => {
    if (request.url() !== file) told.push(`request: ${request.url().slice(0, 100)}`);
  });
  try {
    await page.setJavaScriptEnabled(javaScript);
    await page.setViewport({ width, height: 900 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
    await page.goto(file);
    await look(page);
    assert.deepEqual(told, []);
  } finally {
    await page.close();
  }
}

/** So many charts in view once, so that they are drawn live. */
async function draw(page: Page, most: number): Promise<void> {
  const charts = await page.$$("figure.chart");
  for (const chart of charts.slice(0, most)) {
    await chart.evaluate((element) => element.scrollIntoView());
    const id = await chart.evaluate((element) => element.id);
    await page.waitForSelector(`#${id}.is-live .live svg`, { timeout: 20_000 });
  }
  await page.evaluate("scrollTo(0, 0)");
}

async function picture(page: Page, name: string): Promise<void> {
  const kept = process.env.STORAGE_LAB_SCREENSHOTS;
  if (kept === undefined || kept === "") return;
  mkdirSync(kept, { recursive: true });
  await page.screenshot({
    path: join(kept, `${name}.png`),
    clip: { x: 0, y: 0, width: page.viewport()?.width ?? 0, height: 1800 },
    captureBeyondViewport: true,
  });
}

/** Runs in the page, so it is text: this project's own types know no browser. */
const inPage = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression) as Promise<T>;

test("opens offline without an error or a request, its charts drawn again live", { skip }, () =>
  opened({}, async (page) => {
    await draw(page, 10);
    await picture(page, "light");
    const charts = await inPage<[string, number][]>(
      page,
      `[...document.querySelectorAll("figure.chart")].map((f) => [f.id, f.querySelectorAll(".live path").length])`,
    );
    assert.equal(charts.length, 2 * 3 + 4);
    for (const [id, paths] of charts) assert.ok(paths > 5, `${id} has ${paths} paths`);
  }),
);

test("the drawn line has the recording's values", { skip }, () =>
  opened({ javaScript: false }, async (page) => {
    const found = await page.$eval("#test-1-bandwidth .static svg", (svg) => svg.outerHTML);
    // The lines are of the protocols' colours; ticks of the upright axis say what a pixel is worth.
    const line = (colour: string): number[] => {
      const d = new RegExp(
        `<path d="([^"]+)"[^>]*stroke="var\\(--${colour}\\)" stroke-width="2" stroke-linejoin`,
      ).exec(found)?.[1];
      return [...(d ?? "").matchAll(/[ML ]?(-?[\d.]+) (-?[\d.]+)/g)].map(([, , y]) => Number(y));
    };
    const ticks = [
      ...found.matchAll(/text-anchor="end"[^>]*transform="translate\([\d.]+ ([\d.]+)\)"[^>]*>([\d,]+)</g),
    ];
    const [zero, top] = [ticks[0], ticks.at(-1)].map((tick) => ({
      pixel: Number(tick?.[1]),
      value: Number(tick?.[2]?.replace(",", "")),
    }));
    assert.equal(zero?.value, 0);
    assert.ok(top !== undefined && zero !== undefined && top.value > 700);
    const drawn = line("iser").map((y) => ((zero.pixel - y) / (zero.pixel - top.pixel)) * top.value);
    const wanted = write.clients[0]?.written ?? [];
    assert.equal(drawn.length, wanted.length);
    for (const [n, value] of drawn.entries())
      assert.ok(
        Math.abs(value - (wanted[n] ?? 0)) < top.value / 100,
        `sample ${n}: drawn ${value}, recorded ${wanted[n]}`,
      );
  }),
);

test("the data that is embedded is the recording's", { skip }, () =>
  opened({}, async (page) => {
    const [data, labels] = await inPage<[{ series: { name: string; data: [number, number][] }[] }, string[]]>(
      page,
      `(() => { const { option } = JSON.parse(document.getElementById("charts").textContent)["test-1-bandwidth"];
        return [option, [...document.querySelectorAll("#test-1-percentiles .static text")].map((t) => t.textContent)]; })()`,
    );
    const line = data.series.find(({ name }) => name === "iSER write");
    assert.deepEqual(
      line?.data.map(([, value]) => value),
      write.clients[0]?.written.map((value) => Number((value ?? 0).toPrecision(4))),
    );
    for (const label of ["50", "90", "99", "99.9", "99.99"]) assert.ok(labels.includes(label), label);
  }),
);

test("a heat map has a cell for each core and sample, of the shade of its value", { skip }, () =>
  opened({}, async (page) => {
    const id = "run-3-heat-0-system";
    const [rows, columns, shapes] = await inPage<[string, string, [string, string][]]>(
      page,
      `(() => { const f = document.getElementById("${id}");
        return [f.dataset.rows, f.dataset.columns, [...f.querySelectorAll("svg path")].map((p) => [p.getAttribute("class"), p.getAttribute("d")])]; })()`,
    );
    const cores = write.hosts[0]?.cores ?? [];
    assert.deepEqual([rows, columns], [String(cores.length), "90"]);
    const cells = new Map<string, number>();
    for (const [shade, d] of shapes)
      for (const [, width] of d.matchAll(/h(\d+)v1/g))
        cells.set(shade, (cells.get(shade) ?? 0) + Number(width));
    const wanted = new Map<string, number>();
    for (const value of cores.flatMap(({ system }) => system)) {
      const shade = shadeOf(Math.round(value ?? 0));
      if (shade > 0) wanted.set(`h${shade}`, (wanted.get(`h${shade}`) ?? 0) + 1);
    }
    assert.deepEqual([...cells].sort(), [...wanted].sort());
    // Under the pointer: core 7 at the run's beginning.
    const box = await (await page.$(`#${id} svg`))?.boundingBox();
    if (!box) throw new Error("the heat map has no box");
    await page.$eval(`#${id} svg`, (svg) => svg.scrollIntoView({ block: "center" }));
    const at = await (await page.$(`#${id} svg`))?.boundingBox();
    await page.mouse.move((at?.x ?? 0) + 2, (at?.y ?? 0) + (7.5 / 12) * (at?.height ?? 0));
    const read = await page.$eval(`#${id} .readout`, (output) => output.textContent);
    assert.equal(read, `core 7, 0–2 s: ${Math.round(cores[7]?.system[0] ?? 0)} % system`);
  }),
);

test("without JavaScript the charts stand there, each with its words", { skip }, () =>
  opened({ javaScript: false }, async (page) => {
    const shown = await page.$$eval("figure.chart", (figures) =>
      figures.map((figure) => {
        const drawing = figure.querySelector(".static");
        return [
          drawing?.querySelectorAll("svg path").length ?? 0,
          drawing?.getAttribute("aria-label")?.length ?? 0,
        ];
      }),
    );
    assert.equal(shown.length, 10);
    for (const [paths = 0, words = 0] of shown)
      assert.ok(paths > 5 && words > 40, `${paths} paths, ${words} letters`);
    for (const chart of await page.$$("figure.chart .static svg"))
      assert.ok(((await chart.boundingBox())?.height ?? 0) > 150);
  }),
);

const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

test("on a phone the page does not scroll sideways", { skip }, () =>
  opened({ width: 390 }, async (page) => {
    await draw(page, 3);
    await picture(page, "phone");
    assert.equal(await inPage(page, overflow), 0);
    const wide = await page.$eval("#figures .scroll", (box) => box.scrollWidth > box.clientWidth);
    assert.ok(wide, "the table scrolls in its own box");
  }),
);

/** Contrast of two colours by WCAG 2.1; `rgb(…)` as the browser computes it. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const parts = [...colour.matchAll(/[\d.]+/g)].slice(0, 3).map(([part]) => Number(part) / 255);
    const [r = 0, g = 0, b = 0] = parts.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

for (const dark of [false, true]) {
  test(`${dark ? "dark" : "light"}: words and lines stand out from what is behind them`, { skip }, () =>
    opened({ dark }, async (page) => {
      if (dark) {
        await draw(page, 3);
        await picture(page, "dark");
      }
      const found = await inPage<[string, string, string][]>(
        page,
        `(() => { const of = (s, p) => getComputedStyle(document.querySelector(s))[p];
          const paper = of("body", "backgroundColor"), card = of(".card", "backgroundColor");
          return [["text", of("body", "color"), paper], ["soft", of(".lead", "color"), paper], ["bad", of(".bad", "color"), card],
            ["good", of(".good", "color"), card], ["small", of(".card .small", "color"), card],
            ["chart text", of("#test-1-bandwidth .static text", "fill"), card],
            ["line", of("#test-1-bandwidth .static path[stroke='var(--iscsi)']", "stroke"), card],
            ["other line", of("#test-1-bandwidth .static path[stroke='var(--iser)']", "stroke"), card]]; })()`,
      );
      for (const [what, front, behind] of found) {
        const ratio = contrast(front, behind);
        const least = what.includes("line") ? 3 : 4.5;
        assert.ok(ratio >= least, `${what}: ${front} on ${behind} is ${ratio.toFixed(2)}, wanted ${least}`);
      }
      const [background = 0] = [...(found[0]?.[2] ?? "").matchAll(/\d+/g)].map(([part]) => Number(part));
      assert.equal(background < 60, dark);
    }),
  );
}

test("on paper: light, the drawn charts, every run open", { skip }, () =>
  opened({ dark: true }, async (page) => {
    await draw(page, 3);
    await page.$eval("details.run", (run) => run.removeAttribute("open"));
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 20_000);
    assert.ok(await page.$eval("details.run", (run) => run.hasAttribute("open")));
    await page.emulateMediaType("print");
    const [background, live, drawn] = await inPage<string[]>(
      page,
      `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".live")).display,
        getComputedStyle(document.querySelector(".static")).display]`,
    );
    assert.deepEqual([background, live, drawn], ["rgb(255, 255, 255)", "none", "block"]);
  }),
);

test("headings go down by one, and every picture has words", { skip }, () =>
  opened({}, async (page) => {
    const [levels, silent, language] = await inPage<[number[], number, string]>(
      page,
      `[[...document.querySelectorAll("h1,h2,h3,h4,h5")].map((h) => Number(h.tagName[1])),
        document.querySelectorAll("[role=img]:not([aria-label]), svg:not([role=img]):not([aria-hidden])").length, document.documentElement.lang]`,
    );
    assert.deepEqual([silent, language], [0, "en"]);
    for (const [n, level] of levels.entries())
      assert.ok(
        level - (levels[n - 1] ?? 0) <= 1,
        `heading ${n} is of level ${level} after ${levels[n - 1]}`,
      );
  }),
);
