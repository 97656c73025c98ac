import assert from "node:assert/strict";
import { test } from "node:test";
import { missingPackages } from "../../../scripts/steps/packages.ts";

test("only what is not installed is missing", async () => {
  assert.deepEqual(await missingPackages(["dpkg", "no-such-package-as-this", "coreutils"]), [
    "no-such-package-as-this",
  ]);
});
