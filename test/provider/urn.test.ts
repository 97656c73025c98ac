import assert from "node:assert/strict";
import { test } from "node:test";
import { urnParts } from "../../provider/urn.ts";

test("a URN taken apart: its own type is the last of the chain, and a name may hold what parts it", () => {
  const chain = "storage-lab:lab:Storage$storagelab:zfs:Volume";
  assert.deepEqual(urnParts(`urn:pulumi:lab::storage-lab::${chain}::tank/a::b`), {
    stack: "lab",
    project: "storage-lab",
    type: "storagelab:zfs:Volume",
    name: "tank/a::b",
    owner: "storage-lab/lab",
  });
});
