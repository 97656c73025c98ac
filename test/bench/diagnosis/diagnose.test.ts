import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diagnose } from "../../../bench/diagnosis/diagnose.ts";
import { diagnosis } from "../../../bench/schema/diagnosis.ts";
import type { CoreLoad, Evidence } from "../../../bench/schema/evidence.ts";
import { evidenceOfCase } from "./cases.ts";
import { randomEvidence } from "./random-evidence.ts";

const write = evidenceOfCase("core-softirq--holds-lab-a-iscsi-write");
const quiet = evidenceOfCase("disks-busy--not");
const core = (n: number, load: Partial<CoreLoad>): CoreLoad => ({
  ...{ core: n, user: 0, system: 0, softirq: 0, iowait: 0 },
  ...load,
});
const limitOf = (evidence: Evidence): string | undefined => diagnose(evidence).limit?.rule;

test("any evidence gives a diagnosis of the schema, without figures that are none", () => {
  fc.assert(
    fc.property(randomEvidence, (evidence) => {
      const found = diagnose(evidence, { needs: { write: 1, latency: { percentile: 99, ms: 1 } } });
      assert.deepEqual(diagnosis.parse(found), found);
      const words = [found.limit, ...found.others]
        .flatMap((one) => (one === null ? [] : [one.sentence, ...one.evidence]))
        .concat(found.advice.map(({ sentence }) => sentence));
      for (const line of words) assert.doesNotMatch(line, /NaN|Infinity|undefined|null|∞/);
    }),
    { numRuns: 120 },
  );
});

test("what limits stands first, and is not repeated among the others", () => {
  fc.assert(
    fc.property(randomEvidence, (evidence) => {
      const { limit, others } = diagnose(evidence);
      if (limit === null) assert.ok(others.every(({ limits }) => !limits));
      else assert.ok(limit.limits && !others.includes(limit));
    }),
    { numRuns: 60 },
  );
});

test("the more softirq a core has, the surer it is the limit", () => {
  const percent = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(percent, percent, (a, b) => {
      const [less, more] = a < b ? [a, b] : [b, a];
      const at = (softirq: number) =>
        limitOf({ ...write, storage: { ...write.storage, cores: [core(0, { softirq })] } });
      if (at(less) === "core-softirq") assert.equal(at(more), "core-softirq");
    }),
  );
});

test("the busier all disks are, the surer they are the limit", () => {
  const percent = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(percent, percent, (a, b) => {
      const [less, more] = a < b ? [a, b] : [b, a];
      const at = (busy: number) =>
        limitOf({
          ...quiet,
          pool: { ...quiet.pool, disks: quiet.pool.disks.map((disk) => ({ ...disk, busy })) },
        });
      if (at(less) === "disks-busy") assert.equal(at(more), "disks-busy");
    }),
  );
});

test("of two that are full the one nearer to its capacity limits; the other stands beside it, limiting", () => {
  const disks = quiet.pool.disks.map((disk) => ({ ...disk, busy: 97 }));
  const cores = quiet.storage.cores.map((one) => (one.core === 3 ? core(3, { softirq: 90 }) : one));
  const both = { ...quiet, pool: { ...quiet.pool, disks }, storage: { ...quiet.storage, cores } };
  const found = diagnose(both);
  assert.equal(found.limit?.rule, "disks-busy");
  assert.deepEqual(
    found.others.filter(({ limits }) => limits).map(({ rule }) => rule),
    ["core-softirq"],
  );
});

test("a single core goes before the whole CPU that it is part of", () => {
  const cores = Array.from({ length: 8 }, (_, n) => core(n, { system: 60, softirq: n === 2 ? 38 : 12 }));
  const storage = { ...quiet.storage, cores, averageBusy: 75.25, averageSystem: 60 };
  const found = diagnose({ ...quiet, storage });
  assert.equal(found.limit?.rule, "core-full");
  assert.equal(found.others[0]?.rule, "storage-cpu");
});

test("a host with one CPU has no single core to name", () => {
  const storage = {
    ...quiet.storage,
    cpus: 1,
    cores: [core(0, { softirq: 97 })],
    averageBusy: 97,
    averageSystem: 0,
  };
  const found = diagnose({ ...quiet, storage });
  assert.equal(found.limit?.rule, "storage-cpu");
  assert.match(
    found.limit.sentence,
    /^The only CPU of storage is the limit: 97 % busy \(0 % user, 0 % system, 97 % softirq\)/,
  );
  assert.ok(found.others.every(({ rule }) => !rule.startsWith("core-")));
});

test("an invalid run is not diagnosed: its figures mean nothing", () => {
  const found = diagnose({ ...write, valid: false, invalid: "too short" });
  assert.deepEqual([found.limit?.rule, found.others], ["invalid", []]);
});

test("a run held at a rate is throttled, whatever else is full", () => {
  const found = diagnose({ ...write, rateIops: 822, iops: 822 });
  assert.equal(found.limit?.rule, "throttled");
  assert.equal(found.others[0]?.rule, "core-softirq");
});

test("the reads of a run that is faster than its link are marked", () => {
  const found = diagnose(evidenceOfCase("link-rate--not-possible"));
  const said = found.others.find(({ rule }) => rule === "link-rate");
  assert.match(said?.sentence ?? "", /202 % of what Ethernet carries, which can't be: a cache on the client/);
});
