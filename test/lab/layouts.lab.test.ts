import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { Project, planned } from "./project.ts";

/**
 * The layouts' stack files, as they are shipped, each brought up on one guest, looked at through a second channel
 * (zpool, zfs and iscsiadm by plain ssh) and taken away again. One stack takes each file's settings in turn, so that
 * the guest is booted once.
 */

const source = resolve(import.meta.dirname, "../..");
const stack = "layouts";
let project: Project;

/** In place of Pulumi.lab.yaml, which is every layout's base: the storage host alone, no target, no benchmark. */
const storageOnly = `config:
  storage-lab:hosts: {storage: {virtual: {memory: 1536 MiB, disks: 8 x 2 GiB}}}
  storage-lab:volumes:
    tank/lun0: {size: 2 GiB, volblocksize: 16 KiB, compression: off, onDelete: destroy}
`;
const nothing = `config:
  storage-lab:base: lab
  storage-lab:pools: {}
  storage-lab:volumes: {}
`;
/** The line that Pulumi wrote when the stack was made. */
let salt = "";

const fileOf = (name: string): string => join(project.folder, `Pulumi.${name}.yaml`);
const declare = (text: string): void => writeFileSync(fileOf(stack), `${text.trimEnd()}\n${salt}`);
const up = () => project.must("up", "--yes", "--skip-preview", "--stack", stack);
const on = (host: string, line: string) => project.on(stack, host, line);

before(async () => {
  project = new Project();
  writeFileSync(fileOf("lab"), storageOnly);
  writeFileSync(fileOf(stack), nothing);
  await project.must("stack", "init", stack, "--no-select");
  salt = /^encryptionsalt:.*\n/m.exec(readFileSync(fileOf(stack), "utf8"))?.[0] ?? "";
});

after(() => project.remove(stack));

/** The vdevs of a pool by zpool's own words: `mirror-0: DISK01 DISK02`, roles as zpool heads them. */
async function layout(pool: string): Promise<string[]> {
  const status = await on("storage", `zpool status -P ${pool}`);
  assert.match(status, /state: ONLINE/);
  assert.match(status, /errors: No known data errors/);
  const found: string[] = [];
  let role = "";
  for (const line of status.slice(status.indexOf("\tNAME")).split("\n").slice(2)) {
    const [, indent = "", name = ""] = /^\t( *)(\S+)/.exec(line) ?? [];
    if (name === "") break;
    const disk = /virtio-(DISK\d+)-part1$/.exec(name)?.[1];
    if (indent === "" && disk === undefined) role = `${name} `;
    else if (disk === undefined || indent.length < 4 || role === "") {
      if (disk !== undefined && indent.length >= 4) found[found.length - 1] += ` ${disk}`;
      else found.push(`${role}${disk ?? name}${disk === undefined ? ":" : ""}`);
    } else found[found.length - 1] += ` ${disk}`;
  }
  return found;
}

const tolerates = async (): Promise<unknown> =>
  JSON.parse(await project.must("stack", "output", "tolerates", "--json", "--stack", stack));

const noBenchmark = (text: string): string =>
  text.replace("storage-lab:base: lab\n", "storage-lab:base: lab\n  storage-lab:benchmark: none\n");

const log = "logs mirror-1: DISK07 DISK08";
const six = "DISK01 DISK02 DISK03 DISK04 DISK05 DISK06";
const layouts: [name: string, vdevs: string[], tolerates: string][] = [
  [
    "lab-mirror2",
    [
      "mirror-0: DISK01 DISK02",
      "mirror-1: DISK03 DISK04",
      "mirror-2: DISK05 DISK06",
      "logs mirror-3: DISK07 DISK08",
    ],
    "data: any 1 disk of each vdev; log: any 1 disk",
  ],
  ["lab-raidz1", [`raidz1-0: ${six}`, log], "data: any 1 disk; log: any 1 disk"],
  ["lab-raidz2", [`raidz2-0: ${six}`, log], "data: any 2 disks; log: any 1 disk"],
  ["lab-raidz3", [`raidz3-0: ${six}`, log], "data: any 3 disks; log: any 1 disk"],
  ["lab-draid", [`draid2:4d:8c:1s-0: ${six} DISK07 DISK08`, "spares draid2-0-0:"], "data: any 2 disks"],
  [
    "lab-no-slog",
    ["mirror-0: DISK01 DISK02 DISK03", "mirror-1: DISK04 DISK05 DISK06"],
    "data: any 2 disks of each vdev",
  ],
  [
    "lab-l2arc",
    ["mirror-0: DISK01 DISK02 DISK03", "mirror-1: DISK04 DISK05 DISK06", "logs DISK07", "cache DISK08"],
    "data: any 2 disks of each vdev; log: no failure, if the host fails with it: the last synchronous writes would be lost; cache: any failure, it holds copies only",
  ],
  [
    "lab-special",
    [
      "mirror-0: DISK01 DISK02",
      "mirror-1: DISK03 DISK04",
      "special mirror-2: DISK05 DISK06",
      "logs mirror-3: DISK07 DISK08",
    ],
    "data: any 1 disk of each vdev; special: any 1 disk; log: any 1 disk",
  ],
];

