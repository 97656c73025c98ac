import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseConfig, poolVdevs } from "../config.ts";

/** A whole stack file; each case changes one place of it. */
const whole = () => ({
  hosts: {
    storage: { virtual: { memory: "1536 MiB", disks: "8 x 2 GiB" } },
    initiator: { ssh: "root@dl380", iqn: "iqn.2026-09.com.example.lab:initiator" },
  } as Record<string, object>,
  pools: {
    tank: {
      host: "storage",
      data: { mirror: 3, disks: "by-id/virtio-DISK{01..06}" },
      log: { mirror: 2, disks: "by-id/virtio-DISK{07..08}" },
    },
  } as Record<string, object>,
  volumes: { "tank/lun0": { size: "2 GiB", volblocksize: "16 KiB", compression: false } } as Record<
    string,
    object
  >,
  fabric: {
    link: {
      kind: "rxe",
      device: "eth1",
      addresses: { storage: "10.10.10.1/24", initiator: "10.10.10.2/24" },
    },
  } as Record<string, object>,
  targets: {
    "iqn.2026-09.com.example.lab:tank": {
      luns: ["tank/lun0"],
      portals: { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3261" },
      initiators: ["initiator"],
    },
  } as Record<string, object>,
  filesystem: {},
  benchmark: { runtime: "180 s" } as object,
});

const target = "iqn.2026-09.com.example.lab:tank";

function parse(change: (stack: ReturnType<typeof whole>) => object) {
  const stack = { ...whole(), ...change(whole()) };
  const settings = Object.fromEntries(
    Object.entries(stack).map(([key, value]) => [`storage-lab:${key}`, JSON.stringify(value)]),
  );
  return parseConfig({ ...settings, "other:key": "1" }, "lab");
}

test("defaults are filled in, once and here", () => {
  const lab = parse(() => ({}));
  assert.deepEqual(lab.filesystem, { type: "xfs", mount: "/test" });
  assert.deepEqual(lab.benchmark, {
    workload: "sequential",
    size: "100 GiB",
    runtime: 180,
    blockSize: "512 KiB",
    depth: 16,
  });
  assert.equal(lab.pools.tank?.onDelete, "export");
  assert.equal(lab.volumes["tank/lun0"]?.onDelete, "retain");
});

test("YAML's bare off is ZFS's off", () => {
  assert.equal(parse(() => ({})).volumes["tank/lun0"]?.compression, "off");
});

test("a layout becomes vdevs by role", () => {
  const pool = parse(() => ({})).pools.tank;
  assert.deepEqual(
    pool && poolVdevs(pool).map(({ role, type, disks }) => [role, type, disks.length, disks[0]]),
    [
      ["data", "mirror", 3, "/dev/disk/by-id/virtio-DISK01"],
      ["data", "mirror", 3, "/dev/disk/by-id/virtio-DISK04"],
      ["log", "mirror", 2, "/dev/disk/by-id/virtio-DISK07"],
    ],
  );
});

describe("a wrong stack file is refused with its key, the rule and the value", () => {
  const cases: [name: string, change: (stack: ReturnType<typeof whole>) => object, message: RegExp][] = [
    ["unknown key", () => ({ foo: 1 }), /storage-lab:foo: there is no such key/],
    [
      "unknown key deep down",
      (s) => ({ volumes: { "tank/lun0": { ...s.volumes["tank/lun0"], blocksize: "16K" } } }),
      /storage-lab:volumes\.tank\/lun0\.blocksize: there is no such key/,
    ],
    [
      "bad size",
      () => ({ volumes: { "tank/lun0": { size: "2 GB" } } }),
      /storage-lab:volumes\.tank\/lun0\.size: "2 GB" is no size: write a number with an IEC unit/,
    ],
    [
      "volblocksize no power of two",
      () => ({ volumes: { "tank/lun0": { size: "2 GiB", volblocksize: "12K" } } }),
      /lun0\.volblocksize: 12K is no power of two from 512 B to 128 KiB/,
    ],
    [
      "size no multiple of volblocksize",
      () => ({ volumes: { "tank/lun0": { size: "200000004096" } } }),
      /lun0\.size: 200000004096 \(200000004096 bytes\) is no whole multiple of volblocksize 16 KiB; the next is 195312512 KiB/,
    ],
    [
      "portal missing",
      () => ({
        targets: {
          [target]: { luns: ["tank/lun0"], portals: { iscsi: "10.10.10.1:3260" }, initiators: ["initiator"] },
        },
      }),
      /portals\.iser: missing/,
    ],
    [
      "portal without a port",
      () => ({
        targets: {
          [target]: {
            luns: ["tank/lun0"],
            portals: { iscsi: "10.10.10.1", iser: "10.10.10.1:3261" },
            initiators: ["initiator"],
          },
        },
      }),
      /portals\.iscsi: "10\.10\.10\.1" is no portal: ADDRESS:PORT/,
    ],
    [
      "portal on no address of the server",
      () => ({
        targets: {
          [target]: {
            luns: ["tank/lun0"],
            portals: { iscsi: "10.10.10.9:3260", iser: "10.10.10.1:3261" },
            initiators: ["initiator"],
          },
        },
      }),
      /portals\.iscsi: 10\.10\.10\.9 is no address of storage in fabric \(10\.10\.10\.1\)/,
    ],
    [
      "one portal for both protocols",
      () => ({
        targets: {
          [target]: {
            luns: ["tank/lun0"],
            portals: { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3260" },
            initiators: ["initiator"],
          },
        },
      }),
      /portals\.iser: 10\.10\.10\.1:3260 is the iSCSI portal too/,
    ],
    [
      "IQN with an underscore",
      () => ({ targets: { "iqn.2026-09.com.example:my_tank": whole().targets[target] } }),
      /"iqn.2026-09.com.example:my_tank" is no IQN/,
    ],
    [
      "initiator without a name",
      (s) => ({ hosts: { ...s.hosts, initiator: { ssh: "x" } } }),
      /storage-lab:hosts\.initiator\.iqn: missing: target .* lists this host/,
    ],
    [
      "two hosts of one initiator name",
      (s) => ({ hosts: { ...s.hosts, other: { ...s.hosts.initiator } } }),
      /hosts\.other\.iqn: iqn\..* is initiator's as well/,
    ],
    [
      "host neither real nor virtual",
      (s) => ({ hosts: { ...s.hosts, other: {} } }),
      /hosts\.other: a host has either ssh or virtual/,
    ],
    [
      "three virtual hosts",
      (s) => ({ hosts: { ...s.hosts, b: { virtual: {} }, c: { virtual: {} } } }),
      /the virtual link joins two guests; 3 are virtual/,
    ],
    [
      "pool on no host",
      () => ({ pools: { tank: { host: "nowhere", data: { stripe: 1, disks: "by-id/x" } } } }),
      /pools\.tank\.host: no host nowhere; hosts: storage, initiator/,
    ],
    [
      "disk that the guest has not",
      () => ({
        pools: { tank: { host: "storage", data: { mirror: 2, disks: "by-id/virtio-DISK{08..09}" } } },
      }),
      /virtual host storage has no disk \/dev\/disk\/by-id\/virtio-DISK09; it has 8/,
    ],
    [
      "disk in two vdevs",
      () => ({
        pools: {
          tank: {
            host: "storage",
            data: { mirror: 2, disks: "by-id/virtio-DISK{01..02}" },
            log: { stripe: 1, disks: "by-id/virtio-DISK01" },
          },
        },
      }),
      /disk \/dev\/disk\/by-id\/virtio-DISK01 is used twice/,
    ],
    [
      "no layout",
      () => ({ pools: { tank: { host: "storage", data: { disks: "by-id/virtio-DISK01" } } } }),
      /one of stripe, mirror, raidz1, raidz2, raidz3 says the layout; found none/,
    ],
    [
      "disks left over",
      () => ({
        pools: { tank: { host: "storage", data: { mirror: 4, disks: "by-id/virtio-DISK{01..06}" } } },
      }),
      /6 disks don't make whole vdevs of 4: 2 would be left over/,
    ],
    [
      "volume in no pool",
      () => ({ volumes: { "dozer/lun0": { size: "1G" } } }),
      /volumes\.dozer\/lun0: a volume is POOL\/NAME, and there is no pool dozer; pools: tank/,
    ],
    [
      "volume below a dataset",
      () => ({ volumes: { "tank/db/lun0": { size: "1G" } } }),
      /volumes\.tank\/db\/lun0: a volume lies right in its pool/,
    ],
    [
      "disk pattern that runs backwards",
      (s) => ({ pools: { tank: { ...s.pools.tank, wipe: "by-id/virtio-DISK{08..01}" } } }),
      /pools\.tank\.wipe: \{08\.\.01\} in by-id\/virtio-DISK\{08\.\.01\} runs backwards/,
    ],
    [
      "LUN of no volume",
      () => ({ targets: { [target]: { ...whole().targets[target], luns: ["tank/x"] } } }),
      /luns: no volume tank\/x; volumes: tank\/lun0/,
    ],
    [
      "address without a prefix",
      () => ({ fabric: { link: { kind: "rxe", device: "eth1", addresses: { storage: "10.10.10.1" } } } }),
      /addresses\.storage: "10\.10\.10\.1" is no address with a prefix length/,
    ],
    [
      "IPoIB's mode on Ethernet",
      () => ({
        fabric: {
          link: { kind: "rxe", device: "eth1", mode: "connected", addresses: { storage: "10.10.10.1/24" } },
        },
      }),
      /fabric\.link\.mode: mode is for ipoib; the link's kind is rxe/,
    ],
    [
      "hardware without its RDMA device",
      () => ({ fabric: { link: { kind: "ipoib", device: "ib0", addresses: { storage: "10.10.10.1/24" } } } }),
      /fabric\.link\.rdma: missing for host storage: the ipoib device/,
    ],
    [
      "time without a unit",
      () => ({ benchmark: { runtime: "180" } }),
      /benchmark\.runtime: a time is whole seconds, such as 180 s/,
    ],
  ];
  for (const [name, change, message] of cases) {
    test(name, () => {
      assert.throws(
        () => parse(change),
        (error: Error) => {
          assert.ok(error instanceof RangeError);
          assert.match(error.message, /^Pulumi\.lab\.yaml is not right; nothing was touched\.\n/);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }
});
