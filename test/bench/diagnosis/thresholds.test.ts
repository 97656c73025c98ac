import assert from "node:assert/strict";
import { test } from "node:test";
import { FULL as CORE, NEAR as CORE_NEAR } from "../../../bench/diagnosis/cores.ts";
import { diagnose } from "../../../bench/diagnosis/diagnose.ts";
import { SEVERAL_FULL, SEVERAL_NEAR } from "../../../bench/diagnosis/host-cpu.ts";
import { MIXED_FULL, MIXED_NEAR } from "../../../bench/diagnosis/rules/core-full.ts";
import { FULL as DISKS, NEAR as DISKS_NEAR } from "../../../bench/diagnosis/rules/disks-busy.ts";
import { IMPOSSIBLE, FULL as LINK, NEAR as LINK_NEAR } from "../../../bench/diagnosis/rules/link-rate.ts";
import { READ_BACK } from "../../../bench/diagnosis/rules/partial-writes.ts";
import { REACHED } from "../../../bench/diagnosis/rules/throttled.ts";
import type { CoreLoad, Evidence } from "../../../bench/schema/evidence.ts";
import { evidenceOfCase } from "./cases.ts";

/** Where each rule begins to note, and to limit: just below, and at the bound. */

const quiet = evidenceOfCase("disks-busy--not");
const slow = evidenceOfCase("link-rate--not");
const partial = evidenceOfCase("partial-writes--holds");

const oneCore = (load: Partial<CoreLoad>): Evidence => {
  const cores = quiet.storage.cores.map((core) =>
    core.core === 3 ? { ...core, user: 0, system: 0, softirq: 0, ...load } : core,
  );
  return { ...quiet, storage: { ...quiet.storage, cores } };
};

type Bound = { rule: string; bound: number; limits: boolean; at: (value: number) => Evidence };
const bounds: Bound[] = [
  ...[CORE_NEAR, CORE].flatMap((bound): Bound[] => [
    { rule: "core-softirq", bound, limits: bound === CORE, at: (softirq) => oneCore({ softirq }) },
    { rule: "core-system", bound, limits: bound === CORE, at: (system) => oneCore({ system }) },
  ]),
  ...[MIXED_NEAR, MIXED_FULL].map(
    (bound): Bound => ({
      ...{ rule: "core-full", bound, limits: bound === MIXED_FULL },
      at: (value) => oneCore({ system: value / 2, softirq: value / 2 }),
    }),
  ),
  ...[SEVERAL_NEAR, SEVERAL_FULL].map(
    (bound): Bound => ({
      ...{ rule: "storage-cpu", bound, limits: bound === SEVERAL_FULL },
      at: (averageBusy) => ({ ...quiet, storage: { ...quiet.storage, averageBusy } }),
    }),
  ),
  ...[LINK_NEAR, LINK].map(
    (bound): Bound => ({
      ...{ rule: "link-rate", bound, limits: bound === LINK },
      at: (value) => ({ ...slow, bandwidth: value * 40 }),
    }),
  ),
  ...[DISKS_NEAR, DISKS].map(
    (bound): Bound => ({
      ...{ rule: "disks-busy", bound, limits: bound === DISKS },
      at: (busy) => ({
        ...quiet,
        pool: { ...quiet.pool, disks: quiet.pool.disks.map((one) => ({ ...one, busy })) },
      }),
    }),
  ),
  {
    ...{ rule: "throttled", bound: REACHED, limits: true },
    at: (value) => ({ ...quiet, rateIops: 1000, iops: value * 10 }),
  },
  {
    ...{ rule: "partial-writes", bound: READ_BACK, limits: false },
    at: (value) => ({ ...partial, bandwidth: 100, pool: { ...partial.pool, read: value } }),
  },
];

for (const { rule, bound, limits, at } of bounds) {
  test(`${rule} ${limits ? "limits" : "is noted"} from ${bound} on, and not below`, () => {
    const said = (value: number) => {
      const { limit, others } = diagnose(at(value));
      return [limit, ...others].find((one) => one?.rule === rule);
    };
    const [below, reached] = [said(bound - 0.01), said(bound + 0.01)];
    assert.equal(reached?.limits, limits);
    if (limits) assert.notEqual(below?.limits, true);
    else assert.equal(below, undefined);
  });
}

test("faster than the link by more than a rounding does not limit: it can't be", () => {
  const at = (share: number) => diagnose({ ...slow, bandwidth: share * 40 });
  assert.equal(at(IMPOSSIBLE - 0.01).limit?.rule, "link-rate");
  assert.equal(at(IMPOSSIBLE + 0.01).limit, null);
});
