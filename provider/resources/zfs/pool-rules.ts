import { diskPath } from "./disks.ts";
import type { PoolInputs } from "./pool.ts";
import { ownerProperty } from "./properties.ts";
import type { Layout } from "./status.ts";

/** What can be said about a pool's inputs without its host: [key, sentence]. */

/** Fewest disks of a vdev: one more than it can lose. */
const fewest: Record<Layout, number> = { stripe: 1, mirror: 2, raidz1: 2, raidz2: 3, raidz3: 4 };

export function poolRules(inputs: PoolInputs): [key: string, sentence: string][] {
  return [...nameRules(inputs), ...vdevRules(inputs), ...diskRules(inputs), ...propertyRules(inputs)];
}

function nameRules({ name }: PoolInputs): [string, string][] {
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
  for (const [n, { role, type, disks }] of vdevs.entries()) {
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
  const data = vdevs.filter(({ role }) => role === "data");
  const shape = ({ type, disks }: (typeof data)[number]): string =>
    type === "stripe" ? type : `${type} of ${disks.length}`;
  const shapes = [...new Set(data.map(shape))];
  if (data.length === 0) found.push(["vdevs", "a pool has at least one data vdev; here is none"]);
  if (shapes.length > 1) {
    found.push(["vdevs", `all data vdevs have the same type and width; here are ${shapes.join(", ")}`]);
  }
  return found;
}

function diskRules({ vdevs, wipe = [] }: PoolInputs): [string, string][] {
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
  ];
}

function propertyRules({ properties = {}, filesystemProperties = {} }: PoolInputs): [string, string][] {
  const found: [string, string][] = [];
  if ("comment" in properties)
    found.push(["properties.comment", "comment is this project's mark on the pool; leave it out"]);
  if ("ashift" in properties)
    found.push(["properties.ashift", "ashift is a field of its own, beside properties"]);
  if (ownerProperty in filesystemProperties) {
    found.push([`filesystemProperties`, `${ownerProperty} is this project's mark on the pool; leave it out`]);
  }
  return found;
}
