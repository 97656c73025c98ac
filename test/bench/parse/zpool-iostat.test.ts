import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginsReport,
  type PoolSample,
  parseZpoolIostat,
  type VdevRates,
} from "../../../bench/parse/zpool-iostat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertNear, assertTotal } from "./total.ts";

const poolOf = (name: string): string => (name.includes("name-with-blank") ? "old tank" : "tank");
const isHeaded = (name: string): boolean => /^ +capacity /m.test(recorded(name));
const versionOf = (name: string): string => /([\d.]+)$/.exec(name)?.[1] ?? "";
const sum = (rows: readonly VdevRates[], of: (row: VdevRates) => number): number =>
  rows.reduce((all, row) => all + of(row), 0);

/** Direct children: the rows that follow, one deeper, up to the next that isn't deeper. */
function childrenOf(sample: PoolSample, parent: VdevRates): VdevRates[] {
  const rows = [sample.pool, ...sample.vdevs];
  const after = rows.slice(rows.indexOf(parent) + 1);
  const end = after.findIndex((row) => (row.depth ?? 0) <= (parent.depth ?? 0));
  return (end < 0 ? after : after.slice(0, end)).filter((row) => row.depth === (parent.depth ?? 0) + 1);
}

for (const name of recordings("zpool-iostat")) {
  const text = recorded(name);
  const samples = parseZpoolIostat(text, poolOf(name));
  const times = text.split("\n").filter(beginsReport).map(Number);

  test(`${name}: one sample an interval; the report since boot leaves only its time`, () => {
    assert.ok(samples.length >= 1);
    assert.deepEqual(
      samples.map(({ time }) => time),
      times.slice(-samples.length),
    );
    for (const { pool, vdevs } of samples) {
      assert.equal(pool.name, poolOf(name));
      assert.deepEqual([pool.role, pool.depth], ["pool", 0]);
      assert.equal(vdevs.length, samples[0]?.vdevs.length);
      assert.ok((pool.allocated ?? 0) > 0 && (pool.free ?? 0) > 0);
    }
  });

  test(`${name}: waits and queues as asked for, with those of rebuilds since ZFS 2.2`, () => {
    const asked = /-(headed|scripted)--|name|replacing/.test(name) ? "both" : name;
    const waits = asked === "both" || asked.includes("waits");
    const queues = asked === "both" || asked.includes("queues");
    for (const { pool, vdevs } of samples) {
      for (const row of [pool, ...vdevs]) {
        assert.equal(row.waits !== null, waits);
        assert.equal(row.queues !== null, queues);
        if (queues) assert.equal(row.queues?.rebuild === null, versionOf(name) < "2.2");
        // An I/O waits for the disk as long as for both together at most; bins are of powers of two.
        const { totalWrite, diskWrite } = row.waits ?? {};
        if (totalWrite && diskWrite)
          assert.ok(diskWrite <= totalWrite * 1.5, `${row.name}: ${diskWrite} ns of ${totalWrite}`);
        // A disk that wrote has a wait (a distributed spare has none, whatever its row says it wrote).
        if (waits && /^virtio/.test(row.name) && row.writeOperations > 1) assert.ok(totalWrite, row.name);
      }
    }
  });

  if (!isHeaded(name)) {
    test(`${name}: -H says neither classes nor depths`, () => {
      for (const { role, depth } of samples.flatMap(({ vdevs }) => vdevs)) {
        assert.deepEqual([role, depth], [null, null]);
      }
    });
    continue;
  }

  test(`${name}: what a vdev wrote is what its disks wrote, the pool's what its vdevs wrote`, () => {
    // ZFS reads its counters one after the other, so within one sample they differ by what comes in bursts.
    const written = (name: string, role: string) =>
      samples.reduce(
        (all, { pool, vdevs }) =>
          all +
          sum(
            [pool, ...vdevs].filter((row) => row.name === name && row.role === role),
            ({ write }) => write,
          ),
        0,
      );
    const [sample] = samples;
    assert.ok(sample);
    const total = (rows: readonly VdevRates[]) =>
      rows.reduce((all, { name, role }) => all + written(name, role ?? ""), 0);
    // Those of the L2ARC are not the pool's.
    const vdevs = childrenOf(sample, sample.pool).filter(({ role }) => role !== "cache");
    assertNear(total([sample.pool]), total(vdevs), 0.05, "the pool's write");
    for (const vdev of vdevs) {
      const disks = childrenOf(sample, vdev);
      // A copy to a spare that is still being made counts for the disk, not for the vdev.
      if (disks.length === 0 || disks.some(({ name }) => /^spare/.test(name))) continue;
      assertNear(total([vdev]), total(disks), 0.05, `${vdev.name}'s write`);
    }
  });
}

/** Name, role and depth of each row. */
const shape = (name: string): string[] =>
  (parseZpoolIostat(recorded(name), poolOf(name))[0]?.vdevs ?? []).map(
    ({ name, role, depth }) => `${role} ${depth} ${name}`,
  );

for (const version of recordings("zpool-iostat", /^classes-headed--/).map(versionOf)) {
  test(`classes and depths by the titles and the indentation (${version})`, () => {
    const mirror = (role: string, nth: number, ...disks: string[]) => [
      `${role} 1 mirror-${nth}`,
      ...disks.map((disk) => `${role} 2 virtio-${disk}`),
    ];
    assert.deepEqual(shape(`zpool-iostat--classes-headed--zfs-${version}`), [
      ...mirror("data", 0, "D1", "D2"),
      ...mirror("data", 1, "D3", "D4"),
      "dedup 1 virtio-D11",
      ...mirror("special", 3, "D5", "D6"),
      ...mirror("log", 4, "D7", "D8"),
      "cache 1 virtio-D9",
      "cache 1 virtio-D10",
    ]);
  });
}

