import assert from "node:assert/strict";
import { test } from "node:test";
import { request } from "../../bench/schema/request.ts";
import { sampleClient, sampleRequest, sampleTest } from "./sample.ts";

test("the stack's request is taken as it is", () => {
  assert.deepEqual(request.parse(JSON.parse(JSON.stringify(sampleRequest))), sampleRequest);
});

const [iscsi, iser] = sampleClient.paths;
const client = (change: object) => ({ clients: [{ ...sampleClient, ...change }] });
const tested = (change: object) => ({ tests: [{ ...sampleTest("write"), ...change }] });
for (const [what, change] of Object.entries({
  "an unknown key": { verbose: true },
  "a mount point with a blank": client({ mount: "/my test" }),
  "a mount point that leaves its folder": client({ mount: "../test" }),
  "a stack's name with a colon, which separates the parts of a unit's name": { stack: "a:b" },
  "a portal without a port": client({ paths: [{ ...iscsi, portal: "10.10.10.1" }] }),
  "a device that may be another after a reboot": client({ paths: [{ ...iscsi, device: "/dev/sdb" }] }),
  "one protocol twice": client({ paths: [iscsi, { ...iser, protocol: "iscsi" }] }),
  "no path": client({ paths: [] }),
  "no client": { clients: [] },
  "one client twice": { clients: [sampleClient, sampleClient] },
  "a protocol twice": { protocols: ["iser", "iser"] },
  "no test": { tests: [] },
  "a size with a unit": tested({ size: "256 MiB" }),
  "a block size that is no multiple of a sector": tested({ blockSize: 1000 }),
  "another file system": client({ filesystem: { type: "ext4", uuid: sampleClient.filesystem.uuid } }),
  "a file as the reference": { reference: "../../package" },
})) {
  test(`${what} is refused`, () =>
    assert.equal(request.safeParse({ ...sampleRequest, ...change }).success, false));
}
