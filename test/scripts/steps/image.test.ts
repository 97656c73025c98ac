import assert from "node:assert/strict";
import { test } from "node:test";
import { parseVersions } from "../../../scripts/steps/image.ts";

test("kernel and ZFS are read from the recipe's answer", () => {
  assert.deepEqual(parseVersions("kernel 6.12.117+deb13-amd64\nzfs 2.3.9-0+deb13u1"), {
    kernel: "6.12.117+deb13-amd64",
    zfs: "2.3.9-0+deb13u1",
  });
});

test("an answer without one of them is quoted", () => {
  assert.throws(
    () => parseVersions("kernel 6.12.117+deb13-amd64\n"),
    new Error('virtual/versions printed no kernel and ZFS version, but: "kernel 6.12.117+deb13-amd64\\n"'),
  );
});
