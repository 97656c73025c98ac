import assert from "node:assert/strict";
import { test } from "node:test";
import { kinds } from "../faults/fault.ts";
import { faults } from "../faults/main.ts";
import { sum } from "../faults/table.ts";

/**
 * A sample of `npm run faults`: eight faults, of every kind, in the create, update and delete of a backstore, which
 * has all that a type can have: a record of its owner on the host, a state in the kernel, a file that brings it
 * back at boot, and a pool and a zvol below it that have to come back by themselves.
 */
test("eight faults of every kind at a backstore are survived", async () => {
  const request = { types: ["lio:Backstore"], kinds, sample: 8, seed: 1, lanes: 1, before: [] };
  const results = await faults(request, console.log, (result) => console.log(JSON.stringify(result)));
  assert.deepEqual(
    results.filter(({ outcome }) => outcome !== "survived").map(({ detail, step }) => detail ?? step),
    [],
  );
  assert.equal(sum(results), "faults: 8 injected, 8 survived, 0 lost");
  assert.deepEqual(new Set(results.map(({ kind }) => kind)), new Set(kinds));
});
