import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Path } from "../../bench/schema/request.ts";
import type { PathState } from "../../bench/schema/result.ts";
import { onRamdiskArgv, readRamdisk, runOnRamdisk } from "../../bench/transport.ts";
import { CommandError, RefusedError } from "../../provider/errors.ts";
import { commandLine } from "../../provider/shell.ts";
import type { Told } from "../recorded.ts";
import { benchHost, refused, sampleClient, sampleRequest } from "./sample.ts";

const serial = "fbbf4921-e2a5-8f16-aac1-da6b1a9774f6";
const [, iser] = sampleClient.paths;
if (iser === undefined) throw new Error("the sample has two paths");
const device = iser.device.replace(/lun-0$/, "lun-255");
const path: Path = { ...iser, ramdisk: { device, serial, size: 67108864 } };
const state: PathState = {
  ...{ client: "initiator", protocol: "iser", portal: iser.portal, device: iser.device, block: "/dev/sdb" },
  ...{ session: "session2", transport: "iscsi_iser", negotiated: {} },
};

const sysfs = "/sys/class/block/sdc";
const ask = {
  find: `udevadm info --query=path --name=${device}`,
  vendor: `cat ${sysfs}/device/vendor`,
  model: `cat ${sysfs}/device/model`,
  serial: `tail -c +5 ${sysfs}/device/vpd_pg80`,
  size: `cat ${sysfs}/size`,
  probe: "blkid --probe --output export /dev/sdc",
  mounts: "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID",
  holders: `ls ${sysfs}/holders`,
};
const mounted = (source: string): string =>
  JSON.stringify({ filesystems: [{ source, target: "/mnt", fstype: "xfs", options: "rw", uuid: null }] });
/** As a guest of the virtual lab answered. */
const good: Record<string, Told> = {
  [ask.find]: "/devices/platform/host1/session2/target1:0:0/1:0:0:255/block/sdc\n",
  [ask.vendor]: "LIO-ORG \n",
  [ask.model]: "RAMDISK-MCP     \n",
  [ask.serial]: `${serial}\0`,
  [ask.size]: "131072\n",
  [ask.probe]: refused(2, ""),
  [ask.mounts]: mounted("/dev/vda"),
  [ask.holders]: "",
};

test("the RAM disk is found by path, told by vendor, model and serial, on the session that was looked at", async () => {
  const host = benchHost("initiator", good);
  const found = await readRamdisk(host, path, state, { size: 67108864 });
  assert.deepEqual(found, { ...state, device, block: "/dev/sdc" });
  assert.deepEqual(host.asked, Object.values(ask));
});

const wrong: [what: string, told: Record<string, Told>, message: RegExp][] = [
  [
    "no such LUN",
    { [ask.find]: refused(1, "Unknown device\n") },
    /lun-255 is not there: the iser session brings no RAM disk\. Run pulumi up/,
  ],
  [
    "a disk of a zvol",
    { [ask.model]: "IBLOCK          \n" },
    /its model is IBLOCK, the RAM disk's is RAMDISK-MCP\. It is not written to/,
  ],
  ["another maker's disk", { [ask.vendor]: "ATA     \n" }, /its vendor is ATA/],
  [
    "another target's RAM disk",
    { [ask.serial]: "00000000-e2a5-8f16-aac1-da6b1a9774f6" },
    /its serial is 00000000-\S+, the RAM disk's is fbbf4921-/,
  ],
  [
    "by another session",
    { [ask.find]: "/devices/platform/host0/session1/target0:0:0/0:0:0:255/block/sdc\n" },
    /its session is session1, the RAM disk's is session2/,
  ],
  [
    "mounted by somebody",
    { [ask.mounts]: mounted("/dev/sdc") },
    /it is mounted on \/mnt\. It is not written to; umount \/mnt/,
  ],
  ["held by multipath", { [ask.holders]: "dm-0\n" }, /dm-0 holds it/],
  ["with a file system of somebody's", { [ask.probe]: "TYPE=xfs\n" }, /it holds xfs\. It is not written to/],
  ["smaller than the test", { [ask.size]: "131071\n" }, /it has 67108352 bytes and the test is of 67108864/],
];
for (const [what, told, message] of wrong) {
  test(`refused by name, not written to: ${what}`, async () => {
    await assert.rejects(
      readRamdisk(benchHost("initiator", { ...good, ...told }), path, state, { size: 67108864 }),
      (error) =>
        error instanceof RefusedError &&
        message.test(error.message) &&
        error.message.startsWith("initiator: "),
    );
  });
}

test("a target without one: the key that declares it", async () => {
  await assert.rejects(
    readRamdisk(benchHost("initiator", {}), iser, state, { size: 1 }),
    /storage-lab:targets\.IQN\.ramdisk: 256 MiB/,
  );
});

test("what can't be read is an error, not another disk", async () => {
  const host = benchHost("initiator", { ...good, [ask.serial]: refused(1, "tail: cannot open") });
  await assert.rejects(readRamdisk(host, path, state, { size: 1 }), CommandError);
});

test("fio runs in a unit, after the serial was looked at once more", async () => {
  const host = benchHost("initiator", {}, () => ({ lines: [[0, "{}"]] }));
  const bench = {
    request: sampleRequest,
    run: { stack: "lab", id: "1" },
    storage: host,
    clients: [],
    signal: new AbortController().signal,
  };
  const lines: string[] = [];
  const answer = await runOnRamdisk(
    bench,
    { client: sampleClient, host, ownsMountPoint: false },
    { ...state, block: "/dev/sdc" },
    serial,
    "iser-transport-1",
    10,
    ["fio", "--name=x"],
    { onLine: (line) => lines.push(line) },
  );
  assert.deepEqual([answer.status, lines], [0, ["{}"]]);
  const [streamed = ""] = host.streamed;
  assert.match(streamed, /--unit=storage-lab-bench:lab:1:iser-transport-1\.service/);
  assert.ok(streamed.endsWith(commandLine(onRamdiskArgv("/dev/sdc", serial, ["fio", "--name=x"]))));
});

const home = mkdtempSync(join(tmpdir(), "storage-lab-transport-"));
after(() => rmSync(home, { recursive: true, force: true }));
test("the look as fio starts, by the shell itself: another serial, and nothing is run", () => {
  const page = join(home, "vpd_pg80");
  writeFileSync(page, Buffer.concat([Buffer.from([0, 0x80, 0, 0x25]), Buffer.from(`${serial} \0`)]));
  for (const [wanted, status, out] of [
    [serial, 0, "ran\n"],
    ["00000000-e2a5-8f16-aac1-da6b1a9774f6", 1, ""],
  ] as const) {
    const [command = "", ...args] = onRamdiskArgv("/dev/sdc", wanted, ["echo", "ran"]);
    assert.doesNotMatch(args.join(" "), /\$\{/, "systemd would replace it");
    const own = args.map((word) => (word === `${sysfs}/device/vpd_pg80` ? page : word));
    const found = spawnSync(
      command,
      own.map((word, n) => (n === 1 ? word.replace(/^blockdev.*$/m, "") : word)),
      { encoding: "utf8" },
    );
    assert.deepEqual([found.status, found.stdout], [status, out], found.stderr);
    if (status === 1)
      assert.match(
        found.stderr,
        /\/dev\/sdc has become another disk: its serial is fbbf4921-\S+, the RAM disk's is 00000000-\S+; nothing was written/,
      );
  }
});
