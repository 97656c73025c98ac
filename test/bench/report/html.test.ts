import assert from "node:assert/strict";
import { test } from "node:test";
import { type Heat, heatData, heatMap, heatSentence, shadeOf } from "../../../bench/report/heat.ts";
import { html } from "../../../bench/report/html.ts";
import { href, markup } from "../../../bench/report/markup.ts";
import { cumulative, thinned } from "../../../bench/report/series.ts";
import { virtualNote } from "../../../bench/report/words.ts";
import type { Run } from "../../../bench/schema/result.ts";
import { exampleRecording, exampleResult } from "../example.ts";

const recordings = exampleResult()
  .runs.filter(({ valid }) => valid)
  .map(({ spec }) => exampleRecording(spec.id));
const page = html(exampleResult(), recordings);

test("markup escapes whatever is put in, and leaves markup", () => {
  const made = markup`<b title="${`"'`}">${["<i>", 1, markup`<u>${"&"}</u>`]}</b>`;
  assert.equal(made.text, '<b title="&quot;&#39;">&lt;i&gt;1<u>&amp;</u></b>');
  assert.equal(href("javascript:alert(1)"), "./javascript%3Aalert(1)");
});

test("the report stands alone: nothing in it is fetched from anywhere", () => {
  assert.doesNotMatch(page, /(?:src|href)="(?:https?:)?\/\//);
  assert.doesNotMatch(page, /@import|url\((?!#)/);
  assert.ok(page.includes("default-src 'none'"));
});

test("the same result gives the same report", () => {
  const few = recordings.slice(0, 1);
  assert.equal(html(exampleResult(), few), html(exampleResult(), few));
});

test("a report of eight runs stays below 1.5 MB", () => {
  const { runs } = exampleResult();
  const again = runs.map(
    (run): Run => ({ ...run, spec: { ...run.spec, id: run.spec.id.replace(/1$/, "2"), repeat: 2 } }),
  );
  const twice = [...recordings, ...recordings.map((one) => ({ ...one, run: one.run.replace(/1$/, "2") }))];
  const size = Buffer.byteLength(html(exampleResult({ runs: [...runs, ...again] }), twice));
  assert.ok(size < 1_500_000, `${size} bytes`);
});

test("the virtual lab's report says first what its figures are worth, and compares no speeds", () => {
  const virtual = html(exampleResult({ virtual: true }), []);
  assert.ok(virtual.indexOf(virtualNote) < virtual.indexOf("The answer"));
  assert.ok(!virtual.includes("times what iSCSI did"));
  assert.ok(page.includes("write: iSER moved 1.67 times what iSCSI did (one run each)."));
  assert.ok(!page.includes(virtualNote));
});

test("a run without a recording has its figures and says that it has no charts over time", () => {
  const bare = html(exampleResult(), []);
  assert.match(bare, /There is no recording of this run/);
  assert.doesNotMatch(bare, /Bandwidth over time|class="heat"/);
  assert.match(bare, /Completion latency by percentile/);
});

test("an invalid run stands there with its reason and the precondition that failed", () => {
  assert.match(
    page,
    /<strong>No figures:<\/strong> precondition ARC cold: wanted below 1 % of demand reads hit/,
  );
  assert.match(page, /<td>23 % hit<\/td>\s*<td>no<\/td>/);
});

test("raw outputs are linked relatively", () => {
  assert.match(page, /<a href="\.\/mpstat-storage-iser-sequential-read-512k-d16-j1-1\.out">/);
});

test("hostile names of hosts, disks and labels become text", () => {
  const hostile = `</script><script>alert(1)</script>"'><img src=x onerror=alert(2)>`;
  const result = exampleResult();
  const runs = result.runs.map((run) =>
    run.valid
      ? { ...run, warnings: [hostile], cpus: run.cpus.map((cpu) => ({ ...cpu, host: hostile })) }
      : { ...run, invalid: hostile },
  );
  const named = recordings.slice(0, 1).map((one) => ({
    ...one,
    hosts: one.hosts.map((host) => ({
      ...{ ...host, host: hostile, gaps: [hostile] },
      disks: host.disks.map((disk) => ({ ...disk, disk: hostile })),
      vdevs: host.vdevs.map((vdev) => ({ ...vdev, vdev: hostile })),
    })),
  }));
  const { environment } = result;
  const storage = { ...environment.storage, name: hostile, cpuModel: hostile };
  const text = html(
    { ...result, runs, stack: hostile, folder: hostile, environment: { ...environment, storage } },
    named,
  );
  assert.doesNotMatch(text, /<script>alert|<img/);
  assert.equal(text.match(/<script/g)?.length, page.match(/<script/g)?.length);
});

test("heat: shades, gaps and runs of one shade", () => {
  assert.deepEqual([0, 4.9, 5, 10, 10.1, 95, 100].map(shadeOf), [0, 0, 1, 1, 2, 10, 10]);
  const heat: Heat = {
    ...{ id: "h", what: "softirq", interval: 2 },
    rows: [
      { name: "core 0", series: [2, 88, 89, null] },
      { name: "core 1", series: [0, 1, 2, 3] },
    ],
  };
  assert.deepEqual(heatData(heat).values, [
    [2, 88, 89, -1],
    [0, 1, 2, 3],
  ]);
  assert.match(
    heatMap(heat, "storage").text,
    /<path class="gap" d="M3 0h1v1h-1z"\/><path class="h9" d="M1 0h2v1h-2z"\/><\/svg>/,
  );
  assert.equal(
    heatSentence(heat),
    "Most softirq: core 0, 60 % on average and 89 % at most; all 2 together 31 %.",
  );
});

test("long series are thinned by means, and a gap stays one", () => {
  assert.deepEqual(thinned([1, 3, null, null, 5, null], 3), { values: [2, null, 5], every: 2 });
  assert.deepEqual(thinned([1, 2], 3), { values: [1, 2], every: 1 });
});

test("never average percentiles: the distribution is of the bins, up to all of them", () => {
  assert.deepEqual(
    cumulative([
      [1e6, 50],
      [2e6, 49],
      [100e6, 1],
    ]),
    [
      [1, 50],
      [2, 99],
      [100, 100],
    ],
  );
});

test("runs that differ by depth are one chart, before a table of many runs", () => {
  const { runs } = exampleResult();
  const deep = [1, 4, 64].flatMap((depth) =>
    runs.slice(0, 4).map((run): Run => {
      const { spec } = run;
      if (spec.test.kind !== "fio") return run;
      return { ...run, spec: { ...spec, id: `${spec.id}-${depth}-1`, test: { ...spec.test, depth } } };
    }),
  );
  const many = html(exampleResult({ runs: deep }), []);
  assert.match(many, /sequential write, 512 KiB: MB\/s by queue depth/);
  assert.match(many, /iSER: most at depth 1, 721 MB\/s\. Means where a test was repeated/);
  assert.match(
    many,
    /<th scope="row"><a href="#run-12">iSER read depth 64<\/a><\/th><td>2,729<\/td><td>5,205<\/td>/,
  );
  assert.doesNotMatch(many, /class="card /);
  assert.ok(!page.includes("by queue depth"));
});
