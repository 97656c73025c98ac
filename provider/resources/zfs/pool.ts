import { z } from "zod";
import { type Answer, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { onceReleased } from "./busy.ts";
import { type BlockDevice, type Disk, diskPath, lsblk, parseLsblk } from "./disks.ts";
import { forgetNote, readDisks, readRecord, recordFile, releaseDisks, takeDisks } from "./pool-disks.ts";
import { ours, refusals, resolver } from "./pool-refusals.ts";
import { poolRules } from "./pool-rules.ts";
import {
  assignment,
  currentProperties,
  differing,
  local,
  noZfs,
  onDeleteProperty,
  ownerProperty,
  type Properties,
  poolComment,
  property,
  readProperties,
  type Zfs,
} from "./properties.ts";
import { type Importable, layouts, type PoolStatus, parsePoolStatus, roles } from "./status.ts";
import { currentVdevs, removeArguments, vdevArguments, vdevChanges } from "./vdevs.ts";

/**
 * zfs:Pool: a ZFS pool: zpoolconcepts(7), zpoolprops(7), zpool-create(8).
 * Made on blank disks only; what a disk holds is found before anything is written, and refused unless the stack
 * file names that disk under `wipe`. Marked by the root dataset's user property and by the pool's `comment`,
 * which stands in the labels too, so that the pool is known again when it is exported or destroyed.
 */

const disk = z
  .string()
  .regex(/^(\/dev\/|by-id\/)[^\s,]+$/, "a disk is /dev/… or by-id/…, short for /dev/disk/by-id/…");
const settings = z.record(z.string().regex(/^[a-z0-9@_:.-]+$/), z.string().regex(/^[^\n\t]*$/));

export const poolInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Name of the pool, by the rules of zpool-create(8)."),
  vdevs: z
    .array(
      z.strictObject({
        role: z.enum(roles).describe("What the vdev is for; zpoolconcepts(7)."),
        type: z.enum(layouts).describe("How its disks are joined; a stripe's disks each stand alone."),
        disks: z
          .array(disk)
          .min(1)
          .describe("Whole disks or partitions by stable names; ZFS labels whole disks itself."),
      }),
    )
    .describe(
      "All vdevs. Data vdevs of the same shape can be added later; log, cache and spare also removed.",
    ),
  ashift: z
    .int()
    .min(9)
    .max(16)
    .optional()
    .meta({ change: "replace" })
    .describe("Sector size as a power of two: 9 = 512 B, 12 = 4 KiB. Left out: what the disks report."),
  properties: settings.optional().describe("Properties of the pool, zpoolprops(7). Left out: left alone."),
  filesystemProperties: settings
    .optional()
    .describe(
      "Properties of the root dataset, zfsprops(7), inherited by what is in the pool. Left out: left alone.",
    ),
  wipe: z.array(disk).optional().describe("Disks whose content may be destroyed when this pool takes them."),
  onDelete: z
    .enum(["export", "destroy"])
    .describe(
      "export leaves all data on the disks, for a later import; destroy destroys it and clears the labels.",
    ),
});
export type PoolInputs = z.infer<typeof poolInputs>;

export type PoolObserved = {
  zfs: Zfs;
  /** The imported pool; undefined where there is none of that name. */
  pool: (PoolStatus & { properties: Properties; root: Properties; datasets: Dataset[] }) | undefined;
  /** Pools of that name that are not imported. */
  importable: Importable[];
  /** What an earlier run began to make and has not ended. */
  begun: { owner: string; disks: string[] } | undefined;
  /** The declared disks that this pool does not hold (yet). */
  disks: Disk[];
  devices: BlockDevice[];
  /** Kernel names of the disks, by path. */
  nodes: ReadonlyMap<string, string>;
};
/** What is in the pool beside its root: datasets and snapshots, with the mark that says what may be destroyed. */
type Dataset = { name: string; onDelete: string };

