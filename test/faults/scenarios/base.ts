import type { Declared, HostName, Lab } from "../scenario.ts";

/** What the scenarios stand on. */

export const disk = (n: number): string => `by-id/virtio-DISK0${n}`;
export const iqn = "iqn.2026-09.com.example.faults:base";
export const initiatorName = "iqn.2026-09.com.example.faults:initiator";
export const portal = "10.10.10.1:3260";
export const device = `/dev/disk/by-path/ip-${portal}-iscsi-${iqn}-lun-0`;

export const on =
  (name: string, type: string, host: HostName, inputs: object) =>
  (lab: Lab): Declared => ({ name, type, inputs: { host: lab.address[host], ...inputs } });
export const all =
  (...declared: ((lab: Lab) => Declared)[]) =>
  (lab: Lab): Declared[] =>
    declared.map((one) => one(lab));

export const pool = on("pool", "zfs:Pool", "storage", {
  name: "base",
  vdevs: [{ role: "data", type: "stripe", disks: [disk(1)] }],
  onDelete: "destroy",
});
export const volume = (n: number) =>
  on(`volume${n}`, "zfs:Volume", "storage", {
    name: `base/lun${n}`,
    size: "384 MiB",
    sparse: true,
    volblocksize: "16 KiB",
    onDelete: "destroy",
  });
export const snapshot = on("snapshot", "zfs:Snapshot", "storage", {
  name: "base/lun0@before",
  onDelete: "destroy",
});
export const backstore = (n: number) =>
  on(`backstore${n}`, "lio:Backstore", "storage", { name: `lun${n}`, device: `/dev/zvol/base/lun${n}` });
export const link = (host: HostName, n: number) =>
  on(`link-${host}`, "net:Interface", host, { device: "eth1", mtu: 4200, addresses: [`10.10.10.${n}/24`] });
export const rdma = on("rdma", "net:RdmaLink", "storage", { name: "rxe0", kind: "rxe", device: "eth1" });
export const target = on("target", "lio:Target", "storage", {
  iqn,
  portals: [{ address: portal, protocol: "iscsi" }],
  luns: [{ lun: 0, backstore: "lun0" }],
  acls: [{ initiator: initiatorName }],
});
export const initiator = on("initiator", "iscsi:Initiator", "initiator", { name: initiatorName });
export const served = [
  pool,
  volume(0),
  backstore(0),
  link("storage", 1),
  target,
  link("initiator", 2),
  initiator,
];
export const session = on("session", "iscsi:Session", "initiator", {
  target: iqn,
  portal,
  transport: "tcp",
  luns: [0],
  startup: "automatic",
});
