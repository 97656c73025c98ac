import type { Scenario } from "../scenario.ts";
import { all, backstore, initiatorName, link, pool, rdma, volume } from "./base.ts";

/** What the storage host serves by: LIO and the links. */

/** What makes a host ready for LIO stays on it. */
const unprepareLio =
  "rm -rf /etc/modules-load.d/storage-lab-lio*.conf /etc/systemd/system/*target*.service.d/storage-lab.conf";

const lio = "/sys/kernel/config/target";

export const serving: readonly Scenario[] = [
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
    type: "lio:Ramdisk",
    host: "storage",
    guests: ["storage"],
    base: () => [],
    create: () => ({ name: "under", size: "32 MiB" }),
    replace: { name: "another", size: "64 MiB" },
    proofs: {
      create: [
        [`cat ${lio}/core/rd_mcp_*/under/enable`, /^1$/],
        [`cat ${lio}/core/rd_mcp_*/under/info`, /PAGES\/PAGE_SIZE: 8192\*4096/],
      ],
      replace: [[`cat ${lio}/core/rd_mcp_*/another/info`, /PAGES\/PAGE_SIZE: 16384\*4096/]],
      delete: [
        [`ls -d ${lio}/core/rd_mcp_*/* 2>&1 || true`, /No such file/],
        ["grep -cE 'under|another' /etc/rtslib-fb-target/saveconfig.json || true", /^0$/],
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
    // Not its MTU: a delete leaves that as it is, and may come right after a create or after an update.
    update: { addresses: ["10.10.20.1/24", "10.10.21.1/24"] },
    proofs: {
      create: [["ip address show eth1", /mtu 4200 (.*\n)+.*inet 10\.10\.20\.1\/24/]],
      update: [
        ["ip address show eth1", /mtu 4200 (.*\n)+.*inet 10\.10\.20\.1\/24(.*\n)+.*inet 10\.10\.21\.1\/24/],
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
];
