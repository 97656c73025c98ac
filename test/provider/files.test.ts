import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../provider/errors.ts";
import { parseGrep, readBelow, readFiles } from "../../provider/files.ts";
import { fakeHost } from "../recorded.ts";

const absent = (path: string): string => `grep: ${path}: No such file or directory\n`;

describe("reading files", () => {
  test("one process reads them all; one that is not there is not in the map", async () => {
    const host = fakeHost({
      "grep -aHZ '' /a:b /c": {
        status: 2,
        stdout: "/a:b\0one\n/a:b\0\n/a:b\0three: 3\n",
        stderr: absent("/c"),
      },
    });
    assert.deepEqual(await readFiles(host, ["/a:b", "/c"]), new Map([["/a:b", "one\n\nthree: 3"]]));
    assert.equal(host.asked.length, 1);
  });

  test("any other complaint is an error, never absence", async () => {
    for (const stderr of ["grep: /a: Permission denied\n", `${absent("/c")}grep: /a: Input/output error\n`]) {
      const host = fakeHost({ "grep -aHZ '' /a": { status: 2, stderr } });
      await assert.rejects(readFiles(host, ["/a"]), (error: Error) => {
        assert.ok(error instanceof CommandError);
        assert.match(
          error.message,
          /^storage: could not read files: grep said: grep: \/a: (Permission|Input)/,
        );
        return true;
      });
    }
    const missing = fakeHost({ "grep -aHZ '' /a": { status: 127, stderr: "" } });
    await assert.rejects(readFiles(missing, ["/a"]), CommandError);
  });

  test("below folders only files of these names are read", async () => {
    const host = fakeHost({ "grep -raHZ --include=x '--exclude-dir=*y' '' /a": "/a/x\0" + "1\n" });
    assert.deepEqual(await readBelow(host, ["/a"], ["x"], ["*y"]), new Map([["/a/x", "1"]]));
  });

  test("a line without a file's name is not read over, nor shown: it may be a secret", () => {
    assert.throws(
      () => parseGrep("hunter2\n"),
      (error: Error) => error instanceof ParseError && !error.message.includes("hunter2"),
    );
  });
});
