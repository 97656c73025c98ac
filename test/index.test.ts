import assert from "node:assert/strict";
import { before, test } from "node:test";
import * as pulumi from "@pulumi/pulumi";
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

before(async () => {
  pulumi.runtime.setAllConfig(
    Object.fromEntries(
      Object.entries(stack).map(([key, value]) => [`storage-lab:${key}`, JSON.stringify(value)]),
    ),
  );
  await pulumi.runtime.setMocks(
    {
      newResource({ type, name, inputs }) {
        const resource = typeOf(type);
        made.push({ type, name, inputs, id: `${name}_id` });
        const outputs =
          resource === undefined ? { stdout: "{}" } : resource.outputs(inputs as never, undefined);
        return {
          id: `${name}_id`,
          state: { ...inputs, ...outputs, uuid: "d922ce42-fa81-8ccb-a2af-d22a64ae1b33" },
        };
      },
      call: () => ({}),
    },
    "storage-lab",
    "lab",
    false,
  );
  await import("../index.ts");
  await pulumi.runtime.disconnect();
});

const inputsOf = (type: string): Record<string, unknown>[] =>
  made.filter((resource) => resource.type === `storagelab:${type}`).map(({ inputs }) => inputs);

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

test("the initiator logs in once by each protocol, to that protocol's portal", () => {
  assert.deepEqual(
    inputsOf("iscsi:Session").map(({ portal, transport, luns }) => [portal, transport, luns]),
    [
      ["10.10.10.1:3260", "tcp", [0, 1]],
      ["10.10.10.1:3261", "iser", [0, 1]],
    ],
  );
});

test("the benchmark is asked for the paths that the sessions bring", () => {
  const command = made.find(({ type }) => type === "command:local:Command");
  const request = JSON.parse(String(command?.inputs.stdin));
  assert.deepEqual(
    request.paths.map(({ protocol, device }: { protocol: string; device: string }) => [protocol, device]),
    [
      ["iscsi", `/dev/disk/by-path/ip-10.10.10.1:3260-iscsi-${target}-lun-0`],
      ["iser", `/dev/disk/by-path/ip-10.10.10.1:3261-iscsi-${target}-lun-0`],
    ],
  );
  assert.equal(request.workload.size, 1073741824);
  assert.equal(request.workload.runtime, 60);
  assert.equal(request.virtual, true);
});
