import assert from "node:assert/strict";
import { test } from "node:test";
import { arcBetween, arcCounter, parseArcstats } from "../../../bench/parse/arcstats.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const before = parseArcstats(recorded("arcstats--before-read--2.3.9"));
const after = parseArcstats(recorded("arcstats--after-read--2.3.9"));

test("counters by name", () => {
  assert.ok(arcCounter(before, "c_max") > 2 ** 26);
  assert.throws(() => arcCounter(before, "nope"), /no counter nope/);
});

test("demand accesses between two readings of a warm read", () => {
  const { hits, misses, hitRatio } = arcBetween(before, after);
  assert.ok(hits > 1000);
  assert.equal(misses, 0);
  assert.equal(hitRatio, 1);
});

test("an access that waited for a read under way is a miss; ZFS before 2.2 doesn't count those", () => {
  const counters = (...values: number[]) =>
    new Map(
      ["demand_data_hits", "demand_data_misses", "demand_data_iohits"].map((name, n) => [
        name,
        values[n] ?? 0,
      ]),
    );
  assert.deepEqual(arcBetween(counters(0, 0, 0), counters(6, 1, 1)), { hits: 6, misses: 2, hitRatio: 0.75 });
  const old = (hits: number) =>
    new Map([
      ["demand_data_hits", hits],
      ["demand_data_misses", 0],
    ]);
  assert.deepEqual(arcBetween(old(5), old(5)), { hits: 0, misses: 0, hitRatio: null });
});

test("what is no kstat is an error", () => {
  assert.throws(() => parseArcstats(""), ParseError);
  assert.throws(() => parseArcstats("19 1 0x01 1 1 1 1\nname type data\nhits 4 many\n"), /unknown line/);
});
