import { ParseError } from "../../errors.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { onDeleteProperty, ownerProperty } from "./properties.ts";

/** Snapshots, and what hangs on them: what would be lost with the dataset that they are of. See zfs-get(8). */

export type SnapshotFound = {
  name: string;
  /** Transaction group in which it was taken: the same for all of one `zfs snapshot -r`. */
  txg: bigint;
  clones: string[];
  /** How many holds keep it. */
  holds: number;
  /** Marks set on the snapshot itself. */
  owner: string | undefined;
  onDelete: string | undefined;
};

const asked = ["createtxg", "clones", "userrefs", ownerProperty, onDeleteProperty];
const get = ["zfs", "get", "-Hp"];
const columns = ["-o", "name,property,value,source", asked.join(",")];

/** The snapshots of one dataset. */
export const snapshotsOf = (name: string): string[] => [
  ...get,
  "-d",
  "1",
  "-t",
  "snapshot",
  ...columns,
  name,
];

/** A dataset, all below it and their snapshots. */
export const allBelow = (name: string): string[] => [
  ...[...get, "-r", "-t", "filesystem,volume,snapshot"],
  ...[...columns, name],
];

/** The objects in the answer to either question, in the order of zfs. */
export function parseObjects(text: string): SnapshotFound[] {
  const objects = new Map<string, Map<string, { value: string; source: string }>>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, name = "", property = "", value = "", source = ""] =
      /^([^\t]+)\t([^\t]+)\t(.*)\t([^\t]*)$/.exec(line) ?? [];
    if (!asked.includes(property)) {
      throw new ParseError(`not a line of "name property value source": ${JSON.stringify(line)}`);
    }
    const object = objects.get(name) ?? new Map();
    objects.set(name, object.set(property, { value, source }));
  }
  return [...objects].map(([name, have]) => {
    const value = (property: string): string => {
      const found = have.get(property);
      if (found === undefined) throw new ParseError(`zfs get shows no ${property} of ${name}`);
      return found.value;
    };
    const own = (property: string): string | undefined =>
      have.get(property)?.source === "local" ? value(property) : undefined;
    const [clones, holds] = [value("clones"), value("userrefs")];
    return {
      name,
      txg: number(name, "createtxg", value("createtxg")),
      // "-" where it has none and where it can have none.
      clones: clones === "-" || clones === "" ? [] : clones.split(","),
      holds: holds === "-" ? 0 : Number(number(name, "userrefs", holds)),
      owner: own(ownerProperty),
      onDelete: own(onDeleteProperty),
    };
  });
}

function number(name: string, property: string, value: string): bigint {
  if (!/^\d+$/.test(value)) throw new ParseError(`${property} of ${name} is ${JSON.stringify(value)}`);
  return BigInt(value);
}

/** The snapshots of a dataset that is there. */
export const readSnapshots = (host: Questions, answer: Answer, name: string): SnapshotFound[] =>
  parseObjects(expect(host, answer, `the snapshots of ${name}`));

/** Taken by this stack, which allows them to be destroyed. */
const mine = (snapshots: readonly SnapshotFound[], owner: string): SnapshotFound[] =>
  snapshots.filter((s) => s.owner === owner && s.onDelete === "destroy");

/** Why a dataset with these snapshots can't be destroyed. `what` as in "Volume tank/lun0". */
export function refuseSnapshots(what: string, snapshots: readonly SnapshotFound[], owner: string): string[] {
  const own = mine(snapshots, owner);
  const foreign = snapshots.filter((s) => !own.includes(s)).map((s) => s.name);
  const [first] = foreign;
  return [
    ...(first === undefined
      ? []
      : [
          `${what} has snapshots (${foreign.join(", ")}), which would be lost with it. ` +
            `Destroy them by hand (zfs destroy ${first}), or keep it (onDelete: retain).`,
        ]),
    ...own.flatMap(refuseDependents),
  ];
}

/** Why this snapshot can't be destroyed. */
export const refuseDependents = ({ name, clones, holds }: SnapshotFound): string[] => [
  ...(clones.length === 0
    ? []
    : [
        `Snapshot ${name} has clones (${clones.join(", ")}), which stand on it. ` +
          `Destroy them first, or let one take its place: zfs promote ${clones[0]}`,
      ]),
  ...(holds === 0
    ? []
    : [
        `Snapshot ${name} is held (zfs holds ${name} says by which tags). Release it: zfs release TAG ${name}`,
      ]),
];

/** Destroys those of this stack that nothing in its state destroyed before: an interrupted run's. */
export const destroySnapshots = (snapshots: readonly SnapshotFound[], owner: string): Step[] =>
  mine(snapshots, owner).map(({ name }) => destroySnapshot(name));

export const destroySnapshot = (name: string): Step => ({
  say: `destroy snapshot ${name}`,
  argv: ["zfs", "destroy", name],
  effect: "data loss",
});
