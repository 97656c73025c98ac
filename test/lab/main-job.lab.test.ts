import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Outcome, result } from "../../bench/schema/result.ts";
import { type Planned, Project, planned } from "./project.ts";

/**
 * The main job on the virtual lab: real guests, real ZFS, LIO, iSCSI, iSER and fio, by Pulumi as an operator runs
 * it. What the provider made is looked at through a second channel: zpool, targetcli, iscsiadm by plain ssh.
 * The tests of this file build on each other, in this order.
 */

let project: Project;

before(async () => {
  project = await Project.withLab();
});

after(() => project.remove("lab", "lab-raidz2"));

const up = () => project.must("up", "--yes", "--skip-preview", "--stack", "lab");
const on = (host: string, line: string) => project.on("lab", host, line);
const sessions = async () => (await on("initiator", "iscsiadm -m session")).split("\n").sort();
const operations = (steps: Planned[], op: string) =>
  steps.filter((step) => step.op === op).map(({ resource }) => resource);

describe("stack files", () => {
  test("lab A's hardware is planned without reaching it; each host is said once", async () => {
    await project.must("stack", "init", "r710", "--no-select");
    const preview = JSON.parse(await project.must("preview", "--stack", "r710", "--json"));
    const pool = preview.steps.find(({ urn }: { urn: string }) => urn.endsWith("zfs:Pool::tank"));
    const vdevs = pool.newState.inputs.vdevs as { role: string; disks: string[] }[];
    assert.equal(vdevs.filter(({ role }) => role === "data").length, 24);
    for (const { role, disks } of vdevs) {
      if (role !== "data") continue;
      assert.deepEqual(
        disks.map((disk) => /D2700-(\d)/.exec(disk)?.[1]),
        ["1", "2", "3"],
      );
    }
    const said = (preview.diagnostics as { message: string }[]).map(({ message }) => message);
    assert.equal(said.filter((message) => /storage \(root@r710\) did not answer/.test(message)).length, 1);
    assert.equal(said.filter((message) => /initiator \(root@dl380\) did not answer/.test(message)).length, 1);
  });

  test("a wrong one is refused with the key and the rule, before anything is touched", async () => {
    for (const [from, to, message] of [
      [
        "onDelete: destroy\n",
        "onDelete: destroy\n      colour: red\n",
        /storage-lab:pools\.tank\.colour: there is no such key/,
      ],
      ["size: 2 GiB,", "size: 2 GB,", /volumes\.tank\/lun0\.size: "2 GB" is no size/],
      ["volblocksize: 16 KiB", "volblocksize: 12 KiB", /lun0\.volblocksize: 12 KiB is no power of two/],
      [', iser: "10.10.10.1:3261"', "", /portals\.iser: missing/],
    ] as const) {
      project.edit("Pulumi.lab.yaml", from, to);
      const { exitCode, all } = await project.pulumi("up", "--yes", "--skip-preview", "--stack", "lab");
      project.edit(
        "Pulumi.lab.yaml",
        to === "" ? 'iscsi: "10.10.10.1:3260"' : to,
        to === "" ? `iscsi: "10.10.10.1:3260"${from}` : from,
      );
      assert.notEqual(exitCode, 0);
      assert.match(all, message);
      assert.doesNotMatch(all, /at .*\.ts:\d+/, "no stack trace");
      assert.equal(existsSync(join(project.folder, ".lab")), false);
    }
  });
});