describe("a pool of each layout", () => {
  for (const [name, vdevs, survives] of layouts) {
    test(name, async () => {
      declare(readFileSync(fileOf(name), "utf8"));
      await up();
      assert.deepEqual(await layout("tank"), vdevs);
      assert.equal(
        await on(
          "storage",
          "zfs get -Hpo value volsize,volblocksize,compression tank/lun0; zpool get -Hpo value ashift tank",
        ),
        "2147483648\n16384\noff\n12",
      );
      assert.equal(await on("storage", "test -b /dev/zvol/tank/lun0 && echo there"), "there");
      assert.deepEqual(await tolerates(), { tank: survives });
      assert.deepEqual(await planned(project, stack), [], "applied twice: no change");
    });
  }

  // Each begins on blank disks, whatever became of the one before.
  afterEach(async () => {
    declare(nothing);
    await up();
    assert.equal(await on("storage", "zpool list -H"), "");
  });
});

describe("two pools for two workloads, as shipped, over the lab's own base, with CHAP", () => {
  const iqn = (name: string): string => `iqn.2026-09.com.example.lab:${name}`;
  const password = "canary-7f3a91";

  test("each pool has its layout, its zvol, its target with portals of its own", async () => {
    cpSync(join(source, "Pulumi.lab.yaml"), fileOf("lab"));
    declare(noBenchmark(readFileSync(fileOf("lab-two-pools"), "utf8")));
    const chap = `storage-lab:targets["${iqn("fast")}"].chap`;
    for (const [key, value, ...secret] of [
      ["user", "lab"],
      ["password", password, "--secret"],
      ["mutual.user", "tank"],
      ["mutual.password", `${password}-back`, "--secret"],
    ] as const)
      await project.must("config", "set", "--stack", stack, "--path", `${chap}.${key}`, value, ...secret);
    const said = await up();
    assert.ok(!said.includes(password), "no secret in what Pulumi prints");
    assert.deepEqual(await layout("bulk"), ["raidz1-0: DISK01 DISK02 DISK03 DISK04"]);
    assert.deepEqual(await layout("fast"), ["mirror-0: DISK05 DISK06", "mirror-1: DISK07 DISK08"]);
    assert.equal(
      await on("storage", "zfs get -Hpo value volsize,volblocksize,logbias bulk/lun0 fast/lun0"),
      "2147483648\n65536\nlatency\n1073741824\n8192\nlatency",
    );
  });

  test("iscsiadm: four sessions, CHAP where it is declared and its secret in no argument", async () => {
    const sessions = (await on("initiator", "iscsiadm -m session")).split("\n");
    // In the order of their portals: their numbers are in the order of the logins, which go side by side.
    assert.deepEqual(
      sessions
        .map((line) => /^(\w+): \[\d+\] (\S+),1 (\S+)/.exec(line)?.slice(1))
        .sort((a, b) => `${a}`.localeCompare(`${b}`)),
      [
        ["iser", "10.10.10.1:3261", iqn("bulk")],
        ["iser", "10.10.10.1:3263", iqn("fast")],
        ["tcp", "10.10.10.1:3260", iqn("bulk")],
        ["tcp", "10.10.10.1:3262", iqn("fast")],
      ],
    );
    const method = (name: string) =>
      on("initiator", `iscsiadm -m node -T ${iqn(name)} -o show | grep -h authmethod | sort -u`);
    assert.equal(await method("fast"), "node.session.auth.authmethod = CHAP");
    assert.equal(await method("bulk"), "node.session.auth.authmethod = None");
    assert.doesNotMatch(await on("initiator", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), /canary/);
    assert.match(await on("storage", "targetcli ls"), /10\.10\.10\.1:3263 .*\[iser\]/);
  });

  test("no secret in clear in the state, and no change when it is applied twice", async () => {
    const state = await project.must("stack", "export", "--stack", stack);
    assert.ok(!state.includes(password));
    assert.deepEqual(await planned(project, stack), []);
  });
});
