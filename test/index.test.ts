import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as pulumi from "@pulumi/pulumi";
import { request } from "../bench/schema/request.ts";
import { Lifecycle } from "../provider/lifecycle.ts";
import { typeOf } from "../provider/registry.ts";

/** The program against a fake engine: what it asks for is what the provider accepts, and depends on what it should. */

type Made = { type: string; name: string; inputs: Record<string, unknown>; id: string };
const made: Made[] = [];

const target = "iqn.2026-09.com.example.lab:tank";
const stack = {
  hosts: {
    storage: { virtual: { memory: "1536 MiB", disks: "8 x 2 GiB" } },
    initiator: { ssh: "root@dl380", sudo: true, iqn: "iqn.2026-09.com.example.lab:initiator" },
  },
  pools: {
    tank: {
      host: "storage",
      data: { mirror: 3, disks: "by-id/virtio-DISK{01..06}" },
      log: { mirror: 2, disks: "by-id/virtio-DISK{07..08}" },
    },
  },
  volumes: { "tank/lun0": { size: "2 GiB" }, "tank/lun1": { size: "1 GiB", compression: "lz4" } },
  fabric: {
    link: {
      kind: "rxe",
      device: { storage: "eth1", initiator: "ens3" },
      mtu: 4200,
      addresses: { storage: "10.10.10.1/24", initiator: "10.10.10.2/24" },
    },
  },
  targets: {
    [target]: {
      luns: ["tank/lun0", "tank/lun1"],
      portals: { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3261" },
      initiators: ["initiator"],
    },
  },
  filesystem: {},
  benchmark: { size: "1 GiB", runtime: "60 s" },
};

/** Runs the program on a stack file; resolves to what it asked the engine for. */
let runs = 0;
async function program(settings: object): Promise<Made[]> {
  made.length = 0;
  pulumi.runtime.setAllConfig(
    Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`storage-lab:${key}`, JSON.stringify(value)]),
    ),
  );
  await pulumi.runtime.setMocks(
    {
      newResource({ type, name, inputs }) {
        const resource = typeOf(type);
        made.push({ type, name, inputs, id: `${name}_id` });
        const plain = JSON.parse(JSON.stringify(inputs));
        const outputs =
          resource === undefined ? { stdout: "{}" } : resource.outputs(plain as never, undefined);
        // Known when it is made: only its origin tells that this clone is a volume.
        const clone = type === "storagelab:zfs:Clone" ? { device: `/dev/zvol/${plain.name}` } : {};
        const uuid = "d922ce42-fa81-8ccb-a2af-d22a64ae1b33";
        const ramdisk = type === "storagelab:lio:Ramdisk" ? { serial: uuid } : {};
        return { id: `${name}_id`, state: { ...inputs, ...outputs, ...clone, ...ramdisk, uuid } };
      },
      call: () => ({}),
    },
    "storage-lab",
    "lab",
    false,
  );
  // A module of its own for each run: the program is what the module does.
  runs += 1;
  const { default: outputs } = (await import(`../index.ts?run=${runs}`)) as { default: object };
  await pulumi.runtime.disconnect();
  exported = outputs;
  return [...made];
}
let exported: object = {};

before(() => program(stack));

const inputsOf = (type: string, of: Made[] = made): Record<string, unknown>[] =>
  of.filter((resource) => resource.type === `storagelab:${type}`).map(({ inputs }) => inputs);

test("every resource's inputs pass the provider's own check", () => {
  const lifecycle = new Lifecycle();
  const ours = made.flatMap(({ type, inputs }) => {
    const resource = typeOf(type);
    return resource === undefined ? [] : [[type, lifecycle.check(resource, inputs, [])] as const];
  });
  assert.equal(ours.length, 15);
  for (const [type, problems] of ours) assert.deepEqual(problems, [], type);
});

test("real hosts are reached as ssh does, virtual ones by their machine's ssh_config", () => {
  const [pool] = inputsOf("zfs:Pool");
  assert.deepEqual(pool?.host, {
    name: "storage",
    ssh: "storage",
    config: ".lab/lab/storage/ssh_config",
    machine: ".lab/lab/storage",
  });
  assert.deepEqual(inputsOf("iscsi:Initiator")[0]?.host, {
    name: "initiator",
    ssh: "root@dl380",
    sudo: true,
  });
  assert.equal(inputsOf("vm:Machine").length, 1);
});

test("each LUN is a backstore on its volume's device, in the declared order", () => {
  assert.deepEqual(
    inputsOf("lio:Backstore").map(({ name, device }) => [name, device]),
    [
      ["tank-lun0", "/dev/zvol/tank/lun0"],
      ["tank-lun1", "/dev/zvol/tank/lun1"],
    ],
  );
  assert.deepEqual(inputsOf("lio:Target")[0]?.luns, [
    { lun: 0, backstore: "tank-lun0" },
    { lun: 1, backstore: "tank-lun1" },
  ]);
});

