import assert from "node:assert/strict";
import { test } from "node:test";
import { clientHosts, distinctMounts, hostsOf, whyNotAtOnce } from "../../../bench/run/bench.ts";
import { benchHost, sampleClient } from "../sample.ts";

const other = {
  ...{ ...sampleClient, name: "initiator/fast", pool: "fast", volume: "fast/lun0" },
  filesystem: { type: "xfs" as const, uuid: "96874fc8-e113-8317-a071-2bfa1fed1c09" },
};

test("clients of one host mount in places of their own: removing one's mount point would unmount the other's", () => {
  const elsewhere = { ...other, name: "second", host: { name: "second", ssh: "second" } };
  assert.deepEqual(
    distinctMounts([sampleClient, other, elsewhere, { ...other, name: "third" }]).map(({ mount }) => mount),
    ["/test", "/test-2", "/test", "/test-3"],
  );
});

test("one file system is never written by two clients at once", () => {
  assert.equal(whyNotAtOnce([sampleClient, other]), undefined);
  assert.match(
    whyNotAtOnce([sampleClient, { ...other, filesystem: sampleClient.filesystem }]) ?? "",
    /clients initiator and initiator\/fast have one file system \(xfs ffc79e66-\S+\)/,
  );
});

test("each host once, the storage host first", () => {
  const [storage, initiator] = [benchHost("storage", {}), benchHost("initiator", {})];
  const one = { client: sampleClient, host: initiator, ownsMountPoint: true };
  const bench = { storage, clients: [one, { ...one, client: other }, { ...one, host: storage }] };
  assert.deepEqual(clientHosts(bench), [initiator, storage]);
  assert.deepEqual(hostsOf(bench), [storage, initiator]);
});
