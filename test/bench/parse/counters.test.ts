import assert from "node:assert/strict";
import { test } from "node:test";
import { parseHardware, parsePciNames } from "../../../bench/environment/hardware.ts";
import { parseIbCounters } from "../../../bench/parse/infiniband.ts";
import { parseSessionStatistics, sessionFaults } from "../../../bench/parse/iscsi-statistics.ts";
import { lioCounters, parseLioStatistics } from "../../../bench/parse/lio.ts";
import { parsePerfStat } from "../../../bench/parse/perf.ts";
import { ParseError } from "../../../provider/errors.ts";
import { parseGrep } from "../../../provider/files.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertNear, assertTotal } from "./total.ts";

/** Counters of devices, target and sessions. */

const throws = (parse: () => unknown, said: RegExp): void =>
  assert.throws(parse, (error) => error instanceof ParseError && said.test(error.message));

const port = "/sys/class/infiniband/mlx4_0/ports/1";

test("an InfiniBand port counts data in words of four bytes", () => {
  const files = new Map([
    [`${port}/counters/port_rcv_data`, "1000\n"],
    [`${port}/counters/port_xmit_data`, "18446744073709551615\n"],
    [`${port}/counters/port_rcv_packets`, "7"],
    [`${port}/counters/port_xmit_packets`, "8"],
    [`${port}/counters/port_xmit_wait`, "9"],
    [`${port}/counters/symbol_error`, "2"],
    [`${port}/counters/multicast_rcv_packets`, "N/A (no PMA)"],
    [`${port}/hw_counters/out_of_sequence`, "3"],
    [`${port}/hw_counters/lifespan`, "12"],
  ]);
  const [found] = parseIbCounters(files);
  assert.deepEqual(
    [found?.device, found?.port, found?.received, found?.receivedPackets, found?.sentPackets, found?.errors],
    ["mlx4_0", 1, 4000, 7, 8, 5],
  );
  assert.deepEqual([...(found?.counters.keys() ?? [])].includes("lifespan"), false);
  assert.equal(found?.counters.has("multicast_rcv_packets"), false);
  throws(() => parseIbCounters(new Map([[`${port}/counters/port_rcv_data`, "many"]])), /"many" is no count/);
  throws(() => parseIbCounters(new Map([["/sys/class/net/eth0/mtu", "1"]])), /unknown file/);
});

for (const name of recordings("grep", /^rxe-counters/)) {
  test(`${name}: soft-RoCE counts packets, and no bytes; to itself it sent what it received`, () => {
    const [rxe, ...others] = parseIbCounters(parseGrep(recorded(name)));
    assert.deepEqual(others, []);
    assert.deepEqual([rxe?.device, rxe?.port, rxe?.received, rxe?.sent], ["rxe0", 1, null, null]);
    assert.ok((rxe?.sentPackets ?? 0) > 100);
    assertNear(rxe?.sentPackets ?? 0, rxe?.receivedPackets ?? 0, 0.01, "packets");
    assertNear(rxe?.counters.get("rdma_sends") ?? 0, rxe?.counters.get("rdma_recvs") ?? 0, 0.01, "messages");
  });
}

// Two sessions of one initiator, each wrote 24 MiB and read 12, and what it takes to see what is on the disk.
const mebibyte = 2 ** 20;

for (const name of recordings("grep", /^lio-statistics/)) {
  test(`${name}: megabytes are of 2^20 bytes: what both sessions wrote and read`, () => {
    const { backstores, luns, sessions } = parseLioStatistics(parseGrep(recorded(name)));
    const backstore = backstores.get("iblock_0/lun0");
    assert.equal(backstore?.written, 48 * mebibyte);
    assert.ok(backstore && backstore.read >= 24 * mebibyte && backstore.read < 32 * mebibyte);
    const [lun] = luns;
    const target = "iqn.2026-09.com.example.lab:tank";
    // The LUN's were read a moment later.
    assert.deepEqual(lun, { target, tpg: 1, lun: 0, ...backstore, commands: lun?.commands });
    assertNear(lun?.commands ?? 0, backstore.commands, 0.01, "commands");
    const [session] = sessions;
    assert.deepEqual(
      [session?.target, session?.initiator],
      [target, "iqn.2026-09.com.example.lab:initiator"],
    );
    assert.ok((session?.counters.get("cmd_pdus") ?? 0) > 280);
    assert.deepEqual([...(session?.counters.keys() ?? [])].sort(), [...lioCounters.session].sort());
  });
}