test("the initiator logs in once by each protocol, to that protocol's portal, and looks for the volumes' sizes", () => {
  const sizes = ["2 GiB", "1 GiB"];
  assert.deepEqual(
    inputsOf("iscsi:Session").map((inputs) => [inputs.portal, inputs.transport, inputs.luns, inputs.sizes]),
    [
      ["10.10.10.1:3260", "tcp", [0, 1], sizes],
      ["10.10.10.1:3261", "iser", [0, 1], sizes],
    ],
  );
  assert.deepEqual(
    inputsOf("fs:Filesystem").map(({ type, size }) => [type, size]),
    [["xfs", "2 GiB"]],
  );
});

test("which failures a pool survives is an output", () => {
  assert.deepEqual((exported as { tolerates: unknown }).tolerates, {
    tank: "data: any 2 disks of each vdev; log: any 1 disk",
  });
});

const requestIn = (of: Made[]) =>
  request.parse(JSON.parse(String(of.find(({ type }) => type === "command:local:Command")?.inputs.stdin)));

test("the benchmark is asked for the paths that the sessions bring, tests resolved", () => {
  const asked = requestIn(made);
  assert.deepEqual(
    asked.clients.map(({ name, target: iqn, paths }) => [
      ...[name, iqn, ...paths.map(({ protocol, device }) => `${protocol} ${device}`)],
    ]),
    [
      [
        ...["initiator", target],
        `iscsi /dev/disk/by-path/ip-10.10.10.1:3260-iscsi-${target}-lun-0`,
        `iser /dev/disk/by-path/ip-10.10.10.1:3261-iscsi-${target}-lun-0`,
      ],
    ],
  );
  assert.deepEqual(
    asked.tests.map((test) => test.kind === "fio" && [test.test, test.size, test.runtime, test.blockSize]),
    [
      ["write", 1073741824, 60, 524288],
      ["read", 1073741824, 60, 524288],
    ],
  );
  assert.equal(asked.virtual, true);
});

test("several targets are several clients at once; what judges figures is no part of their fingerprint", async () => {
  const iqn = (name: string) => `iqn.2026-09.com.example.lab:${name}`;
  const two = {
    ...stack,
    targets: {
      [iqn("b")]: { ...stack.targets[target], luns: ["tank/lun0"] },
      [iqn("a")]: {
        luns: ["tank/lun1"],
        portals: { iscsi: "10.10.10.1:3262", iser: "10.10.10.1:3263" },
        initiators: ["initiator"],
      },
    },
    benchmark: { ...stack.benchmark, size: "512 MiB", protocols: ["iser"] },
  };
  const names = (of: Made[]) => requestIn(of).clients.map(({ name, volume }) => [name, volume]);
  const triggers = (of: Made[]) => of.find(({ type }) => type === "command:local:Command")?.inputs.triggers;
  const first = await program(two);
  assert.deepEqual(names(first), [["initiator", "tank/lun1"]]);
  const needs = { write: "400 MB/s", latency: { percentile: 99, atMost: "20 ms" }, capacity: "1 TiB" };
  const needed = await program({ ...two, benchmark: { ...two.benchmark, needs } });
  assert.deepEqual(requestIn(needed).needs, {
    ...{ write: 400, latency: { percentile: 99, ms: 20 }, capacity: 1099511627776 },
  });
  assert.deepEqual(triggers(needed), triggers(first));
  const both = await program({
    ...two,
    benchmark: { ...two.benchmark, targets: [iqn("b"), iqn("a")] },
  });
  assert.deepEqual(names(both), [
    [`initiator/${iqn("b")}`, "tank/lun0"],
    [`initiator/${iqn("a")}`, "tank/lun1"],
  ]);
  assert.deepEqual(
    requestIn(both).clients.map(({ paths }) => paths.map(({ protocol }) => protocol)),
    [["iser"], ["iser"]],
  );
  assert.notDeepEqual(triggers(both), triggers(first));
});

test("a RAM disk is a device of each session, with the serial that it has to show", async () => {
  const of = await program({
    ...stack,
    targets: { [target]: { ...stack.targets[target], ramdisk: "256 MiB" } },
    benchmark: { workload: "transport" },
  });
  assert.deepEqual(
    requestIn(of).clients[0]?.paths.map(({ protocol, ramdisk }) => [
      protocol,
      ramdisk?.device,
      ramdisk?.size,
    ]),
    [
      ["iscsi", `/dev/disk/by-path/ip-10.10.10.1:3260-iscsi-${target}-lun-255`, 268435456],
      ["iser", `/dev/disk/by-path/ip-10.10.10.1:3261-iscsi-${target}-lun-255`, 268435456],
    ],
  );
});

test("CHAP goes to the target and to its sessions as a secret, and into no fingerprint", async () => {
  const chap = { user: "lab", password: "canary-7f3a91", mutual: { user: "tank", password: "canary-back" } };
  const withChap = { ...stack, targets: { [target]: { ...stack.targets[target], chap } } };
  const of = await program(withChap);
  const wanted = {
    user: "lab",
    password: "canary-7f3a91",
    mutualUser: "tank",
    mutualPassword: "canary-back",
  };
  const ours = [...inputsOf("lio:Target", of), ...inputsOf("iscsi:Session", of)];
  assert.equal(ours.length, 3);
  for (const inputs of ours) assert.deepEqual(secretValue(inputs.chap), wanted);
  const others = of.filter(({ type }) => !/lio:Target|iscsi:Session/.test(type));
  assert.doesNotMatch(JSON.stringify(others), /canary/);
  const triggers = (all: Made[]) => all.find(({ type }) => type === "command:local:Command")?.inputs.triggers;
  assert.deepEqual(triggers(of), triggers(await program(stack)));
});

