import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import { observeLio, parseLio, parseSession } from "../../../../provider/resources/lio/configfs.ts";
import { observeConnections, parseTcp } from "../../../../provider/resources/lio/connections.ts";
import { observeRestore, parseSaved } from "../../../../provider/resources/lio/saved.ts";
import { fakeHost, recorded } from "../../../recorded.ts";
import { initiatorName, iqn, listing, noLio, oneTarget, rdma, restore, tcp, values } from "./lab.ts";

describe("LIO in configfs", () => {
  test("two processes read everything", async () => {
    const host = fakeHost(oneTarget);
    const lio = await observeLio(host);
    assert.deepEqual(host.asked, [listing, values]);
    assert.deepEqual(lio.blocks.get("lun0"), {
      index: 376375,
      path: "/sys/kernel/config/target/core/iblock_376375/lun0",
      device: "/dev/zvol/tank/lun0",
      serial: "49fb339f-33b0-8a6d-a83c-ac993fd87f8c",
      enabled: true,
    });
    assert.deepEqual([...lio.indexes], [803002, 376375]);
    const path = `/sys/kernel/config/target/iscsi/${iqn}/tpgt_1`;
    const none = { user: "", password: "", mutualUser: "", mutualPassword: "" };
    assert.deepEqual(lio.targets.get(iqn), {
      enabled: true,
      portals: new Map([
        ["10.10.10.1:3261", { folder: "10.10.10.1:3261", iser: true }],
        ["10.10.10.1:3260", { folder: "10.10.10.1:3260", iser: false }],
      ]),
      luns: new Map([[0, { backstore: "iblock_376375/lun0", link: `${path}/lun/lun_0/backstore` }]]),
      acls: new Map([
        [
          initiatorName,
          {
            luns: new Map([[0, { lun: 0, link: `${path}/acls/${initiatorName}/lun_0/lun` }]]),
            chap: none,
            session: "10.10.10.2",
          },
        ],
      ]),
      authentication: "0",
      generateNodeAcls: "0",
    });
    assert.deepEqual([...lio.targets.keys()], [iqn], "discovery_auth is no target");
  });

  test("a host without LIO has nothing, by find's and grep's own words", async () => {
    const lio = await observeLio(fakeHost(noLio));
    assert.deepEqual([lio.loaded, lio.blocks.size, lio.targets.size], [false, 0, 0]);
  });

  test("every other failure is an error", async () => {
    for (const line of [listing, values]) {
      for (const stderr of [
        "find: '/sys/kernel/config/target/core': Permission denied\n",
        "grep: x: I/O error\n",
      ]) {
        await assert.rejects(
          observeLio(fakeHost({ ...oneTarget, [line]: { status: 1, stderr } })),
          CommandError,
        );
      }
      await assert.rejects(observeLio(fakeHost({ ...oneTarget, [line]: { status: 127 } })), CommandError);
    }
  });

  test("an unknown line is an error that quotes it", () => {
    assert.throws(() => parseLio(["x"], new Map()), /find in configfs: .*: x$/);
    const lun = `d\t/sys/kernel/config/target/iscsi/${iqn}/tpgt_1/lun/lun_x\t`;
    assert.throws(() => parseLio([lun], new Map()), /no LUN's name: lun_x/);
    assert.throws(() => parseSession("Session: ?"), ParseError);
  });

  test("further TPGs' portals are known, and what is half made is there", () => {
    const path = `/sys/kernel/config/target/iscsi/${iqn}`;
    const lio = parseLio(
      [`d\t${path}/tpgt_2/np/[::]:3260\t`, `d\t${path}/tpgt_1/lun/lun_3\t`, `d\t${path}/tpgt_1/acls/a\t`],
      new Map(),
    );
    assert.deepEqual(lio.otherPortals, [{ target: iqn, portal: "[::]:3260" }]);
    assert.deepEqual(lio.targets.get(iqn)?.luns.get(3), { backstore: undefined, link: undefined });
  });

  test("a session counts while it is logged in", () => {
    const info = (state: string): string =>
      `Session State: TARG_SESS_STATE_${state}\n   Address 10.10.10.2 TCP\n`;
    assert.equal(parseSession(info("LOGGED_IN")), "10.10.10.2");
    assert.equal(parseSession(info("FAILED")), undefined);
    assert.equal(parseSession("No active iSCSI Session for Initiator Endpoint: x"), undefined);
  });
});

describe("connections", () => {
  test("TCP's and RDMA's, by portal", async () => {
    const host = fakeHost(oneTarget);
    const found = await observeConnections(host);
    assert.deepEqual(host.asked, [tcp, rdma]);
    assert.deepEqual(found.get("10.10.10.1:3260"), ["10.10.10.2"]);
    assert.deepEqual(found.get("10.10.10.1:3261"), ["10.10.10.2"]);
  });

  test("a host without rdma(8) has TCP's alone; a failure is an error", async () => {
    const without = await observeConnections(fakeHost({ ...oneTarget, [rdma]: { status: 127 } }));
    assert.equal(without.get("10.10.10.1:3261"), undefined);
    await assert.rejects(observeConnections(fakeHost({ ...oneTarget, [rdma]: { status: 1 } })), CommandError);
  });

  test("IPv6, and IPv4 in IPv6, in the kernel's order of bytes", () => {
    const line = "   1: 000000FD000000000000000001000000:0CBC 0000000000000000FFFF0000020A0A0A:1234 01 0:0";
    assert.deepEqual(parseTcp(line), [["[fd00::1]:3260", "10.10.10.2:4660"]]);
    assert.deepEqual(parseTcp(line.replace(" 01 ", " 0A ")), [], "a listener is no connection");
    assert.throws(() => parseTcp("what is this"), /what is this/);
  });
});

describe("what restores LIO at boot", () => {
  test("is read from files, by distribution", async () => {
    const host = fakeHost(oneTarget);
    const found = await observeRestore(host);
    assert.deepEqual(host.asked, [restore]);
    assert.equal(found.unit, "rtslib-fb-targetctl.service");
    assert.deepEqual([found.enabled, found.ordered, found.folder], [true, true, "/etc/rtslib-fb-target"]);
    assert.deepEqual(found.modules, { lio: true, iser: true });
    assert.equal(found.blocks.get("lun0")?.device, "/dev/zvol/tank/lun0");
    assert.equal(found.blocks.get("lun0")?.attributes.get("emulate_tpu"), "1");
    const target = found.targets.get(iqn);
    assert.deepEqual(
      target?.portals,
      new Map([
        ["10.10.10.1:3260", false],
        ["10.10.10.1:3261", true],
      ]),
    );
    assert.deepEqual(target?.luns, new Map([[0, "lun0"]]));
    assert.deepEqual(target?.acls.get(initiatorName)?.luns, new Map([[0, 0]]));
  });

  test("Enterprise Linux has other names", async () => {
    const stdout = [
      "/usr/lib/systemd/system/target.service\0[Unit]",
      '/etc/target/saveconfig.json\0{"storage_objects": [{"name": "a", "plugin": "block", "dev": "/dev/x", "wwn": "1"}]}',
    ].join("\n");
    const found = await observeRestore(fakeHost({ [restore]: { status: 2, stdout } }));
    assert.deepEqual([found.unit, found.enabled, found.folder], ["target.service", false, "/etc/target"]);
    assert.deepEqual([...found.blocks.keys()], ["a"]);
  });

  test("a save file of another form is an error that shows nothing of it", () => {
    for (const text of [
      '{"secret',
      '{"targets": [{"wwn": "secret"}]}',
      '{"targets": "secret"}',
      '["secret"]',
    ]) {
      assert.throws(
        () => parseSaved(text),
        (error: Error) => {
          assert.ok(error instanceof ParseError);
          return (
            error.message.startsWith("LIO's saveconfig.json is not ") && !error.message.includes("secret")
          );
        },
      );
    }
    assert.deepEqual(parseSaved(undefined).targets.size, 0);
  });

  test("rtslib's file of nothing, and other fabrics", () => {
    assert.equal(parseSaved('{"fabric_modules": [], "storage_objects": [], "targets": []}').targets.size, 0);
    assert.equal(parseSaved('{"targets": [{"wwn": "naa.5", "fabric": "loopback"}]}').targets.size, 0);
    assert.ok(recorded("grep--lio-restore--rtslib-2.1.76").includes("saveconfig.json"));
  });
});
