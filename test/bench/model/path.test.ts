import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { z } from "zod";
import { elementsOf } from "../../../bench/model/path.ts";
import type { Element, ElementName } from "../../../bench/schema/diagnosis.ts";
import { evidence } from "../../../bench/schema/evidence.ts";
import type { Hardware } from "../../../bench/schema/needs.ts";

type Given = z.input<typeof evidence>;

/** Lab A as published: iSER, sequential write; what was not published is null. */
const hba = {
  device: "LSI SAS2008",
  kind: "hba",
  width: 8,
  maximumWidth: 8,
  speed: 5,
  maximumSpeed: 5,
} as const;
const p3700 = {
  device: "DC P3700",
  kind: "nvme",
  width: 4,
  maximumWidth: 4,
  speed: 5,
  maximumSpeed: 8,
} as const;
const labA: Given = {
  ...{ protocol: "iser", operation: "write", blockSize: 524288, depth: 16, jobs: 1, clients: 1, sync: false },
  ...{ rateIops: null, size: 100 * 2 ** 30, seconds: 180, valid: true, invalid: null, virtual: false },
  ...{ bandwidth: 721, iops: 1375, clat: null },
  client: { host: "dl380", cpus: 24, averageBusy: null, averageSystem: null, cores: [] },
  storage: { host: "r710", cpus: 12, averageBusy: null, averageSystem: 69, cores: [], pcie: [hba, p3700] },
  link: { kind: "infiniband", rate: 4000, mtu: 65520, peerMtu: 65520, rdmaMtu: 2048, mode: "connected" },
  arc: null,
  pool: {
    layout: {
      vdevs: [
        { kind: "mirror", role: "data", disks: 3, count: 24, rotational: true },
        { kind: "mirror", role: "log", disks: 2 },
      ],
      ...{ ashift: 12, volblocksize: 16384, compression: "off", sync: "standard", logbias: "latency" },
    },
    ...{ read: null, written: null, disks: [], logWritten: null, zilCommits: null, backstore: "volume" },
  },
};
const elements = (change: Partial<Given> = {}, hardware: Hardware = {}): Element[] =>
  elementsOf(evidence.parse({ ...labA, ...change }), hardware);
const find = (name: ElementName, of: Element[]): Element => {
  const found = of.find(({ element }) => element === name);
  assert.ok(found, `${name} is not among ${of.map(({ element }) => element).join(", ")}`);
  return found;
};
const rounded = (value: number | null): number | null => value && Math.round(value);
const figures = ({ used, capacity, share, bound, from, unit }: Element) => ({
  ...{ used: rounded(used), capacity: rounded(capacity), share: rounded(share), bound: rounded(bound) },
  ...{ from, unit },
});
const core = (number: number, fields: object) => ({ core: number, ...fields });
const disk = (name: string, fields: object = {}) => ({
  ...{ disk: name, role: "data" as const, vdev: "mirror-0", read: 0, written: 0, operations: 0 },
  ...{ wait: null, queue: null, busy: null },
  ...fields,
});

describe("lab A's iSER write", () => {
  const path = elements();
  test("goes through every element but the ARC, in the path's order", () => {
    assert.deepEqual(
      path.map(({ element }) => element),
      [
        ...["client core", "client cpu", "link", "storage core", "storage cpu"],
        ...["pool", "slog", "hba", "disks"],
      ],
    );
  });
  test("is bound first by the storage host's CPU, next by the HBA with three copies", () => {
    assert.deepEqual(figures(find("storage cpu", path)), {
      ...{ used: 69, capacity: 100, share: 69, bound: 1045, from: "measured", unit: "%" },
    });
    const found = find("hba", path);
    assert.deepEqual(figures(found), {
      ...{ used: 2163, capacity: 3362, share: 64, bound: 1121, from: "read", unit: "MB/s" },
    });
    assert.equal(
      found.how,
      "3 times 721 MB/s by the layout (3 copies) over PCIe 2.0 x8 (3,362 MB/s of data)",
    );
    assert.equal(found.name, "LSI SAS2008");
  });
  test("uses a fifth of the link", () => {
    const found = find("link", path);
    assert.deepEqual(figures(found), {
      ...{ used: 730, capacity: 4000, share: 18, bound: 3950, from: "read", unit: "MB/s" },
    });
    assert.equal(
      found.how,
      "used as the payload says; the link carries 4,000 MB/s of data; 98.7 % of it is payload at RDMA MTU 2048",
    );
  });
  test("marks as assumed what a disk with a spindle can do", () => {
    assert.deepEqual(figures(find("pool", path)), {
      ...{ used: 721, capacity: 4800, share: 15, bound: 4800, from: "assumed", unit: "MB/s" },
    });
    assert.match(
      find("disks", path).how,
      /a disk is assumed to do 200 MB\/s, as one of 7,200 rpm does at most/,
    );
  });
  test("leaves the SLOG alone: the writes are asynchronous", () => {
    const found = find("slog", path);
    assert.equal(found.how, "only synchronous writes pass it, and this load's don't");
    assert.deepEqual([found.used, found.capacity, found.bound], [null, null, null]);
  });
});

