import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import {
  allBelow,
  destroySnapshot,
  parseObjects,
  refuseDependents,
  type SnapshotFound,
} from "./dependents.ts";
import {
  getAll,
  local,
  noPrograms,
  ownerProperty,
  type Properties,
  property,
  readProperties,
} from "./properties.ts";
import { marks, nameRule, onDelete, onDeleteChange, onDeleteNow, options, ownerChange } from "./settings.ts";

/**
 * zfs:Snapshot: the state of a volume or file system at one moment: zfs-snapshot(8), zfs-hold(8).
 * Taken once and never again under the same name; another name is another snapshot.
 */

export const snapshotInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Dataset and snapshot: tank/lun0@before-upgrade."),
  recursive: z
    .boolean()
    .optional()
    .meta({ change: "replace", unseen: true })
    .describe("Take one of every dataset below at the same moment. ZFS's default: of this one alone."),
  holds: z
    .array(z.string().regex(/^[A-Za-z0-9_.:-]{1,200}$/, "a tag is letters, digits, `_`, `-`, `:` and `.`"))
    .optional()
    .describe("Tags that keep it from being destroyed, by hand as well. Tags of others stay."),
  onDelete: onDelete("snapshot"),
});
export type SnapshotInputs = z.infer<typeof snapshotInputs>;

export type SnapshotObserved = {
  programs: boolean;
  properties: Properties | undefined;
  /** Tags by which it is held. */
  holds: string[];
  /** The dataset, all below it, and their snapshots; asked for where it is recursive. */
  below: SnapshotFound[];
};

const [datasetOf, labelOf] = [0, 1].map(
  (n) =>
    (name: string): string =>
      name.split("@")[n] ?? "",
) as [(name: string) => string, (name: string) => string];

async function observe(host: Questions, { name, recursive }: SnapshotInputs): Promise<SnapshotObserved> {
  const dataset = datasetOf(name);
  const [all, holds, below] = await Promise.all([
    host.ask(getAll(name)),
    host.ask(["zfs", "holds", "-Hp", name]),
    recursive ? host.ask(allBelow(dataset)) : undefined,
  ]);
  const properties = readProperties(host, all, `snapshot ${name}`);
  const there = properties !== undefined;
  return {
    programs: all.status !== 127,
    properties,
    holds: there ? parseHolds(expect(host, holds, `the holds of ${name}`), name) : [],
    below: there && below ? parseObjects(expect(host, below, `what is below ${dataset}`)) : [],
  };
}

/** Output of `zfs holds -Hp`: snapshot, tag, time. */
export function parseHolds(text: string, name: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [snapshot, tag, ...rest] = line.split("\t");
      if (snapshot !== name || tag === undefined || rest.length !== 1)
        throw new ParseError(`not a line of "snapshot tag time": ${JSON.stringify(line)}`);
      return tag;
    });
}

/** Those of the same moment and name, itself first. */
const members = ({ below, properties }: SnapshotObserved, { name }: SnapshotInputs): SnapshotFound[] => {
  const txg = BigInt((properties && property(properties, "createtxg")) ?? 0);
  return below.filter((found) => found.txg === txg && found.name.endsWith(`@${labelOf(name)}`));
};

function plan(
  desired: SnapshotInputs | undefined,
  observed: SnapshotObserved,
  inputs: SnapshotInputs,
  owner: string,
): Step[] {
  const { properties } = observed;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    const own = observed.holds.filter((tag) => inputs.holds?.includes(tag));
    const others = members(observed, inputs).filter((found) => found.name !== inputs.name);
    // Itself last: an interrupted run finds it again, and by it the others.
    return [
      ...own.map((tag) => release(tag, inputs.name)),
      ...others.map(({ name }) => destroySnapshot(name)),
      destroySnapshot(inputs.name),
    ];
  }
  const { name } = desired;
  const holds = (desired.holds ?? []).filter((tag) => !observed.holds.includes(tag));
  const hold = holds.map(
    (tag): Step => ({ say: `hold ${name} by ${tag}`, argv: ["zfs", "hold", tag, name] }),
  );
  if (properties === undefined) {
    const recursive = desired.recursive ? ["-r"] : [];
    const args = options(marks(desired.onDelete, owner));
    return [
      { say: `take snapshot ${name}`, argv: ["zfs", "snapshot", ...recursive, ...args, name] },
      ...hold,
    ];
  }
  const values = onDeleteChange(desired.onDelete, properties);
  if (values.length + hold.length > 0) values.push(...ownerChange(owner, properties));
  const words = values.map(([key, value]) => `${key}=${value}`);
  const set = { say: `set ${words.join(", ")} on snapshot ${name}`, argv: ["zfs", "set", ...words, name] };
  return [...(values.length === 0 ? [] : [set]), ...hold];
}

