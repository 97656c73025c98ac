import { type Disk, diskPath, findDevice } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { givenDisks, wholeDisk } from "./pool-disks.ts";
import { type PoolObserved, resolver } from "./pool-observe.ts";
import { currentProperties, type Properties, property } from "./properties.ts";
import { currentVdevs, foundVdevs, sameDisk, shownDisks } from "./vdevs.ts";

/** A pool that is there, as inputs: in the spelling of the declared ones, or as a stack file would declare it. */

export function current(observed: PoolObserved, inputs: PoolInputs): PoolInputs {
  const { pool } = observed;
  if (pool === undefined) return inputs;
  const { ashift, properties, filesystemProperties, offline, expand } = inputs;
  const whole = (shown: string): string => wholeDisk(shown, observed);
  // 0: the pool was made without saying it, and the host tells no more.
  const real = Number(property(pool.properties, "ashift"));
  return {
    ...inputs,
    vdevs: currentVdevs(inputs.vdevs, pool.vdevs, resolver(observed), whole),
    ...(ashift !== undefined && { ashift: real === 0 ? ashift : real }),
    ...(properties && { properties: currentProperties(properties, pool.properties) }),
    ...(filesystemProperties && { filesystemProperties: currentProperties(filesystemProperties, pool.root) }),
    ...(offline && { offline: currentOffline(offline, observed) }),
    ...(expand === true && { expand: observed.growable.length === 0 }),
  };
}

/** The disks that are offline, the declared ones first and as declared. */
function currentOffline(declared: readonly string[], observed: PoolObserved): string[] {
  const resolve = resolver(observed);
  const shown = (observed.pool?.vdevs ?? []).flatMap(({ states = {} }) =>
    Object.keys(states).filter((disk) => states[disk] === "OFFLINE"),
  );
  return [
    ...declared.filter((disk) => shown.some((other) => sameDisk(disk, other, resolve))),
    ...shown
      .filter((disk) => !declared.some((other) => sameDisk(other, disk, resolve)))
      .map((disk) => wholeDisk(disk, observed)),
  ];
}

/**
 * All that the host tells of a pool. Features are left out: which of them are enabled says when a pool was made, and
 * what is left out stays as it is. What may be done to the pool is for its new owner to say, so it is only exported.
 */
export function found(observed: PoolObserved, named: PoolInputs): PoolInputs {
  const { pool } = observed;
  if (pool === undefined) return named;
  const { host, name, onDelete } = named;
  const ashift = Number(property(pool.properties, "ashift"));
  const properties = setHere(pool.properties, /^(feature@.*|ashift|comment)$/);
  const filesystemProperties = setHere(pool.root, /^org\.storage-lab:/);
  return {
    host,
    name,
    vdevs: foundVdevs(pool.vdevs, (shown) => wholeDisk(shown, observed)),
    ...(ashift > 0 && { ashift }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(Object.keys(filesystemProperties).length > 0 && { filesystemProperties }),
    onDelete,
  };
}

/** Properties that were set on this very object; none whose value no stack file can hold. */
const setHere = (properties: Properties, leftOut: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...properties]
      .filter(
        ([name, { value, source }]) => source === "local" && !leftOut.test(name) && !/[\n\t]/.test(value),
      )
      .map(([name, { value }]) => [name, value]),
  );

/** After a delete: the pool that can be imported again, or blank disks where it was destroyed. */
export function gone(observed: PoolObserved, inputs: PoolInputs): PoolObserved {
  const { pool, devices, nodes } = observed;
  if (pool === undefined) return observed;
  if (inputs.onDelete === "export") {
    const [guid, comment] = [property(pool.properties, "guid"), property(pool.properties, "comment")];
    return {
      ...observed,
      pool: undefined,
      importable: [{ name: pool.name, guid, state: pool.state, comment }],
    };
  }
  const declared = inputs.vdevs.flatMap(({ disks }) => disks.map(diskPath));
  const given = givenDisks(shownDisks(pool.vdevs), observed, declared);
  const blank = given.map(({ path }): Disk => {
    const device = findDevice(devices, nodes.get(path) ?? path);
    return {
      path,
      device: device && { ...device, fstype: null, label: null, pttype: null, children: undefined },
      ...{ signatures: [], labels: [], pool: undefined },
    };
  });
  const inOrder = declared.flatMap((path) => blank.filter((disk) => disk.path === path));
  const others = observed.disks.filter(({ path }) => !declared.includes(path));
  return { ...observed, pool: undefined, begun: undefined, given: [], disks: [...inOrder, ...others] };
}
