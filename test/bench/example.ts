import { readReference } from "../../bench/reference.ts";
import type { Diagnosis, Element } from "../../bench/schema/diagnosis.ts";
import type { Evidence } from "../../bench/schema/evidence.ts";
import type { Histogram } from "../../bench/schema/recording.ts";
import {
  type Cpu,
  type Environment,
  type InvalidRun,
  type Result,
  result,
  type Side,
  type ValidRun,
} from "../../bench/schema/result.ts";
import type { FioTest } from "../../bench/schema/test.ts";
import { diskName, histogramOf, mirrors, type Shape, shapes } from "./example-recording.ts";

export { exampleRecording } from "./example-recording.ts";

/**
 * A plausible result to test by: four valid runs (iscsi and iser, written and read) and an invalid one, in the shape
 * of lab A. Made up: schema-valid, consistent with exampleRecording, the same at every call.
 */

const folder = "results/r710/2026-11-20T09-08-11Z";

const fioTest = (overrides: Partial<FioTest>): FioTest => ({
  ...{ kind: "fio", workload: "sequential", test: "write", operation: "write" },
  ...{ blockSize: 524288, depth: 16, jobs: 1, size: 107374182400, runtime: 180, rampTime: 5 },
  ...{ sync: "none", readShare: null, rateIops: null, arc: "left", backstore: "volume" },
  ...overrides,
});

/** ms that a share of the I/Os took at most. */
function percentile(bins: Histogram, share: number): number {
  const all = bins.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [edge, count] of bins) {
    seen += count;
    if (seen >= all * share) return edge / 1e6;
  }
  return 0;
}

function side(shape: Shape): Side {
  const bins = histogramOf(shape);
  const all = bins.reduce((sum, [, count]) => sum + count, 0);
  return {
    bytes: all * 524288,
    bandwidth: shape.bandwidth,
    iops: (shape.bandwidth * 1e6) / 524288,
    clat: {
      mean: bins.reduce((sum, [edge, count]) => sum + edge * count, 0) / all / 1e6,
      median: percentile(bins, 0.5),
      p90: percentile(bins, 0.9),
      p99: percentile(bins, 0.99),
      p999: percentile(bins, 0.999),
      p9999: percentile(bins, 0.9999),
      maximum: (bins.at(-1)?.[0] ?? 0) / 1e6,
    },
    slat: 0.021,
  };
}

const cpus = ({ storage, client }: Shape): [Cpu, Cpu] => {
  const isSystem = storage.system > storage.softirq;
  return [
    {
      ...{ host: "storage", busiestCore: isSystem ? 7 : 2, cores: 12, user: 1.2 },
      system: isSystem ? storage.system : 8,
      softirq: isSystem ? 1.5 : storage.softirq,
      busy: isSystem ? storage.system + 2.7 : storage.softirq + 9.2,
      averageSystem: (storage.others * 10 + storage.system + 8) / 12,
      averageBusy: (storage.others * 10 + storage.system + 8 + storage.softirq + 16.5) / 12 + 1.2,
    },
    {
      ...{ host: "initiator", busiestCore: 9, cores: 24, user: 0.3, system: 4, softirq: client.softirq },
      busy: client.softirq + 4.3,
      averageSystem: (client.others * 22 + 18) / 24,
      averageBusy: (client.others * 22 + 18 + client.softirq + 6.9 + 3 + 6.9) / 24,
    },
  ];
};

const layout = {
  vdevs: [
    {
      kind: "mirror" as const,
      role: "data" as const,
      disks: 3,
      data: null,
      spares: 0,
      diskSize: 1e12,
      count: mirrors,
    },
    {
      kind: "mirror" as const,
      role: "log" as const,
      disks: 2,
      data: null,
      spares: 0,
      diskSize: 4e11,
      count: 1,
    },
  ],
  ...{ ashift: 12, volblocksize: 16384, compression: "off", sync: "standard", logbias: "latency" },
};