describe("the CPUs", () => {
  test("lab A's iSCSI read: one core of the client in softirq, which the average of 5 % hides", () => {
    const path = elements({
      ...{ protocol: "iscsi", operation: "read", bandwidth: 1054 },
      client: {
        ...{ host: "dl380", cpus: 24, averageBusy: 5, averageSystem: null },
        cores: [core(3, { softirq: 95 }), core(4, { system: 10, user: 2 })],
      },
    });
    const busiest = find("client core", path);
    assert.equal(busiest.name, "dl380 core 3");
    assert.equal(busiest.how, "busiest of 24 cores: 95 % softirq");
    assert.deepEqual([rounded(busiest.share), rounded(busiest.bound)], [95, 1109]);
    assert.deepEqual([find("client cpu", path).used, rounded(find("client cpu", path).bound)], [5, 21080]);
  });
  test("the busiest core is by all of its work together, waiting for I/O left out", () => {
    const path = elements({
      storage: {
        ...{ host: "r710", cpus: 4, averageBusy: 40, averageSystem: 30 },
        cores: [core(0, { softirq: 50, iowait: 50 }), core(1, { system: 30, user: 20, softirq: 5 })],
      },
    });
    const busiest = find("storage core", path);
    assert.deepEqual([busiest.name, busiest.used], ["r710 core 1", 55]);
    assert.equal(busiest.how, "busiest of 4 cores: 5 % softirq + 30 % system + 20 % user");
    assert.equal(find("storage cpu", path).used, 40);
  });
  test("not measured is null, not idle", () => {
    const found = find("client core", elements());
    assert.deepEqual([found.used, found.share, found.bound], [null, null, null]);
    assert.equal(found.how, "no core of dl380 was measured");
  });
  test("hardly used says nothing of what it would do when full", () => {
    const idle = { host: "dl380", cpus: 24, averageBusy: 0.5, averageSystem: null, cores: [] };
    assert.equal(find("client cpu", elements({ client: idle })).bound, null);
  });
});

