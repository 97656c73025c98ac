import assert from "node:assert/strict";
import { test } from "node:test";
import { main } from "../../../bench/compare/main.ts";
import { RefusedError } from "../../../provider/errors.ts";

test("what can't be compared is refused with what could be named", async () => {
  const refused = (args: string[], said: RegExp): Promise<void> =>
    assert.rejects(main(args), (error) => error instanceof RefusedError && said.test(error.message));
  await refused(
    ["no-such-stack"],
    /^no-such-stack: no stack with results \(results\/no-such-stack is not there\)/,
  );
  await refused(
    ["no-such-stack"],
    /these are lab-a, lab-b, lab-c, lab-d\. Measure it: npm start -- no-such-stack$/,
  );
  await refused(["./no-such/folder"], /^\.\/no-such\/folder: no such file or folder$/);
  await refused(["lab-a"], /name at least one stack or benchmark of your own/);
});
