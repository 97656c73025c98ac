import type { DiskLoad, Evidence, HostLoad } from "./schema/evidence.ts";
import type { HostRecording, Recording } from "./schema/recording.ts";
import type { Cpu, Environment, HostState, Side } from "./schema/result.ts";
import type { FioTest, RunSpec } from "./schema/test.ts";
import { meanOf, type Series } from "./series.ts";

/** What a run is diagnosed by: means over its recording, what the hosts are, and its own figures. */

type CoreSeries = HostRecording["cores"][number];

/** Rounding of tools gives a little above 100 or below 0. */
const percent = (value: number): number => Math.min(100, Math.max(0, value));
const meanPercent = (values: Series): number => percent(meanOf(values) ?? 0);

const coreLoad = ({ core, user, system, softirq, iowait }: CoreSeries) => ({
  core,
  user: meanPercent(user),
  system: meanPercent(system),
  softirq: meanPercent(softirq),
  iowait: meanPercent(iowait),
});
/** Waiting for I/O counts as idle. */
const busyOf = ({ idle, iowait }: CoreSeries): number =>
  percent(100 - (meanOf(idle) ?? 100) - (meanOf(iowait) ?? 0));

const average = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Where each host's CPU time went, the storage host first. */
export const cpusOf = (recording: Pick<Recording, "hosts">): Cpu[] =>
  recording.hosts.map(({ host, cores }) => {
    const loads = cores.map((core) => ({ ...coreLoad(core), busy: busyOf(core) }));
    const busiest = loads.reduce((a, b) => (b.busy > a.busy ? b : a));
    return {
      host,
      busiestCore: busiest.core,
      ...{ busy: busiest.busy, user: busiest.user, system: busiest.system, softirq: busiest.softirq },
      averageBusy: average(loads.map(({ busy }) => busy)),
      averageSystem: average(loads.map(({ system }) => system)),
      cores: loads.length,
    };
  });

/** Percent of the busier host's CPU time that the telemetry itself took; null where no host tells. */
export function overheadOf(recording: Pick<Recording, "hosts">): number | null {
  const shares = recording.hosts.flatMap(({ collector }) => (collector === null ? [] : [collector.share]));
  return shares.length === 0 ? null : Math.max(...shares);
}

/** `size`: bytes of the working set over all clients. The run is a valid one: it has figures. */
export function evidenceOf(run: {
  readonly spec: RunSpec & { readonly test: FioTest };
  readonly read: Side | null;
  readonly write: Side | null;
  readonly recording: Recording;
  readonly environment: Environment;
  readonly virtual: boolean;
  readonly size: number;
}): Evidence {
  const { spec, read, write, recording, environment } = run;
  const { test } = spec;
  const [storage] = recording.hosts;
  if (storage === undefined) throw new TypeError("a recording without a host");
  const clients = recording.hosts.filter(({ role }) => role === "client");
  // A client on the storage host itself has no recording of its own.
  const client = (clients.length === 0 ? [storage] : clients).reduce((a, b) =>
    busiest(b) > busiest(a) ? b : a,
  );
  const stateOf = (host: string): HostState | undefined =>
    [environment.storage, ...environment.clients].find(({ name }) => name === host);
  const sides = [read, write].filter((side) => side !== null);
  // Of a mixed run the direction that does more: there most of the time goes.
  const main = sides.reduce<Side | null>((a, b) => (a === null || b.iops > a.iops ? b : a), null);
  const count = Math.max(1, recording.clients.length);
  return {
    protocol: spec.protocol,
    operation: test.operation,
    blockSize: test.blockSize,
    depth: test.depth,
    jobs: test.jobs,
    clients: count,
    sync: test.sync !== "none",
    rateIops: test.rateIops === null ? null : test.rateIops * count,
    size: run.size,
    seconds: (storage.cores[0]?.idle.length ?? 0) * recording.interval,
    valid: true,
    invalid: null,
    bandwidth: total(sides.map(({ bandwidth }) => bandwidth)),
    iops: total(sides.map(({ iops }) => iops)),
    clat:
      main?.clat == null
        ? null
        : { mean: main.clat.mean, median: main.clat.median, p99: main.clat.p99, p999: main.clat.p999 },
    slat: main?.slat ?? null,
    virtual: run.virtual,
    client: hostLoad(client, stateOf(client.host)),
    storage: hostLoad(storage, environment.storage),
    link: linkOf(environment.storage, stateOf(client.host)),
    arc: storage.arc && {
      hitRatio: ratio(meanOf(storage.arc.hits), meanOf(storage.arc.misses)),
      size: meanOf(storage.arc.size),
      maximum: environment.arcMaximum,
      state: test.arc,
    },
    pool: poolOf(storage, recording.interval, environment, test),
  };
}

const busiest = ({ cores }: HostRecording): number => Math.max(...cores.map(busyOf));
const total = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((a, b) => a + b, 0);
const ratio = (hits: number | null, misses: number | null): number | null =>
  hits === null || misses === null || hits + misses === 0 ? null : hits / (hits + misses);

