import fc from "fast-check";
import { type Evidence, evidence } from "../../../bench/schema/evidence.ts";

/** Any evidence that the schema allows, consistent or not: hosts tell what they like. */

const percent = fc.double({ min: 0, max: 100.5, noNaN: true });
const number = fc.oneof(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), fc.constantFrom(0, 1, 1e12));
const orNull = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one, { nil: null });
const positive = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const name = fc.string({ maxLength: 12 });
const role = fc.constantFrom("data", "log", "cache", "special", "dedup", "spare");

const pcie = fc.record({
  device: name,
  kind: fc.constantFrom("hba", "nvme", "nic", "other"),
  ...{ width: positive(32), maximumWidth: positive(32) },
  speed: fc.constantFrom(2.5, 5, 8, 16, 32, 64),
  maximumSpeed: fc.constantFrom(2.5, 5, 8, 16, 32, 64),
});

const host = fc.record({
  host: name,
  cpus: positive(256),
  ...{ averageBusy: orNull(percent), averageSystem: orNull(percent) },
  cores: fc.array(
    fc.record({ core: fc.nat(255), user: percent, system: percent, softirq: percent, iowait: percent }),
    { maxLength: 6 },
  ),
  busiestInterrupt: orNull(fc.record({ source: name, core: fc.nat(255), perSecond: number })),
  network: orNull(fc.record({ interface: name, received: number, sent: number, dropped: number })),
  pcie: fc.array(pcie, { maxLength: 3 }),
});

const vdev = fc.record(
  {
    kind: fc.constantFrom(...["disk", "mirror", "raidz1", "raidz2", "raidz3", "draid1", "draid2", "draid3"]),
    ...{ role, disks: positive(30), data: orNull(positive(20)), spares: fc.nat(3) },
    ...{ diskSize: orNull(positive(2e9)), count: positive(30), rotational: fc.boolean() },
  },
  { requiredKeys: ["kind", "role", "disks"] },
);

const disk = fc.record(
  {
    disk: fc.constantFrom("sda", "sdb", "sdc", "vda", "nvme0n1"),
    ...{ role, vdev: name, read: number, written: number, operations: number },
    ...{ wait: orNull(number), queue: orNull(number), busy: orNull(percent), rotational: fc.boolean() },
  },
  { requiredKeys: ["disk", "role", "vdev", "read", "written", "operations", "wait", "queue", "busy"] },
);

export const randomEvidence: fc.Arbitrary<Evidence> = fc
  .record({
    protocol: fc.constantFrom("iscsi", "iser"),
    operation: fc.constantFrom("write", "read", "randwrite", "randread", "rw", "randrw"),
    ...{ blockSize: positive(1 << 24), depth: positive(1024), jobs: positive(64), clients: positive(8) },
    ...{ sync: fc.boolean(), rateIops: orNull(number), size: orNull(number), seconds: orNull(number) },
    ...{ valid: fc.boolean(), invalid: orNull(name), bandwidth: orNull(number), iops: orNull(number) },
    clat: orNull(
      fc.record({ mean: orNull(number), median: number, p99: orNull(number), p999: orNull(number) }),
    ),
    ...{ slat: orNull(number), virtual: fc.boolean(), client: host, storage: host },
    link: fc.record({
      kind: fc.constantFrom("ethernet", "infiniband", "unknown"),
      rate: orNull(number),
      ...{ mtu: orNull(positive(65520)), peerMtu: orNull(positive(65520)), rdmaMtu: orNull(positive(4096)) },
      mode: orNull(fc.constantFrom("datagram", "connected")),
    }),
    arc: orNull(
      fc.record({
        hitRatio: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
        ...{ size: orNull(number), maximum: orNull(number) },
        state: fc.constantFrom("cold", "warm", "left"),
      }),
    ),
    pool: fc.record({
      layout: orNull(
        fc.record({
          vdevs: fc.array(vdev, { minLength: 1, maxLength: 4 }),
          ashift: fc.integer({ min: 9, max: 16 }),
          volblocksize: orNull(positive(1 << 24)),
          compression: orNull(fc.constantFrom("off", "lz4")),
          sync: orNull(fc.constantFrom("standard", "always", "disabled")),
          logbias: orNull(fc.constantFrom("latency", "throughput")),
        }),
      ),
      ...{ read: orNull(number), written: orNull(number), disks: fc.array(disk, { maxLength: 8 }) },
      ...{ logWritten: orNull(number), zilCommits: orNull(number) },
      ...{ txgSeconds: orNull(number), txgSync: orNull(number) },
      backstore: fc.constantFrom("volume", "ramdisk"),
    }),
  })
  .map((one) => evidence.parse(one));
