import type { PoolInputs } from "./pool.ts";
import { hasFeature, whyKept } from "./pool-changes.ts";
import { type PoolObserved, resolver } from "./pool-observe.ts";
import type { TopLevelVdev } from "./status.ts";
import {
  type DeclaredVdev,
  describeVdev,
  newDisks,
  parity,
  type Resolve,
  removable,
  sameDisk,
  shownDisks,
  topLevels,
  type VdevChanges,
} from "./vdevs.ts";

/** Which changes of a pool's vdevs ZFS can't make, or makes only where it is forced to. */

type Pool = NonNullable<PoolObserved["pool"]>;

export function vdevRefusals(
  desired: PoolInputs,
  changes: VdevChanges,
  pool: Pool | undefined,
  observed: PoolObserved,
): string[] {
  const redundancy = refuseMixed(desired, changes.add);
  if (pool === undefined) return redundancy;
  const { name } = desired;
  return [
    ...changes.impossible.map(
      ({ declared, there }) =>
        `${there.name} of pool ${name} is ${describeVdev(there)}; ZFS can't turn it into ${describeVdev(declared)} in place. ` +
        "In place, disks are replaced, mirrors get and lose sides, and a RAID-Z gets wider. Declare it as it is, or delete the pool " +
        "with onDelete: destroy and make it anew.",
    ),
    ...refuseElsewhere(name, changes, pool, resolver(observed)),
    ...refuseSpares(name, changes.remove, pool),
    ...refuseRemoval(name, desired, changes, pool),
    ...refuseDetach(name, changes, pool),
    ...refuseWidening(desired, changes, pool, observed),
    ...redundancy,
  ];
}

/** How zpool compares vdevs: all of one kind and width, save that mirror, RAID-Z and dRAID mix where they are as safe. */
function fits(a: DeclaredVdev, b: DeclaredVdev): boolean {
  const mirrored = [a, b].find(({ type }) => type === "mirror");
  const other = a === mirrored ? b : a;
  if (mirrored !== undefined && parity(other.type) > 0)
    return parity(other.type) === mirrored.disks.length - 1;
  if (a.type !== b.type && parity(a.type) > 0) return parity(a.type) === parity(b.type);
  return a.type === b.type && (a.type === "stripe" || a.disks.length === b.disks.length);
}

/** zpool refuses vdevs of different redundancy in one pool unless it is forced, which it never is here. */
function refuseMixed({ name, vdevs }: PoolInputs, add: readonly DeclaredVdev[]): string[] {
  const held = (list: readonly DeclaredVdev[]) =>
    list.filter(({ role }) => ["data", "special", "dedup"].includes(role));
  const added = new Set(held(add).map(describeVdev));
  const all = held(topLevels(vdevs));
  const kept = all.filter((vdev) => !added.has(describeVdev(vdev)));
  const uniform = kept.every((a) => kept.every((b) => fits(a, b)));
  const odd = all
    .filter((vdev) => added.has(describeVdev(vdev)))
    .flatMap((vdev, n, news) => {
      const beside = [...(uniform ? kept : []), ...news.slice(0, n)].find((other) => !fits(vdev, other));
      return beside === undefined ? [] : [[vdev, beside] as const];
    });
  return odd
    .slice(0, 1)
    .map(
      ([vdev, beside]) =>
        `The vdevs of pool ${name} would differ in redundancy: ${describeVdev(vdev)} (${survives(vdev)}) beside ${describeVdev(beside)} (${survives(beside)}). ` +
        "A pool is lost with any of them, so data, special and dedup vdevs are of one type and width, or mirrors as safe as the RAID-Z beside them.",
    );
}

function survives({ type, disks }: DeclaredVdev): string {
  const losses = type === "mirror" ? disks.length - 1 : parity(type);
  return losses === 0 ? "survives no failure" : `survives ${losses} failed disk${losses === 1 ? "" : "s"}`;
}