function evidenceOf(protocol: "iscsi" | "iser", test: FioTest, shape: Shape, found: Side): Evidence {
  const [storage, client] = cpus(shape);
  const host = (cpu: Cpu) => ({
    ...{ host: cpu.host, cpus: cpu.cores, averageBusy: cpu.averageBusy, averageSystem: cpu.averageSystem },
    cores: Array.from({ length: cpu.cores }, (_, core) =>
      core === cpu.busiestCore
        ? { core, user: cpu.user, system: cpu.system, softirq: cpu.softirq, iowait: 0.4 }
        : { core, user: cpu.user, system: cpu.averageSystem, softirq: 1, iowait: 0.4 },
    ),
    busiestInterrupt: { source: "45: mlx4-0@pcie", core: 2, perSecond: 61400 },
    network: { interface: "ib0", received: shape.bandwidth, sent: 4, dropped: 0 },
    pcie: [],
  });
  return {
    ...{ protocol, operation: test.operation, blockSize: test.blockSize, depth: test.depth, jobs: test.jobs },
    ...{ clients: 1, sync: false, rateIops: null, size: test.size, seconds: 180, valid: true, invalid: null },
    ...{ bandwidth: found.bandwidth, iops: found.iops, slat: found.slat, virtual: false },
    clat: found.clat && {
      mean: found.clat.mean,
      median: found.clat.median,
      p99: found.clat.p99,
      p999: found.clat.p999,
    },
    client: host(client),
    storage: {
      ...host(storage),
      pcie: [
        { device: "LSI SAS2008", kind: "hba", width: 8, maximumWidth: 8, speed: 5, maximumSpeed: 5 },
        { device: "Mellanox MT26428", kind: "nic", width: 8, maximumWidth: 8, speed: 5, maximumSpeed: 5 },
      ],
    },
    link: { kind: "infiniband", rate: 4000, mtu: 65520, peerMtu: 65520, rdmaMtu: 2048, mode: "connected" },
    arc: {
      hitRatio: shape.direction === "read" ? 0.995 : 0.89,
      ...{ size: 68719476736, maximum: 68719476736, state: "left" },
    },
    pool: {
      ...{ layout, read: shape.pool.read, written: shape.pool.written, backstore: "volume" },
      disks: Array.from({ length: mirrors * 3 }, (_, n) => ({
        ...{ disk: diskName(n), role: "data" as const, vdev: `mirror-${Math.floor(n / 3)}` },
        read: shape.pool.read / 72,
        written: shape.pool.written / 72,
        operations: (shape.pool.written * 7) / 72,
        ...{ wait: 11, queue: 1.9, busy: shape.direction === "write" ? (n === 17 ? 47 : 34) : 3 },
      })),
      ...{ logWritten: 0.4, zilCommits: 0.4, txgSeconds: 6, txgSync: 2550 },
    },
  };
}

const share = (used: number, capacity: number): number => (used / capacity) * 100;

function elementsOf(shape: Shape): Element[] {
  const [storage, client] = cpus(shape);
  const core = (cpu: Cpu, which: "client core" | "storage core"): Element => ({
    element: which,
    name: `${cpu.host} core ${cpu.busiestCore}`,
    ...{ used: cpu.busy, capacity: 100, unit: "%", share: cpu.busy, from: "measured" },
    bound: (shape.bandwidth / cpu.busy) * 100,
    how: `${cpu.softirq.toFixed(0)} % softirq and ${cpu.system.toFixed(0)} % system time on core ${cpu.busiestCore}, by mpstat`,
  });
  const all = (cpu: Cpu, which: "client cpu" | "storage cpu"): Element => ({
    element: which,
    name: `${cpu.host}, ${cpu.cores} cores`,
    ...{ used: cpu.averageBusy, capacity: 100, unit: "%", share: cpu.averageBusy, from: "measured" },
    bound: (shape.bandwidth / cpu.averageBusy) * 100,
    how: "all cores, waiting for I/O not counted",
  });
  const toDisks = shape.pool.read + shape.pool.written;
  return [
    core(client, "client core"),
    all(client, "client cpu"),
    {
      ...{ element: "link", name: "InfiniBand QDR", used: shape.bandwidth, capacity: 4000, unit: "MB/s" },
      ...{
        share: share(shape.bandwidth, 4000),
        bound: 4000,
        from: "read",
        how: "32 Gbit/s after line coding",
      },
    },
    core(storage, "storage core"),
    all(storage, "storage cpu"),
    {
      ...{ element: "arc", name: "ARC", used: null, capacity: null, unit: "MB/s", share: null, bound: null },
      ...{ from: "unknown", how: "what memory moves was not measured" },
    },
    {
      ...{ element: "hba", name: "LSI SAS2008", used: toDisks, capacity: 4000, unit: "MB/s" },
      ...{ share: share(toDisks, 4000), bound: (shape.bandwidth / toDisks) * 4000, from: "read" },
      how: `3 copies of ${shape.bandwidth} MB/s over PCIe 2.0 x8 (4,000 MB/s)`,
    },
    {
      ...{ element: "disks", name: "72 data disks", used: toDisks, capacity: 10080, unit: "MB/s" },
      ...{ share: share(toDisks, 10080), bound: (shape.bandwidth / toDisks) * 10080, from: "assumed" },
      how: "140 MB/s each, assumed for 7,200 rpm",
    },
  ];
}

