import assert from "node:assert/strict";
import { test } from "node:test";
import { covered } from "../../scripts/round-trips.ts";

const trip = (from: number, to: number) => ({ at: new Date(to * 1000).toISOString(), seconds: to - from });

test("round trips that overlap are counted once", () => {
  assert.equal(covered([]), 0);
  assert.equal(covered([trip(1, 3), trip(2, 4), trip(10, 11), trip(2, 3)]), 4);
});
