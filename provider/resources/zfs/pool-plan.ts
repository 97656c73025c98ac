import type { Step } from "../../step.ts";
import { onceReleased } from "./busy.ts";
import { diskPath } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { changePool, setPool, setRoot } from "./pool-changes.ts";
import {
  clearDisks,
  forgetNote,
  found,
  givenDisks,
  leftDisks,
  note,
  readyDisks,
  withoutRescan,
} from "./pool-disks.ts";
import type { PoolObserved } from "./pool-observe.ts";
import { ours } from "./pool-refusals.ts";
import { assignment, ownerProperty, poolComment } from "./properties.ts";
import { shownDisks, vdevArguments } from "./vdevs.ts";

/** The steps that make, import, change, export or destroy a pool. */

export function plan(
  desired: PoolInputs | undefined,
  observed: PoolObserved,
  inputs: PoolInputs,
  owner: string,
): Step[] {
  if (desired === undefined) return remove(observed, inputs, owner);
  if (observed.pool !== undefined) return changePool(desired, observed, observed.pool, owner);
  const module = loadModule(observed.zfs.module);
  const [exported] = ours(observed, owner);
  return [
    ...module,
    ...(exported === undefined ? create(desired, observed, owner) : importPool(desired, exported)),
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

function create(desired: PoolInputs, observed: PoolObserved, owner: string): Step[] {
  const { name, vdevs } = desired;
  const disks = found(
    observed,
    vdevs.flatMap((vdev) => vdev.disks),
  );
  const paths = disks.map(({ path }) => path);
  return [
    note(`note that ${paths.length} disks go to pool ${name}`, name, owner, paths),
    ...readyDisks(disks, observed, desired, owner),
    { say: `create pool ${name}`, argv: [...withoutRescan(paths), ...createArguments(desired, owner)] },
    ...forgetNote(name),
  ];
}

const assignments = (options: [string, string | number][], flag: string): string[] =>
  options.flatMap(([name, value]) => [flag, assignment(name, `${value}`)]);

/** No -f: zpool looks once more for what its rules forbid, such as data vdevs of different redundancy. */
function createArguments(
  { name, vdevs, ashift, properties = {}, filesystemProperties = {} }: PoolInputs,
  owner: string,
): string[] {
  return [
    ...["zpool", "create"],
    ...assignments(ashift === undefined ? [] : [["ashift", ashift]], "-o"),
    ...assignments([["comment", poolComment(owner)], ...Object.entries(properties)], "-o"),
    ...assignments([[ownerProperty, owner], ...Object.entries(filesystemProperties)], "-O"),
    ...[name, ...vdevArguments(vdevs)],
  ];
}

function importPool(desired: PoolInputs, { guid }: { guid: string }): Step[] {
  const { name, vdevs, properties = {}, filesystemProperties = {} } = desired;
  const disks = vdevs.flatMap((vdev) => vdev.disks.map(diskPath));
  const folders = [...new Set(disks.map((path) => path.replace(/\/[^/]*$/, "")))];
  return [
    {
      say: `import pool ${name}`,
      argv: ["zpool", "import", ...folders.flatMap((folder) => ["-d", folder]), guid],
    },
    // What the pool has could not be read before.
    ...setPool(name, Object.entries(properties)),
    ...setRoot(name, Object.entries(filesystemProperties)),
  ];
}

function remove(observed: PoolObserved, inputs: PoolInputs, owner: string): Step[] {
  const { name, onDelete } = inputs;
  const { pool, begun } = observed;
  const devices = `/dev/zvol/${name}`;
  if (onDelete === "export") {
    if (pool === undefined) return [];
    const say = `export pool ${name}, its data stays on the disks`;
    return [{ ...onceReleased(say, devices, ["zpool", "export", name]), effect: "outage" }];
  }
  const destroy: Step[] =
    pool === undefined
      ? []
      : [
          {
            ...onceReleased(`destroy pool ${name} and all that it holds`, devices, [
              "zpool",
              "destroy",
              name,
            ]),
            effect: "data loss",
          },
        ];
  const declared = inputs.vdevs.flatMap(({ disks }) => disks);
  const left = leftDisks([...observed.disks, ...observed.given], observed, name, owner);
  const disks = pool === undefined ? left : givenDisks(shownDisks(pool.vdevs), observed, declared);
  if (disks.length === 0) return [...destroy, ...(pool || begun ? forgetNote(name) : [])];
  const paths = disks.map(({ path }) => path);
  return [
    note(`note that pool ${name} gives ${paths.length} disks back`, name, owner, paths),
    ...destroy,
    ...clearDisks(disks),
    ...forgetNote(name),
  ];
}
