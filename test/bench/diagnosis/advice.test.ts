import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { diagnose } from "../../../bench/diagnosis/diagnose.ts";
import type { Advice } from "../../../bench/schema/diagnosis.ts";
import { cases, evidenceOfCase } from "./cases.ts";

const steps: Advice["step"][] = ["configuration", "measure again", "hardware", "no help"];
const iscsiWrite = evidenceOfCase("core-softirq--holds-lab-a-iscsi-write");
const iserWrite = evidenceOfCase("storage-cpu--holds-lab-a-iser-write");
const kinds = (advice: readonly Advice[]): Set<string> => new Set(advice.map(({ step }) => step));

test("advice goes from what costs nothing to what costs money, and says no line twice", () => {
  for (const { name, evidence } of cases()) {
    const { advice } = diagnose(evidence);
    const order = advice.map(({ step }) => steps.indexOf(step));
    assert.deepEqual(order, order.toSorted(), name);
    assert.equal(new Set(advice.map(({ sentence }) => sentence)).size, advice.length, name);
    assert.ok(advice.length > 0, name);
  }
});

test("each limit has something to change or to measure", () => {
  for (const { name, evidence } of cases()) {
    const { limit, advice } = diagnose(evidence);
    if (limit !== null)
      assert.ok(
        advice.some(({ step }) => step !== "no help"),
        `${name}: only what doesn't help`,
      );
  }
});

test("each key is one of the stack file's", () => {
  const reference = readFileSync(join(import.meta.dirname, "../../../docs/stack-file.md"), "utf8");
  const known = new Set([
    ...[...reference.matchAll(/^\| `([^`]+)`/gm)].map((match) => match[1]),
    ...[...reference.matchAll(/^## (\w+)$/gm)].map((match) => match[1]),
    ...["pools", "volumes", "fabric", "targets"].map((section) => `${section}.NAME`),
  ]);
  const names = {
    volume: "tank/lun0",
    pool: "tank",
    target: "iqn.2026-09.com.example.lab:tank",
    fabric: "link",
  };
  for (const { name, evidence } of cases()) {
    for (const { key } of diagnose(evidence, { names }).advice) {
      if (key === null) continue;
      const path = Object.values(names).reduce((text, word) => text.replace(`.${word}`, ".NAME"), key);
      assert.ok(known.has(path.split(": ")[0]), `${name}: ${key} is no key of docs/stack-file.md`);
    }
  }
});

test("lab A, iSCSI writing: iSER first, up to what three copies leave of the HBA", () => {
  const [first] = diagnose(iscsiWrite).advice;
  assert.equal(first?.key, "targets.IQN.portals.iser");
  assert.match(first.sentence, /At most 1,121 MB\/s then, what LSI SAS2008 allows \(hba\)/);
  assert.equal(Math.round(first.atMost ?? 0), 1121);
});

test("lab A, iSCSI reading: neither disks nor the other 23 cores help", () => {
  const { advice } = diagnose(evidenceOfCase("core-softirq--holds-lab-a-iscsi-read"));
  const useless = advice.filter(({ step }) => step === "no help").map(({ sentence }) => sentence);
  assert.match(
    useless.join(),
    /More cores in dl380 \(all together are busy 5 %\), a faster link or more disks don't help/,
  );
});

test("lab A, iSER writing: more cores, up to the HBA", () => {
  const hardware = diagnose(iserWrite).advice.find(({ step }) => step === "hardware");
  assert.match(hardware?.sentence ?? "", /More or faster cores in r710\. At most 1,121 MB\/s then/);
});

test("a full HBA: the layout of the same disks that writes least and survives as much", () => {
  const full = evidenceOfCase("hba--holds");
  const [first] = diagnose(full, { names: { pool: "tank" } }).advice;
  assert.equal(first?.key, "pools.tank.data: { raidz2: 6, disks: … }");
  assert.match(
    first.sentence,
    /raidz2 of 6 write 1\.5 bytes for each byte instead of 3 .* survive 2 failures/,
  );
  const [weaker] = diagnose(full, { needs: { failures: 1, write: 5000 } }).advice;
  assert.equal(weaker?.key, "pools.NAME.data: { raidz1: 3, disks: … }");
});

test("random load is never sent to RAID-Z", () => {
  const random = { ...evidenceOfCase("hba--holds"), operation: "randwrite" as const, blockSize: 16384 };
  for (const { key } of diagnose(random).advice) assert.doesNotMatch(key ?? "", /raidz/);
});

test("advice stops where the needs of this run are met", () => {
  const { limit, advice } = diagnose(iserWrite, { needs: { write: 700, read: 3000 } });
  assert.equal(limit?.rule, "storage-cpu");
  assert.deepEqual(
    advice.map(({ step, sentence }) => [step, sentence]),
    [
      [
        "nothing to do",
        "What is needed of this run is met (700 MB/s written): nothing has to be changed or bought.",
      ],
    ],
  );
});

test("a need that only another kind of run can answer changes nothing", () => {
  assert.deepEqual(diagnose(iserWrite, { needs: { readIops: 5000 } }).advice, diagnose(iserWrite).advice);
});

test("hardware waits while the configuration may bring what is needed", () => {
  const enough = diagnose(iscsiWrite, { needs: { write: 900 } }).advice;
  assert.ok(!kinds(enough).has("hardware"));
  assert.match(
    enough.at(-1)?.sentence ?? "",
    /Hardware is not due yet: the configuration may bring 1,121 MB\/s, and 900 MB\/s are needed/,
  );
  const tooMuch = diagnose(iscsiWrite, { needs: { write: 1500 } }).advice;
  assert.ok(kinds(tooMuch).has("hardware"));
});

test("hardware is never advised by a run on emulated guests", () => {
  const { advice } = diagnose(evidenceOfCase("storage-cpu--holds-guest-iscsi-write"));
  assert.ok(!kinds(advice).has("hardware"));
  assert.match(advice.at(-1)?.sentence ?? "", /^Decide on no hardware by this run/);
});

test("where nothing is full, what to measure comes first", () => {
  const { advice } = diagnose(evidenceOfCase("link-rate--nearly-lab-a-iser-read"));
  assert.deepEqual([...kinds(advice)], ["measure again", "no help"]);
  assert.match(advice.map(({ key }) => key).join(), /benchmark\.arc: cold.*benchmark\.depth: 64/);
});

test("a fault is told of, also where something else limits", () => {
  const { client, storage, link } = iscsiWrite;
  const found = diagnose({ ...iscsiWrite, client, storage, link: { ...link, mtu: 65520, peerMtu: 2044 } });
  assert.equal(found.limit?.rule, "core-softirq");
  assert.ok(found.advice.some(({ key }) => key === "fabric.NAME.mtu: 65520"));
});
