import type { Declared, HostName, Lab, Scenario } from "./scenario.ts";

/** One for each resource type of provider/registry.ts. */

const disk = (n: number): string => `by-id/virtio-DISK0${n}`;
const iqn = "iqn.2026-09.com.example.faults:base";
const initiatorName = "iqn.2026-09.com.example.faults:initiator";
const portal = "10.10.10.1:3260";
const device = `/dev/disk/by-path/ip-${portal}-iscsi-${iqn}-lun-0`;

const on =
  (name: string, type: string, host: HostName, inputs: object) =>
  (lab: Lab): Declared => ({ name, type, inputs: { host: lab.address[host], ...inputs } });
const all =
  (...declared: ((lab: Lab) => Declared)[]) =>
  (lab: Lab): Declared[] =>
    declared.map((one) => one(lab));

const pool = on("pool", "zfs:Pool", "storage", {
  name: "base",
  vdevs: [{ role: "data", type: "stripe", disks: [disk(1)] }],
  onDelete: "destroy",
});
const volume = (n: number) =>
  on(`volume${n}`, "zfs:Volume", "storage", {
    name: `base/lun${n}`,
    size: "384 MiB",
    sparse: true,
    volblocksize: "16 KiB",
    onDelete: "destroy",
  });
const backstore = (n: number) =>
  on(`backstore${n}`, "lio:Backstore", "storage", { name: `lun${n}`, device: `/dev/zvol/base/lun${n}` });
const link = (host: HostName, n: number) =>
  on(`link-${host}`, "net:Interface", host, { device: "eth1", mtu: 4200, addresses: [`10.10.10.${n}/24`] });
const rdma = on("rdma", "net:RdmaLink", "storage", { name: "rxe0", kind: "rxe", device: "eth1" });
const target = on("target", "lio:Target", "storage", {
  iqn,
  portals: [{ address: portal, protocol: "iscsi" }],
  luns: [{ lun: 0, backstore: "lun0" }],
  acls: [{ initiator: initiatorName }],
});
const initiator = on("initiator", "iscsi:Initiator", "initiator", { name: initiatorName });
const served = [pool, volume(0), backstore(0), link("storage", 1), target, link("initiator", 2), initiator];
const session = on("session", "iscsi:Session", "initiator", {
  target: iqn,
  portal,
  transport: "tcp",
  luns: [0],
  startup: "automatic",
});

/** What makes a host ready for LIO stays on it. */
const unprepareLio =
  "rm -rf /etc/modules-load.d/storage-lab-lio*.conf /etc/systemd/system/*target*.service.d/storage-lab.conf";

const lio = "/sys/kernel/config/target";

