import { serverOf } from "../../components/iscsi-inputs.ts";
import { poolTolerates, poolVdevs, volumeHints } from "../../components/zfs-inputs.ts";
import type { LabConfig, PoolConfig } from "../../config.ts";
import { parseSize } from "../../provider/size.ts";
import { hardwareOf, measuredTargets, needsOf, testsOfStack } from "../../stack-file/benchmark.ts";
import { type Estimate, estimate } from "../plan.ts";
import type { Element, ElementName } from "../schema/diagnosis.ts";
import { type Evidence, evidence, type Layout, layout, type VdevShape } from "../schema/evidence.ts";
import type { Hardware, Needs } from "../schema/needs.ts";
import type { FioTest } from "../schema/test.ts";
import type { Protocol } from "../schema/words.ts";
import { type Cost, failures, type Load, logCost, readsAtOnce, writeCost } from "./layout.ts";
import { elementsOf } from "./path.ts";
import { type PoolSpace, poolSpace, type VolumeSpace, volumeSpace } from "./space.ts";

/** What a stack file's lab gives and costs before it is built. Pure; what isn't known is null, and named in `ask`. */

/** What the stack file doesn't say of real hosts. */
export type Assumed = { diskSize?: number | undefined; hardware: Hardware };

export type Bound = {
  protocol: Protocol;
  /** As fio's rw, and bytes an I/O. */
  operation: FioTest["operation"];
  blockSize: number;
  sync: boolean;
  elements: Element[];
  /** The least of the bounds that are known; CPUs are not, before something was measured. */
  limit: { element: ElementName; megabytesPerSecond: number; how: string } | null;
};

export type WhatIf = {
  stack: string;
  pool: string;
  vdevs: string;
  space: PoolSpace | null;
  /** What the pool's volumes reserve, or, where they are sparse, take once they are written whole. */
  volumes: number;
  /** Null: a disk's size isn't known. */
  left: number | null;
  failures: { any: number; best: number; words: string };
  volume: (VolumeSpace & { name: string; size: number; block: number; hints: string[] }) | null;
  writes: { asynchronous: Cost | null; synchronous: Cost | null; log: Cost | null };
  readsAtOnce: number | null;
  bounds: Bound[];
  estimate: Estimate | null;
  needs: Needs | null;
  /** What to say to know more, by key or option. */
  ask: string[];
};

const bytes = (text: string): number => Number(parseSize(text) ?? 0n);

/** A stack's pools, each by itself. */
export function whatIf(stack: string, lab: LabConfig, assumed: Assumed): WhatIf[] {
  return Object.entries(lab.pools).map(([name, pool]) => {
    const [volumeName, volume] =
      Object.entries(lab.volumes)
        .sort(([a], [b]) => Number(isMeasured(lab, b)) - Number(isMeasured(lab, a)))
        .find(([key]) => key.startsWith(`${name}/`)) ?? [];
    const block = volume === undefined ? null : bytes(volume.volblocksize);
    const shape = layoutOf(lab, pool, assumed, {
      block,
      sync: volume?.sync,
      logbias: volume?.logbias,
    });
    const stated = (lab.benchmark && hardwareOf(lab.benchmark)) ?? {};
    const disk = { ...stated.disk, ...assumed.hardware.disk };
    const hardware: Hardware = { ...stated, ...assumed.hardware, disk };
    const space = poolSpace(shape);
    const volumes = takenBy(lab, name, shape);
    const asynchronous: Load = { blockSize: 2 ** 20, random: false, sync: false };
    const synchronous: Load = { blockSize: block ?? 16384, random: false, sync: true };
    const bounds = boundsOf(lab, name, shape, hardware);
    return {
      ...{ stack, pool: name, vdevs: vdevWords(shape.vdevs), space, volumes },
      left: space === null ? null : space.usable - volumes,
      failures: { ...failures(shape), words: poolTolerates(pool) },
      volume:
        volumeName === undefined || volume === undefined || block === null
          ? null
          : {
              ...{ name: volumeName, size: bytes(volume.size), block },
              ...volumeSpace(shape, { size: bytes(volume.size), block }),
              hints: volumeHints(pool, volume),
            },
      writes: {
        asynchronous: writeCost(shape, asynchronous),
        synchronous: writeCost(shape, synchronous),
        log: logCost(shape, synchronous),
      },
      readsAtOnce: readsAtOnce(shape),
      bounds,
      estimate: estimateOf(lab),
      needs: (lab.benchmark && needsOf(lab.benchmark)) ?? null,
      ask: unknowns(lab, pool, shape, hardware, bounds),
    };
  });
}

