import {
  type Histogram,
  type HostRecording,
  type Recording,
  recording,
} from "../../bench/schema/recording.ts";

/**
 * A plausible recording of a run of 180 s, a sample every 2 s: a storage host of 12 cores with 24 three-way mirrors
 * and a mirrored SLOG, a client of 24 cores. Made up after what lab A published, so that tests of charts, diagnosis
 * and comparison have all there is; never shown to users as a measurement. The same at every call.
 */

export const samples = 90;
export const interval = 2;
export const mirrors = 24;

/** What differs between the four runs; shares in percent, MB/s, latencies in ms. */
export type Shape = {
  direction: "read" | "write";
  bandwidth: number;
  median: number;
  spread: number;
  /** Of all I/Os so many are slow ones of about so many ms. */
  outliers: [share: number, ms: number];
  storage: { softirq: number; system: number; others: number };
  client: { softirq: number; others: number };
  /** MB/s that the pool writes and reads, over all disks. */
  pool: { read: number; written: number };
};

export const shapes: Record<string, Shape> = {
  "iscsi-sequential-write-512k-d16-j1-1": {
    ...{ direction: "write", bandwidth: 431, median: 17, spread: 0.48, outliers: [0, 1] },
    storage: { softirq: 88, system: 75, others: 23 },
    client: { softirq: 21, others: 2.5 },
    pool: { read: 4, written: 1298 },
  },
  "iscsi-sequential-read-512k-d16-j1-1": {
    ...{ direction: "read", bandwidth: 1054, median: 7.8, spread: 0.2, outliers: [0.0004, 31] },
    storage: { softirq: 34, system: 41, others: 9 },
    client: { softirq: 95, others: 0.9 },
    pool: { read: 38, written: 0.6 },
  },
  "iser-sequential-write-512k-d16-j1-1": {
    ...{ direction: "write", bandwidth: 721, median: 11, spread: 0.26, outliers: [0.0024, 165] },
    storage: { softirq: 7, system: 83, others: 68 },
    client: { softirq: 6, others: 1.5 },
    pool: { read: 7, written: 2170 },
  },
  "iser-sequential-read-512k-d16-j1-1": {
    ...{ direction: "read", bandwidth: 2729, median: 3, spread: 0.2, outliers: [0.0002, 14] },
    storage: { softirq: 11, system: 52, others: 14 },
    client: { softirq: 9, others: 1.8 },
    pool: { read: 61, written: 0.6 },
  },
};

/** Numbers between 0 and 1, the same ones for the same seed (mulberry32). */
export function numbers(seed: string): () => number {
  let state = [...seed].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619),
    2166136261,
  );
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** Around a mean, a tenth up and down; every nth sample may be raised. */
function around(next: () => number, mean: number, { spread = 0.1, most = Number.POSITIVE_INFINITY } = {}) {
  return Array.from({ length: samples }, () => round(Math.min(most, mean * (1 + spread * (next() * 2 - 1)))));
}
const flat = (value: number | null): (number | null)[] => Array.from({ length: samples }, () => value);

/** Writes reach the disks in bursts, as transaction groups sync: every third sample more, the others less. */
function bursts(next: () => number, mean: number) {
  return Array.from({ length: samples }, (_, n) =>
    round(mean * (n % 3 === 0 ? 1.5 : 0.75) * (0.95 + next() / 10)),
  );
}

/** The share of I/Os that took at most so many ms, by a log-normal curve (Abramowitz and Stegun 7.1.26). */
function below(ms: number, median: number, spread: number): number {
  const z = Math.log(ms / median) / spread / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * Math.abs(z));
  const erf =
    1 -
    ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) *
      t *
      Math.exp(-z * z);
  return (1 + (z < 0 ? -erf : erf)) / 2;
}

/** In fio's bins: 64 to an octave. */
export function histogramOf({ bandwidth, median, spread, outliers: [share, slow] }: Shape): Histogram {
  const ios = (bandwidth * 1e6 * 180) / 524288;
  const bins: Histogram = [];
  const upTo = (ns: number): number =>
    (1 - share) * below(ns / 1e6, median, spread) + share * below(ns / 1e6, slow, 0.15);
  let before = 0;
  let counted = 0;
  for (let octave = 14; octave < 26; octave++) {
    for (let step = 1; step <= 64; step++) {
      const edge = (64 + step) * 2 ** octave;
      const share = upTo(edge);
      const count = Math.round(ios * share) - Math.round(ios * before);
      before = share;
      if (count > 0) bins.push([edge, count]);
      counted += Math.max(0, count);
    }
  }
  const rest = Math.round(ios) - counted;
  if (rest > 0) bins.push([129 * 2 ** 25, rest]);
  return bins;
}

