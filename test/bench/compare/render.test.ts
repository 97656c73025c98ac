import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chartsOf } from "../../../bench/compare/chart.ts";
import { compare } from "../../../bench/compare/compare.ts";
import type { Comparison } from "../../../bench/compare/comparison.ts";
import { html } from "../../../bench/compare/html.ts";
import { main } from "../../../bench/compare/main.ts";
import { markdown } from "../../../bench/compare/markdown.ts";
import { differenceWords } from "../../../bench/compare/tables.ts";
import { terminal } from "../../../bench/compare/terminal.ts";
import { readReference } from "../../../bench/reference.ts";
import { RefusedError } from "../../../provider/errors.ts";
import { launch, skip } from "../browser.ts";
import { exampleResult } from "../example.ts";
import { repeated } from "./repeated.ts";

const folder = mkdtempSync(join(tmpdir(), "storage-lab-compare-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

const three = (): Comparison =>
  compare(
    [repeated("mirror3", [400, 410, 405]), repeated("raidz1", [600, 611, 604]), repeated("none", [420])],
    [readReference("lab-a")],
    { title: "Three layouts", missing: [{ name: "draid", reason: "no such disk\nand more" }] },
  );

test("a difference in words", () => {
  const cases = [
    [24.6, true, "+25 % *"],
    [-3.04, false, "−3.0 % ~"],
    [0.04, null, "0.0 % ?"],
    [-0.04, null, "0.0 % ?"],
    [-9.96, null, "−10 % ?"],
  ] as const;
  for (const [percent, moreThanNoise, words] of cases)
    assert.equal(differenceWords({ percent, moreThanNoise, p: null, unknown: null }), words);
});

test("the terminal's table: medians, spread, differences and the published lab", () => {
  const lines = terminal(three()).split("\n");
  assert.equal(lines[0], "Three layouts");
  assert.deepEqual(lines[2]?.trim().split(/\s{2,}/), ["mirror3", "raidz1", "none", "Lab A"]);
  assert.deepEqual(lines[4]?.split(/\s{2,}/), [
    ...["iSCSI write: bandwidth, MB/s", "405 (400–410)", "604 (600–611) +49 % *", "420 +3.7 % ?", "431"],
  ]);
  // IOPS of one block size say what MB/s say.
  assert.ok(!lines.some((line) => line.includes("write: IOPS")));
  assert.ok(lines.includes("draid has no result, and no column: no such disk"));
});

test("a host's words move no cursor and become no markup", () => {
  const evil = "\u001b[2J<img src=x>|*b*";
  const found = { ...three(), title: evil, invalid: [{ column: evil, run: evil, reason: evil }] };
  assert.ok(!terminal(found).includes("\u001b"));
  assert.ok(!html(found).includes("<img"));
  assert.ok(!markdown(found).replaceAll(/\\./g, "").includes("<img"));
  for (const line of markdown(found)
    .split("\n")
    .filter((one) => one.includes("img")))
    assert.ok(!line.replaceAll(/\\./g, "").includes("*b*"), line);
});

test("Markdown has the same figures, and where they are from", () => {
  const text = markdown(three());
  assert.match(text, /^# Three layouts\n/);
  assert.ok(
    text.includes(
      "| iSCSI write: bandwidth, MB/s | 405 (400–410) | 604 (600–611) +49 % \\* | 420 +3.7 % ? | 431 |",
    ),
  );
  assert.ok(text.includes("- mirror3: results/r710/"));
});

test("a chart's bars are the medians, its lines reach from the least to the most, and its axis beyond", () => {
  const found = three();
  const [chart] = chartsOf(found);
  assert.equal(chart?.heading, "write: bandwidth, MB/s");
  assert.equal(chart?.sentence, "Most: raidz1 iSCSI, 604 MB/s. One difference is more than noise.");
  const svg = /<figure class="chart" id="compare-1-1">.*?<\/svg>/s.exec(html(found))?.[0] ?? "";
  const bars = [...svg.matchAll(/<path d="M[\d.]+ [\d.]+l([\d.]+) 0[^"]*" fill="var\(--iscsi\)"/g)].map(
    ([, width]) => Number(width),
  );
  assert.equal(bars.length, 3);
  const [first = 0] = bars;
  for (const [n, median] of [405, 604, 420].entries())
    assert.ok(Math.abs((bars[n] ?? 0) / first - median / 405) < 0.005, `bar ${n}: ${bars[n]} of ${first}`);
  const lines = [
    ...svg.matchAll(/<path d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"[^>]*stroke="var\(--ink\)"/g),
  ].map(([, left, , right]) => Number(right) - Number(left));
  // One run has no spread to draw.
  assert.equal(lines.length, 2);
  for (const [n, spread] of [10, 11].entries())
    assert.ok(Math.abs((lines[n] ?? 0) / first - spread / 405) < 0.005, `line ${n}: ${lines[n]}`);
});

test("the page opens offline without an error or a request, and needs no script", { skip }, async () => {
  const file = join(folder, "comparison.html");
  writeFileSync(file, html(three()));
  const running = await launch(join(folder, "profile"));
  try {
    const page = await running.newPage();
    const told: string[] = [];
    page.on("console", (message) => told.push(message.text()));
    page.on("pageerror", (error) => told.push(String(error)));
    page.on("request", (request) => {
      if (request.url() !== pathToFileURL(file).href) told.push(request.url());
    });
    await page.setViewport({ width: 390, height: 800 });
    await page.goto(pathToFileURL(file).href);
    const [scripts, charts, wide] = (await page.evaluate(
      "[document.scripts.length, document.querySelectorAll('figure.chart svg').length, document.documentElement.scrollWidth]",
    )) as [number, number, number];
    assert.deepEqual([scripts, charts], [0, 3]);
    assert.ok(wide <= 390, `${wide} pixels wide on a phone`);
    assert.deepEqual(told, []);
  } finally {
    await running.close();
  }
});

test("on the command line: folders, labs and forms; what is wrong is refused with the usage", async () => {
  for (const stack of ["a", "b"])
    writeFileSync(join(folder, `${stack}.json`), JSON.stringify(exampleResult({ stack })));
  const page = join(folder, "of.html");
  assert.equal(await main([join(folder, "a.json"), join(folder, "b.json"), "lab-a", "--html", page]), 0);
  assert.match(readFileSync(page, "utf8"), /<h1>a, b compared<\/h1>/);
  for (const wrong of [[], ["lab-a"], ["--colour"], [join(folder, "a.json"), "--json", "--markdown"]])
    await assert.rejects(main(wrong), RefusedError, wrong.join(" "));
  await assert.rejects(main([join(folder, "nothing")]), /no such file or folder/);
});
