import { ParseError } from "../../errors.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import {
  type BlockDevice,
  type Disk,
  diskOf,
  diskPath,
  findDevice,
  lsblkSectors,
  madeWhole,
  onlyZfsPartitions,
  parseLsblk,
  partitions,
  readLabel,
  readSignatures,
  wipefs,
} from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import {
  getAll,
  getAllOfPool,
  noZfs,
  onDeleteProperty,
  type Properties,
  readProperties,
  type Zfs,
} from "./properties.ts";
import { type Importable, type PoolStatus, parseImportable, parsePoolStatus } from "./status.ts";
import { firstPartition, poolOf, type Resolve, sameDisk, shownDisks } from "./vdevs.ts";

/** What there is of a pool on its host: the pool itself, pools of its name that are not imported, and its disks. */

export type PoolObserved = {
  /** `version` is the loaded module's. */
  zfs: Zfs & { version?: string };
  /** The imported pool; undefined where there is none of that name. */
  pool: (PoolStatus & { properties: Properties; root: Properties; datasets: Dataset[] }) | undefined;
  /** Pools of that name that are not imported. */
  importable: Importable[];
  /** What an earlier run began to take or to give back and has not ended. */
  begun: { owner: string; disks: string[] } | undefined;
  /** The declared disks that this pool does not hold (yet). */
  disks: Disk[];
  /** Disks that an earlier run began to take or to give back, neither declared nor in the pool. */
  given: Disk[];
  /** Where the stack asks for it: top-level vdevs whose disks have room for more (by name). */
  growable: string[];
  devices: BlockDevice[];
  /** Kernel names of the disks, by path: of the declared ones, and of those that the pool shows. */
  nodes: ReadonlyMap<string, string>;
};
/** What is in the pool beside its root: datasets and snapshots, and whether the stack says of itself that it may go. */
type Dataset = { name: string; destroy: boolean };

export const resolver =
  ({ nodes }: Pick<PoolObserved, "nodes">): Resolve =>
  (path) =>
    nodes.get(path);

export async function observe(host: Questions, inputs: PoolInputs): Promise<PoolObserved> {
  const { name } = inputs;
  const declared = inputs.vdevs.flatMap(({ disks }) => disks.map(diskPath));
  // Settled first: links and partitions of a disk that was just written to are made and removed by udev.
  const [, devices, links, module, status, properties, root, datasets, record] = await Promise.all([
    host.ask(["udevadm", "settle", "--timeout=30"]),
    host.ask(lsblkSectors()),
    targets(host, declared),
    host.ask(["cat", "/sys/module/zfs/version"]),
    host.ask(["zpool", "status", "-P"]),
    host.ask(getAllOfPool(name)),
    host.ask(getAll(name)),
    host.ask(["zfs", "get", "-Hp", "-r", "-t", "all", "-o", "name,value,source", onDeleteProperty, name]),
    host.ask(["cat", recordFile(name)]),
  ]);
  const pools = noZfs(status) ? [] : parsePoolStatus(expect(host, status, "the pools"));
  const poolProperties = readProperties(host, properties, `pool ${name}`);
  const found = pools.find((pool) => pool.name === name);
  const pool =
    poolProperties === undefined || found === undefined
      ? undefined
      : {
          ...found,
          properties: poolProperties,
          root: readProperties(host, root, `dataset ${name}`) ?? new Map(),
          datasets: parseDatasets(expect(host, datasets, `what is in pool ${name}`), name),
        };
  const version = moduleVersion(host, module);
  const base = {
    zfs: {
      programs: status.status !== 127,
      module: version !== undefined && !noZfs(status),
      ...(version !== undefined && { version }),
    },
    pool,
    begun: readRecord(host, record, name),
    devices: parseLsblk(expect(host, devices, "the block devices")),
  };
  return { ...base, ...(await readDisks(host, inputs, pools, { ...base, declared, nodes: links })) };
}

