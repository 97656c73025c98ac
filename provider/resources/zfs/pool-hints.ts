import { hintSectors } from "./disk-fit.ts";
import type { PoolInputs } from "./pool.ts";
import { hasFeature, whyKept } from "./pool-changes.ts";
import { type PoolObserved, resolver } from "./pool-observe.ts";
import type { TopLevelVdev } from "./status.ts";
import {
  type DeclaredVdev,
  describeVdev,
  isDraid,
  newDisks,
  parity,
  removable,
  vdevChanges,
} from "./vdevs.ts";

/** What an operator should know of a pool before it is made or changed, although nothing forbids it. */

export function hints(desired: PoolInputs, observed: PoolObserved): string[] {
  const { name, vdevs, ashift } = desired;
  const resolve = resolver(observed);
  const { pool } = observed;
  const there: readonly TopLevelVdev[] = pool?.vdevs ?? [];
  const changes = vdevChanges(vdevs, there, resolve);
  const known = { devices: observed.devices, resolve };
  return [
    ...changes.add.flatMap((vdev) => [...hintLog(name, vdev), ...hintDraid(vdev)]),
    ...hintForever(name, pool, changes.add),
    ...hintSectors(newDisks(changes), ashift, known),
    ...(changes.attach.some(({ vdev }) => vdev.startsWith("raidz"))
      ? [
          `A RAID-Z of pool ${name} that got wider stays so; blocks written before keep their old share of parity until they are written anew.`,
        ]
      : []),
    ...hintFeatures(desired, pool),
  ];
}

const hintLog = (name: string, { role, type, disks }: DeclaredVdev): string[] =>
  role === "log" && type === "stripe"
    ? [
        `Log device ${disks.join(" ")} of pool ${name} stands alone: where it fails together with the host's power, the last ` +
          "seconds of synchronous writes are lost. A mirror of two is not.",
      ]
    : [];

/** Said of a pool's own vdevs only: what comes with the pool goes with it. */
function hintForever(name: string, pool: PoolObserved["pool"], add: readonly DeclaredVdev[]): string[] {
  if (pool === undefined) return [];
  const kept = add.filter(({ role }) => !removable.includes(role));
  const why = whyKept(pool, kept);
  if (why === undefined || kept.length === 0) return [];
  return [
    `What is added to pool ${name} can't be removed from it again, since ${why}: ${kept.map(describeVdev).join("; ")}.`,
  ];
}

function hintDraid(vdev: DeclaredVdev): string[] {
  if (!isDraid(vdev.type)) return [];
  const { type, disks, spares = 0 } = vdev;
  const data = vdev.data ?? Math.min(8, disks.length - spares - parity(type));
  const [group, beside] = [data + parity(type), disks.length - spares];
  if (beside % group === 0) return [];
  return [
    `${describeVdev(vdev)}: ${beside} disks beside its spares are no multiple of ${group} (${data} data and ${parity(type)} ` +
      "parity), so its redundancy groups go on from one row of disks to the next. ZFS allows that, and no space is lost.",
  ];
}

/** Never upgraded by itself: an older system could no longer import the pool. */
function hintFeatures({ name }: PoolInputs, pool: PoolObserved["pool"]): string[] {
  if (pool?.advice === undefined || !/features are not enabled/.test(pool.advice)) return [];
  const off = [...pool.properties.keys()]
    .filter((key) => key.startsWith("feature@"))
    .map((key) => key.slice("feature@".length))
    .filter((feature) => !hasFeature(pool.properties, feature));
  return [
    `Pool ${name} does not use all features of this host's ZFS (${off.join(", ")}), and is not upgraded. Enable one, for good, by ` +
      "its pool property feature@NAME: enabled.",
  ];
}