describe("the link", () => {
  const network = (received: number, sent: number) => ({
    storage: {
      ...{ host: "r710", cpus: 12, averageBusy: null, averageSystem: null, cores: [] },
      network: { interface: "ib0", received, sent, dropped: 0 },
    },
  });
  test("is used as the interface's busier direction says", () => {
    const found = find("link", elements({ protocol: "iscsi", bandwidth: 431, ...network(440, 6) }));
    assert.equal(found.used, 440);
    assert.match(found.how, /^used as the interface's counters say/);
  });
  test("counters that saw no RDMA are no measure of iSER", () => {
    assert.equal(rounded(find("link", elements(network(1, 1))).used), 730);
  });
  test("of a mixed load only counters say which way it went", () => {
    const mixed: Partial<Given> = { protocol: "iscsi", operation: "randrw", bandwidth: 400 };
    const found = find("link", elements({ ...mixed, ...network(130, 290) }));
    assert.equal(found.used, 290);
    assert.equal(rounded(found.bound), 5715);
    const unseen = find("link", elements(mixed));
    assert.deepEqual([unseen.used, unseen.bound], [null, null]);
  });
  test("is as wide as the slot of the adapter at its end, where that is known", () => {
    const nic = (width: number, device = "ConnectX-2") => ({
      ...{ device, kind: "nic" as const, width, maximumWidth: 8, speed: 5, maximumSpeed: 5 },
    });
    const client = (pcie: ReturnType<typeof nic>[]) => ({
      client: { host: "dl380", cpus: 24, averageBusy: null, averageSystem: null, cores: [], pcie },
    });
    const narrow = find("link", elements(client([nic(4)])));
    assert.equal(rounded(narrow.capacity), 1681);
    assert.equal(narrow.name, "InfiniBand, ConnectX-2 of dl380 in PCIe 2.0 x4");
    // Two ports of one adapter are one slot; of two adapters nothing says which.
    assert.equal(rounded(find("link", elements(client([nic(4), nic(4)]))).capacity), 1681);
    assert.equal(find("link", elements(client([nic(4), nic(1, "I350")]))).capacity, 4000);
    const stated = find("link", elements(client([nic(4)]), { link: { bandwidth: 3000 } }));
    assert.deepEqual([stated.capacity, stated.from], [3000, "stated"]);
  });
  test("that doesn't say its rate has no capacity and no bound", () => {
    const found = find("link", elements({ link: { ...labA.link, rate: null } }));
    assert.deepEqual([found.capacity, found.share, found.bound, found.from], [null, null, null, "unknown"]);
  });
});

describe("reads", () => {
  const arc = (hitRatio: number | null) => ({
    operation: "read" as const,
    bandwidth: 2000,
    arc: { hitRatio, size: 8e9, maximum: 16e9, state: "warm" as const },
  });
  test("lab A's, from ARC: next to nothing reaches pool and HBA", () => {
    const path = elements(arc(0.99));
    const found = find("arc", path);
    assert.deepEqual([found.used, found.capacity, found.bound], [1980, null, null]);
    assert.match(found.how, /^99 % of demand reads hit; it holds 8,000 MB/);
    assert.deepEqual(figures(find("hba", path)).used, 20);
  });
  test("half of them from ARC: disks allow twice what they read", () => {
    const path = elements(arc(0.5), { disk: { sequential: 100 } });
    assert.deepEqual(figures(find("pool", path)), {
      ...{ used: 1000, capacity: 7200, share: 14, bound: 14400, from: "stated", unit: "MB/s" },
    });
    assert.equal(rounded(find("hba", path).bound), 6724);
  });
  test("whose hits were not measured say nothing of pool and HBA", () => {
    const path = elements(arc(null));
    assert.deepEqual(
      [find("arc", path).used, find("pool", path).used, find("hba", path).used],
      [null, null, null],
    );
    assert.deepEqual([find("pool", path).bound, find("hba", path).bound], [null, null]);
  });
  test("at random are counted in I/Os, as many at once as the layout serves", () => {
    const path = elements(
      { ...arc(0), operation: "randread", blockSize: 4096, bandwidth: 20, iops: 4883 },
      { disk: { iops: 150 } },
    );
    const found = find("pool", path);
    assert.deepEqual(figures(found), {
      ...{ used: 4883, capacity: 10800, share: 45, bound: 44, from: "stated", unit: "IOPS" },
    });
    assert.match(found.how, /as 72 disks; a disk does 150 random I\/Os a second, as stated/);
  });
});

describe("what was measured goes before what the layout says", () => {
  const disks = [
    disk("sda", { written: 700, operations: 900, busy: 97, rotational: true }),
    disk("sdb", { written: 700, busy: 60 }),
    disk("sdc", { written: 700, busy: 50 }),
    disk("nvme0n1", { role: "log", written: 500, busy: 30 }),
  ];
  const measured = { pool: { ...labA.pool, disks } };
  test("the HBA carries what all disks behind it moved, NVMe left out", () => {
    const found = find("hba", elements(measured));
    assert.deepEqual([found.used, rounded(found.bound)], [2100, 1154]);
    assert.equal(
      found.how,
      "2,100 MB/s to or from 3 disks, 2.91 a byte of payload, by the layout 3 a byte (3 copies) over PCIe 2.0 x8 (3,362 MB/s of data)",
    );
  });
  test("the busiest disk is named; a spindle that is busy is full", () => {
    const found = find("disks", elements(measured));
    assert.deepEqual([found.name, found.used, rounded(found.bound)], ["sda in mirror-0", 97, 743]);
    assert.equal(found.how, "busiest of 3: 700 MB/s in 900 I/Os a second");
  });
  test("a busy disk of an unknown kind is not taken for a full one", () => {
    const unknown = disks.map(
      ({ rotational: _, ...fields }: ReturnType<typeof disk> & { rotational?: boolean }) => fields,
    );
    const found = find("disks", elements({ pool: { ...labA.pool, disks: unknown } }));
    assert.equal(found.bound, null);
    assert.match(found.how, /a disk that serves several at once isn't full at 100 %$/);
  });
  test("a disk whose time was measured goes before one that moves more", () => {
    const some = [disk("sda", { written: 900 }), disk("sdb", { written: 10, busy: 40 })];
    const busiest = find("disks", elements({ pool: { ...labA.pool, disks: some } }));
    assert.deepEqual([busiest.name, busiest.unit], ["sdb in mirror-0", "%"]);
    const untimed = [disk("sda", { written: 90 }), disk("sdb", { written: 100, rotational: true })];
    const most = find("disks", elements({ pool: { ...labA.pool, disks: untimed } }));
    assert.deepEqual(figures(most), {
      ...{ used: 100, capacity: 200, share: 50, bound: 1442, from: "assumed", unit: "MB/s" },
    });
  });
  test("a synchronous load fills the SLOG as far as it was written to", () => {
    const pool = { ...labA.pool, logWritten: 400 };
    const found = find("slog", elements({ sync: true, bandwidth: 380, pool }, { log: { sequential: 1000 } }));
    assert.deepEqual(figures(found), {
      ...{ used: 400, capacity: 1000, share: 40, bound: 950, from: "stated", unit: "MB/s" },
    });
  });
  test("a SLOG that nothing was written to is not used", () => {
    const found = find(
      "slog",
      elements({ pool: { ...labA.pool, logWritten: 0 } }, { log: { sequential: 1000 } }),
    );
    assert.deepEqual([found.used, found.bound], [0, null]);
    assert.equal(found.how, "nothing was written to it: no synchronous writes");
  });
});

describe("what isn't there or isn't known", () => {
  test("a ramdisk leaves out ARC, pool, SLOG, HBA and disks", () => {
    const path = elements({ pool: { ...labA.pool, backstore: "ramdisk" } });
    assert.deepEqual(
      path.map(({ element }) => element),
      [...["client core", "client cpu", "link", "storage core", "storage cpu"]],
    );
  });
  test("guests have no HBA, unless one is stated; hosts have one that may not be known", () => {
    const none = { storage: { ...labA.storage, pcie: [] } };
    assert.ok(!elements({ ...none, virtual: true }).some(({ element }) => element === "hba"));
    const stated = find("hba", elements({ ...none, virtual: true }, { hba: { bandwidth: 3000 } }));
    assert.deepEqual([stated.capacity, stated.from], [3000, "stated"]);
    const unknown = find("hba", elements(none));
    assert.deepEqual(
      [unknown.capacity, unknown.share, unknown.bound, unknown.from],
      [null, null, null, "unknown"],
    );
  });
  test("a guest's disks are not taken for spindles, whatever they say", () => {
    assert.equal(find("pool", elements({ virtual: true })).capacity, null);
  });
  test("a SLOG that may be behind the HBA is counted there when writes are synchronous", () => {
    const none = { storage: { ...labA.storage, pcie: [hba] } };
    assert.equal(find("hba", elements({ ...none, sync: true })).used, 5 * 721);
    assert.equal(find("hba", elements({ sync: true })).used, 3 * 721);
  });
  test("a pool without a known layout says so, and a disk without a known kind has no rate", () => {
    assert.equal(
      find("pool", elements({ pool: { ...labA.pool, layout: null } })).how,
      "the pool's layout isn't known",
    );
    const plain = {
      ...labA.pool,
      layout: { ...labA.pool.layout, vdevs: [{ kind: "mirror", role: "data", disks: 3, count: 24 }] },
    } as Given["pool"];
    const found = find("pool", elements({ pool: plain }));
    assert.deepEqual([found.capacity, found.bound, found.from], [null, null, "unknown"]);
  });
  test("an invalid run has no bandwidth: nothing is scaled by it", () => {
    for (const { bound, element } of elements({
      bandwidth: null,
      iops: null,
      valid: false,
      invalid: "too short",
    }))
      if (["storage cpu", "storage core", "client cpu", "disks"].includes(element))
        assert.equal(bound, null, element);
  });
});