/** The kernel's names of the devices behind these paths; a link that leads nowhere stays as it is. */
async function targets(host: Questions, paths: readonly string[]): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map();
  const text = expect(host, await host.ask(["readlink", "-m", ...paths]), "the disks' device nodes");
  const lines = text.trimEnd().split("\n");
  return new Map(paths.map((path, n) => [path, lines[n] ?? path]));
}

function moduleVersion(host: Questions, answer: Answer): string | undefined {
  if (answer.status !== 0 && answer.stderr.includes("No such file or directory")) return undefined;
  return expect(host, answer, "the version of the ZFS module").trim();
}

function parseDatasets(text: string, root: string): Dataset[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", value, source] = line.split("\t");
      if (source === undefined)
        throw new ParseError(`not a line of "name value source": ${JSON.stringify(line)}`);
      // Children and snapshots inherit a user property: what others put below ours is not ours to destroy.
      return { name, destroy: value === "destroy" && source === "local" };
    })
    .filter(({ name }) => name !== root);
}

type Known = Pick<PoolObserved, "pool" | "begun" | "devices"> & {
  declared: readonly string[];
  nodes: ReadonlyMap<string, string>;
};

/**
 * What the disks hold that are declared and not in the pool, in one more round trip; none where the pool shows all
 * declared disks by their declared names, and no others.
 */
async function readDisks(
  host: Questions,
  { name, expand }: PoolInputs,
  pools: readonly PoolStatus[],
  { pool, begun, devices, declared, nodes: known }: Known,
): Promise<Pick<PoolObserved, "disks" | "given" | "importable" | "growable" | "nodes">> {
  const shown = shownDisks(pool?.vdevs ?? []);
  const bySpelling = (path: string, disk: string) => sameDisk(path, disk, () => undefined);
  const strange = declared.filter((path) => !shown.some((disk) => bySpelling(path, disk)));
  const others = shown.filter((disk) => !declared.some((path) => bySpelling(path, disk)));
  const noted = (begun?.disks ?? []).filter(
    (path) => !declared.includes(path) && !shown.some((disk) => bySpelling(path, disk)),
  );
  const members = strange.length > 0 ? pools.flatMap(({ vdevs }) => shownDisks(vdevs)) : others;
  const [links, importable, growable, read] = await Promise.all([
    targets(host, [...members, ...noted]),
    pool === undefined && strange.length > 0 ? host.ask(["zpool", "import"]) : undefined,
    expand === true && pool !== undefined
      ? readGrowable(host, pool, { devices, declared, nodes: known })
      : [],
    Promise.all(strange.map((path) => readDisk(host, path, known, devices))),
  ]);
  const nodes = new Map([...partitionNodes(declared, known), ...links, ...known]);
  const resolve = (path: string) => nodes.get(path);
  const given = await Promise.all(noted.map((path) => readDisk(host, path, nodes, devices)));
  const withPool = (disk: Disk): Disk => ({
    ...disk,
    pool: disk.device && poolOf(pools, disk.device, resolve),
  });
  const outside = ({ path }: Disk) => !shown.some((disk) => sameDisk(path, disk, resolve));
  return {
    disks: read.map(withPool).filter(outside),
    given: given.map(withPool).filter(({ device, pool: user }) => device !== undefined && user === undefined),
    importable: importable === undefined ? [] : readImportable(host, importable, name),
    growable,
    nodes,
  };
}

/** The partition that ZFS makes on a whole disk needs no look: its name follows from the disk's. */
const partitionNodes = (
  declared: readonly string[],
  nodes: ReadonlyMap<string, string>,
): [string, string][] =>
  declared.map((path) => [firstPartition(path), firstPartition(nodes.get(path) ?? path)]);

