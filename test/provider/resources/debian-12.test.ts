import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGrep } from "../../../provider/files.ts";
import { parseDisks } from "../../../provider/resources/iscsi/luns.ts";
import { parseRecord } from "../../../provider/resources/iscsi/record.ts";
import { parseSessions } from "../../../provider/resources/iscsi/sessions.ts";
import { parseVersions } from "../../../provider/resources/iscsi/versions.ts";
import { parseLio } from "../../../provider/resources/lio/configfs.ts";
import { parseSaved } from "../../../provider/resources/lio/saved.ts";
import { recorded } from "../../recorded.ts";

/**
 * LIO, rtslib and Open-iSCSI of Debian 12 (Linux 6.1): what a backstore, a target, an initiator and a session were
 * told there, on a guest that logs in to itself. Its ZFS is in zfs/zfs-2.1.test.ts.
 */

const iqn = "iqn.2026-09.com.example.lab:tank";
const self = "iqn.2026-09.com.example.lab:self";

test("a target with a session, by configfs of Linux 6.1", () => {
  const tree = recorded("find--configfs-one-target--linux-6.1").split("\n").filter(Boolean);
  const lio = parseLio(tree, parseGrep(recorded("grep--configfs-one-target--linux-6.1")));
  const block = lio.blocks.get("tank-lun0");
  assert.deepEqual([block?.device, block?.enabled], ["/dev/zvol/tank/lun0", true]);
  assert.match(block?.serial ?? "", /^[0-9a-f-]{36}$/);
  const tpg = lio.targets.get(iqn);
  assert.deepEqual([tpg?.enabled, tpg?.authentication, tpg?.generateNodeAcls], [true, "0", "0"]);
  assert.deepEqual(
    [...(tpg?.portals ?? [])],
    [["127.0.0.1:3260", { folder: "127.0.0.1:3260", iser: false }]],
  );
  assert.equal(tpg?.luns.get(0)?.backstore, "iblock_338583/tank-lun0");
  assert.deepEqual([tpg?.acls.get(self)?.session, tpg?.acls.get(self)?.luns.get(0)?.lun], ["127.0.0.1", 0]);
});

test("what rtslib 2.1.75 saved of it", () => {
  const files = parseGrep(recorded("grep--lio-restore--rtslib-2.1.75"));
  const { blocks, targets } = parseSaved(files.get("/etc/rtslib-fb-target/saveconfig.json"));
  assert.equal(blocks.get("tank-lun0")?.device, "/dev/zvol/tank/lun0");
  const target = targets.get(iqn);
  assert.deepEqual(
    [target?.enabled, [...(target?.portals ?? [])], [...(target?.luns ?? [])]],
    [true, [["127.0.0.1:3260", false]], [[0, "tank-lun0"]]],
  );
  assert.deepEqual([...(target?.acls.get(self)?.luns ?? [])], [[0, 0]]);
  assert.ok(files.has("/usr/lib/systemd/system/rtslib-fb-targetctl.service"));
});

test("the node record of Open-iSCSI 2.1.8, below /etc/iscsi", () => {
  const files = parseGrep(recorded("grep--node-records--open-iscsi-2.1.8"));
  assert.deepEqual(
    [...files.keys()].map((path) => path.startsWith(`/etc/iscsi/nodes/${iqn}/127.0.0.1,3260`)),
    [true],
  );
  const [record] = [...files.values()].map(parseRecord);
  assert.deepEqual([record?.portal, record?.iface], ["127.0.0.1:3260", "default"]);
  assert.equal(record?.values.get("node.startup"), "manual");
});

test("its session, disk and versions", () => {
  const [session, ...others] = parseSessions(parseGrep(recorded("grep--iscsi-sessions--linux-6.1")));
  assert.deepEqual(others, []);
  assert.deepEqual(session, {
    id: 1,
    target: iqn,
    portal: "127.0.0.1:3260",
    iface: "default",
    state: "LOGGED_IN",
    initiator: self,
  });
  assert.equal(parseDisks(recorded("lsblk--one-session--util-linux-2.38")).get("sda")?.bytes, 67108864n);
  assert.deepEqual(parseVersions({ stdout: recorded("iscsiadm--versions--open-iscsi-2.1.8") }), {
    iscsiadm: "2.1.8",
    iscsid: "2.1.8",
  });
});