const release = (tag: string, name: string): Step => ({
  say: `release ${name} from ${tag}`,
  argv: ["zfs", "release", tag, name],
});

function refusals(
  desired: SnapshotInputs | undefined,
  observed: SnapshotObserved,
  inputs: SnapshotInputs,
): string[] {
  const { properties } = observed;
  if (desired !== undefined) return observed.programs ? [] : [noPrograms(desired.host.name)];
  if (properties === undefined || inputs.onDelete === "retain") return [];
  // Not in the list where it has none.
  const clones = properties.get("clones")?.value ?? "-";
  const itself: SnapshotFound = {
    name: inputs.name,
    txg: 0n,
    clones: clones === "" || clones === "-" ? [] : clones.split(","),
    holds: observed.holds.filter((tag) => !inputs.holds?.includes(tag)).length,
    owner: undefined,
    onDelete: undefined,
  };
  const others = members(observed, inputs).filter((found) => found.name !== inputs.name);
  return [itself, ...others].flatMap(refuseDependents);
}

/** Datasets that were there at that moment and have no such snapshot: it was taken without them, or destroyed. */
function hints(desired: SnapshotInputs, observed: SnapshotObserved): string[] {
  if (observed.properties === undefined || !desired.recursive) return [];
  const txg = BigInt(property(observed.properties, "createtxg"));
  const has = new Set(members(observed, desired).map(({ name }) => datasetOf(name)));
  const missing = observed.below.filter(
    (found) => !found.name.includes("@") && found.txg < txg && !has.has(found.name),
  );
  return missing.map(
    ({ name }) =>
      `${desired.name} has no snapshot of ${name}, which was there when it was taken. It is not taken again: declare another name for that.`,
  );
}

function rules({ name }: SnapshotInputs): [string, string][] {
  const [dataset = "", label, ...rest] = name.split("@");
  const wrong =
    rest.length > 0 ||
    label === undefined ||
    !/^[A-Za-z0-9_.:-]+$/.test(label) ||
    // The pool's root dataset has snapshots too.
    (nameRule("", "", dataset).length > 0 && !/^[A-Za-z][A-Za-z0-9_.:-]*$/.test(dataset)) ||
    name.length > 255;
  if (!wrong) return [];
  return [
    [
      "name",
      `a snapshot's name is DATASET@NAME of letters, digits, "_", "-", ":" and "."; ${JSON.stringify(name)} is not`,
    ],
  ];
}

export const snapshot: ResourceType<SnapshotInputs, SnapshotObserved> = {
  type: "zfs:Snapshot",
  inputs: snapshotInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.properties !== undefined,
  owner: ({ properties }) => properties && local(properties, ownerProperty),
  current: ({ properties, holds }, inputs) =>
    properties === undefined
      ? inputs
      : {
          ...inputs,
          ...(inputs.holds && { holds: inputs.holds.filter((tag) => holds.includes(tag)) }),
          onDelete: onDeleteNow(properties),
        },
  plan,
  refusals,
  hints,
  gone: (observed) => ({ ...observed, properties: undefined, holds: [], below: [] }),
  rules,
  named: (host, name) => {
    const least: SnapshotInputs = { host, name, onDelete: "retain" };
    return rules(least).length > 0 ? undefined : least;
  },
  found: ({ properties, holds }, named) =>
    properties === undefined
      ? named
      : { ...named, ...(holds.length > 0 && { holds }), onDelete: onDeleteNow(properties) },
  outputs: ({ name }, observed) => ({
    name,
    ...(observed?.properties && {
      guid: property(observed.properties, "guid"),
      created: new Date(Number(property(observed.properties, "creation")) * 1000).toISOString(),
    }),
  }),
};