describe("from nothing", () => {
  test("a preview plans everything without a host", async () => {
    const steps = await planned(project, "lab");
    assert.ok(steps.every(({ op }) => op === "create"));
    for (const type of ["zfs:Pool", "zfs:Volume", "lio:Target", "iscsi:Session", "fs:Filesystem"]) {
      assert.ok(
        steps.some(({ resource }) => resource.startsWith(`storagelab:${type}`)),
        type,
      );
    }
  });

  test("up builds the lab and measures both protocols in both directions", async () => {
    await up();
    const outputs = JSON.parse(await project.must("stack", "output", "--json", "--stack", "lab"));
    assert.equal(outputs.targetIqn, "iqn.2026-09.com.example.lab:tank");
    assert.deepEqual(outputs.portals, { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3261" });
    assert.match(outputs.devices.iser, /^\/dev\/disk\/by-path\/ip-10\.10\.10\.1:3261-iscsi-iqn\..*-lun-0$/);
    const runs = outputs.results as Outcome["runs"];
    assert.deepEqual(
      runs.map(({ run, valid }) => [run, valid]),
      ["iSCSI write", "iSCSI read", "iSER write", "iSER read"].map((run) => [run, true]),
    );
    for (const run of runs) {
      const bandwidth = run.run.endsWith("write") ? run["write MB/s"] : run["read MB/s"];
      assert.ok((bandwidth ?? 0) > 0 && (run["clat p99.9 ms"] ?? 0) > 0, JSON.stringify(run));
    }
    assert.ok(existsSync(join(project.folder, outputs.summary)), outputs.summary);
    assert.match(readFileSync(join(project.folder, outputs.report), "utf8"), /^<!doctype html>/i);
    const { runs: measured } = result.parse(
      JSON.parse(readFileSync(join(project.folder, outputs.summaryJson), "utf8")),
    );
    for (const { spec, preconditions } of measured) {
      assert.ok(preconditions.length >= 9, `${spec.id}: ${preconditions.map(({ name }) => name).join(", ")}`);
      assert.deepEqual(
        preconditions.filter(({ holds }) => holds === false),
        [],
      );
    }
    const raw = readdirSync(join(project.folder, outputs.rawFolder));
    for (const file of [
      "fio-iser-sequential-read",
      "mpstat-storage-iscsi-sequential-write",
      "zpool-iostat",
      "telemetry",
    ]) {
      assert.ok(
        raw.some((name) => name.startsWith(file)),
        `${file} in ${raw.join(" ")}`,
      );
    }
  });
});

describe("what stands, by the hosts' own tools", () => {
  test("zpool and zfs", async () => {
    const status = await on("storage", "zpool status -P tank");
    assert.equal(status.match(/mirror-\d/g)?.length, 3);
    assert.match(status, /logs\s+mirror-2/);
    assert.match(status, /errors: No known data errors/);
    const properties = await on("storage", "zfs get -Hpo value volsize,volblocksize,compression tank/lun0");
    assert.equal(properties, "2147483648\n16384\noff");
  });

  test("targetcli", async () => {
    const tree = await on("storage", "targetcli ls");
    assert.match(tree, /10\.10\.10\.1:3260 .*\[OK\]/);
    assert.match(tree, /10\.10\.10\.1:3261 .*\[iser\]/);
    assert.match(tree, /iqn\.2026-09\.com\.example\.lab:initiator .*\[.*Mapped LUNs: 1\]/);
    assert.doesNotMatch(tree, /0\.0\.0\.0/);
  });

  test("iscsiadm and blkid", async () => {
    const lines = await sessions();
    assert.equal(lines.length, 2);
    assert.match(lines.join("\n"), /^iser: .*10\.10\.10\.1:3261/m);
    assert.match(lines.join("\n"), /^tcp: .*10\.10\.10\.1:3260/m);
    assert.match(await on("initiator", "blkid -o value -s TYPE /dev/disk/by-path/*3260*lun-0"), /xfs/);
    assert.equal(await on("initiator", "findmnt -nt xfs || true"), "", "nothing stays mounted");
  });
});

describe("again", () => {
  test("up changes nothing", async () => {
    assert.deepEqual(await planned(project, "lab"), []);
    assert.doesNotMatch(await up(), /created|updated|deleted|replaced/);
  });

  test("what was changed by hand is shown and set back", async () => {
    await on("storage", "zfs set compression=lz4 tank/lun0");
    const preview = await project.must("preview", "--stack", "lab");
    assert.match(preview, /Volume tank\/lun0 is not as declared: compression is lz4, declared off/);
    await up();
    assert.equal(await on("storage", "zfs get -Ho value compression tank/lun0"), "off");
  });

  test("a new compression is one property, set in place; the sessions stay", async () => {
    const before = await sessions();
    project.edit("Pulumi.lab.yaml", "compression: off", "compression: lz4");
    const steps = await planned(project, "lab");
    assert.deepEqual(
      steps.filter(({ resource }) => resource.startsWith("storagelab:")),
      [{ resource: "storagelab:zfs:Volume::tank/lun0", op: "update", changes: ["compression"] }],
    );
    await up();
    assert.equal(await on("storage", "zfs get -Ho value compression tank/lun0"), "lz4");
    assert.deepEqual(await sessions(), before);
  });

  test("a new volblocksize is a replace of the zvol and of all that stands on it", async () => {
    project.edit("Pulumi.lab.yaml", "volblocksize: 16 KiB", "volblocksize: 32 KiB");
    const steps = await planned(project, "lab");
    const replaced = operations(steps, "replace");
    for (const type of ["zfs:Volume", "lio:Backstore", "lio:Target", "iscsi:Session", "fs:Filesystem"]) {
      assert.ok(
        replaced.some((resource) => resource.startsWith(`storagelab:${type}`)),
        `${type} in ${replaced}`,
      );
    }
    assert.ok(
      !replaced.some((resource) => /Pool|Machine|Interface|RdmaLink/.test(resource)),
      replaced.join(" "),
    );
    await up();
    assert.equal(await on("storage", "zfs get -Hpo value volblocksize tank/lun0"), "32768");
    assert.deepEqual(await planned(project, "lab"), []);
  });
});

test("after both guests have restarted everything is back", async () => {
  const boots = await Promise.all(
    ["storage", "initiator"].map((host) => on(host, "cat /proc/sys/kernel/random/boot_id")),
  );
  await Promise.all(["storage", "initiator"].map((host) => on(host, "systemctl reboot").catch(() => "")));
  for (const [number, host] of ["storage", "initiator"].entries()) {
    await until(300, async () => {
      const boot = await on(
        host,
        "systemctl is-system-running --wait >/dev/null; cat /proc/sys/kernel/random/boot_id",
      );
      return boot !== boots[number];
    });
  }
  await until(120, async () => (await sessions()).length === 2);
  assert.deepEqual(await planned(project, "lab"), []);
});

test("a guest whose power fails is started again by the next up, and all that was on it is there", async () => {
  const pid = readFileSync(join(project.folder, ".lab/lab/storage/qemu.pid"), "utf8").trim();
  process.kill(Number(pid), "SIGKILL");
  await until(30, async () => !existsSync(`/proc/${pid}`));
  assert.match(
    await project.must("preview", "--stack", "lab"),
    /Machine \.lab\/\S+\/storage is not as declared\. To do: start the virtual machine storage/,
  );
  await up();
  assert.equal((await sessions()).length, 2);
  assert.deepEqual(await planned(project, "lab"), []);
});

test("another layout stands beside it, on guests of its own", async () => {
  project.edit("Pulumi.lab-raidz2.yaml", /base: lab$/m, "$&\n  storage-lab:benchmark: none");
  await project.must("stack", "init", "lab-raidz2", "--no-select");
  await project.must("up", "--yes", "--skip-preview", "--stack", "lab-raidz2");
  assert.match(await project.on("lab-raidz2", "storage", "zpool status tank"), /raidz2-0/);
  assert.equal((await project.on("lab-raidz2", "initiator", "iscsiadm -m session")).split("\n").length, 2);
  assert.deepEqual(await planned(project, "lab"), []);
  await project.must("destroy", "--yes", "--stack", "lab-raidz2");
  assert.deepEqual(await planned(project, "lab"), []);
});

test("destroy leaves nothing: sessions, target, pool, guests", async () => {
  await project.must("destroy", "--yes", "--stack", "lab");
  assert.equal(existsSync(join(project.folder, ".lab/lab/storage")), false);
  assert.equal(existsSync(join(project.folder, ".lab/lab/initiator")), false);
});

/** Wait for a condition with a deadline; a host that does not answer yet is no failure. */
async function until(seconds: number, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const ok = await condition().catch(() => false);
    if (ok) return;
    if (Date.now() > deadline) throw new Error(`not so after ${seconds} s: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
