import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutOurCreates } from "../../scripts/pending-creates.ts";

const urn = (type: string) => `urn:pulumi:lab::storage-lab::${type}::x`;
const state = (...pending: [type: string, resource: string][]) => ({
  version: 3,
  deployment: {
    resources: [1],
    pending_operations: pending.map(([type, resource]) => ({ type, resource: { urn: urn(resource) } })),
  },
});

test("interrupted creates of ours are forgotten; all else is kept", () => {
  const before = state(
    ["creating", "storage-lab:lab:Storage$storagelab:zfs:Pool"],
    ["creating", "storage-lab:lab:Benchmark$command:local:Command"],
    ["creating", "aws:s3/bucket:Bucket"],
    ["deleting", "storagelab:zfs:Volume"],
  );
  assert.deepEqual(
    withoutOurCreates(before),
    state(["creating", "aws:s3/bucket:Bucket"], ["deleting", "storagelab:zfs:Volume"]),
  );
});

test("where there is nothing to forget nothing changes", () => {
  assert.equal(withoutOurCreates(state()), undefined);
  assert.equal(withoutOurCreates({}), undefined);
  assert.equal(withoutOurCreates(state(["deleting", "storagelab:zfs:Volume"])), undefined);
});