export const scenarios: readonly Scenario[] = [
  {
    type: "zfs:Volume",
    host: "storage",
    guests: ["storage"],
    base: all(pool),
    create: () => ({
      name: "base/under",
      size: "64 MiB",
      volblocksize: "16 KiB",
      sparse: true,
      compression: "off",
      onDelete: "destroy",
    }),
    update: { size: "96 MiB", compression: "lz4" },
    proofs: {
      create: [["zfs get -Hpo value volsize,compression base/under", /^67108864\noff$/]],
      update: [
        ["zfs get -Hpo value volsize,compression base/under", /^100663296\nlz4$/],
        ["blockdev --getsize64 /dev/zvol/base/under", /^100663296$/],
      ],
      delete: [["zfs list base/under 2>&1 || true", /does not exist/]],
    },
  },
  {
    type: "zfs:Pool",
    host: "storage",
    guests: ["storage"],
    base: () => [],
    create: () => ({
      name: "under",
      vdevs: [{ role: "data", type: "mirror", disks: [disk(2), disk(3)] }],
      filesystemProperties: { compression: "lz4" },
      onDelete: "destroy",
    }),
    update: {
      vdevs: [
        { role: "data", type: "mirror", disks: [disk(2), disk(3)] },
        { role: "log", type: "stripe", disks: [disk(4)] },
      ],
      properties: { autotrim: "on" },
      filesystemProperties: { compression: "zstd" },
    },
    proofs: {
      create: [["zpool status under", /mirror-0 +ONLINE.*\n.*DISK02.*ONLINE.*\n.*DISK03.*ONLINE/]],
      update: [
        ["zpool status under", /\n\s+logs\s*\n.*DISK04.*ONLINE/],
        ["zpool get -Ho value autotrim under; zfs get -Ho value compression under", /^on\nzstd$/],
      ],
      delete: [
        ["zpool list under 2>&1 || true", /no such pool/],
        ["zpool import 2>&1 || true; zpool import -D 2>&1 || true", /^(no pools available to import\s*)+$/],
        ["wipefs -n /dev/disk/by-id/virtio-DISK0[234]*", /^$/],
      ],
    },
    // It stays: another pool may want it.
    afterDelete: "rm -f /etc/modules-load.d/storage-lab-zfs.conf",
  },
  {
    type: "lio:Backstore",
    host: "storage",
    guests: ["storage"],
    base: all(pool, volume(0)),
    create: () => ({ name: "under", device: "/dev/zvol/base/lun0", attributes: { emulate_tpu: 0 } }),
    update: { attributes: { emulate_tpu: 1, max_unmap_block_desc_count: 2 } },
    proofs: {
      create: [
        [`cat ${lio}/core/*/under/enable ${lio}/core/*/under/udev_path`, /^1\n\/dev\/zvol\/base\/lun0$/],
      ],
      update: [[`cat ${lio}/core/*/under/attrib/emulate_tpu`, /^1$/]],
      delete: [
        [`ls -d ${lio}/core/*/under 2>&1 || true`, /No such file/],
        ["grep -c under /etc/rtslib-fb-target/saveconfig.json || true", /^0$/],
      ],
    },
    afterDelete: unprepareLio,
  },
  {
    type: "lio:Target",
    host: "storage",
    guests: ["storage"],
    base: all(pool, volume(0), volume(1), backstore(0), backstore(1), link("storage", 1), rdma),
    create: () => ({
      iqn: "iqn.2026-09.com.example.faults:under",
      portals: [{ address: "10.10.10.1:3260", protocol: "iscsi" }],
      luns: [{ lun: 0, backstore: "lun0" }],
      acls: [{ initiator: initiatorName }],
    }),
    update: {
      portals: [
        { address: "10.10.10.1:3260", protocol: "iscsi" },
        { address: "10.10.10.1:3261", protocol: "iser" },
      ],
      luns: [
        { lun: 0, backstore: "lun0" },
        { lun: 1, backstore: "lun1" },
      ],
      attributes: { default_cmdsn_depth: 32 },
      chap: { user: "someone", password: "a-secret-of-16-c" },
    },
    proofs: {
      create: [
        [`cat ${lio}/iscsi/*:under/tpgt_1/enable`, /^1$/],
        ["ss -Hltn sport = :3260", /10\.10\.10\.1:3260/],
      ],
      update: [
        [`cat ${lio}/iscsi/*:under/tpgt_1/np/*:3261/iser`, /^1$/],
        [`cat ${lio}/iscsi/*:under/tpgt_1/acls/*/auth/userid`, /^someone$/],
      ],
      delete: [
        [`ls ${lio}/iscsi 2>&1 || true`, /^(?!.*:under)/s],
        ["grep -c faults:under /etc/rtslib-fb-target/saveconfig.json || true", /^0$/],
      ],
    },
    afterDelete: "rm -f /etc/modules-load.d/storage-lab-lio-iser.conf",
  },
  {
    type: "net:Interface",
    host: "storage",
    guests: ["storage"],
    base: () => [],
    create: () => ({ device: "eth1", mtu: 4200, addresses: ["10.10.20.1/24"] }),
    update: { mtu: 2000, addresses: ["10.10.20.1/24", "10.10.21.1/24"] },
    proofs: {
      create: [["ip address show eth1", /mtu 4200 (.*\n)+.*inet 10\.10\.20\.1\/24/]],
      update: [
        ["ip address show eth1", /mtu 2000 (.*\n)+.*inet 10\.10\.20\.1\/24(.*\n)+.*inet 10\.10\.21\.1\/24/],
      ],
      delete: [["ip address show eth1", /^(?!.*inet 10\.10\.2)/s]],
    },
    // A link's MTU and state are left as they are; the next create is to set them again.
    afterDelete: "ip link set eth1 down mtu 1500",
  },
  {
    type: "net:RdmaLink",
    host: "storage",
    guests: ["storage"],
    base: all(link("storage", 1)),
    create: () => ({ name: "rxe0", kind: "rxe", device: "eth1" }),
    // All of its fields name it.
    replace: { name: "rxe1" },
    proofs: {
      create: [["rdma link", /link rxe0\/1 state ACTIVE .*netdev eth1/]],
      replace: [["rdma link", /^link rxe1\/1 state ACTIVE .*netdev eth1\s*$/]],
      delete: [["rdma link", /^$/]],
    },
  },
  {
    type: "iscsi:Initiator",
    host: "initiator",
    guests: ["initiator"],
    base: () => [],
    create: () => ({ name: "iqn.2026-09.com.example.faults:one" }),
    update: { name: "iqn.2026-09.com.example.faults:two" },
    proofs: {
      create: [["cat /etc/iscsi/initiatorname.iscsi", /^InitiatorName=.*:one$/m]],
      update: [["cat /etc/iscsi/initiatorname.iscsi", /^InitiatorName=.*:two$/m]],
      delete: [["cat /etc/iscsi/initiatorname.iscsi 2>&1 || true", /No such file/]],
    },
  },
  {
    type: "iscsi:Session",
    host: "initiator",
    guests: ["storage", "initiator"],
    base: all(...served),
    create: () => ({ target: iqn, portal, transport: "tcp", luns: [0], startup: "manual" }),
    update: { startup: "automatic", settings: { "node.session.queue_depth": "64" } },
    proofs: {
      create: [
        ["iscsiadm -m session", new RegExp(`^tcp: \\[\\d+\\] ${portal},1 ${iqn} \\(non-flash\\)$`)],
        [`test -b ${device}; echo $?`, /^0$/],
      ],
      update: [
        [`iscsiadm -m node -T ${iqn} -p ${portal}`, /node.startup = automatic/],
        ["iscsiadm -m session", /^tcp: .*$/],
      ],
      delete: [
        [
          "iscsiadm -m session 2>&1 || true; iscsiadm -m node 2>&1 || true",
          /No active sessions.*No records/s,
        ],
        [`test -e ${device}; echo $?`, /^1$/],
      ],
    },
    afterDelete: "systemctl disable --quiet open-iscsi.service || true",
  },
  {
    type: "fs:Filesystem",
    host: "initiator",
    guests: ["storage", "initiator"],
    base: all(...served, session),
    create: () => ({ device, type: "xfs", label: "one" }),
    update: { label: "two" },
    proofs: {
      create: [[`blkid -p -s TYPE -s LABEL -o value ${device} | sort`, /^one\nxfs$/]],
      update: [[`blkid -p -s TYPE -s LABEL -o value ${device} | sort`, /^two\nxfs$/]],
      // A delete unmounts it; its data stays.
      delete: [
        ["findmnt -nt xfs || true", /^$/],
        [`blkid -p -s TYPE -o value ${device}`, /^xfs$/],
      ],
    },
    beforeDelete: `mkdir -p /mnt/under && mount ${device} /mnt/under`,
    afterDelete: `wipefs -qa ${device}; rmdir /mnt/under 2>/dev/null || true`,
  },
  {
    type: "vm:Machine",
    host: "local",
    guests: [],
    base: () => [],
    create: ({ folder }) => ({
      name: "under",
      folder: `${folder}/machines/under`,
      memory: "256 MiB",
      disks: [{ serial: "ONE", size: "64 MiB" }],
      link: { socket: `${folder}/machines/link.sock`, listen: true, mac: "52:54:00:00:02:01" },
    }),
    update: {
      memory: "320 MiB",
      disks: [
        { serial: "ONE", size: "64 MiB" },
        { serial: "TWO", size: "64 MiB" },
      ],
    },
    proofs: {
      create: [["cat /etc/hostname; lsblk -dno SERIAL | sort", /^under\nONE\nROOT$/]],
      update: [["cat /etc/hostname; lsblk -dno SERIAL | sort", /^under\nONE\nROOT\nTWO$/]],
      delete: [],
    },
  },
];
