import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  failures,
  intentLog,
  type Load,
  logCost,
  readCost,
  readsAtOnce,
  writeCost,
} from "../../../bench/model/layout.ts";
import { type Layout, layout } from "../../../bench/schema/evidence.ts";

type Shape = { kind: string; disks: number; role?: string; count?: number; data?: number; spares?: number };
type Set = Partial<Pick<Layout, "volblocksize" | "ashift" | "sync" | "logbias">>;
const kib = (n: number): number => n * 1024;
const pool = (vdevs: Shape[], set: Set = {}): Layout =>
  layout.parse({
    vdevs: vdevs.map((shape) => ({ role: "data", ...shape })),
    ...{ ashift: 12, volblocksize: kib(16), compression: null, sync: "standard", logbias: "latency" },
    ...set,
  });
const load = (fields: Partial<Load> = {}): Load => ({
  ...{ blockSize: kib(512), random: false, sync: false },
  ...fields,
});
const raidz = (parity: number, disks: number, block: number, ashift = 12): Layout =>
  pool([{ kind: `raidz${parity}`, disks }], { volblocksize: kib(block), ashift });
const log = { kind: "mirror", disks: 2, role: "log" };

describe("bytes written to the data disks for a byte of payload", () => {
  for (const [what, of, least, most] of [
    ["one disk", pool([{ kind: "disk", disks: 1 }]), 1, 1],
    ["lab A: three copies, whatever the block size", pool([{ kind: "mirror", disks: 3, count: 24 }]), 3, 3],
    [
      "mirrors where the block size isn't known",
      pool([{ kind: "mirror", disks: 2 }], { volblocksize: null }),
      2,
      2,
    ],
    // zfsprops(7) and vdev_raidz.c: 8 KiB are 2 data + 1 parity, and a fourth sector that pads.
    ["RAID-Z1 of 4, 8 KiB: the padding always falls on one disk", raidz(1, 4, 8), 1.5, 1.5],
    ["RAID-Z1 of 3, 8 KiB: the padding goes round", raidz(1, 3, 8), 1.5, 2],
    ["RAID-Z1 of 4, 16 KiB: 4 data + 2 parity", raidz(1, 4, 16), 1.5, 1.5],
    ["RAID-Z1 of 5, 16 KiB: 4 data + 1 parity + 1 padding", raidz(1, 5, 16), 1.25, 1.5],
    ["RAID-Z2 of 6, 4 KiB: three copies", raidz(2, 6, 4), 3, 3],
    ["RAID-Z2 of 8, 128 KiB: 32 data + 12 parity + 1 padding", raidz(2, 8, 128), 1.375, 45 / 32],
    ["RAID-Z3 of 11, 16 KiB", raidz(3, 11, 16), 1.75, 2],
    ["RAID-Z2 of 6, 8 KiB, sectors of 512 bytes", raidz(2, 6, 8, 9), 1.5, 1.5],
    [
      "dRAID2 of 4 data disks, 8 KiB: whole rows, padding included",
      pool([{ kind: "draid2", disks: 8, data: 4, spares: 1 }], { volblocksize: kib(8) }),
      3,
      3,
    ],
    [
      "two kinds of vdev, as many disks each",
      pool([
        { kind: "mirror", disks: 2, count: 2 },
        { kind: "raidz1", disks: 4 },
      ]),
      1.75,
      1.75,
    ],
  ] as const)
    test(what, () => {
      const cost = writeCost(of, load());
      assert.deepEqual([cost?.least, cost?.most], [least, most]);
    });

  test("isn't known of RAID-Z without the block size", () => {
    assert.equal(writeCost(pool([{ kind: "raidz1", disks: 4 }], { volblocksize: null }), load()), null);
    assert.equal(readsAtOnce(pool([{ kind: "raidz1", disks: 4 }], { volblocksize: null })), null);
  });

  test("is more for random writes below the block size, since whole blocks are rewritten", () => {
    const mirror = pool([{ kind: "mirror", disks: 2 }]);
    assert.equal(writeCost(mirror, load({ blockSize: kib(4), random: true }))?.least, 8);
    assert.equal(writeCost(mirror, load({ blockSize: kib(4) }))?.least, 2);
    assert.equal(writeCost(mirror, load({ blockSize: kib(64), random: true }))?.least, 2);
    assert.equal(readCost(mirror, load({ blockSize: kib(4), random: true })).least, 4);
    assert.equal(readCost(mirror, load()).least, 1);
  });
});

