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
test("faults of every kind at a backstore are survived", async () => {
  const request = { types: ["lio:Backstore"], kinds, sample: 8, seed: 1, lanes: 1, before: [] };
  const results = await faults(request, console.log, (result) => console.log(JSON.stringify(result)));
  const of = (outcome: string) => results.filter((result) => result.outcome === outcome);
  assert.deepEqual(
    of("lost").map(({ detail }) => detail),
    [],
  );
  // A step that only the first create on a host has can't be struck again; that counts for nothing.
  assert.ok(of("survived").length >= 6, sum(results));
  assert.deepEqual(new Set(of("survived").map(({ kind }) => kind)), new Set(kinds));
});
