import type { Scenario } from "../scenario.ts";
import { all, disk, pool, snapshot, volume } from "./base.ts";

/** Pools and what is in them. */

export const zfs: readonly Scenario[] = [
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
    type: "zfs:Dataset",
    host: "storage",
    guests: ["storage"],
    base: all(pool),
    // Encrypted, with its key on the host: so it has to be unlocked and mounted again after each boot.
    create: () => ({
      name: "base/under",
      recordsize: "64 KiB",
      encryption: "aes-256-gcm",
      keyformat: "passphrase",
      key: "one passphrase",
      keyOnHost: true,
      onDelete: "destroy",
    }),
    update: { recordsize: "128 KiB", quota: "64 MiB", key: "another passphrase" },
    proofs: {
      create: [["zfs get -Hpo value recordsize,keystatus,mounted base/under", /^65536\navailable\nyes$/]],
      update: [["zfs get -Hpo value recordsize,quota,mounted base/under", /^131072\n67108864\nyes$/]],
      delete: [["zfs list base/under 2>&1 || true", /does not exist/]],
    },
  },
  {
    type: "zfs:Snapshot",
    host: "storage",
    guests: ["storage"],
    base: all(pool, volume(0)),
    create: () => ({ name: "base/lun0@under", onDelete: "destroy" }),
    update: { holds: ["keep"] },
    proofs: {
      create: [["zfs list -Ho name -t snapshot base/lun0@under", /^base\/lun0@under$/]],
      update: [["zfs holds -H base/lun0@under", /^base\/lun0@under\tkeep\t/]],
      delete: [["zfs list base/lun0@under 2>&1 || true", /does not exist/]],
    },
  },
  {
    type: "zfs:Clone",
    host: "storage",
    guests: ["storage"],
    base: all(pool, volume(0), snapshot),
    create: () => ({
      name: "base/under",
      snapshot: "base/lun0@before",
      compression: "off",
      onDelete: "destroy",
    }),
    update: { compression: "lz4" },
    proofs: {
      create: [["zfs get -Ho value origin,compression base/under", /^base\/lun0@before\noff$/]],
      update: [["zfs get -Ho value origin,compression base/under", /^base\/lun0@before\nlz4$/]],
      delete: [["zfs list base/under 2>&1 || true", /does not exist/]],
    },
  },
];