const isMeasured = (lab: LabConfig, volume: string): boolean =>
  measuredTargets(lab).some(([, { luns }]) => luns[0] === volume);
/** The pool's vdevs as shapes, equal ones counted; sizes of virtual disks stand in the stack file. */
export function layoutOf(
  lab: LabConfig,
  pool: PoolConfig,
  { diskSize }: Pick<Assumed, "diskSize">,
  { block, sync, logbias }: { block: number | null; sync?: string | undefined; logbias?: string | undefined },
): Layout {
  const virtual = lab.hosts[pool.host]?.virtual?.disks ?? [];
  const sizeOf = (disk: string): number | null => {
    const known = virtual.find(({ serial }) => disk.endsWith(`/virtio-${serial}`));
    return known === undefined ? (diskSize ?? null) : bytes(known.size);
  };
  const shapes = poolVdevs(pool).map(({ role, type, disks, data, spares }): VdevShape => {
    const sizes = disks.map(sizeOf);
    const known = sizes.filter((size) => size !== null);
    return {
      ...{ role, kind: type === "stripe" ? "disk" : type, disks: disks.length },
      ...{ data: data ?? null, spares: spares ?? 0, count: 1 },
      diskSize: known.length === sizes.length ? Math.min(...known) : null,
    };
  });
  const counted = new Map<string, VdevShape>();
  for (const shape of shapes) {
    const key = JSON.stringify(shape);
    counted.set(key, { ...shape, count: (counted.get(key)?.count ?? 0) + 1 });
  }
  return layout.parse({
    ...{ vdevs: [...counted.values()], ashift: pool.ashift, volblocksize: block, compression: null },
    ...{ sync: sync ?? null, logbias: logbias ?? null },
  });
}

function takenBy(lab: LabConfig, pool: string, shape: Layout): number {
  return Object.entries(lab.volumes)
    .filter(([name]) => name.startsWith(`${pool}/`))
    .map(([, { size, volblocksize, sparse }]) => {
      const space = volumeSpace(shape, { size: bytes(size), block: bytes(volblocksize) });
      return sparse ? space.written : space.reservation;
    })
    .reduce((a, b) => a + b, 0);
}

function vdevWords(vdevs: readonly VdevShape[]): string {
  return vdevs
    .map(({ kind, role, disks, data, spares, count }) => {
      const draid = kind.startsWith("draid") ? ` (${data ?? "ZFS's"} data, ${spares} spare)` : "";
      const one = kind === "disk" ? "disk" : `${kind} of ${disks}${draid}`;
      return `${role === "data" ? "" : `${role}: `}${count === 1 ? one : `${count} × ${one}`}`;
    })
    .join(", ");
}

/** Where no test of its own says otherwise: the published labs' sequential and random loads. */
const usualLoads: Pick<FioTest, "operation" | "blockSize" | "sync">[] = [
  { operation: "write", blockSize: 512 * 1024, sync: "none" },
  { operation: "read", blockSize: 512 * 1024, sync: "none" },
  { operation: "randread", blockSize: 4096, sync: "none" },
];

/** Bounds for each protocol and each load that the stack's benchmark has. Reads are those that the ARC can't serve. */
function boundsOf(lab: LabConfig, pool: string, shape: Layout, hardware: Hardware): Bound[] {
  const own = lab.benchmark === undefined ? [] : testsOfStack(lab.benchmark);
  const loads = own
    .filter((test) => test.kind === "fio")
    .filter(({ backstore, operation }) => backstore === "volume" && !operation.endsWith("rw"));
  const each = new Map(
    (loads.length > 0 ? loads : usualLoads).map((load) => [
      `${load.operation} ${load.blockSize} ${load.sync}`,
      load,
    ]),
  );
  return (lab.benchmark?.protocols ?? ["iscsi", "iser"]).flatMap((protocol) =>
    [...each.values()].map((load): Bound => {
      const { operation, blockSize } = load;
      const sync = load.sync !== "none";
      const elements = elementsOf(
        unmeasured(lab, pool, shape, protocol, { operation, blockSize, sync }),
        hardware,
      );
      const [least] = elements
        .flatMap(({ element, bound, how }) =>
          bound === null ? [] : [{ element, megabytesPerSecond: bound, how }],
        )
        .sort((a, b) => a.megabytesPerSecond - b.megabytesPerSecond);
      return { protocol, operation, blockSize, sync, elements, limit: least ?? null };
    }),
  );
}