type Busy = { user: number; system: number; softirq: number };

function host(next: () => number, name: string, cores: readonly Busy[]): Omit<HostRecording, "role"> {
  return {
    host: name,
    cores: cores.map(({ user, system, softirq }, core) => {
      const series = {
        user: around(next, user),
        system: around(next, system, { most: 99 - softirq * 1.1 - user * 1.1 }),
        softirq: around(next, softirq, { spread: 0.06, most: 97 }),
        iowait: around(next, 0.4),
      };
      const idle = series.user.map((value, n) =>
        round(
          Math.max(
            0,
            100 - value - (series.system[n] ?? 0) - (series.softirq[n] ?? 0) - (series.iowait[n] ?? 0),
          ),
        ),
      );
      return { core, ...series, idle };
    }),
    interrupts: [
      { source: "45: mlx4-0@pcie", core: 2, perSecond: around(next, 61400).map(Math.round) },
      { source: "LOC: local timer", core: 0, perSecond: around(next, 8200).map(Math.round) },
    ],
    networks: [],
    rdma: [],
    disks: [],
    vdevs: [],
    arc: null,
    zil: null,
    txg: null,
    luns: [],
    collector: { cpuSeconds: 1.6, seconds: 184, share: round((1.6 / 184 / cores.length) * 100) },
    gaps: [],
  };
}

const letters = (n: number): string =>
  n < 26 ? String.fromCharCode(97 + n) : letters(Math.floor(n / 26) - 1) + String.fromCharCode(97 + (n % 26));

/** The nth data disk's kernel name; the system's own disk is sda. */
export const diskName = (n: number): string => `sd${letters(n + 1)}`;

function storage(next: () => number, shape: Shape): HostRecording {
  const { pool, storage: busy, direction, bandwidth } = shape;
  const cores = Array.from({ length: 12 }, (_, core) => ({
    user: 1.2,
    system: core === 7 ? busy.system : core === 2 ? 8 : busy.others,
    softirq: core === 2 ? busy.softirq : 1.5,
  }));
  const isWrite = direction === "write";
  const share = 1 / (mirrors * 3);
  const waits = {
    readWait: around(next, 9),
    writeWait: around(next, 31),
    diskReadWait: around(next, 7),
    diskWriteWait: around(next, 11),
    syncWriteQueue: around(next, 0.2),
    asyncWriteQueue: around(next, isWrite ? 5.6 : 0.1),
  };
  const vdev = (name: string, role: HostRecording["vdevs"][number]["role"], depth: number, part: number) => {
    const read = around(next, pool.read * part);
    const written = bursts(next, pool.written * part);
    return {
      ...{ vdev: name, role, depth, read, written },
      reads: read.map((value) => round(value * 8)),
      writes: written.map((value) => round(value * 7)),
      ...waits,
    };
  };
  return {
    role: "storage",
    ...host(next, "storage", cores),
    networks: [
      {
        interface: "ib0",
        received: around(next, isWrite ? bandwidth * 1.02 : bandwidth * 0.004),
        sent: around(next, isWrite ? bandwidth * 0.004 : bandwidth * 1.02),
        dropped: flat(0),
      },
    ],
    rdma: [
      {
        device: "mlx4_0",
        received: around(next, isWrite ? bandwidth * 1.03 : 4),
        sent: around(next, isWrite ? 4 : bandwidth * 1.03),
        receivedPackets: around(next, bandwidth * 260).map(Math.round),
        sentPackets: around(next, bandwidth * 20).map(Math.round),
        errors: flat(0),
      },
    ],
    disks: Array.from({ length: mirrors * 3 + 2 }, (_, n) => {
      const isLog = n >= mirrors * 3;
      const written = isLog ? around(next, 0.4) : bursts(next, pool.written * share);
      const read = around(next, isLog ? 0 : pool.read * share);
      return {
        disk: isLog ? `nvme${n - mirrors * 3}n1` : diskName(n),
        ...{ read, written },
        reads: read.map((value) => round(value * 8)),
        writes: written.map((value) => round(value * 7)),
        flushes: around(next, 0.3),
        wait: around(next, isLog ? 0.05 : 11),
        queue: around(next, isLog ? 0.1 : isWrite ? 1.9 : 0.1),
        // The 18th disk is a little slower than the others.
        busy: around(next, isLog ? 0.3 : isWrite ? (n === 17 ? 47 : 34) : 3, { most: 100 }),
      };
    }),
    vdevs: [
      vdev("tank", "pool", 0, 1),
      ...Array.from({ length: mirrors }, (_, n) => [
        vdev(`mirror-${n}`, "data" as const, 1, 1 / mirrors),
        ...[0, 1, 2].map((disk) =>
          vdev(`scsi-D2700-${disk + 1}-bay${String(n + 1).padStart(2, "0")}`, "data" as const, 2, share),
        ),
      ]).flat(),
      vdev(`mirror-${mirrors}`, "log", 1, 0.0003),
      vdev("nvme-P3700-a", "log", 2, 0.0003),
      vdev("nvme-P3700-b", "log", 2, 0.0003),
    ],
    arc: {
      hits: around(next, isWrite ? 310 : bandwidth * 61).map(Math.round),
      misses: around(next, isWrite ? 40 : pool.read * 9).map(Math.round),
      size: flat(68719476736),
      target: flat(68719476736),
      prefetchHits: around(next, 20).map(Math.round),
      prefetchMisses: around(next, 6).map(Math.round),
    },
    zil: { commits: around(next, 0.4), written: around(next, 0.2), slog: around(next, 0.2) },
    txg: {
      synced: Array.from({ length: samples }, (_, n) => (n % 3 === 0 ? 1 : 0)),
      syncTime: Array.from({ length: samples }, (_, n) => (n % 3 === 0 ? round(2400 + next() * 300) : null)),
      dirty: Array.from({ length: samples }, (_, n) =>
        n % 3 === 0 ? Math.round(bandwidth * (isWrite ? 6e6 : 1e3)) : null,
      ),
    },
    luns: [
      {
        backstore: "tank-lun0",
        read: around(next, isWrite ? 0 : bandwidth),
        written: around(next, isWrite ? bandwidth : 0),
        commands: around(next, bandwidth * 1.91).map(Math.round),
      },
    ],
  };
}

