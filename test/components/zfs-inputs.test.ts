import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { poolTolerates, volumeHints } from "../../components/zfs-inputs.ts";
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

test("a block size that wastes space on the declared vdevs is said before there is a pool", () => {
  const hints = (data: object, volblocksize = "16 KiB") => {
    const stack = { hosts: { a: { ssh: "a" } }, pools: { tank: { host: "a", data } } };
    const { tank } = parseConfig(inJson(stack), "lab").pools;
    return tank === undefined ? [] : volumeHints(tank, { volblocksize });
  };
  assert.deepEqual(hints({ mirror: 3, disks: "by-id/d{1..6}" }), []);
  assert.match(
    hints({ raidz2: 6, disks: "by-id/d{1..6}" }, "8 KiB")[0] ?? "",
    /On RAID-Z2 of 6 disks with sectors of 4 KiB, volblocksize 8 KiB leaves 33 % .*\(2 data \+ 2 parity \+ 2 padding/,
  );
  assert.match(
    hints({ draid2: 8, data: 4, disks: "by-id/d{1..8}" }, "4 KiB")[0] ?? "",
    /On dRAID2 of 4 data disks a group/,
  );
});