function hostLoad(recorded: HostRecording, state: HostState | undefined): HostLoad {
  const cores = recorded.cores.map((core) => ({ ...coreLoad(core), busy: busyOf(core) }));
  // Timers and calls between cores have names, devices have numbers.
  const interrupt = recorded.interrupts.find(({ source }) => /^\d/.test(source));
  return {
    host: recorded.host,
    cpus: state?.cpus ?? cores.length,
    averageBusy: average(cores.map(({ busy }) => busy)),
    averageSystem: average(cores.map(({ system }) => system)),
    cores: cores.map(({ busy: _, ...core }) => core),
    busiestInterrupt:
      interrupt === undefined
        ? null
        : {
            source: interrupt.source,
            core: interrupt.core,
            perSecond: meanOf(interrupt.perSecond) ?? 0,
          },
    network: networkOf(recorded, state),
    pcie: state?.pcie ?? [],
  };
}

/** What the RDMA port counts where it moved more than its interface says: RDMA goes past the interface's counters. */
function networkOf(recorded: HostRecording, state: HostState | undefined): HostLoad["network"] {
  const found = recorded.networks.find((one) => one.interface === state?.link.interface);
  const port = recorded.rdma.find(({ device }) => device === state?.link.rdma?.device);
  if (state === undefined || (found === undefined && port === undefined)) return null;
  const of = (one: { received: Series; sent: Series } | undefined) => ({
    received: meanOf(one?.received ?? []) ?? 0,
    sent: meanOf(one?.sent ?? []) ?? 0,
  });
  const [ofInterface, ofPort] = [of(found), of(port)];
  const most = ofPort.received + ofPort.sent > ofInterface.received + ofInterface.sent ? ofPort : ofInterface;
  return { interface: state.link.interface, ...most, dropped: meanOf(found?.dropped ?? []) ?? 0 };
}

function linkOf({ link: ours }: HostState, client: HostState | undefined): Evidence["link"] {
  const theirs = client?.link;
  const speeds = [ours.speed, theirs?.speed].filter((speed) => typeof speed === "number");
  const mtus = [ours.rdma?.activeMtu, theirs?.rdma?.activeMtu].filter((mtu) => typeof mtu === "number");
  return {
    kind: theirs === undefined || theirs.kind === "unknown" ? ours.kind : theirs.kind,
    // Mb/s to MB/s.
    rate: speeds.length === 0 ? null : Math.min(...speeds) / 8,
    mtu: theirs?.mtu ?? ours.mtu,
    peerMtu: ours.mtu,
    rdmaMtu: mtus.length === 0 ? null : Math.min(...mtus),
    mode: theirs?.mode ?? ours.mode,
  };
}

function poolOf(
  storage: HostRecording,
  interval: number,
  environment: Environment,
  test: FioTest,
): Evidence["pool"] {
  const pools = storage.vdevs.filter(({ role }) => role === "pool");
  const sum = (values: readonly (number | null)[]): number | null => total(values.filter((v) => v !== null));
  // Log vdevs stand at depth 1, whether mirrors or single disks.
  const logs = storage.vdevs.filter(({ role, depth }) => role === "log" && depth === 1);
  const [first] = pools;
  const { txg } = storage;
  const groups = sum(txg?.synced ?? []);
  return {
    layout: environment.pools.find(({ name }) => name === first?.vdev)?.layout ?? null,
    read: sum(pools.map(({ read }) => meanOf(read))),
    written: sum(pools.map(({ written }) => meanOf(written))),
    disks: disksOf(storage),
    logWritten: logs.length === 0 ? null : sum(logs.map(({ written }) => meanOf(written))),
    zilCommits: storage.zil && meanOf(storage.zil.commits),
    txgSeconds: txg && groups ? (txg.synced.length * interval) / groups : null,
    txgSync: txg && meanOf(txg.syncTime),
    backstore: test.backstore,
  };
}

/** Each disk of the pools: rates by zpool, the rest by iostat where the kernel's name of it is known. */
function disksOf({ vdevs, disks }: HostRecording): DiskLoad[] {
  let vdev = "";
  return vdevs.flatMap((row, n): DiskLoad[] => {
    if (row.depth === 1) vdev = row.vdev;
    const leaf = row.role !== "pool" && (vdevs[n + 1]?.depth ?? 0) <= row.depth;
    if (!leaf || row.role === "pool") return [];
    const disk = disks.find((one) => one.disk === row.disk);
    const busy = meanOf(disk?.busy ?? []);
    return [
      {
        disk: row.vdev,
        role: row.role,
        vdev,
        read: meanOf(row.read) ?? 0,
        written: meanOf(row.written) ?? 0,
        operations: (meanOf(row.reads) ?? 0) + (meanOf(row.writes) ?? 0),
        wait: meanOf(disk?.wait ?? []),
        queue: meanOf(disk?.queue ?? []),
        busy: busy === null ? null : percent(busy),
        ...(disk?.rotational === undefined ? {} : { rotational: disk.rotational }),
      },
    ];
  });
}