async function observe(host: Questions, inputs: PoolInputs): Promise<PoolObserved> {
  const { name } = inputs;
  const declared = inputs.vdevs.flatMap(({ disks }) => disks.map(diskPath));
  // Settled first: links and partitions of a disk that was just written to are made and removed by udev.
  const [, devices, links, module, status, properties, root, datasets, record] = await Promise.all([
    host.ask(["udevadm", "settle", "--timeout=30"]),
    host.ask(lsblk()),
    host.ask(["readlink", "-m", ...declared]),
    host.ask(["cat", "/sys/module/zfs/version"]),
    host.ask(["zpool", "status", "-P"]),
    host.ask(["zpool", "get", "-Hp", "-o", "property,value,source", "all", name]),
    host.ask(["zfs", "get", "-Hp", "-o", "property,value,source", "all", name]),
    host.ask(["zfs", "list", "-Hp", "-r", "-t", "all", "-o", `name,${onDeleteProperty}`, name]),
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
  const base = {
    zfs: { programs: status.status !== 127, module: moduleLoaded(host, module) && !noZfs(status) },
    pool,
    begun: readRecord(host, record, name),
    devices: parseLsblk(expect(host, devices, "the block devices")),
  };
  const paths = expect(host, links, "the disks' device nodes").trimEnd().split("\n");
  const nodes = new Map(declared.map((path, n) => [path, paths[n] ?? path]));
  return { ...base, ...(await readDisks(host, declared, pools, { ...base, name, nodes })) };
}

function moduleLoaded(host: Questions, answer: Answer): boolean {
  if (answer.status !== 0 && answer.stderr.includes("No such file or directory")) return false;
  return expect(host, answer, "the version of the ZFS module") !== "";
}

function parseDatasets(text: string, root: string): Dataset[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [name = "", onDelete = ""] = line.split("\t");
      return { name, onDelete };
    })
    .filter(({ name }) => name !== root);
}

function plan(
  desired: PoolInputs | undefined,
  observed: PoolObserved,
  inputs: PoolInputs,
  owner: string,
): Step[] {
  if (desired === undefined) return remove(observed, inputs, owner);
  const { name } = desired;
  if (observed.pool !== undefined)
    return [...endRecord(observed, name), ...update(desired, observed, observed.pool, owner)];
  const module = loadModule(observed.zfs.module);
  const [exported] = ours(observed, owner);
  if (exported !== undefined) {
    const folders = [
      ...new Set(desired.vdevs.flatMap((v) => v.disks.map((d) => diskPath(d).replace(/\/[^/]*$/, "")))),
    ];
    const from = folders.flatMap((folder) => ["-d", folder]);
    return [
      ...module,
      { say: `import pool ${name}`, argv: ["zpool", "import", ...from, exported.guid] },
      ...setAll(desired),
    ];
  }
  return [
    ...module,
    ...takeDisks(observed, desired, owner, {
      say: `create pool ${name}`,
      argv: createArguments(desired, owner),
    }),
  ];
}

/**
 * ZFS's programs load the module when they are first run, so that it is loaded says nothing of the next boot:
 * modules-load.d(5) does, wherever this project makes or imports a pool.
 */
const loadModule = (loaded: boolean): Step[] => [
  ...(loaded ? [] : [{ say: "load the ZFS module", argv: ["modprobe", "zfs"] }]),
  {
    say: "have the ZFS module loaded at boot",
    file: "/etc/modules-load.d/storage-lab-zfs.conf",
    text: "zfs\n",
  },
];

const assignments = (options: [string, string | number][], flag: string): string[] =>
  options.flatMap(([name, value]) => [flag, assignment(name, `${value}`)]);

/** No -f: zpool looks once more for what its rules forbid, such as data vdevs of different redundancy. */
function createArguments(
  { name, vdevs, ashift, properties = {}, filesystemProperties = {} }: PoolInputs,
  owner: string,
) {
  return [
    ...["zpool", "create"],
    ...assignments(ashift === undefined ? [] : [["ashift", ashift]], "-o"),
    ...assignments([["comment", poolComment(owner)], ...Object.entries(properties)], "-o"),
    ...assignments([[ownerProperty, owner], ...Object.entries(filesystemProperties)], "-O"),
    ...[name, ...vdevArguments(vdevs)],
  ];
}

const setPool = (name: string, values: [string, string][]): Step[] =>
  values.map(([key, value]) => ({
    say: `set ${key} of pool ${name} to ${value}`,
    argv: ["zpool", "set", assignment(key, value), name],
  }));

