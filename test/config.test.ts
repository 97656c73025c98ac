import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { poolVdevs } from "../components/zfs-inputs.ts";
import { parseConfig } from "../config.ts";
import { inJson, parse, target, whole } from "./stack-file/sample.ts";

test("defaults are filled in, once and here", () => {
  const lab = parse(() => ({}));
  assert.deepEqual(lab.filesystem, { type: "xfs", mount: "/test" });
  assert.deepEqual(lab.benchmark, {
    ...{ workload: ["sequential"], size: 1073741824, protocols: ["iscsi", "iser"] },
    ...{ repeats: 1, interval: 1, reference: "lab-a" },
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
      'trap: size "64MB" against a minimum "64M": exact units',
      (s) => ({ hosts: { ...s.hosts, storage: { virtual: { disks: "8 x 64MB" } } } }),
      /hosts\.storage\.virtual\.disks: "64MB" is no size: .*; MB may be 64 MiB \(67108864 bytes\) or 64000000 bytes/,
    ],
    [
      "trap: a disk below ZFS's smallest, in bytes",
      (s) => ({ hosts: { ...s.hosts, storage: { virtual: { disks: "8 x 64000000" } } } }),
      /disks: a disk of 64000000 \(64000000 bytes\) is too small for ZFS; the smallest is 64 MiB \(67108864 bytes\)/,
    ],
    [
      "trap: size 33561640KB",
      () => ({ volumes: { "tank/lun0": { size: "33561640KB" } } }),
      /lun0\.size: "33561640KB" is no size: .*; KB may be 33561640 KiB \(34367119360 bytes\) or 33561640000 bytes/,
    ],
    [
      "trap: size 33561640K with 16K blocks, both numbers",
      () => ({ volumes: { "tank/lun0": { size: "33561640K" } } }),
      /lun0\.size: 33561640K \(34367119360 bytes\) is no whole multiple of volblocksize 16 KiB; the next is 33561648 KiB \(34367127552 bytes\)/,
    ],
    ...["c0", "mirror1", "raidz-a", "spares", "log", "draid"].map((name): (typeof cases)[number] => [
      `trap: pool name ${name} is reserved`,
      () => ({
        pools: { [name]: { host: "storage", data: { stripe: 1, disks: "by-id/virtio-DISK01" } } },
        volumes: {},
        targets: {},
        benchmark: "none",
      }),
      new RegExp(`storage-lab:pools\\.${name}: "${name}" is refused by zpool`),
    ]),
    [
      "pool name with a blank",
      (s) => ({ pools: { ...s.pools, "my tank": { ...s.pools.tank } } }),
      /pools\.my tank: a pool's name is a letter, then/,
    ],
    [
      "volblocksize no power of two",
      () => ({ volumes: { "tank/lun0": { size: "2 GiB", volblocksize: "12K" } } }),
      /lun0\.volblocksize: 12K is no power of two from 512 B to 128 KiB/,
    ],
    [
      "size no multiple of volblocksize",
      () => ({ volumes: { "tank/lun0": { size: "200000004096" } } }),
      /lun0\.size: 200000004096 \(200000004096 bytes\) is no whole multiple of volblocksize 16 KiB; the next is 195312512 KiB \(200000012288 bytes\)/,
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
      /portals\.iscsi: "10\.10\.10\.1" is no portal: a portal is an IP address with its port, such as 10\.10\.10\.1:3260/,
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
      /portals\.iscsi: 10\.10\.10\.9 is no address of storage in fabric \(10\.10\.10\.1\/24\)/,
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
      /targets\.iqn.2026-09.com.example:my_tank: "iqn.2026-09.com.example:my_tank" is no iSCSI name: it holds "_"/,
    ],
    ...(
      [
        ["iqn.2026-13.com.example:x", /13 is no month/],
        ["iqn.2026-09.com.example:Tank", /write it in lower case/],
        ["iqn.2026-09.com.example:my tank", /it holds " "/],
        ["iqn.2026-09.lab:tank", /its domain lab needs two labels/],
        ["tank", /write it as iqn\.2026-09\.com\.example:name/],
      ] as const
    ).map(([name, message]): (typeof cases)[number] => [
      `trap: IQN ${name}`,
      () => ({ targets: { [name]: whole().targets[target] } }),
      message,
    ]),
    ...(
      [
        ["fd00::1", /"fd00::1" is no portal: .* such as \[fd00::1\]:3260/],
        ["fd00::1:3260", /"fd00::1:3260" is no portal/],
        ["storage:3260", /"storage:3260" is no portal/],
        ["10.10.10.1:65536", /"10\.10\.10\.1:65536" is no portal/],
        ["0.0.0.0:3260", /0\.0\.0\.0 is no address of storage in fabric/],
        ["[::]:3260", /:: is no address of storage in fabric/],
      ] as const
    ).map(([iscsi, message]): (typeof cases)[number] => [
      `trap: portal ${iscsi}`,
      (s) => ({
        targets: { [target]: { ...s.targets[target], portals: { iscsi, iser: "10.10.10.1:3261" } } },
      }),
      message,
    ]),
    [
      "another target's portal by the other protocol, spelled otherwise",
      (s) => ({
        volumes: { ...s.volumes, "tank/lun1": { size: "1 GiB" } },
        fabric: { link: { kind: "rxe", device: "eth1", addresses: { storage: "fd00::1/64" } } },
        targets: {
          [target]: {
            luns: ["tank/lun0"],
            initiators: ["initiator"],
            portals: { iscsi: "[fd00::1]:3260", iser: "[fd00::1]:3261" },
          },
          [`${target}2`]: {
            luns: ["tank/lun1"],
            initiators: ["initiator"],
            portals: { iscsi: "[fd00:0::1]:3261", iser: "[fd00::1]:3263" },
          },
        },
      }),
      /lab:tank2\.portals\.iscsi: \[fd00::1\]:3261 is the iSER portal of target iqn\.2026-09\.com\.example\.lab:tank too/,
    ],
    [
      "LUN of two targets",
      (s) => ({
        targets: {
          ...s.targets,
          [`${target}2`]: {
            ...s.targets[target],
            portals: { iscsi: "10.10.10.1:3262", iser: "10.10.10.1:3263" },
          },
        },
      }),
      /lab:tank2\.luns: tank\/lun0 is a LUN of target iqn\.2026-09\.com\.example\.lab:tank too/,
    ],
    [
      "two LUNs of one backstore's name",
      (s) => ({
        datasets: { "tank/a": {} },
        volumes: { ...s.volumes, "tank/a/b": { size: "1 GiB" }, "tank/a-b": { size: "1 GiB" } },
        targets: { [target]: { ...s.targets[target], luns: ["tank/a/b", "tank/a-b"] } },
      }),
      /storage-lab:targets: LUNs tank\/a\/b and tank\/a-b would both be backstore tank-a-b/,
    ],
    [
      "LUN twice in a target",
      (s) => ({ targets: { [target]: { ...s.targets[target], luns: ["tank/lun0", "tank/lun0"] } } }),
      /lab:tank\.luns: tank\/lun0 is listed twice/,
    ],
    [
      "initiator twice in a target",
      (s) => ({ targets: { [target]: { ...s.targets[target], initiators: ["initiator", "initiator"] } } }),
      /lab:tank\.initiators: initiator is listed twice/,
    ],
    [
      "disk of two pools",
      (s) => ({
        pools: { ...s.pools, fast: { host: "storage", data: { stripe: 1, disks: "by-id/virtio-DISK08" } } },
      }),
      /pools\.fast: \/dev\/disk\/by-id\/virtio-DISK08 is a disk of pool tank too/,
    ],
    [
      "dRAID's words for another layout",
      () => ({
        pools: {
          tank: { host: "storage", data: { raidz1: 4, data: 3, disks: "by-id/virtio-DISK{01..04}" } },
        },
      }),
      /pools\.tank\.data\.data: data is for dRAID; this is raidz1/,
    ],
    [
      "spread over one enclosure",
      () => ({
        pools: {
          tank: {
            host: "storage",
            data: { mirror: 2, disks: "by-id/virtio-DISK01", spread: "enclosure" },
          },
        },
      }),
      /pools\.tank\.data\.disks: spread: enclosure needs two enclosures or more, and here is one/,
    ],
    [
      "mirrored L2ARC",
      (s) => ({
        pools: {
          tank: { ...s.pools.tank, log: undefined, cache: { mirror: 2, disks: "by-id/virtio-DISK{07..08}" } },
        },
      }),
      /pools\.tank\.cache: cache disks stand alone/,
    ],
    [
      "disk to wipe that is none of the pool's",
      (s) => ({
        pools: { tank: { ...s.pools.tank, log: undefined, wipe: "by-id/virtio-DISK{07..08}" } },
      }),
      /pools\.tank\.wipe: \/dev\/disk\/by-id\/virtio-DISK07 is no disk of this pool's vdevs/,
    ],
    [
      "benchmark without a target",
      () => ({ targets: {} }),
      /storage-lab:benchmark: it measures a target, and targets has none/,
    ],
    [
      "benchmark without a file system",
      () => ({ filesystem: "none" }),
      /storage-lab:benchmark: it measures a file on the LUN: declare filesystem/,
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
      /storage-lab:pools\.tank: \/dev\/disk\/by-id\/virtio-DISK01 is declared more than once; a disk has one place/,
    ],
    [
      "no layout",
      () => ({ pools: { tank: { host: "storage", data: { disks: "by-id/virtio-DISK01" } } } }),
      /one of stripe, mirror, raidz1, raidz2, raidz3, draid1, draid2, draid3 says the layout; found none/,
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
      "volume below a dataset that is not declared",
      () => ({ volumes: { "tank/db/lun0": { size: "1G" } } }),
      /volumes\.tank\/db\/lun0: there is no dataset tank\/db above it: declare datasets\.tank\/db, \{\} is enough/,
    ],
    ...["tank/$(reboot)", "tank/lun 0", "tank/-lun;reboot", "tank/../lun0", "tank/lun\n0", "tank//lun0"].map(
      (name): (typeof cases)[number] => [
        `hostile volume name ${JSON.stringify(name)}`,
        () => ({ volumes: { [name]: { size: "1 GiB" } }, targets: {}, benchmark: "none" }),
        /storage-lab:volumes\.tank\/.*: a volume's name is POOL\/VOLUME of letters/s,
      ],
    ),
    [
      "a pool as a dataset",
      () => ({ datasets: { tank: {} } }),
      /datasets\.tank: a dataset's name is POOL\/DATASET/,
    ],
    [
      "one name for a volume and a dataset",
      () => ({ datasets: { "tank/lun0": {} } }),
      /volumes\.tank\/lun0: tank\/lun0 stands in datasets too; a name has one use/,
    ],
    [
      "dataset with a blank in its name",
      () => ({ datasets: { "tank/my apps": {} } }),
      /storage-lab:datasets\.tank\/my apps: /,
    ],
    [
      "recordsize no power of two",
      () => ({ datasets: { "tank/apps": { recordsize: "100 KiB" } } }),
      /storage-lab:datasets\.tank\/apps\.recordsize: /,
    ],
    [
      "volblocksize on a dataset",
      () => ({ datasets: { "tank/apps": { volblocksize: "16 KiB" } } }),
      /storage-lab:datasets\.tank\/apps\.volblocksize: there is no such key/,
    ],
    [
      "encryption without a key",
      () => ({ datasets: { "tank/apps": { encryption: "aes-256-gcm" } } }),
      /storage-lab:datasets\.tank\/apps\.key/,
    ],
    [
      "snapshot of nothing",
      () => ({ snapshots: { "tank/lun9@before": {} } }),
      /snapshots\.tank\/lun9@before: a snapshot is DATASET@NAME, and "tank\/lun9" stands neither in pools nor in datasets, volumes, clones/,
    ],
    [
      "snapshot without a name",
      () => ({ snapshots: { "tank/lun0": {} } }),
      /storage-lab:snapshots\.tank\/lun0: /,
    ],
    [
      "clone without its snapshot",
      () => ({ clones: { "tank/copy": {} } }),
      /clones\.tank\/copy\.snapshot: missing/,
    ],
    [
      "clone in another pool",
      (s) => ({
        pools: { ...s.pools, fast: { host: "initiator", data: { stripe: 1, disks: "by-id/x" } } },
        clones: { "fast/copy": { snapshot: "tank/lun0@before" } },
      }),
      /clones\.fast\/copy\.snapshot: tank\/lun0@before is in another pool/,
    ],
    [
      "clones of each other",
      () => ({ clones: { "tank/a": { snapshot: "tank/b@1" }, "tank/b": { snapshot: "tank/a@1" } } }),
      /clones\.tank\/a\.snapshot: tank\/b@1 is a snapshot of the clone itself, or of one of its clones/,
    ],
    [
      "clone of a file system as a LUN",
      (s) => ({
        datasets: { "tank/apps": {} },
        clones: { "tank/copy": { snapshot: "tank/apps@1" } },
        targets: { [target]: { ...s.targets[target], luns: ["tank/copy"] } },
      }),
      /lab:tank\.luns: tank\/copy is a clone of a file system; a LUN is a volume/,
    ],
    [
      "one UUID for two file systems",
      (s) => ({
        filesystem: { uuid: "d922ce42-fa81-8ccb-a2af-d22a64ae1b33" },
        volumes: { ...s.volumes, "tank/lun1": { size: "1 GiB" } },
        targets: { ...s.targets, [`${target}2`]: { ...s.targets[target], luns: ["tank/lun1"] } },
      }),
      /filesystem\.uuid: it names one file system, and there are 2 targets/,
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
      () => ({ benchmark: { size: "1 GiB", runtime: "180" } }),
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

test("what lies deeper, snapshots and clones are taken as declared", () => {
  const lab = parse((s) => ({
    datasets: { "tank/apps": { recordsize: "128 KiB", quota: 10737418240, atime: false, canmount: "off" } },
    volumes: { ...s.volumes, "tank/apps/db": { size: 1073741824, copies: 2 } },
    snapshots: { "tank/lun0@before": {}, "tank@all": { recursive: true, onDelete: "destroy" } },
    clones: { "tank/copy": { snapshot: "tank/lun0@before", readonly: true } },
  }));
  assert.deepEqual(lab.datasets["tank/apps"], {
    recordsize: "128 KiB",
    quota: "10737418240",
    atime: "off",
    canmount: "off",
    onDelete: "retain",
  });
  assert.equal(lab.volumes["tank/apps/db"]?.size, "1073741824");
  assert.equal(lab.volumes["tank/apps/db"]?.copies, 2);
  assert.deepEqual(lab.snapshots, {
    "tank/lun0@before": { onDelete: "retain" },
    "tank@all": { recursive: true, onDelete: "destroy" },
  });
  assert.deepEqual(lab.clones["tank/copy"], {
    snapshot: "tank/lun0@before",
    readonly: "on",
    onDelete: "retain",
  });
});

test("a pool's fields are the type's own; disks may be patterns", () => {
  const { tank } = parse((s) => ({
    pools: {
      tank: { ...s.pools.tank, offline: "by-id/virtio-DISK{01..02}", expand: true, waitForResilver: true },
    },
  })).pools;
  assert.deepEqual(tank?.offline, ["/dev/disk/by-id/virtio-DISK01", "/dev/disk/by-id/virtio-DISK02"]);
  assert.deepEqual([tank?.expand, tank?.waitForResilver], [true, true]);
});

test("only pools: a stack needs hosts, and nothing else", () => {
  const lab = parseConfig(inJson({ hosts: whole().hosts, pools: whole().pools }), "lab");
  assert.deepEqual([lab.volumes, lab.fabric, lab.targets], [{}, {}, {}]);
  assert.equal(lab.filesystem, undefined);
  assert.equal(lab.benchmark, undefined);
});

test("targets of one host may share a portal of one protocol", () => {
  const lab = parse((s) => ({
    volumes: { ...s.volumes, "tank/lun1": { size: "1 GiB" } },
    targets: { ...s.targets, [`${target}2`]: { ...s.targets[target], luns: ["tank/lun1"] } },
  }));
  assert.equal(Object.keys(lab.targets).length, 2);
});