function diagnosisOf(protocol: "iscsi" | "iser", shape: Shape): Diagnosis {
  const [storage, client] = cpus(shape);
  const elements = elementsOf(shape);
  const isWrite = shape.direction === "write";
  const hba: Diagnosis["others"][number] = {
    ...{ rule: "hba", element: "hba", limits: false, confidence: "medium" },
    sentence: `Next in line is the HBA: three copies of each block are ${(shape.pool.written / 40).toFixed(0)} % of what its slot carries.`,
    evidence: [`${shape.pool.written} MB/s to the disks, PCIe 2.0 x8 carries 4,000 MB/s`],
  };
  if (protocol === "iscsi") {
    const cpu = isWrite ? storage : client;
    return {
      limit: {
        ...{
          rule: "softirq-core",
          element: isWrite ? "storage core" : "client core",
          limits: true,
          confidence: "high",
        },
        sentence: `The TCP receive path of one core limits: core ${cpu.busiestCore} of ${cpu.host} spends ${cpu.softirq} % of its time in softirq, while all ${cpu.cores} cores together are ${cpu.averageBusy.toFixed(0)} % busy.`,
        evidence: [
          `core ${cpu.busiestCore}: ${cpu.softirq} % softirq (above 80 %)`,
          `all cores: ${cpu.averageBusy.toFixed(1)} % busy (below 50 %)`,
        ],
      },
      others: isWrite ? [hba] : [],
      elements,
      advice: [
        {
          step: "configuration",
          sentence: "Spread the receive path over more cores (RPS); it costs nothing.",
          key: "storage-lab:fabric.link.steering: rps",
          atMost: 1338,
        },
        {
          step: "measure again",
          sentence:
            "Look at /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor,/sys/class/net/ib0/queues/rx-0/rps_cpus, then measure both protocols again.",
          key: null,
          atMost: null,
        },
        {
          step: "no help",
          sentence: "More or faster disks would not help.",
          key: null,
          atMost: shape.bandwidth,
        },
      ],
    };
  }
  if (isWrite) {
    return {
      limit: {
        ...{ rule: "storage-cpu", element: "storage cpu", limits: true, confidence: "medium" },
        sentence: `The storage host's CPUs limit: all 12 cores are ${storage.averageBusy.toFixed(0)} % busy, mostly in system time (checksums, block handling).`,
        evidence: [`average system time ${storage.averageSystem.toFixed(0)} % (above 60 %)`],
      },
      others: [
        hba,
        {
          ...{ rule: "latency-tail", element: null, limits: false, confidence: "medium" },
          sentence: "Rare writes take long: p99.9 is 15 times the median.",
          evidence: ["clat p99.9 against the median, above 10 times"],
        },
      ],
      elements,
      advice: [
        {
          step: "configuration",
          sentence:
            "Two copies instead of three write a third less over the HBA; one failure a mirror instead of two.",
          key: "storage-lab:pools.tank.data.mirror: 2",
          atMost: 1329,
        },
        { step: "measure again", sentence: "Measure writes again.", key: null, atMost: null },
        { step: "hardware", sentence: "A storage host with more or faster cores.", key: null, atMost: 1329 },
      ],
    };
  }
  return { limit: null, others: [], elements, advice: [] };
}