describe("the intent log", () => {
  const mirror = { kind: "mirror", disks: 2 };
  const sync = load({ sync: true, blockSize: kib(16) });
  for (const [what, of, at, where] of [
    ["asynchronous writes", pool([mirror, log]), load(), "none"],
    ["sync=disabled", pool([mirror, log], { sync: "disabled" }), sync, "none"],
    ["sync=always", pool([mirror, log], { sync: "always" }), load(), "slog"],
    ["synchronous, with a SLOG", pool([mirror, log]), sync, "slog"],
    [
      "synchronous, with a SLOG, large blocks",
      pool([mirror, log], { volblocksize: kib(128) }),
      load({ sync: true }),
      "slog",
    ],
    ["synchronous, without a SLOG", pool([mirror]), sync, "data"],
    [
      "without a SLOG, blocks of 32 KiB",
      pool([mirror], { volblocksize: kib(32) }),
      load({ sync: true }),
      "data",
    ],
    [
      "without a SLOG, whole blocks above 32 KiB",
      pool([mirror], { volblocksize: kib(64) }),
      load({ sync: true }),
      "indirect",
    ],
    ["without a SLOG, parts of large blocks", pool([mirror], { volblocksize: kib(64) }), sync, "data"],
    ["logbias=throughput, with a SLOG", pool([mirror, log], { logbias: "throughput" }), sync, "indirect"],
  ] as const)
    test(`${what}: ${where}`, () => assert.equal(intentLog(of, at), where));

  test("doubles what goes to the data disks where there is no SLOG", () => {
    const cost = writeCost(pool([mirror]), sync);
    assert.deepEqual([cost?.least, cost?.most], [4, 2 + (2 * 20) / 16]);
    assert.equal(logCost(pool([mirror]), sync), null);
  });
  test("goes to each side of the SLOG, and leaves the data disks as they are", () => {
    assert.equal(writeCost(pool([mirror, log]), sync)?.least, 2);
    assert.deepEqual(logCost(pool([mirror, log]), sync)?.least, 2);
    assert.equal(logCost(pool([mirror, { ...log, kind: "disk", disks: 1, count: 2 }]), sync)?.least, 1);
    assert.equal(logCost(pool([mirror, log]), load()), null);
  });
  test("takes records alone where logbias=throughput sends the data to its place", () => {
    const cost = logCost(pool([mirror, log], { logbias: "throughput" }), sync);
    assert.deepEqual([cost?.least, cost?.most], [0, 0.5]);
    const none = writeCost(pool([mirror], { logbias: "throughput" }), sync);
    assert.deepEqual([none?.least, none?.most], [2, 2.5]);
  });
});

describe("random reads at once, as disks", () => {
  for (const [what, of, disks] of [
    ["each side of a mirror serves its own", pool([{ kind: "mirror", disks: 3, count: 24 }]), 72],
    ["RAID-Z2 of 6: a block of 16 KiB is on 4 disks", raidz(2, 6, 16), 1.5],
    ["RAID-Z2 of 6: a block of 128 KiB takes all of the width", raidz(2, 6, 128), 1.5],
    ["RAID-Z1 of 4: a block of 4 KiB is on one disk", raidz(1, 4, 4), 4],
    ["two RAID-Z1 of 4", pool([{ kind: "raidz1", disks: 4, count: 2 }]), 8 / 3],
    ["dRAID1 of 12, 4 data disks a group", pool([{ kind: "draid1", disks: 12, data: 4, spares: 2 }]), 3],
  ] as const)
    test(what, () => assert.equal(readsAtOnce(of), disks));
});

describe("disks that may fail", () => {
  const special = { kind: "mirror", disks: 2, role: "special" };
  for (const [what, vdevs, any, best] of [
    ["lab A", [{ kind: "mirror", disks: 3, count: 24 }, log], 2, 48],
    ["RAID-Z2, twice", [{ kind: "raidz2", disks: 6, count: 2 }], 2, 4],
    ["RAID-Z3 is no better than its special vdev", [{ kind: "raidz3", disks: 8 }, special], 1, 4],
    ["a stripe", [{ kind: "disk", disks: 1, count: 4 }], 0, 0],
    [
      "the loss of a log vdev alone loses no pool",
      [
        { kind: "mirror", disks: 2 },
        { ...log, kind: "disk", disks: 1 },
      ],
      1,
      1,
    ],
    ["dRAID2", [{ kind: "draid2", disks: 8, data: 4, spares: 1 }], 2, 2],
  ] as const)
    test(what, () => assert.deepEqual(failures(pool([...vdevs])), { any, best }));
});
