import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../scripts/explain.ts";

test("an error's causes are printed once each", (t) => {
  const said = t.mock.method(console, "error", () => {});
  const root = new Error("exit status 2");
  const error = new Error("pulumi can't be started", {
    cause: new Error("sh: exit status 2", { cause: root }),
  });
  assert.equal(explain(error), 1);
  assert.deepEqual(said.mock.calls[0]?.arguments, ["pulumi can't be started\n  because: sh: exit status 2"]);
});