for (const name of recordings("zpool-iostat", /-headed--/)) {
  test(`${name}: the same rows as with -H`, () => {
    const [headed, scripted] = [name, name.replace("-headed--", "-scripted--")].map((form) =>
      parseZpoolIostat(recorded(form), poolOf(name))[0]?.vdevs.map((vdev) => vdev.name),
    );
    assert.ok(headed && headed.length > 0);
    assert.deepEqual(headed, scripted);
  });
}

test("a pool's name may hold blanks; a disk that is replaced has a vdev of its own", () => {
  assert.deepEqual(shape("zpool-iostat--raidz-name-with-blank-headed--zfs-2.3.9"), [
    "data 1 raidz2-0",
    ...["D1", "D2", "D3", "D4", "D5", "D6"].map((disk) => `data 2 virtio-${disk}`),
    "log 1 virtio-D7",
  ]);
  const rows = shape("zpool-iostat--spare-replacing-headed--zfs-2.3.9");
  assert.ok(rows.includes("data 3 draid1-0-0"), rows.join());
});

test("figures by hand", () => {
  const [sample] = parseZpoolIostat(recorded("zpool-iostat--classes-headed--zfs-2.3.9"), "tank");
  const mirror = sample?.vdevs.find(({ name }) => name === "mirror-0");
  const none = { pending: 0, active: 0 };
  assert.deepEqual(mirror, {
    ...{ name: "mirror-0", role: "data", depth: 1, allocated: 10_502_144, free: 241_156_096 },
    ...{ readOperations: 0, writeOperations: 159, read: 0, write: 6_402_621 },
    waits: {
      ...{ totalRead: null, totalWrite: 3_469_065, diskRead: null, diskWrite: 2_642_364 },
      ...{ syncRead: null, syncWrite: null, asyncRead: null, asyncWrite: 675_155 },
      ...{ scrub: null, trim: null, rebuild: null },
    },
    queues: {
      ...{ syncRead: none, syncWrite: none, asyncRead: none, asyncWrite: none },
      ...{ scrub: none, trim: none, rebuild: none },
    },
  });
});

const numbers = (count: number): string => Array.from({ length: count }, (_, at) => at + 1).join("\t");

for (const [count, version] of [
  [28, "2.1"],
  [31, "2.2 to 2.4"],
] as const) {
  test(`-l -q without a heading: ${count} figures are those of ZFS ${version}`, () => {
    const [sample] = parseZpoolIostat(`1796041381\ntank\t${numbers(count)}\n`, "tank");
    const rebuilds = count === 31;
    const at = rebuilds ? 18 : 17;
    assert.deepEqual(sample?.pool.waits, {
      ...{ totalRead: 7, totalWrite: 8, diskRead: 9, diskWrite: 10, syncRead: 11, syncWrite: 12 },
      ...{ asyncRead: 13, asyncWrite: 14, scrub: 15, trim: 16, rebuild: rebuilds ? 17 : null },
    });
    assert.deepEqual(sample?.pool.queues?.syncRead, { pending: at, active: at + 1 });
    assert.deepEqual(sample?.pool.queues?.asyncWrite, { pending: at + 6, active: at + 7 });
    assert.deepEqual(sample?.pool.queues?.trim, { pending: at + 10, active: at + 11 });
    assert.deepEqual(sample?.pool.queues?.rebuild, rebuilds ? { pending: 30, active: 31 } : null);
  });
}

test("a dash is none", () => {
  const [sample] = parseZpoolIostat("1796041381\ntank\t-\t5\t1\t2\t3000\t4000\n", "tank");
  assert.deepEqual([sample?.pool.allocated, sample?.pool.free, sample?.pool.write], [null, 5, 4000]);
});

const heading = recorded("zpool-iostat--classes-headed-plain--zfs-2.3.9").split("\n").slice(2, 5).join("\n");
for (const [what, bad, said] of [
  ["another pool", "1\nback\t0\t0\t0\t0\t0\t0\n", /tank expected, back found/],
  [
    "a number of columns of no version",
    `1\ntank\t${numbers(12)}\n`,
    /13 fields; 7, 17, 18, 19, 21, 29, 32 are known/,
  ],
  ["a word for a number", "1\ntank\t0\t0\t0\t0\t0\t1.5M\n", /"1.5M" is no number/],
  ["no rate", "1\ntank\t0\t0\t0\t0\t-\t0\n", /rates missing/],
  ["no time", "tank\t0\t0\t0\t0\t0\t0\n", /before the first time/],
  ["no heading", "1\ntank 0 0 0 0 0 0\n", /before any heading/],
  [
    "a heading with another column",
    `1\n${heading.replace("bandwidth", "bandwidth  flushes")}\n`,
    /a heading of no version known here/,
  ],
  [
    "a lower heading with another column",
    `1\n${heading.replace("alloc", "alloc  frag")}\n`,
    /a heading of no version known here/,
  ],
  ["fewer figures than the heading has", `1\n${heading}\ntank 0 0 0 0 0\n`, /a name and 6 figures expected/],
  ["what zpool says of an error", "1\ncannot open 'tank': no such pool\n", /unknown line "cannot open/],
] as const) {
  test(`${what}: an error that says so`, () =>
    assert.throws(
      () => parseZpoolIostat(bad, "tank"),
      (error) => error instanceof ParseError && said.test(error.message),
    ));
}

test("any text is parsed or a ParseError", () => {
  const parse = (text: string) => parseZpoolIostat(text, "tank");
  assertTotal(parse, recorded("zpool-iostat--classes-headed--zfs-2.3.9"));
  assertTotal(parse, recorded("zpool-iostat--classes-scripted--zfs-2.3.9"));
});
