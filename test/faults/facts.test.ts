import assert from "node:assert/strict";
import { test } from "node:test";
import { recorded } from "../recorded.ts";
import { factLines } from "./facts.ts";

const lines = factLines(recorded("faults-facts--backstore-on-zvol--trixie"));
const of = (section: string): string[] => lines.filter((line) => line.startsWith(`${section}: `));

test("the facts of a guest with a backstore on a zvol", () => {
  assert.deepEqual(of("vdev"), ["vdev: /dev/disk/by-id/virtio-DISK01-part1 ONLINE", "vdev: base ONLINE"]);
  assert.deepEqual(of("node"), ["node: /dev/zvol/base/lun0"]);
  assert.deepEqual(of("eth1"), ["eth1: mtu 1500 up 0"]);
  assert.ok(lines.includes("property: base/lun0\torg.storage-lab:owner\tstorage-lab-faults/base"));
  assert.ok(lines.includes("saved: .storage_objects[under].dev = /dev/zvol/base/lun0"));
  assert.ok(lines.some((line) => line.endsWith("/under/udev_path:/dev/zvol/base/lun0")));
});

test("what differs from run to run is left out", () => {
  const facts = (text: string) => factLines(text.trim());
  assert.deepEqual(facts("== session\n/sys/class/iscsi_session/session12/state:LOGGED_IN"), [
    "session: state:LOGGED_IN",
  ]);
  assert.deepEqual(
    facts("== lio\n/core/iblock_376375/lun0/enable:1"),
    facts("== lio\n/core/iblock_1/lun0/enable:1"),
  );
  assert.deepEqual(facts("== left\n4711 zpool create tank"), ["left: process zpool create tank"]);
  assert.deepEqual(
    facts("== vdev\n  scan: resilvered 4M in 00:00:01\n\t    DISK1  ONLINE       0     0     2"),
    ["vdev: DISK1 ONLINE"],
  );
  assert.deepEqual(facts("== eth1\n3: eth1    inet 10.10.10.1/24 brd 10.10.10.255 scope global eth1"), [
    "eth1: 10.10.10.1/24",
  ]);
});

test("classes of vdevs, cache disks and spares are there, without counters", () => {
  const status = [
    "== vdev",
    "\ttank        DEGRADED     0     0     0",
    "\tlogs\t",
    "\t  DISK4     ONLINE       0     0     0",
    "\tspares",
    "\t  DISK5     AVAIL   ",
  ].join("\n");
  assert.deepEqual(factLines(status), [
    "vdev: DISK4 ONLINE",
    "vdev: DISK5 AVAIL",
    "vdev: logs",
    "vdev: spares",
    "vdev: tank DEGRADED",
  ]);
});
