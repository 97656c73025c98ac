import type { Scenario } from "../scenario.ts";
import { all, device, iqn, portal, served, session } from "./base.ts";

/** What a host that uses storage has, and the virtual machines. */

export const using: readonly Scenario[] = [
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