function validRun(id: string): ValidRun {
  const shape = shapes[id];
  if (shape === undefined) throw new Error(`the example has no run ${id}`);
  const protocol = id.startsWith("iser") ? "iser" : "iscsi";
  const test = fioTest({ test: shape.direction, operation: shape.direction });
  const found = side(shape);
  const isWrite = shape.direction === "write";
  return {
    spec: { id, protocol, repeat: 1, test },
    command: `fio --name=${shape.direction} --filename=/test/storage-lab --rw=${shape.direction} --bs=524288 --size=107374182400 --iodepth=16 --ioengine=libaio --direct=1 --runtime=180 --time_based=1 --output-format=json+`,
    preconditions: [
      {
        name: "test file written whole",
        wanted: "107374182400 bytes",
        found: "107374182400 bytes",
        holds: true,
      },
      { name: "client cache dropped", wanted: "0 pages", found: "0 pages", holds: true },
      { name: "hosts idle", wanted: "below 5 % busy", found: "storage 0.8 %, initiator 0.3 %", holds: true },
      { name: "CPU governor", wanted: "performance", found: "the host has none", holds: null },
    ],
    ...{ valid: true, began: `2026-11-20T09:${10 + Object.keys(shapes).indexOf(id) * 5}:02Z`, seconds: 180 },
    ...{ read: isWrite ? null : found, write: isWrite ? found : null },
    ...{ phases: [], score: null, official: null },
    clients: [
      {
        client: "initiator",
        read: isWrite ? null : shape.bandwidth,
        write: isWrite ? shape.bandwidth : null,
      },
    ],
    cpus: cpus(shape),
    arc: {
      state: "left",
      hits: isWrite ? 55800 : Math.round(shape.bandwidth * 61 * 180),
      misses: isWrite ? 7200 : Math.round(shape.pool.read * 9 * 180),
      hitRatio: isWrite
        ? 55800 / 63000
        : (shape.bandwidth * 61) / (shape.bandwidth * 61 + shape.pool.read * 9),
    },
    pool: { read: shape.pool.read, write: shape.pool.written },
    ...{ aboveLink: false, overhead: 0.07 },
    evidence: evidenceOf(protocol, test, shape, found),
    diagnosis: diagnosisOf(protocol, shape),
    warnings: [],
    files: [`fio-${id}.json`, `telemetry-${id}.json`, `mpstat-storage-${id}.out`],
  };
}

const invalidRun: InvalidRun = {
  spec: {
    id: "iser-random-read-iops-4k-d32-j4-1",
    protocol: "iser",
    repeat: 1,
    test: fioTest({
      ...{ workload: "random", test: "read-iops", operation: "randread" },
      ...{ blockSize: 4096, depth: 32, jobs: 4, runtime: 60, arc: "cold" },
    }),
  },
  command: "fio --name=read-iops --rw=randread --bs=4096 --iodepth=32 --numjobs=4",
  preconditions: [
    { name: "ARC cold", wanted: "below 1 % of demand reads hit", found: "23 % hit", holds: false },
    { name: "client cache dropped", wanted: "0 pages", found: "0 pages", holds: true },
  ],
  valid: false,
  invalid: "precondition ARC cold: wanted below 1 % of demand reads hit, found 23 % hit",
  files: ["fio-iser-random-read-iops-4k-d32-j4-1.json"],
};

