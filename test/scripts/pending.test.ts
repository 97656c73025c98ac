import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutOurs } from "../../scripts/pending.ts";

const urn = (type: string) => `urn:pulumi:lab::storage-lab::${type}::x`;
const state = (...pending: [type: string, resource: string][]) => ({
  version: 3,
  deployment: {
    resources: [1],
    pending_operations: pending.map(([type, resource]) => ({ type, resource: { urn: urn(resource) } })),
  },
});

test("interrupted operations of ours are forgotten; all else is kept", () => {
  const before = state(
    ["creating", "storage-lab:lab:Storage$storagelab:zfs:Pool"],
    ["creating", "storage-lab:lab:Benchmark$command:local:Command"],
    ["creating", "aws:s3/bucket:Bucket"],
    ["updating", "storagelab:lio:Target"],
    ["deleting", "storagelab:zfs:Volume"],
    ["importing", "storagelab:zfs:Volume"],
  );
  assert.deepEqual(
    withoutOurs(before),
    state(["creating", "aws:s3/bucket:Bucket"], ["importing", "storagelab:zfs:Volume"]),
  );
});

test("where there is nothing to forget nothing changes", () => {
  assert.equal(withoutOurs(state()), undefined);
  assert.equal(withoutOurs({}), undefined);
  assert.equal(withoutOurs(state(["deleting", "aws:s3/bucket:Bucket"])), undefined);
});