/** A run that nobody has seen: its load, its layout and its link, and nothing measured. */
function unmeasured(
  lab: LabConfig,
  pool: string,
  shape: Layout,
  protocol: Protocol,
  load: { operation: FioTest["operation"]; blockSize: number; sync: boolean },
): Evidence {
  const ofPool = Object.values(lab.targets).filter(({ luns }) => luns[0]?.startsWith(`${pool}/`));
  const measured = measuredTargets(lab).map(([, target]) => target);
  const target = ofPool.find((one) => measured.includes(one)) ?? ofPool[0];
  const server = lab.pools[pool]?.host ?? "storage";
  const portal = target?.portals[protocol] ?? "";
  const host = { cpus: 1, averageBusy: null, averageSystem: null, cores: [] };
  return evidence.parse({
    ...{ protocol, ...load, depth: 1, jobs: 1, clients: 1, rateIops: null, size: null, seconds: null },
    ...{ valid: true, invalid: null, bandwidth: null, iops: null, clat: null },
    virtual: lab.hosts[server]?.virtual !== undefined,
    client: { host: target?.initiators[0] ?? "client", ...host },
    storage: { host: server, ...host },
    link: wireOf(lab, portal),
    arc: { hitRatio: 0, size: null, maximum: null, state: "cold" },
    pool: {
      ...{ layout: shape, read: null, written: null, disks: [], logWritten: null, zilCommits: null },
      backstore: "volume",
    },
  });
}

/** rxe and RoCE take the largest RDMA MTU that fits the Ethernet's with its headers (rxe: 80 bytes). */
const rdmaMtus = [4096, 2048, 1024, 512, 256];
const roceHeaders = 80;

function wireOf(lab: LabConfig, portal: string): Evidence["link"] {
  const address = portal.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  const link = Object.values(lab.fabric).find(({ addresses }) =>
    Object.values(addresses).some((cidr) => cidr.replace(/\/\d+$/, "") === address),
  );
  const infiniband = link?.kind === "ipoib";
  const mtu = link?.mtu ?? null;
  const rdmaMtu =
    infiniband || mtu === null ? null : (rdmaMtus.find((each) => each + roceHeaders <= mtu) ?? null);
  return {
    kind: link === undefined ? "unknown" : infiniband ? "infiniband" : "ethernet",
    ...{ rate: null, mtu, peerMtu: null, rdmaMtu, mode: link?.mode ?? null },
  };
}

function estimateOf(lab: LabConfig): Estimate | null {
  const targets = measuredTargets(lab);
  const [first] = targets;
  if (lab.benchmark === undefined || first === undefined) return null;
  const { protocols, repeats } = lab.benchmark;
  const virtual = lab.hosts[serverOf(lab, first[1]) ?? ""]?.virtual !== undefined;
  // Of the clients only how many there are counts.
  const clients = targets.map(() => undefined) as never[];
  return estimate({ tests: testsOfStack(lab.benchmark), protocols, repeats, virtual, clients });
}

function unknowns(
  lab: LabConfig,
  pool: PoolConfig,
  shape: Layout,
  hardware: Hardware,
  bounds: readonly Bound[],
): string[] {
  const ask: string[] = [];
  if (
    shape.vdevs.some(
      ({ role, diskSize }) => role !== "spare" && role !== "cache" && role !== "log" && diskSize === null,
    )
  )
    ask.push(`the size of ${pool.host}'s disks: --disk-size 1TB`);
  if (lab.hosts[pool.host]?.virtual !== undefined) return ask;
  const say = (known: boolean, what: string, key: string, option: string): void => {
    if (!known) ask.push(`${what}: benchmark.hardware.${key}, or ${option}`);
  };
  say(hardware.link !== undefined, "what the link carries", "link.bandwidth", '--link "32 Gbit/s"');
  say(hardware.hba !== undefined, "what the HBA carries", "hba.bandwidth", '--hba "3.2 GB/s"');
  say(hardware.disk?.sequential !== undefined, "what a disk moves", "disk.sequential", '--disk "180 MB/s"');
  if (bounds.some(({ operation }) => operation === "randread"))
    say(hardware.disk?.iops !== undefined, "random I/Os of a disk", "disk.iops", "--disk-iops 150");
  if (pool.log !== undefined && bounds.some(({ sync }) => sync))
    say(
      hardware.log?.sequential !== undefined,
      "what a log device writes",
      "log.sequential",
      '--log "1.9 GB/s"',
    );
  return ask;
}
