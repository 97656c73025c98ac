import assert from "node:assert/strict";
import { test } from "node:test";
import { older, wantedGo } from "../../../scripts/steps/go.ts";

test("versions are compared as numbers, part by part", () => {
  assert.equal(older("1.9", "1.21"), true);
  assert.equal(older("1.21", "1.21"), false);
  assert.equal(older("1.26.6", "1.26.8"), true);
  assert.equal(older("1.26", "1.26.6"), true);
  assert.equal(older("1.27", "1.26.6"), false);
  assert.equal(older("2.0", "1.26.6"), false);
});

test("the wanted version stands in Pulumi's go.mod", () => {
  assert.match(wantedGo(), /^1\.\d+\.\d+$/);
});