function client(next: () => number, { client: busy, direction, bandwidth }: Shape): HostRecording {
  const isWrite = direction === "write";
  const cores = Array.from({ length: 24 }, (_, core) => ({
    user: core === 5 ? 3 : 0.3,
    system: core === 5 ? 14 : core === 9 ? 4 : busy.others,
    softirq: core === 9 ? busy.softirq : 0.3,
  }));
  return {
    role: "client",
    ...host(next, "initiator", cores),
    networks: [
      {
        interface: "ib0",
        received: around(next, isWrite ? bandwidth * 0.004 : bandwidth * 1.02),
        sent: around(next, isWrite ? bandwidth * 1.02 : bandwidth * 0.004),
        dropped: flat(0),
      },
    ],
    disks: [
      {
        disk: "sdb",
        read: around(next, isWrite ? 0 : bandwidth),
        written: around(next, isWrite ? bandwidth : 0),
        reads: around(next, isWrite ? 0 : bandwidth * 1.91),
        writes: around(next, isWrite ? bandwidth * 1.91 : 0),
        flushes: flat(0),
        wait: around(next, 8),
        queue: around(next, 15.6),
        busy: around(next, 99, { spread: 0.01, most: 100 }),
      },
    ],
  };
}

const made = new Map<string, Recording>();

/** The recording of one of the example's four valid runs, by the run's id; the first by default. */
export function exampleRecording(run = "iscsi-sequential-write-512k-d16-j1-1"): Recording {
  const shape = shapes[run];
  if (shape === undefined) throw new Error(`the example has no recording of ${run}`);
  const known = made.get(run) ?? make(run, shape);
  made.set(run, known);
  return structuredClone(known);
}

function make(run: string, shape: Shape): Recording {
  const next = numbers(run);
  const moved = around(next, shape.bandwidth, { spread: 0.06 });
  const none = flat(0);
  // A transaction group that takes its time is seen by the client.
  if (shape.direction === "write") for (const n of [31, 62]) moved[n] = round(shape.bandwidth * 0.55);
  const isRead = shape.direction === "read";
  const histogram = histogramOf(shape);
  return recording.parse({
    schema: 2,
    run,
    began: `2026-11-20T09:${10 + Object.keys(shapes).indexOf(run) * 5}:02Z`,
    interval,
    hosts: [storage(next, shape), client(next, shape)],
    clients: [{ client: "initiator", read: isRead ? moved : none, written: isRead ? none : moved }],
    latency: { read: isRead ? histogram : null, write: isRead ? null : histogram },
  });
}
