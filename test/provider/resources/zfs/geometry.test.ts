import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  blockHints,
  type Geometry,
  poolGeometries,
  recommendedBlock,
  sectors,
  usableShare,
} from "../../../../provider/resources/zfs/geometry.ts";
import { parseProperties } from "../../../../provider/resources/zfs/properties.ts";
import { recorded } from "../../../recorded.ts";

const raidz = (parity: number, width: number, ashift = 12): Geometry => ({
  kind: "raidz",
  parity,
  width,
  ashift,
});
const kib = (n: number): number => n * 1024;
const percent = (share: number): number => Math.round(share * 1000) / 10;

describe("usable space by volblocksize", () => {
  for (const [what, geometry, block, data, parity, padding, share] of [
    ["RAID-Z1 of 3, 8 KiB: as bad as a mirror", raidz(1, 3), 8, 2, 1, 1, 50],
    ["RAID-Z1 of 3, 16 KiB: all that it can", raidz(1, 3), 16, 4, 2, 0, 66.7],
    ["RAID-Z2 of 8, 16 KiB", raidz(2, 8), 16, 4, 2, 0, 66.7],
    ["RAID-Z2 of 8, 64 KiB", raidz(2, 8), 64, 16, 6, 2, 66.7],
    ["RAID-Z2 of 8, 128 KiB", raidz(2, 8), 128, 32, 12, 1, 71.1],
    ["RAID-Z3 of 11, 4 KiB: four copies", raidz(3, 11), 4, 1, 3, 0, 25],
    ["RAID-Z2 of 6 with sectors of 512 B, 8 KiB", raidz(2, 6, 9), 8, 16, 8, 0, 66.7],
    ["dRAID2, 4 data disks, 8 KiB", { kind: "draid", parity: 2, width: 6, ashift: 12 }, 8, 2, 2, 2, 33.3],
    ["dRAID2, 4 data disks, 16 KiB", { kind: "draid", parity: 2, width: 6, ashift: 12 }, 16, 4, 2, 0, 66.7],
    ["mirrors, 16 KiB", { kind: "plain", parity: 0, width: 1, ashift: 12 }, 16, 4, 0, 0, 100],
    [
      "mirrors, 512 B: a sector a block",
      { kind: "plain", parity: 0, width: 1, ashift: 12 },
      0.5,
      1,
      0,
      0,
      12.5,
    ],
  ] as const) {
    test(what, () => {
      assert.deepEqual(sectors(geometry, kib(block)), { data, parity, padding });
      assert.equal(percent(usableShare(geometry, kib(block))), share);
    });
  }

  test("is never more than the vdev's own share, and the recommended size is nearly that where any is", () => {
    for (const ashift of [9, 12, 13])
      for (const parity of [1, 2, 3])
        for (let width = parity + 1; width <= 24; width++) {
          const geometry = raidz(parity, width, ashift);
          const best = (width - parity) / width;
          const shares = [4, 8, 16, 32, 64, 128].map((n) => usableShare(geometry, kib(n)));
          for (const share of shares)
            assert.ok(share <= best + 1e-9, `${JSON.stringify(geometry)}: ${share}`);
          const recommended = usableShare(geometry, recommendedBlock(geometry));
          assert.ok(recommended >= Math.min(best * 0.9, Math.max(...shares)) - 1e-9);
        }
  });
});

describe("the hint of a preview", () => {
  test("where the declared size, or ZFS's default, wastes space", () => {
    assert.deepEqual(blockHints("8K", [raidz(1, 3)]), [
      "On RAID-Z1 of 3 disks with sectors of 4 KiB, volblocksize 8 KiB leaves 50 % of the space for data (2 data + 1 parity + 1 padding sectors a block); 16 KiB leaves 67 % (4 data + 2 parity + 0 padding sectors).",
    ]);
    assert.match(
      blockHints(undefined, [raidz(2, 8)])[0] ?? "",
      /^On RAID-Z2 of 8 disks .* ZFS's default volblocksize of 16 KiB leaves 67 % .*; 128 KiB leaves 71 %/,
    );
    assert.match(
      blockHints("512", [{ kind: "plain", parity: 0, width: 1, ashift: 12 }])[0] ?? "",
      /^On sectors of 4 KiB, volblocksize 512 B leaves 13 % .*\(1 sector a block\); 4 KiB leaves 100 %/,
    );
  });
  test("is none where it does not, or more would not help", () => {
    assert.deepEqual(blockHints("16K", [raidz(1, 3), raidz(2, 6)]), []);
    assert.deepEqual(blockHints("128K", [raidz(3, 17)]), []);
    assert.deepEqual(blockHints(undefined, []), []);
  });
});

test("a pool's geometry is read from its status, each shape once", () => {
  const properties = parseProperties(recorded("zpool-get--two-mirrors--zfs-2.3.9"));
  assert.deepEqual(poolGeometries(recorded("zpool-status--raidz1--zfs-2.3.9"), "rz", properties), [
    raidz(1, 3),
  ]);
  assert.deepEqual(
    poolGeometries(recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9"), "tank", properties),
    [{ kind: "plain", parity: 0, width: 1, ashift: 12 }],
  );
  assert.deepEqual(poolGeometries(recorded("zpool-status--raidz1--zfs-2.3.9"), "tank", properties), []);
});
