import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAttributes, parseSysfsPath, readPath } from "../../../bench/run/path.ts";
import { CommandError, ParseError, RefusedError } from "../../../provider/errors.ts";
import { recorded, type Told } from "../../recorded.ts";
import { benchHost, refused, sampleClient } from "../sample.ts";

const [iscsi, iser] = sampleClient.paths;
if (iscsi === undefined || iser === undefined) throw new Error("the sample has two paths");

const session = "/sys/class/iscsi_session/session2";
const connection = "/sys/class/iscsi_connection/connection2:0";
const attributes: Record<string, string> = {
  "/sys/class/scsi_host/host1/proc_name": "iscsi_iser",
  [`${session}/targetname`]: sampleClient.target,
  [`${session}/state`]: "LOGGED_IN",
  [`${session}/ifacename`]: "iser",
  [`${session}/first_burst_len`]: "262144",
  [`${session}/max_burst_len`]: "16776192",
  [`${session}/immediate_data`]: "1",
  [`${session}/initial_r2t`]: "1",
  [`${session}/max_outstanding_r2t`]: "1",
  [`${connection}/persistent_address`]: "10.10.10.1",
  [`${connection}/persistent_port`]: "3261",
  [`${connection}/max_recv_dlength`]: "262144",
  [`${connection}/max_xmit_dlength`]: "262144",
  [`${connection}/header_digest`]: "0",
  [`${connection}/data_digest`]: "0",
};
const find = `udevadm info --query=path --name=${iser.device}`;
const read = `grep -H '' ${Object.keys(attributes).join(" ")}`;
const probe = "blkid --probe --output export /dev/sdb";
const mounts = "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID";
const holders = "ls /sys/class/block/sdb/holders";
const grep = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([file, value]) => `${file}:${value}\n`)
    .join("");
const table = (...rows: [source: string, target: string, uuid: string | null][]): string =>
  JSON.stringify({
    filesystems: rows.map(([source, target, uuid]) => ({
      source,
      target,
      fstype: "xfs",
      options: "rw",
      uuid,
    })),
  });

const good: Record<string, Told> = {
  [find]: recorded("udevadm--path-of-iser-disk--257"),
  [read]: grep(attributes),
  [probe]: recorded("blkid--export-xfs--2.41.5"),
  [mounts]: table(["/dev/vda", "/", "11111111-7160-4eff-9c35-9e2a44cd07a1"], ["proc", "/proc", null]),
  [holders]: "",
};

test("a path is read back: block device, session, transport, parameters", async () => {
  const host = benchHost("initiator", good);
  const state = await readPath(host, sampleClient, iser);
  assert.deepEqual(
    [state.block, state.session, state.transport, state.negotiated.ifacename, state.negotiated.max_burst_len],
    ["/dev/sdb", "session2", "iscsi_iser", "iser", "16776192"],
  );
  assert.deepEqual(host.asked, [find, read, probe, mounts, holders]);
});

test("secrets of a session are not asked for", () => {
  assert.doesNotMatch(read, /password|username/);
});

const { uuid } = sampleClient.filesystem;
const wrong: [string, Record<string, Told>, RegExp][] = [
  [
    "no session",
    { [find]: refused(1, `Unknown device "${iser.device}": No such device\n`) },
    /is not there: no iser session brings this LUN\. Log in to 10\.10\.10\.1:3261/,
  ],
  [
    "a session by TCP where iSER is declared",
    { [read]: grep({ ...attributes, "/sys/class/scsi_host/host1/proc_name": "iscsi_tcp" }) },
    /its session is by iscsi_tcp, not iscsi_iser/,
  ],
  [
    "another target",
    { [read]: grep({ ...attributes, [`${session}/targetname`]: "iqn.2026-09.com.example:other" }) },
    /its target is iqn\.2026-09\.com\.example:other, the stack's is/,
  ],
  [
    "another portal",
    { [read]: grep({ ...attributes, [`${connection}/persistent_port`]: "3260" }) },
    /its portal is 10\.10\.10\.1:3260, the stack's is 10\.10\.10\.1:3261/,
  ],
  [
    "a session that has failed",
    { [read]: grep({ ...attributes, [`${session}/state`]: "FAILED" }) },
    /its session is FAILED, not LOGGED_IN/,
  ],
  [
    "another file system",
    { [probe]: "TYPE=xfs\nUUID=22222222-7160-4eff-9c35-9e2a44cd07a1\n" },
    /xfs ffc79e66-\S+ is expected on it, xfs 22222222-\S+ found/,
  ],
  ["an empty LUN", { [probe]: refused(2, "") }, /is expected on it, nothing known found/],
  [
    "the LUN is mounted through the other path",
    { [mounts]: table(["/dev/sda", "/mnt", uuid]) },
    /mounted on \/mnt \(from \/dev\/sda\).*umount \/mnt/,
  ],
  [
    "something foreign on the mount point",
    { [mounts]: table(["/dev/vdb", "/test", null]) },
    /\/dev\/vdb \(xfs\) is mounted on \/test and is not the benchmark's/,
  ],
  ["multipathd has it", { [holders]: "dm-0\n" }, /dm-0 holds it/],
];
for (const [what, change, message] of wrong) {
  test(`refused by name: ${what}`, async () => {
    await assert.rejects(
      readPath(benchHost("initiator", { ...good, ...change }), sampleClient, iser),
      (error) => {
        assert.ok(error instanceof RefusedError);
        assert.match(error.message, message);
        return error.message.startsWith("initiator: ");
      },
    );
  });
}

test("only udevadm's own word for absence is absence", async () => {
  const host = benchHost("initiator", { ...good, [find]: refused(127, "udevadm: not found") });
  await assert.rejects(readPath(host, sampleClient, iser), CommandError);
});

test("an IPv6 portal is compared in brackets", async () => {
  const path = { ...iser, portal: "[fd00::1]:3261" };
  const host = benchHost("initiator", {
    ...good,
    [read]: grep({ ...attributes, [`${connection}/persistent_address`]: "fd00::1" }),
  });
  assert.equal((await readPath(host, sampleClient, path)).portal, "[fd00::1]:3261");
});

test("sysfs as it prints", () => {
  assert.deepEqual(parseSysfsPath("/devices/platform/host2/session1/target2:0:0/2:0:0:0/block/sdaa\n"), {
    ...{ host: "2", session: "1", name: "sdaa" },
  });
  assert.throws(() => parseSysfsPath("/devices/pci0000:00/0000:00:02.0/virtio0/block/vda"), ParseError);
  assert.equal(parseAttributes(recorded("sysfs--iser-session--6.12")).get("proc_name"), "iscsi_iser");
  assert.throws(() => parseAttributes("grep: nope"), ParseError);
});