for (const name of recordings("iscsiadm", /^session-statistics/)) {
  test(`${name}: TCP counts octets, iser commands only`, () => {
    const [tcp, iser, ...others] = parseSessionStatistics(recorded(name));
    assert.deepEqual(others, []);
    assert.deepEqual([tcp?.portal, iser?.portal], ["10.10.10.1,3260", "10.10.10.1,3261"]);
    const [sent = 0, received = 0] = ["txdata_octets", "rxdata_octets"].map((octets) =>
      tcp?.counters.get(octets),
    );
    assert.ok(sent > 24 * mebibyte && sent < 25 * mebibyte, `${sent}`);
    assert.ok(received > 12 * mebibyte && received < 16 * mebibyte, `${received}`);
    assert.equal(iser?.counters.get("txdata_octets"), 0);
    assert.equal(tcp?.counters.get("scsicmd_pdus"), tcp?.counters.get("scsirsp_pdus"));
    assert.ok((iser?.counters.get("scsicmd_pdus") ?? 0) > 280);
    assert.equal(tcp?.counters.get("digest_err"), 0);
  });
}

test("what LIO or a session doesn't count is an error", () => {
  const base = "/sys/kernel/config/target/core/iblock_0/lun0/statistics/scsi_lu";
  throws(() => parseLioStatistics(new Map([[`${base}/num_cmds`, "1"]])), /iblock_0\/lun0 has no read_mbytes/);
  throws(() => parseLioStatistics(new Map([[`${base}/num_cmds`, "one"]])), /"one" is no count/);
  throws(() => parseLioStatistics(new Map([[`${base}/vend`, "LIO"]])), /unknown file/);
  throws(() => parseSessionStatistics("\tdigest_err: 0\n"), /unknown line "\\tdigest_err: 0"/);
  throws(() => parseSessionStatistics("iscsiadm: No active sessions.\n"), /No active sessions/);
});

for (const name of recordings("lspci", /^links/)) {
  test(`${name}: HBA, NVMe drive and NIC behind root ports have links, virtio on the root bus has none`, () => {
    const { pcie } = parseHardware(
      recorded(name.replace("lspci--links", "grep--pcie-links")),
      parsePciNames(recorded(name)),
    );
    // QEMU's devices say one lane of the first generation, whatever their port.
    const link = { width: 1, maximumWidth: 1, speed: 2.5, maximumSpeed: 2.5 };
    assert.deepEqual(pcie, [
      { device: "Broadcom / LSI MegaRAID SAS 2108 [Liberator]", kind: "hba", ...link },
      { device: "Red Hat, Inc. QEMU NVM Express Controller", kind: "nvme", ...link },
      { device: "Intel Corporation 82574L Gigabit Network Connection", kind: "nic", ...link },
    ]);
  });
}

for (const name of recordings("perf")) {
  test(`${name}: each event at each interval; what the processor lacks is null`, () => {
    const counts = parsePerfStat(recorded(name));
    const events = ["cycles", "instructions", "context-switches", "cpu-clock", "page-faults"];
    assert.deepEqual(
      counts.map(({ event }) => event),
      counts.map((_, at) => events[at % events.length]),
    );
    assert.equal(
      counts.every(({ time }) => time === null),
      name.includes("whole"),
    );
    const clock = counts.find(({ event }) => event === "cpu-clock");
    assert.equal(clock?.unit, "msec");
    assert.ok(clock.count !== null && clock.count > 0);
    for (const { count, running } of counts) {
      assert.ok(count === null || count >= 0);
      assert.ok(running === null || running <= 100);
    }
  });
}

test("perf: a count with its share of the time, and lines that are no counts", () => {
  assert.deepEqual(parsePerfStat("# started on Mon\n\n     1.000,123456,,cycles,500,50.00,1.2,GHz\n"), [
    { time: 1, event: "cycles", count: 123456, unit: "", running: 50 },
  ]);
  throws(() => parsePerfStat("Error: no access\n"), /no count/);
  throws(() => parsePerfStat("1,2\n"), /count, unit and event expected/);
  throws(() => parsePerfStat("1,,cycles,5,all,\n"), /"all" is no share/);
});

test("any text is parsed or a ParseError", () => {
  assertTotal((text) => parseIbCounters(parseGrep(text)), recorded("grep--rxe-counters--linux-6.12"));
  assertTotal((text) => parseLioStatistics(parseGrep(text)), recorded("grep--lio-statistics--linux-6.12"));
  assertTotal(parseSessionStatistics, recorded("iscsiadm--session-statistics--open-iscsi-2.1.11"));
  assertTotal(parsePerfStat, recorded("perf--intervals--6.1.187"));
});

test("what went wrong in sessions is said by what their counters grew; a relogin too", () => {
  const before = recorded("iscsiadm--session-statistics--open-iscsi-2.1.11");
  assert.deepEqual(sessionFaults(before, before), []);
  const after = before
    .replace("\tdigest_err: 0", "\tdigest_err: 2")
    .replace("\ttimeout_err: 0", "\ttimeout_err: 1")
    .replace("\tscsicmd_pdus: 452", "\tscsicmd_pdus: 900")
    .replace("[sid: 6,", "[sid: 7,");
  assert.deepEqual(sessionFaults(before, after), [
    "iSCSI session 5 at 10.10.10.1,3260: digest_err +2, timeout_err +1",
    "iSCSI session 6 at 10.10.10.1,3261 ended meanwhile",
    "iSCSI session 7 at 10.10.10.1,3261 was logged in meanwhile",
  ]);
});
