import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { difference, fingerprintOf, setupOf, takeUp } from "../../../bench/run/resume.ts";
import type { Run } from "../../../bench/schema/result.ts";
import { exampleResult } from "../example.ts";
import { sampleRequest } from "../sample.ts";

const scratch = mkdtempSync(join(tmpdir(), "resume-"));
after(() => rmSync(scratch, { recursive: true }));

const { environment, runs } = exampleResult();
const setup = setupOf(environment);
const now = new Date("2026-11-30T12:13:14Z");
const said: string[] = [];
const take = (name: string, request = sampleRequest, on = setup) =>
  takeUp(join(scratch, name), request, on, now, (text) => said.push(text));
const [valid, invalid] = [runs.find((run) => run.valid), runs.find((run) => !run.valid)];
if (!valid?.valid || invalid === undefined) throw new Error("the example has a valid run and one that isn't");
const mine: Run = { ...valid, files: ["fio-mine.out"] };

test("an interrupted benchmark goes on in its folder: what is valid is kept, the rest set aside", () => {
  const first = take("on");
  first.folder.write("fio-mine.out", "raw");
  first.keep(mine);
  first.folder.write("fio-other.out", "of a run that has no figures");
  first.keep(invalid);
  first.folder.write("fio-cut.out", "of the run that was interrupted");
  const second = take("on");
  assert.equal(second.folder.path, first.folder.path);
  assert.deepEqual([...second.kept.values()], [mine]);
  assert.equal(second.started.toISOString(), now.toISOString());
  assert.deepEqual(
    second.folder.names().sort(),
    ["fio-mine.out", "request.json", `run-${mine.spec.id}.json`, "unfinished.json"].sort(),
  );
  assert.deepEqual(readdirSync(join(first.folder.path, "attempt")).sort(), [
    ...["fio-cut.out", "fio-other.out", `run-${invalid.spec.id}.json`],
  ]);
  assert.match(
    said.at(-1) ?? "",
    /1 runs with figures are kept; 3 files of runs that are made again are set aside/,
  );
  // What was set aside is in nobody's way.
  second.folder.write("fio-cut.out", "again");
});

test("what took part counts: the seconds of all parts", () => {
  const first = take("seconds");
  first.keep(mine);
  const file = join(first.folder.path, "unfinished.json");
  const marker = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...marker, seconds: 1000 }));
  assert.ok(takeUp(join(scratch, "seconds"), sampleRequest, setup, new Date(), () => {}).seconds() >= 1000);
});

test("a finished one is not taken up again, nor one of another request", () => {
  const first = take("finished");
  first.finish();
  const second = take("finished");
  assert.notEqual(second.folder.path, first.folder.path);
  const third = take("finished", { ...sampleRequest, repeats: 2 });
  assert.notEqual(third.folder.path, second.folder.path);
});

test("another kernel, pool or setting: begun anew, and said what is different", () => {
  const first = take("other");
  const { storage } = environment;
  const newer = setupOf({ ...environment, storage: { ...storage, kernel: "6.13.0" } });
  assert.notEqual(take("other", sampleRequest, newer).folder.path, first.folder.path);
  assert.match(
    said.at(-1) ?? "",
    /was interrupted and is not gone on with: storage kernel was .* and is "6\.13\.0"/,
  );
});

test("what changes by itself while a lab is measured is no difference", () => {
  const volumes = environment.volumes.map((volume) => ({
    ...volume,
    properties: { ...volume.properties, used: "1", logicalused: "2", compressratio: "9.99" },
  }));
  const storage = { ...environment.storage, memory: environment.storage.memory + 4096 };
  assert.equal(difference(setup, setupOf({ ...environment, volumes, storage })), undefined);
  assert.equal(difference({ a: "1" }, {}), "a was 1 and is not there");
});

test("a marker that was cut off is nothing to go on with", () => {
  const first = take("cut");
  writeFileSync(join(first.folder.path, "unfinished.json"), '{"fingerp');
  assert.notEqual(take("cut").folder.path, first.folder.path);
});

test("the same request has the same fingerprint, whatever the order of its keys and wherever results go", () => {
  const turned = Object.fromEntries(Object.entries(sampleRequest).reverse()) as typeof sampleRequest;
  assert.equal(fingerprintOf({ ...turned, folder: "/elsewhere" }), fingerprintOf(sampleRequest));
  assert.notEqual(fingerprintOf({ ...sampleRequest, interval: 2 }), fingerprintOf(sampleRequest));
});
