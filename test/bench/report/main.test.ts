import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { csv } from "../../../bench/report/csv.ts";
import { main, readRecordings, readResult } from "../../../bench/report/main.ts";
import { markdown } from "../../../bench/report/markdown.ts";
import { exampleRecording, exampleResult } from "../example.ts";

const root = mkdtempSync(join(tmpdir(), "storage-lab-report-"));
after(() => rmSync(root, { recursive: true, force: true }));

const folder = mkdtempSync(join(root, "run-"));
const found = exampleResult();
writeFileSync(join(folder, "result.json"), JSON.stringify(found));
const id = "iser-sequential-write-512k-d16-j1-1";
writeFileSync(join(folder, `telemetry-${id}.json`), JSON.stringify(exampleRecording(id)));

test("reports are made again from a stored result, whole, beside it", async () => {
  const written: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = ((text: string) => written.push(text) > 0) as typeof write;
  try {
    assert.equal(await main([folder]), 0);
    assert.equal(await main([folder, "--csv"]), 0);
  } finally {
    process.stdout.write = write;
  }
  assert.equal(readFileSync(join(folder, "summary.md"), "utf8"), markdown(found));
  assert.equal(readFileSync(join(folder, "result.csv"), "utf8"), csv(found));
  assert.match(readFileSync(join(folder, "report.html"), "utf8"), /Bandwidth over time/);
  assert.ok(written.includes(csv(found)));
  assert.ok(!readdirSync(folder).some((name) => name.endsWith(".part")));
});

test("a stack's folder stands for its latest benchmark", () => {
  symlinkSync(folder, join(root, "latest"));
  const { found: latest, folder: where } = readResult(root);
  assert.equal(latest.stack, "r710");
  assert.deepEqual(
    readRecordings(latest, where).map(({ run }) => run),
    [id],
  );
});

const file = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return join(root, name);
};

for (const [what, args, message] of [
  ["nothing named", [], /^usage: bench report/],
  ["no such folder", ["/nonexistent/x"], /^\/nonexistent\/x: no such file or folder/],
  [
    "a folder without a result",
    [mkdtempSync(join(root, "empty-"))],
    /no result\.json in it, nor in its latest/,
  ],
  ["an unknown form", [folder, "--pdf"], /^--pdf: no such form of a report/],
  ["two forms", [folder, "--csv", "--html"], /^usage/],
  ["an old result", [file("old.json", '{"schema":1}')], /is no result of version 2 \(its schema is 1\)/],
  ["no JSON", [file("bad.json", "{")], /can't be read as JSON/],
  ["another form", [file("other.json", '{"schema":2}')], /is not of the form of a result: .*stack/s],
] as const) {
  test(`refused with the way out: ${what}`, async () => {
    await assert.rejects(main([...args]), (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  });
}
