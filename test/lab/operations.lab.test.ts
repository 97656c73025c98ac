import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { execa } from "execa";
import { Project, planned } from "./project.ts";

/**
 * What an operator does with a lab that stands: protects a target, grows a volume in use, sets right what was
 * changed by hand, reviews, imports. Looked at through a second channel: plain ssh.
 * The tests of this file build on each other, in this order.
 */

let project: Project;
const target = "iqn.2026-09.com.example.lab:tank";
/** With everything in it that a shell or targetcli might take for its own. */
const password = "c4nary&'! #$^*/";
const mutual = 'm4nary"; `x`\\n';
const canary = /c4nary|m4nary/;

const up = () => project.must("up", "--yes", "--skip-preview", "--stack", "lab");
const on = (host: string, line: string) => project.on("lab", host, line);
const edit = (from: string | RegExp, to: string) => project.edit("Pulumi.lab.yaml", from, to);
const ours = async () =>
  (await planned(project, "lab")).filter(({ resource }) => resource.startsWith("storagelab:"));
const review = () =>
  execa(process.execPath, ["scripts/review.mjs", "lab"], {
    cwd: project.folder,
    reject: false,
    stdin: "ignore",
  });

before(async () => {
  project = new Project();
  edit(/\n {2}storage-lab:benchmark.*/, "");
  await project.must("stack", "select", "--create", "lab");
  await up();
});

after(() => project.remove("lab"));

