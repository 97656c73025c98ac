import { diskPath } from "./disks.ts";
import type { PoolInputs, PoolObserved } from "./pool.ts";
import { refuseDisks } from "./pool-disks.ts";
import { noPrograms, type Properties, poolComment } from "./properties.ts";
import type { Importable } from "./status.ts";
import { vdevChanges, vdevRefusals } from "./vdevs.ts";

/** What forbids a pool's plan: what would be lost, what can't be done in place, whose the pool is. */

export const resolver = (observed: PoolObserved) => (path: string) => observed.nodes.get(path);

/** The one pool of that name that this stack exported, or that the host lost sight of. */
export const ours = (observed: PoolObserved, owner: string): Importable[] =>
  observed.importable.filter(({ comment }) => comment === poolComment(owner));

export function refusals(
  desired: PoolInputs | undefined,
  observed: PoolObserved,
  inputs: PoolInputs,
  owner: string,
): string[] {
  const { name } = inputs;
  if (desired === undefined) return inputs.onDelete === "destroy" ? refuseDestroy(observed, name) : [];
  if (!observed.zfs.programs) return [noPrograms(desired.host.name)];
  if (observed.pool === undefined) {
    const mine = ours(observed, owner);
    return mine.length > 0
      ? refuseImport(mine, name)
      : [...refuseNamesake(observed, desired), ...refuseDisks(observed, desired, owner)];
  }
  const resolve = resolver(observed);
  const changes = vdevChanges(desired.vdevs, observed.pool.vdevs, resolve);
  const vdevs = vdevRefusals(name, changes, observed.pool.vdevs, resolve);
  return [
    ...refuseUnknown("pool", desired.properties, observed.pool.properties),
    ...refuseUnknown("dataset", desired.filesystemProperties, observed.pool.root),
    ...(vdevs.length > 0 || changes.add.length === 0 ? vdevs : refuseDisks(observed, desired, owner)),
  ];
}

/** User properties (with a colon) come into being when they are set; all others must be known. */
const refuseUnknown = (
  what: string,
  desired: Record<string, string> | undefined,
  have: Properties,
): string[] =>
  Object.keys(desired ?? {})
    .filter((key) => !key.includes(":") && !have.has(key))
    .map(
      (key) =>
        `${key} is no ${what} property that this host's ZFS knows. Check its spelling, or leave it out.`,
    );

function refuseDestroy(observed: PoolObserved, name: string): string[] {
  const kept = (observed.pool?.datasets ?? []).filter(
    (d) => d.onDelete !== "destroy" || d.name.includes("@"),
  );
  if (kept.length === 0) return [];
  return [
    `Pool ${name} still holds ${kept.map((d) => d.name).join(", ")}, which nothing in the stack allows to destroy. ` +
      "Destroy them by hand (zfs destroy), or let the pool be exported (onDelete: export).",
  ];
}

function refuseImport(mine: readonly Importable[], name: string): string[] {
  const [pool, another] = mine;
  if (pool === undefined) return [];
  if (another !== undefined) {
    return [
      `Two exported pools are named ${name} and both are this stack's (guid ${pool.guid}, ${another.guid}). Import the right one by hand: zpool import GUID.`,
    ];
  }
  if (/another system|hostid/.test(pool.status ?? "")) {
    return [
      `The exported pool ${name} (guid ${pool.guid}) was last used by another system. Make sure that it is not in use there, then: zpool import -f ${pool.guid}`,
    ];
  }
  if (pool.state === "ONLINE" || pool.state === "DEGRADED") return [];
  return [
    `The exported pool ${name} (guid ${pool.guid}) can't be imported: its state is ${pool.state}${pool.status ? `, ${pool.status}` : ""}. See: zpool import`,
  ];
}

/** A pool of that name on this host's disks which is not this stack's, and whose disks this pool is not to take. */
function refuseNamesake(observed: PoolObserved, desired: PoolInputs): string[] {
  const wiped = new Set((desired.wipe ?? []).map(diskPath));
  const takes = (guid: string) =>
    observed.disks.some(
      ({ path, labels }) => wiped.has(path) && labels.some(({ label }) => label.guid === guid),
    );
  return observed.importable
    .filter(({ guid }) => !takes(guid))
    .map(
      ({ name, guid, state }) =>
        `A pool named ${name} that this stack did not make is on this host's disks, not imported (guid ${guid}, ${state}). ` +
        `Look at it (zpool import ${guid}), give this pool another name, or name that pool's disks under wipe.`,
    );
}