const hostState = (name: string, cpus: number): Environment["storage"] => ({
  ...{ name, cpus, kernel: "6.12.0-oracle", cpuModel: "Intel(R) Xeon(R) CPU X5675 @ 3.07GHz" },
  ...{ memory: name === "storage" ? 137438953472 : 68719476736, governor: null },
  temperatures: [{ sensor: "coretemp Package id 0", celsius: 54 }],
  versions:
    name === "storage" ? { ZFS: "2.2.7", targetcli: "2.1.54" } : { fio: "3.36", "open-iscsi": "2.1.9" },
  pcie: [{ device: "Mellanox MT26428", kind: "nic", width: 8, maximumWidth: 8, speed: 5, maximumSpeed: 5 }],
  link: {
    ...{ interface: "ib0", mtu: 65520, speed: 32000, kind: "infiniband", mode: "connected" },
    rdma: { device: "mlx4_0", activeMtu: 2048, state: "ACTIVE" },
  },
});

const iqn = "iqn.2026-09.com.example.lab:tank";

const environment = (): Environment => ({
  storage: hostState("storage", 12),
  clients: [hostState("initiator", 24)],
  pools: [
    {
      name: "tank",
      status: `  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE\n\ttank  ONLINE\n${Array.from(
        { length: mirrors },
        (_, n) => `\t  mirror-${n}  ONLINE\n`,
      ).join("")}`,
      layout,
      properties: { ashift: "12", autotrim: "off" },
    },
  ],
  volumes: [
    {
      name: "tank/lun0",
      properties: {
        ...{ volsize: "214748364800", volblocksize: "16384", compression: "off", compressratio: "1.00" },
        ...{ sync: "standard", logbias: "latency", primarycache: "all" },
      },
    },
  ],
  arcMaximum: 68719476736,
  zfsParameters: { zfs_dirty_data_max: "4294967296", zfs_txg_timeout: "5" },
  targets: [{ iqn, attributes: { authentication: "0", default_cmdsn_depth: "64" } }],
  filesystems: [
    {
      ...{ client: "initiator", type: "xfs", uuid: "ffc79e66-7160-4eff-9c35-9e2a44cd07a1" },
      options: "rw,noatime,attr2,inode64,logbufs=8",
    },
  ],
  paths: (["iscsi", "iser"] as const).map((protocol, n) => ({
    ...{ client: "initiator", protocol, portal: `10.10.10.1:${3260 + n}` },
    device: `/dev/disk/by-path/ip-10.10.10.1:${3260 + n}-iscsi-${iqn}-lun-0`,
    ...{ block: `/dev/sd${"bc"[n]}`, session: String(n + 1), transport: `iscsi_${["tcp", "iser"][n]}` },
    negotiated: { MaxBurstLength: "16776192", ImmediateData: "Yes", HeaderDigest: "None" },
  })),
});

/** The result; what is given stands instead of its own. */
export function exampleResult(overrides: Partial<Result> = {}): Result {
  const { name, title, figures } = readReference("lab-a");
  return result.parse({
    ...{ schema: 2, stack: "r710", virtual: false, started: "2026-11-20T09:08:11Z", seconds: 1312.4, folder },
    reports: {
      html: `${folder}/report.html`,
      markdown: `${folder}/summary.md`,
      csv: `${folder}/result.csv`,
      json: `${folder}/result.json`,
    },
    runs: [...Object.keys(shapes).map(validRun), invalidRun],
    environment: environment(),
    needs: {
      ...{
        write: 600,
        read: 1000,
        latency: { percentile: 99.9, ms: 100 },
        failures: 2,
        capacity: 17592186044416,
      },
      readIops: 50000,
    },
    verdicts: [
      { need: "600 MB/s written", wanted: 600, found: 721, unit: "MB/s", met: true, margin: 20.17 },
      { need: "1,000 MB/s read", wanted: 1000, found: 2729, unit: "MB/s", met: true, margin: 172.9 },
      { need: "p99.9 of at most 100 ms", wanted: 100, found: 173, unit: "ms", met: false, margin: -73 },
      {
        need: "50,000 random reads a second",
        wanted: 50000,
        found: null,
        unit: "IOPS",
        met: null,
        margin: null,
      },
      { need: "2 disks may fail", wanted: 2, found: 2, unit: "disks", met: true, margin: 0 },
    ],
    reference: { name, title, figures },
    ...overrides,
  });
}
