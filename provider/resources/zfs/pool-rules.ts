import { diskPath } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { ownerProperty } from "./properties.ts";
import type { Layout } from "./status.ts";
import { describeVdev, isDraid, parity, topLevels } from "./vdevs.ts";

/** What can be said about a pool's inputs without its host: [key, sentence]. */

/** Fewest disks of a vdev: one more than it can lose. */
const fewest: Record<Layout, number> = {
  ...{ stripe: 1, mirror: 2 },
  ...{ raidz1: 2, raidz2: 3, raidz3: 4 },
  ...{ draid1: 2, draid2: 3, draid3: 4 },
};

export function poolRules(inputs: PoolInputs): [key: string, sentence: string][] {
  return [...nameRules(inputs), ...vdevRules(inputs), ...diskRules(inputs), ...propertyRules(inputs)];
}

export function nameRules({ name }: Pick<PoolInputs, "name">): [string, string][] {
  const quoted = JSON.stringify(name);
  if (!/^[A-Za-z][A-Za-z0-9_.:-]*$/.test(name)) {
    return [
      ["name", `a pool's name is a letter, then letters, digits, "_", "-", ":" or "."; ${quoted} is not`],
    ];
  }
  const reserved = /^(mirror|raidz|draid|spare|log$|c[0-9])/.exec(name)?.[1];
  if (reserved === undefined) return [];
  return [
    ["name", `${quoted} is refused by zpool: names that begin with ${reserved} are its own; choose another`],
  ];
}

function vdevRules({ vdevs }: PoolInputs): [string, string][] {
  const found: [string, string][] = [];
  for (const [n, vdev] of vdevs.entries()) {
    const { role, type, disks } = vdev;
    found.push(...draidRules(vdev).map(([key, why]): [string, string] => [`vdevs[${n}].${key}`, why]));
    if (disks.length < fewest[type]) {
      found.push([`vdevs[${n}].disks`, `a ${type} has at least ${fewest[type]} disks; here ${disks.length}`]);
    }
    if ((role === "cache" || role === "spare") && type !== "stripe") {
      found.push([`vdevs[${n}].type`, `${role} disks stand alone (type: stripe); ${type} is not possible`]);
    }
    if (role === "log" && type !== "stripe" && type !== "mirror") {
      found.push([`vdevs[${n}].type`, `a log vdev is a stripe or a mirror; ${type} is not possible`]);
    }
  }
  if (!vdevs.some(({ role }) => role === "data"))
    found.push(["vdevs", "a pool has at least one data vdev; here is none"]);
  return found;
}

/** VDEV_DRAID_MAX_CHILDREN and VDEV_DRAID_MAX_SPARES. */
const draidMost = { disks: 255, spares: 100 };

/**
 * As zpool checks them: a redundancy group (data and parity) finds room on the disks beside the spares. It need not
 * divide them: ZFS lays as many groups over several rows of disks as make them come out even.
 */
function draidRules({ type, disks, data, spares }: PoolInputs["vdevs"][number]): [string, string][] {
  if (!isDraid(type)) {
    const given = data !== undefined ? "data" : spares !== undefined ? "spares" : undefined;
    return given === undefined ? [] : [[given, `${given} is for dRAID; this vdev is a ${type}`]];
  }
  const beside = disks.length - (spares ?? 0);
  const most = beside - parity(type);
  if (disks.length > draidMost.disks)
    return [["disks", `a ${type} has at most ${draidMost.disks} disks; here ${disks.length}`]];
  if ((spares ?? 0) > draidMost.spares)
    return [["spares", `a ${type} has at most ${draidMost.spares} distributed spares; here ${spares}`]];
  if (most < 1) {
    return [
      [
        "spares",
        `${disks.length} disks less ${spares ?? 0} spares leave ${beside}, too few for ${parity(type)} parity and 1 data`,
      ],
    ];
  }
  if (data === undefined || data <= most) return [];
  return [
    [
      "data",
      `a redundancy group of ${data} data and ${parity(type)} parity needs ${data + parity(type)} disks; ` +
        `${disks.length} less ${spares ?? 0} spares leave ${beside}, so data is ${most} at most`,
    ],
  ];
}

function diskRules({ vdevs, wipe = [], offline = [] }: PoolInputs): [string, string][] {
  const all = vdevs.flatMap(({ disks }) => disks.map(diskPath));
  const twice = new Set(all.filter((disk, n) => all.indexOf(disk) !== n));
  return [
    ...[...twice].map((disk): [string, string] => [
      "vdevs",
      `${disk} is declared more than once; a disk has one place`,
    ]),
    ...wipe
      .filter((disk) => !all.includes(diskPath(disk)))
      .map((disk): [string, string] => [
        "wipe",
        `${disk} is no disk of this pool's vdevs, so it can't be wiped for it`,
      ]),
    ...offlineRules(vdevs, offline),
  ];
}

/** No more disks offline than their vdev can be without. */
function offlineRules(vdevs: PoolInputs["vdevs"], offline: readonly string[]): [string, string][] {
  const paths = offline.map(diskPath);
  const strange = offline.filter((disk) => !vdevs.some(({ disks }) => has(disks, disk)));
  return [
    ...strange.map((disk): [string, string] => ["offline", `${disk} is no disk of this pool's vdevs`]),
    ...topLevels(vdevs).flatMap((vdev): [string, string][] => {
      const off = vdev.disks.filter((disk) => paths.includes(diskPath(disk)));
      const spare = vdev.type === "mirror" ? vdev.disks.length - 1 : parity(vdev.type);
      if (off.length <= spare) return [];
      return [
        [
          "offline",
          `${describeVdev(vdev)} can be without ${spare} disks; offline are ${off.length}: ${off.join(", ")}`,
        ],
      ];
    }),
  ];
}

const has = (disks: readonly string[], disk: string): boolean => disks.map(diskPath).includes(diskPath(disk));

function propertyRules({ properties = {}, filesystemProperties = {} }: PoolInputs): [string, string][] {
  const found: [string, string][] = [];
  if ("comment" in properties)
    found.push(["properties.comment", "comment is this project's mark on the pool; leave it out"]);
  if ("ashift" in properties)
    found.push(["properties.ashift", "ashift is a field of its own, beside properties"]);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("feature@") && !["enabled", "disabled"].includes(value))
      found.push([`properties.${key}`, `a feature is enabled or disabled; ${value} is neither`]);
  }
  if (ownerProperty in filesystemProperties) {
    found.push([`filesystemProperties`, `${ownerProperty} is this project's mark on the pool; leave it out`]);
  }
  return found;
}
