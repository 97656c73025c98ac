import { poolInputs } from "../components/zfs-inputs.ts";
import type { LabConfig } from "../config.ts";
import { clone } from "../provider/resources/zfs/clone.ts";
import { dataset } from "../provider/resources/zfs/dataset.ts";
import { pool } from "../provider/resources/zfs/pool.ts";
import { snapshot } from "../provider/resources/zfs/snapshot.ts";
import { volume } from "../provider/resources/zfs/volume.ts";
import { known, noHost, type Problem } from "./problems.ts";

/** Rules over pools and what is in them. */
export const zfsRules = (lab: LabConfig): Problem[] => [
  ...poolRules(lab),
  ...datasetRules(lab),
  ...typeRules(lab),
];

/** The types' own rules ask no host, so any will do. */
const somewhere = { name: "somewhere", ssh: "somewhere" };

function poolRules(lab: LabConfig): Problem[] {
  const wrong: Problem[] = [];
  const users = new Map<string, string>();
  for (const [name, declared] of Object.entries(lab.pools)) {
    const on = lab.hosts[declared.host];
    if (on === undefined) wrong.push([`pools.${name}.host`, noHost(lab, declared.host)]);
    const inputs = { host: somewhere, ...poolInputs(name, declared) };
    for (const [key, sentence] of pool.rules?.(inputs) ?? []) {
      const vdev = /^vdevs\[(\d+)\]/.exec(key)?.[1];
      const place = vdev === undefined ? key : inputs.vdevs[Number(vdev)]?.role;
      const whole = key === "name" || key === "vdevs";
      wrong.push([whole ? `pools.${name}` : `pools.${name}.${place}`, sentence]);
    }
    const there = on?.virtual?.disks?.map(({ serial }) => `/dev/disk/by-id/virtio-${serial}`);
    for (const disk of inputs.vdevs.flatMap((vdev) => vdev.disks)) {
      if (there !== undefined && !there.includes(disk))
        wrong.push([
          `pools.${name}`,
          `virtual host ${declared.host} has no disk ${disk}; it has ${there.length}${there[0] === undefined ? "" : `: ${there[0]} …`}`,
        ]);
      const place = `${declared.host} ${disk}`;
      const other = users.get(place) ?? name;
      if (other !== name)
        wrong.push([`pools.${name}`, `${disk} is a disk of pool ${other} too; a disk has one place`]);
      users.set(place, name);
    }
  }
  return wrong;
}

const kinds = ["datasets", "volumes", "clones"] as const;

/** Where things lie: in a pool, below a dataset, once. */
function datasetRules(lab: LabConfig): Problem[] {
  const wrong: Problem[] = [];
  const inPools = `${known("pools", lab.pools)}`;
  for (const kind of kinds) {
    for (const name of Object.keys(lab[kind])) {
      const poolName = name.split("/")[0] ?? "";
      const parent = name.split("/").slice(0, -1).join("/");
      const thing = `a ${kind.slice(0, -1)}`;
      const other = kinds.find((k) => k !== kind && name in lab[k]);
      if (other !== undefined && other < kind)
        wrong.push([`${kind}.${name}`, `${name} stands in ${other} too; a name has one use`]);
      if (lab.pools[poolName] === undefined)
        wrong.push([`${kind}.${name}`, `${thing} is POOL/NAME, and there is no pool ${poolName}${inPools}`]);
      else if (parent !== "" && parent !== poolName && !(parent in lab.datasets) && !(parent in lab.clones))
        wrong.push([
          `${kind}.${name}`,
          `there is no dataset ${parent} above it: declare datasets.${parent}, {} is enough`,
        ]);
    }
  }
  for (const name of Object.keys(lab.snapshots)) {
    const of = name.split("@")[0] ?? "";
    if (!(of in lab.pools) && !kinds.some((kind) => of in lab[kind]))
      wrong.push([
        `snapshots.${name}`,
        `a snapshot is DATASET@NAME, and ${JSON.stringify(of)} stands neither in pools nor in ${kinds.join(", ")}`,
      ]);
  }
  for (const [name, { snapshot: from }] of Object.entries(lab.clones)) {
    if (from.split("/")[0] !== name.split("/")[0])
      wrong.push([
        `clones.${name}.snapshot`,
        `${from} is in another pool; a clone shares blocks with its snapshot`,
      ]);
    if (descent(lab, name).includes(name))
      wrong.push([
        `clones.${name}.snapshot`,
        `${from} is a snapshot of the clone itself, or of one of its clones`,
      ]);
  }
  return wrong;
}

/** What a clone stands on: the datasets whose snapshots it and its origins began as. */
function descent(lab: LabConfig, clone: string, seen: string[] = []): string[] {
  const of = lab.clones[clone]?.snapshot.split("@")[0];
  return of === undefined || seen.includes(of) ? seen : descent(lab, of, [...seen, of]);
}

/** What the types of these things say themselves. */
function typeRules(lab: LabConfig): Problem[] {
  const check = <T extends object>(
    kind: "datasets" | "volumes" | "snapshots" | "clones",
    rules: ((inputs: T & { host: typeof somewhere; name: string }) => [string, string][]) | undefined,
  ): Problem[] =>
    Object.entries(lab[kind]).flatMap(([name, declared]) =>
      (rules?.({ host: somewhere, ...(declared as unknown as T), name }) ?? []).map(
        ([key, sentence]): Problem => [
          key === "name" ? `${kind}.${name}` : `${kind}.${name}.${key}`,
          sentence,
        ],
      ),
    );
  return [
    ...check<LabConfig["datasets"][string]>("datasets", dataset.rules),
    ...check<LabConfig["volumes"][string]>("volumes", volume.rules),
    ...check<LabConfig["snapshots"][string]>("snapshots", snapshot.rules),
    ...check<LabConfig["clones"][string]>("clones", clone.rules),
  ];
}