/** A disk of the pool that is declared in another place: ZFS would have to take it out first. */
const refuseElsewhere = (name: string, changes: VdevChanges, pool: Pool, resolve: Resolve): string[] =>
  newDisks(changes).flatMap((disk) => {
    const vdev = pool.vdevs.find((there) =>
      shownDisks([there]).some((shown) => sameDisk(disk, shown, resolve)),
    );
    if (vdev === undefined) return [];
    return [
      `${disk} is to go to another place in pool ${name} than where it is: ${describeVdev(vdev)}. ` +
        "Take it out there first (an up without it), then declare it in its new place.",
    ];
  });

const refuseSpares = (name: string, remove: readonly TopLevelVdev[], pool: Pool): string[] =>
  remove
    .filter(({ role }) => role === "spare")
    .flatMap(({ disks: [spare = ""] }) => {
      const standing = pool.vdevs.flatMap(({ standIns = {} }) =>
        Object.entries(standIns).filter(([, standIn]) => standIn === spare),
      );
      return standing.map(
        ([disk]) =>
          `Hot spare ${spare} of pool ${name} stands in for ${disk}, so it can't be removed. Declare a new disk in place of ` +
          `${disk}, or the spare itself there, then take it out of the spares.`,
      );
    });

function refuseRemoval(name: string, desired: PoolInputs, changes: VdevChanges, pool: Pool): string[] {
  const evacuated = changes.remove.filter(({ role }) => !removable.includes(role));
  if (evacuated.length === 0) return [];
  const list = evacuated.map((vdev) => `${vdev.name} (${describeVdev(vdev)})`).join("; ");
  const data = pool.vdevs.filter(({ role }) => role === "data");
  const why =
    whyKept(pool, desired.vdevs) ??
    (data.every((vdev) => evacuated.includes(vdev)) ? "no data vdev of the pool would stay" : undefined);
  if (why === undefined) return [];
  const added = changes.add.map(describeVdev).join("; ") || "nothing";
  return [
    `These vdevs of pool ${name} are not declared and can't be removed, since ${why}: ${list}. Only declared: ${added}. ` +
      "Declare the vdevs as they are, or delete the pool with onDelete: destroy and make it anew.",
  ];
}

/** The sides that stay must hold all data: at least one of them, or one that comes, is well. */
const refuseDetach = (name: string, { detach, replace, attach }: VdevChanges, pool: Pool): string[] =>
  pool.vdevs.flatMap((vdev) => {
    const leaving = detach.filter((change) => change.vdev === vdev.name).map(({ disk }) => disk);
    const comes = [...replace, ...attach].some((change) => change.vdev === vdev.name);
    const stays = vdev.disks.filter((disk) => !leaving.includes(disk));
    const standIn = leaving.some((disk) => vdev.standIns?.[disk] !== undefined);
    if (leaving.length === 0 || comes || standIn) return [];
    if (stays.some((disk) => vdev.states?.[disk] === undefined)) return [];
    return [
      `${leaving.join(", ")} can't leave ${vdev.name} of pool ${name}: no other side is well (${stays
        .map((disk) => `${disk}: ${vdev.states?.[disk]}`)
        .join(", ")}). Bring them online or replace them first.`,
    ];
  });

function refuseWidening(
  { name, properties = {} }: PoolInputs,
  { attach }: VdevChanges,
  pool: Pool,
  { zfs }: PoolObserved,
): string[] {
  const widened = attach.filter(({ vdev }) => vdev.startsWith("raidz"));
  if (widened.length === 0) return [];
  const feature = pool.properties.get("feature@raidz_expansion")?.value;
  const what = `${[...new Set(widened.map(({ vdev }) => vdev))].join(", ")} of pool ${name} can't get wider`;
  if (feature === undefined) {
    return [
      `${what}: RAID-Z expansion came with ZFS 2.3, and this host has ${zfs.version ?? "an older one"}. Declare the vdev as it is.`,
    ];
  }
  if (hasFeature(pool.properties, "raidz_expansion") || properties["feature@raidz_expansion"] === "enabled")
    return [];
  return [
    `${what}: its feature raidz_expansion is ${feature}. Enable it, for good, with the pool property feature@raidz_expansion: enabled.`,
  ];
}
