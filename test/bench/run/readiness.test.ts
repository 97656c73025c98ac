import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clientCachePrecondition,
  compressPrecondition,
  linkPrecondition,
  movedBytes,
  mtuPrecondition,
  poolPrecondition,
  testFilePrecondition,
} from "../../../bench/run/readiness.ts";
import { CommandError } from "../../../provider/errors.ts";
import { recorded, type Told } from "../../recorded.ts";
import { exampleResult } from "../example.ts";
import { benchHost, refused } from "../sample.ts";

const { environment } = exampleResult();
const status = recorded("zpool--status-P-bulk--2.3.9");

test("a pool that is whole and does nothing", async () => {
  const asked = "zpool status -P bulk";
  const found = async (text: Told) => await poolPrecondition(benchHost("storage", { [asked]: text }), "bulk");
  assert.deepEqual([(await found(status)).holds, (await found(status)).found], [true, "ONLINE"]);
  const resilver = status.replace(
    "config:",
    "  scan: resilver in progress since Mon Nov 30 19:00:00 2026\n\t1.10G / 2.20G scanned, 0B issued\n\t0B resilvered, 50.00% done, 00:10:00 to go\nconfig:",
  );
  assert.deepEqual(
    [(await found(resilver)).holds, (await found(resilver)).found],
    [false, "ONLINE, resilver 50.00% done, 00:10:00 to go"],
  );
  const scrub = status.replace(
    "config:",
    "  scan: scrub in progress since Mon Nov 30 19:00:00 2026\nconfig:",
  );
  assert.equal((await found(scrub)).holds, false);
  await assert.rejects(found(refused(1, "cannot open 'bulk': no such pool")), CommandError);
});

test("a link with a carrier and the MTU that it had; for iSER an active RDMA device", async () => {
  const state = {
    ...environment.storage,
    link: { ...environment.storage.link, interface: "eth1", mtu: 4200 },
  };
  const files = "cat /sys/class/net/eth1/carrier /sys/class/net/eth1/mtu";
  const rxe = recorded("rdma--link-show-rxe--6.15.0");
  const found = async (told: Record<string, Told>, protocol: "iscsi" | "iser") => {
    const { holds, found: text } = await linkPrecondition(benchHost("storage", told), state, protocol);
    return [holds, text];
  };
  assert.deepEqual(await found({ [files]: "1\n4200\n" }, "iscsi"), [true, "carrier, MTU 4200"]);
  assert.deepEqual(await found({ [files]: "1\n1500\n" }, "iscsi"), [false, "carrier, MTU 1500"]);
  assert.deepEqual(await found({ [files]: refused(1, "Invalid argument") }, "iscsi"), [false, "no carrier"]);
  const up = { [files]: "1\n4200\n", "rdma -j link show": rxe };
  assert.deepEqual(await found(up, "iser"), [true, "carrier, MTU 4200, rxe0 ACTIVE"]);
  assert.deepEqual(await found({ ...up, "rdma -j link show": rxe.replace('"ACTIVE"', '"DOWN"') }, "iser"), [
    false,
    "carrier, MTU 4200, rxe0 DOWN",
  ]);
  assert.deepEqual(await found({ ...up, "rdma -j link show": "[]" }, "iser"), [
    false,
    "carrier, MTU 4200, no RDMA device",
  ]);
});

test("different MTUs are said, and measured", () => {
  const [client] = environment.clients;
  if (client === undefined) throw new Error("the example has a client");
  const states = { storage: environment.storage, clients: [client] };
  assert.equal(mtuPrecondition(states).holds, true);
  const other = { ...client, link: { ...client.link, mtu: 1500 } };
  assert.equal(mtuPrecondition({ ...states, clients: [other] }).holds, null);
});

test("prefill: unwritten areas of a test file are found", () => {
  const holds = (size: number, allocated: number) =>
    testFilePrecondition("initiator", 1000, { size, allocated }).holds;
  assert.deepEqual([holds(1000, 1024), holds(999, 1024), holds(1000, 999)], [true, false, false]);
  assert.equal(testFilePrecondition("initiator", 1000, undefined).holds, false);
});

test("client cache: the LUN moves at least what fio moves", () => {
  // /sys/block/NAME/stat of a disk that read 2,097,152 bytes and wrote 1,048,576.
  assert.deepEqual(movedBytes("  100 0 4096 20 50 0 2048 30 0 10 50 0 0 0 0 0 0\n"), {
    ...{ read: 2097152, written: 1048576 },
  });
  const of = (lun: number) =>
    clientCachePrecondition("initiator", { read: 100e6, written: 0 }, { read: lun, written: 0 });
  assert.deepEqual([of(100e6).holds, of(99e6).holds], [true, false]);
  assert.match(of(99e6).found, /fio read 100\.0 MB .* the LUN 99\.0 MB/);
});

test("zero buffers on lz4: the compress ratio is read after the run", async () => {
  const asked = "zfs get -Hpo value compression,compressratio,logicalused,used tank/lun0";
  const holds = async (ratio: string) =>
    (await compressPrecondition(benchHost("storage", { [asked]: `lz4\n${ratio}\n1\n1\n` }), "tank/lun0"))
      .holds;
  assert.deepEqual([await holds("1.00"), await holds("1.05"), await holds("1.06")], [true, true, false]);
});
