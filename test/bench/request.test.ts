import assert from "node:assert/strict";
import { test } from "node:test";
import { request } from "../../bench/request.ts";
import { sampleRequest } from "./sample.ts";

test("the stack's request is taken as it is", () => {
  assert.deepEqual(request.parse(JSON.parse(JSON.stringify(sampleRequest))), sampleRequest);
});

const [iscsi, iser] = sampleRequest.paths;
for (const [what, change] of Object.entries({
  "an unknown key": { verbose: true },
  "a mount point with a blank": { mount: "/my test" },
  "a mount point that leaves its folder": { mount: "../test" },
  "a stack's name with a colon, which separates the parts of a unit's name": { stack: "a:b" },
  "a portal without a port": { paths: [{ ...iscsi, portal: "10.10.10.1" }] },
  "a device that may be another after a reboot": { paths: [{ ...iscsi, device: "/dev/sdb" }] },
  "one protocol twice": { paths: [iscsi, { ...iser, protocol: "iscsi" }] },
  "no path": { paths: [] },
  "a direction twice": { workload: { ...sampleRequest.workload, directions: ["read", "read"] } },
  "a test file smaller than the I/Os in flight": { workload: { ...sampleRequest.workload, size: 524288 } },
  "a size with a unit": { workload: { ...sampleRequest.workload, size: "256 MiB" } },
  "a block size that is no multiple of a sector": {
    workload: { ...sampleRequest.workload, blockSize: 1000 },
  },
  "another file system": { filesystem: { type: "ext4", uuid: sampleRequest.filesystem.uuid } },
  "a file as the reference": { reference: "../../package" },
})) {
  test(`${what} is refused`, () =>
    assert.equal(request.safeParse({ ...sampleRequest, ...change }).success, false));
}