describe("CHAP by Pulumi secrets", () => {
  const said: string[] = [];

  test("both ways, on a target in use", async () => {
    const chap = `storage-lab:targets["${target}"].chap`;
    const set = (key: string, value: string, ...how: string[]) =>
      project.must("config", "set", "--stack", "lab", "--path", ...how, `${chap}.${key}`, value);
    await set("user", "lab");
    await set("password", password, "--secret");
    await set("mutual.user", "tank");
    await set("mutual.password", mutual, "--secret");
    await project.must("config", "set", "--stack", "lab", "storagelab:showCommands", "true");
    // Whatever runs on the hosts meanwhile: every command line that holds a part of a secret is kept.
    const watch =
      "rm -f /run/seen /run/enough; until [ -e /run/enough ]; do " +
      "grep -lsaE '[cm]4nary' /proc/[0-9]*/cmdline >>/run/seen; sleep 0.02; done";
    for (const host of ["storage", "initiator"])
      await on(host, `systemd-run --quiet --unit watch sh -c ${JSON.stringify(watch)}`);
    said.push(await project.must("preview", "--stack", "lab", "--diff"), (await review()).stdout, await up());
    for (const host of ["storage", "initiator"]) {
      await on(host, "touch /run/enough; until ! systemctl -q is-active watch; do sleep 0.1; done");
      assert.equal(await on(host, "cat /run/seen"), "", `no command line on ${host} held a secret`);
    }
    const tpg = `/sys/kernel/config/target/iscsi/${target}/tpgt_1`;
    assert.equal(await on("storage", `cat ${tpg}/attrib/authentication`), "1");
    assert.equal(await on("storage", `cat ${tpg}/acls/*/auth/password`), password);
    assert.equal(await on("initiator", "cat /sys/class/iscsi_session/session*/username"), "lab\nlab");
    assert.equal(
      await on("initiator", "cat /sys/class/iscsi_session/session*/password_in | sort -u"),
      mutual,
    );
    assert.deepEqual(await ours(), []);
  });

  test("a secret that was changed by hand is drift, without either value", async () => {
    await on(
      "storage",
      `printf %s c4nary-by-hand >/sys/kernel/config/target/iscsi/${target}/tpgt_1/acls/*/auth/password`,
    );
    const preview = await project.must("preview", "--stack", "lab");
    assert.match(preview, /Target \S+ is not as declared: chap\.password is \[secret\], declared \[secret\]/);
    said.push(preview, await up());
    assert.deepEqual(await ours(), []);
  });

  test("no secret is in what was said, in the state, its history, the stack file, or the hosts' logs", async () => {
    const state = readdirSync(join(project.folder, ".state"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    assert.ok(state.length > 3);
    const stackFile = readFileSync(join(project.folder, "Pulumi.lab.yaml"), "utf8");
    for (const text of [...said, ...state, stackFile]) assert.doesNotMatch(text, canary);
    for (const host of ["storage", "initiator"]) {
      const found = await on(
        host,
        "journalctl --no-pager | grep -cE '[cm]4nary'; grep -rlE '[cm]4nary' /var/lib/storage-lab /var/log /etc/systemd /tmp /run/storage-lab* || true",
      );
      assert.equal(found, "0");
    }
    // Where root's programs need them, root alone may read them.
    const files = "find /etc/iscsi/nodes /etc/rtslib-fb-target -type f -perm /077 -exec grep -l 4nary {} +";
    for (const host of ["storage", "initiator"])
      assert.equal(await on(host, `${files} 2>/dev/null || true`), "");
    await project.must("config", "rm", "--stack", "lab", "storagelab:showCommands");
  });
});

describe("growing a volume that is in use", () => {
  test("zvol, LUN, both sessions' disks and the XFS grow; what was written is intact; nobody is logged out", async () => {
    await on(
      "initiator",
      "mkdir -p /mnt/grow && mount /dev/disk/by-path/*3260*lun-0 /mnt/grow && head -c 20M /dev/urandom >/mnt/grow/data && sync",
    );
    const sum = await on("initiator", "sha256sum /mnt/grow/data");
    const sessions = await on("initiator", "iscsiadm -m session");
    edit("size: 2 GiB", "size: 3 GiB");
    assert.deepEqual((await ours()).map(({ resource, op }) => [resource.split("::")[0], op]).sort(), [
      ["storagelab:fs:Filesystem", "update"],
      ["storagelab:iscsi:Session", "update"],
      ["storagelab:iscsi:Session", "update"],
      ["storagelab:zfs:Volume", "update"],
    ]);
    const { exitCode, stdout } = await review();
    assert.equal(exitCode, 2);
    assert.match(stdout, /Volume tank\/lun0 \| update \| size: `2 GiB` → `3 GiB` \| online/);
    await up();
    assert.equal(await on("storage", "zfs get -Hpo value volsize tank/lun0"), "3221225472");
    assert.equal(
      await on("initiator", "lsblk -bdno SIZE /dev/disk/by-path/*3260*lun-0 /dev/disk/by-path/*3261*lun-0"),
      "3221225472\n3221225472",
    );
    const [blocks = 0, each = 0] = (await on("initiator", "stat -f -c '%b %S' /mnt/grow"))
      .split(" ")
      .map(Number);
    assert.ok(blocks * each > 2.8 * 1024 ** 3, `${blocks} blocks of ${each}`);
    assert.equal(await on("initiator", "sha256sum /mnt/grow/data"), sum);
    assert.equal(await on("initiator", "iscsiadm -m session"), sessions);
    await on("initiator", "umount /mnt/grow");
    assert.deepEqual(await ours(), []);
  });

  test("shrinking it is refused with both values, and a review says so by its status", async () => {
    edit("size: 3 GiB", "size: 1 GiB");
    const { exitCode, stdout } = await review();
    assert.equal(exitCode, 3);
    assert.match(
      stdout,
      /## Refused\n\n- \*\*storage: Volume tank\/lun0\*\* \(update\): .*3221225472.*1073741824/,
    );
    edit("size: 1 GiB", "size: 3 GiB");
    assert.equal((await review()).exitCode, 0);
  });
});

describe("what was done by hand", () => {
  test("preview --refresh shows every property with both values, of either host; up sets it right", async () => {
    await on("storage", "zfs set compression=lz4 tank/lun0 && ip link set eth1 mtu 1500");
    await on("initiator", "ip link set eth1 mtu 2000");
    const preview = await project.must("preview", "--refresh", "--diff", "--stack", "lab");
    for (const change of [/~ compression: +"lz4" => "off"/, /~ mtu *: 1500 => 4200/, /~ mtu *: 2000 => 4200/])
      assert.match(preview, change);
    await up();
    assert.equal(
      await on("storage", "zfs get -Ho value compression tank/lun0; cat /sys/class/net/eth1/mtu"),
      "off\n4200",
    );
    assert.deepEqual(await ours(), []);
  });

  test("what was deleted by hand comes back, after a refresh and without one", async () => {
    const gone = "iscsiadm -m node --logout; iscsiadm -m node -o delete";
    for (const refresh of [true, false]) {
      await on("initiator", gone);
      if (refresh) await project.must("refresh", "--yes", "--stack", "lab");
      await up();
      assert.equal((await on("initiator", "iscsiadm -m session")).split("\n").length, 2);
      assert.deepEqual(await ours(), []);
    }
  });
});

describe("pulumi import", () => {
  test("takes every resource of a lab that is in no state, and nothing is to change", async () => {
    const exported = JSON.parse(await project.must("stack", "export", "--stack", "lab")) as {
      deployment: { resources: { urn: string; type: string; id: string }[] };
    };
    const resources = exported.deployment.resources
      .filter(({ type }) => type.startsWith("storagelab:"))
      .map(({ urn, type, id }) => ({ type, id, name: urn.split("::").slice(3).join("::") }));
    const file = join(project.folder, "imports.json");
    writeFileSync(file, JSON.stringify({ resources }));
    // What may be lost is said in the stack file alone: no host can tell it.
    edit(/\n {6}wipe: .*\n {6}onDelete: destroy/, "");
    const settings = readFileSync(join(project.folder, "Pulumi.lab.yaml"), "utf8");
    await project.must("stack", "rm", "lab", "--yes", "--force", "--preserve-config");
    writeFileSync(join(project.folder, "Pulumi.lab.yaml"), settings);
    await project.must("stack", "select", "--create", "lab");
    await project.must(
      ...["import", "--yes", "--stack", "lab", "--generate-code=false", "--protect=false", "--file", file],
    );
    assert.deepEqual(await ours(), []);
    await up();
    assert.deepEqual(await planned(project, "lab"), []);
    edit("log: {mirror: 2", "onDelete: destroy\n      log: {mirror: 2");
    await up();
  });
});
