import { refuseTwice, refuseUnfit } from "./disk-fit.ts";
import { diskPath } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { hasFeature } from "./pool-changes.ts";
import { found, refuseDisks } from "./pool-disks.ts";
import { type PoolObserved, resolver } from "./pool-observe.ts";
import { noPrograms, type Properties, poolComment } from "./properties.ts";
import type { Importable } from "./status.ts";
import { vdevRefusals } from "./vdev-refusals.ts";
import { newDisks, topLevels, type VdevChanges, vdevChanges } from "./vdevs.ts";

/** What forbids a pool's plan: what would be lost, what can't be done in place, whose the pool is. */

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
  const { pool } = observed;
  if (pool === undefined) {
    const mine = ours(observed, owner);
    if (mine.length > 0) return refuseImport(mine, name);
    const none = { replace: [], attach: [], detach: [], remove: [], keep: [], impossible: [] };
    const all = { ...none, add: topLevels(desired.vdevs) };
    return [
      ...refuseNamesake(observed, desired),
      ...vdevRefusals(desired, all, undefined, observed),
      ...refuseTaken(desired, all, observed, owner),
    ];
  }
  const changes = vdevChanges(desired.vdevs, pool.vdevs, resolver(observed));
  const vdevs = vdevRefusals(desired, changes, pool, observed);
  return [
    ...refuseUnknown("pool", desired.properties, pool.properties),
    ...refuseUnknown("dataset", desired.filesystemProperties, pool.root),
    ...refuseFeatures(desired.properties, pool.properties),
    ...(vdevs.length > 0 ? vdevs : refuseTaken(desired, changes, observed, owner)),
  ];
}

function refuseTaken(
  desired: PoolInputs,
  changes: VdevChanges,
  observed: PoolObserved,
  owner: string,
): string[] {
  const known = { devices: observed.devices, resolve: resolver(observed) };
  const { pool } = observed;
  const expandable = /^\d+$/.test(pool?.properties.get("expandsize")?.value ?? "-");
  const disks = refuseDisks(found(observed, newDisks(changes)), observed, desired, owner);
  return [
    ...refuseTwice(desired.vdevs, known),
    ...disks,
    ...refuseUnfit(changes, pool?.vdevs ?? [], desired.ashift, expandable, known),
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

const refuseFeatures = (desired: Record<string, string> = {}, have: Properties): string[] =>
  Object.entries(desired)
    .filter(([key, value]) => key.startsWith("feature@") && value === "disabled")
    .filter(([key]) => hasFeature(have, key.slice("feature@".length)))
    .map(
      ([key]) =>
        `${key} is ${have.get(key)?.value}, and a feature that is enabled can't be disabled. Leave it out, or make the pool anew.`,
    );

export function refuseDestroy(observed: PoolObserved | undefined, name: string): string[] {
  const kept = (observed?.pool?.datasets ?? []).filter(({ destroy }) => !destroy);
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