/** Pulumi's envelope of a secret: its content; anything else is no secret. */
function secretValue(value: unknown): unknown {
  const { "4dabf18193072939515e22adb298388d": kind, value: inside } = value as Record<string, unknown>;
  assert.equal(kind, "1b47061264138c4ac30d75fd1eb44270", JSON.stringify(value));
  return inside;
}

test("datasets, snapshots and clones: each stands on what it lies in, or begins as", async () => {
  const { benchmark: _benchmark, ...rest } = stack;
  const key = "canary-key-of-8-and-more";
  const of = await program({
    ...rest,
    datasets: {
      "tank/apps/db": { recordsize: "16 KiB" },
      "tank/apps": { canmount: "off", encryption: "aes-256-gcm", keyformat: "passphrase", key },
    },
    volumes: { "tank/apps/lun0": { size: "1 GiB" } },
    snapshots: { "tank/apps@all": { recursive: true }, "tank/apps/lun0@before": { onDelete: "destroy" } },
    clones: {
      "tank/apps/copy": { snapshot: "tank/apps/lun0@before" },
      "tank/old": { snapshot: "tank/apps/lun0@by-hand" },
    },
    targets: { [target]: { ...stack.targets[target], luns: ["tank/apps/lun0", "tank/apps/copy"] } },
  });
  const names = (type: string) => inputsOf(type, of).map(({ name }) => name);
  assert.deepEqual(names("zfs:Dataset"), ["tank/apps", "tank/apps/db"]);
  assert.deepEqual(names("zfs:Volume"), ["tank/apps/lun0"]);
  assert.deepEqual(names("zfs:Snapshot").sort(), ["tank/apps/lun0@before", "tank/apps@all"]);
  assert.deepEqual(
    inputsOf("zfs:Clone", of)
      .map(({ name, snapshot }) => [name, snapshot])
      .sort(),
    [
      ["tank/apps/copy", "tank/apps/lun0@before"],
      ["tank/old", "tank/apps/lun0@by-hand"],
    ],
  );
  assert.deepEqual(
    inputsOf("lio:Backstore", of).map(({ name, device }) => [name, device]),
    [
      ["tank-apps-lun0", "/dev/zvol/tank/apps/lun0"],
      ["tank-apps-copy", "/dev/zvol/tank/apps/copy"],
    ],
  );
  assert.equal(secretValue(inputsOf("zfs:Dataset", of)[0]?.key), key);
  for (const session of inputsOf("iscsi:Session", of)) assert.equal(session.sizes, undefined);
});

test("two pools on one host, a target each; two initiators: the first makes the file system", async () => {
  const { benchmark: _benchmark, ...rest } = stack;
  const iqn = (name: string) => `iqn.2026-09.com.example.lab:${name}`;
  const of = await program({
    ...rest,
    hosts: { ...stack.hosts, second: { ssh: "second", iqn: iqn("second") } },
    pools: {
      bulk: { host: "storage", data: { raidz1: 4, disks: "by-id/virtio-DISK{01..04}" } },
      fast: { host: "storage", data: { mirror: 2, disks: "by-id/virtio-DISK{05..08}" } },
    },
    volumes: { "bulk/lun0": { size: "2 GiB" }, "fast/lun0": { size: "1 GiB" } },
    targets: {
      [iqn("bulk")]: {
        luns: ["bulk/lun0"],
        portals: { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3261" },
        initiators: ["initiator", "second"],
      },
      [iqn("fast")]: {
        luns: ["fast/lun0"],
        portals: { iscsi: "10.10.10.1:3262", iser: "10.10.10.1:3263" },
        initiators: ["second"],
      },
    },
  });
  assert.deepEqual(
    inputsOf("zfs:Pool", of).map(({ name }) => name),
    ["bulk", "fast"],
  );
  assert.equal(inputsOf("iscsi:Session", of).length, 6);
  assert.deepEqual(
    of.filter(({ type }) => type === "storagelab:fs:Filesystem").map(({ name }) => name),
    [`initiator/${iqn("bulk")}/xfs`, `second/${iqn("fast")}/xfs`],
  );
});

test("only a pool: no target, no initiator, nothing measured", async () => {
  const of = await program({
    hosts: { storage: { ssh: "storage" } },
    pools: { tank: { ...stack.pools.tank } },
  });
  assert.deepEqual(
    of.filter(({ type }) => type.startsWith("storagelab:")).map(({ type }) => type),
    ["storagelab:zfs:Pool"],
  );
  assert.deepEqual(Object.keys(exported), ["tolerates"], "no output without a value, which Pulumi warns of");
});
