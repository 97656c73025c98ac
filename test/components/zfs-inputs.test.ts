import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { poolTolerates } from "../../components/zfs-inputs.ts";
import { parseConfig } from "../../config.ts";
import { inJson } from "../stack-file/sample.ts";

describe("which failures a pool survives", () => {
  const cases: [name: string, pool: object, sentence: string][] = [
    [
      "lab",
      {
        data: { mirror: 3, disks: "by-id/virtio-DISK{01..06}" },
        log: { mirror: 2, disks: "by-id/virtio-DISK{07..08}" },
      },
      "data: any 2 disks of each vdev; log: any 1 disk",
    ],
    [
      "72 disks in three enclosures",
      {
        data: { mirror: 3, disks: "by-id/scsi-D2700-{1..3}-bay{01..24}", spread: "enclosure" },
        log: { stripe: 1, disks: "by-id/nvme" },
        cache: { stripe: 1, disks: "by-id/ssd-{a,b}" },
        spare: { stripe: 1, disks: "by-id/spare" },
      },
      "data: any 2 disks of each vdev, or any 2 whole enclosures; log: no failure, if the host fails with it: the last synchronous writes would be lost; cache: any failure, it holds copies only",
    ],
    [
      "a single special disk under mirrors",
      {
        data: { mirror: 2, disks: "by-id/virtio-DISK{01..02}" },
        special: { stripe: 1, disks: "by-id/virtio-DISK03" },
      },
      "data: any 1 disk; special: no failure",
    ],
  ];
  for (const [name, pool, sentence] of cases) {
    test(name, () => {
      const stack = { hosts: { a: { ssh: "a" } }, pools: { tank: { host: "a", ...pool } } };
      const { tank } = parseConfig(inJson(stack), "lab").pools;
      assert.equal(tank && poolTolerates(tank), sentence);
    });
  }
});