async function readDisk(
  host: Questions,
  path: string,
  nodes: ReadonlyMap<string, string>,
  devices: readonly BlockDevice[],
): Promise<Disk> {
  const device = findDevice(devices, nodes.get(path) ?? path);
  const [signatures, ...labels] = await Promise.all([
    host.ask(wipefs(path)),
    ...zfsMembers(device).map(async (on) => ({ device: on, answer: await host.ask(["zdb", "-l", on]) })),
  ]);
  return {
    path,
    device,
    signatures: readSignatures(host, signatures, path) ?? [],
    labels: labels.flatMap(({ device: on, answer }) => {
      const label = readLabel(host, answer, on);
      return label === undefined ? [] : [{ device: on, label }];
    }),
    pool: undefined,
  };
}

/** The devices of a disk that may hold a ZFS label. */
const zfsMembers = (device: BlockDevice | undefined): string[] =>
  device === undefined
    ? []
    : [device, ...partitions(device)]
        .filter((part) => part.fstype === "zfs_member" || (part.type === "part" && onlyZfsPartitions(device)))
        .map(({ kname }) => kname);

/** A whole disk loses the partition table, its alignment and ZFS's reserved partition to others: 9 MiB; labels 4.5 MiB. */
const overhead = 16 * 1024 ** 2;

/**
 * Top-level vdevs whose disks all have room for at least one metaslab more. The pool's own expandsize says so only
 * after the disks were opened again; the label says how much of them is used.
 */
async function readGrowable(
  host: Questions,
  pool: PoolStatus,
  { devices, declared, nodes }: Pick<Known, "devices" | "declared" | "nodes">,
): Promise<string[]> {
  const paths = new Map([...partitionNodes(declared, nodes), ...nodes]);
  const growable = await Promise.all(
    pool.vdevs.map(async ({ role, name, type, disks, states = {}, leaving }) => {
      const knames = disks.map((disk) => paths.get(disk) ?? disk);
      const sizes = knames.map((kname) => diskSize(devices, kname));
      const [first] = knames;
      if (role === "cache" || role === "spare" || first === undefined || leaving !== undefined) return [];
      // While a RAID-Z is widened, its label tells of what it was before.
      if (pool.busy?.expand !== undefined && type.startsWith("raidz")) return [];
      if (Object.keys(states).length > 0 || sizes.includes(undefined)) return [];
      const label = readLabel(host, await host.ask(["zdb", "-l", first]), first);
      if (label?.vdev === undefined) return [];
      const most = Math.min(...sizes.map((bytes) => bytes ?? 0)) - overhead;
      const room = label.vdev.type === "mirror" || disks.length === 1 ? most : most * disks.length;
      return room - label.vdev.asize >= 2 ** label.vdev.metaslabShift ? [name] : [];
    }),
  );
  return growable.flat();
}

/** The size that ZFS could use: of the whole disk where it made the partition itself. */
function diskSize(devices: readonly BlockDevice[], kname: string): number | undefined {
  const disk = diskOf(devices, kname);
  return (disk && madeWhole(disk) ? disk : findDevice(devices, kname))?.size;
}

function readImportable(host: Questions, answer: Answer, name: string): Importable[] {
  if (noZfs(answer)) return [];
  return parseImportable(expect(host, answer, "the pools that are not imported")).filter(
    (pool) => pool.name === name,
  );
}

/**
 * Where a run notes, before it gives disks to a pool that it found to be free, or takes them back from a pool. A disk
 * that is listed there and bears nothing but ZFS's own partitions, or the label of no pool, is its unfinished work.
 */
export const recordFile = (pool: string): string => `/var/lib/storage-lab/zpool-begun/${pool}`;

function readRecord(host: Questions, answer: Answer, pool: string): PoolObserved["begun"] {
  if (answer.status !== 0 && answer.stderr.includes("No such file or directory")) return undefined;
  const [owner = "", ...disks] = expect(host, answer, `what was begun for pool ${pool}`)
    .trimEnd()
    .split("\n");
  return { owner, disks };
}