const setRoot = (name: string, values: [string, string][]): Step[] =>
  values.length === 0
    ? []
    : [
        {
          say: `set ${values.map(([key, value]) => `${key} to ${value}`).join(", ")} on dataset ${name}`,
          argv: ["zfs", "set", ...values.map(([key, value]) => assignment(key, value)), name],
        },
      ];

/** After an import: what the pool has could not be read before it. */
const setAll = ({ name, properties = {}, filesystemProperties = {} }: PoolInputs): Step[] => [
  ...setPool(name, Object.entries(properties)),
  ...setRoot(name, Object.entries(filesystemProperties)),
];

function update(
  desired: PoolInputs,
  observed: PoolObserved,
  pool: NonNullable<PoolObserved["pool"]>,
  owner: string,
): Step[] {
  const { name } = desired;
  const { add, remove } = vdevChanges(desired.vdevs, pool.vdevs, resolver(observed));
  const mark = { ...desired.filesystemProperties };
  if (local(pool.root, ownerProperty) !== owner) mark[ownerProperty] = owner;
  const comment = { comment: poolComment(owner), ...desired.properties };
  const removals: Step[] =
    remove.length === 0
      ? []
      : [
          {
            say: `remove ${removeArguments(remove).join(" ")} from pool ${name}`,
            argv: ["zpool", "remove", name, ...removeArguments(remove)],
          },
        ];
  const additions: Step[] =
    add.length === 0
      ? []
      : takeDisks(observed, desired, owner, {
          say: `add ${vdevArguments(add).join(" ")} to pool ${name}`,
          argv: ["zpool", "add", ...ashiftOf(desired), name, ...vdevArguments(add)],
        });
  return [
    ...setPool(name, differing(comment, pool.properties)),
    ...setRoot(name, differing(mark, pool.root)),
    ...removals,
    ...additions,
  ];
}

const ashiftOf = ({ ashift }: PoolInputs): string[] =>
  ashift === undefined ? [] : ["-o", `ashift=${ashift}`];

const endRecord = (observed: PoolObserved, name: string): Step[] =>
  observed.begun === undefined ? [] : forgetNote(name);

function remove(observed: PoolObserved, inputs: PoolInputs, owner: string): Step[] {
  const { name, onDelete } = inputs;
  const devices = `/dev/zvol/${name}`;
  if (observed.pool !== undefined && onDelete === "export") {
    return [
      onceReleased(`export pool ${name}, its data stays on the disks`, devices, ["zpool", "export", name]),
    ];
  }
  if (onDelete === "export") return [];
  const destroy =
    observed.pool === undefined
      ? []
      : [onceReleased(`destroy pool ${name}`, devices, ["zpool", "destroy", name])];
  return releaseDisks(observed, inputs, owner, destroy);
}

export const pool: ResourceType<PoolInputs, PoolObserved> = {
  type: "zfs:Pool",
  inputs: poolInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.pool !== undefined,
  owner: (observed) => (observed.pool === undefined ? undefined : local(observed.pool.root, ownerProperty)),
  current: (observed, inputs) => {
    const { pool } = observed;
    if (pool === undefined) return inputs;
    const { ashift, properties, filesystemProperties } = inputs;
    return {
      ...inputs,
      vdevs: currentVdevs(inputs.vdevs, pool.vdevs, resolver(observed)),
      ...(ashift !== undefined && { ashift: Number(property(pool.properties, "ashift")) }),
      ...(properties && { properties: currentProperties(properties, pool.properties) }),
      ...(filesystemProperties && {
        filesystemProperties: currentProperties(filesystemProperties, pool.root),
      }),
    };
  },
  plan,
  refusals,
  refusesReplace: ({ name, onDelete }) =>
    onDelete === "destroy"
      ? undefined
      : `Replacing pool ${name} would lose what it holds. Allow it with onDelete: destroy, or undo the change.`,
  rules: poolRules,
  outputs: ({ name }, observed) => ({
    name,
    ...(observed?.pool && {
      guid: property(observed.pool.properties, "guid"),
      size: Number(property(observed.pool.properties, "size")),
      health: property(observed.pool.properties, "health"),
    }),
  }),
};
