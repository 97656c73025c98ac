import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { blockRules, mountSteps, setSteps } from "./dataset.ts";
import {
  destroySnapshots,
  readSnapshots,
  refuseSnapshots,
  type SnapshotFound,
  snapshotsOf,
} from "./dependents.ts";
import {
  getAll,
  local,
  noPrograms,
  noZfs,
  ownerProperty,
  type Properties,
  property,
  readProperties,
} from "./properties.ts";
import {
  commonFields,
  commonNames,
  currentSettings,
  declared,
  filesystemFields,
  filesystemNames,
  foundSettings,
  marks,
  nameRule,
  onDelete,
  onDeleteChange,
  onDeleteNow,
  options,
  ownerChange,
  type SettingName,
  settingChanges,
  settingHints,
  volumeFields,
  volumeNames,
} from "./settings.ts";
import { destroyStep, device, hasNode, keptFromReplace, nodeStep, setStep } from "./steps.ts";

/**
 * zfs:Clone: a volume or file system that begins as a snapshot and shares its blocks: zfs-clone(8).
 * It stands on its snapshot, which therefore stays as long as it does; `zfs promote` is left to the operator.
 */

export const cloneInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Pool and clone: tank/lun0-copy."),
  snapshot: z
    .string()
    .meta({ change: "replace" })
    .describe("The snapshot that it begins as: tank/lun0@before. A clone of a volume is a volume."),
  ...commonFields,
  ...volumeFields,
  ...filesystemFields,
  onDelete: onDelete("clone"),
});
export type CloneInputs = z.infer<typeof cloneInputs>;

type Kind = "volume" | "filesystem";
const namesOf = (kind: Kind): SettingName[] => [
  ...commonNames,
  ...(kind === "volume" ? volumeNames : filesystemNames),
];

export type CloneObserved = {
  programs: boolean;
  properties: Properties | undefined;
  snapshots: SnapshotFound[];
  /** What its origin is a snapshot of; undefined where that is not there. */
  of: Kind | undefined;
  node: boolean;
};

async function observe(host: Questions, { name, snapshot }: CloneInputs): Promise<CloneObserved> {
  const [origin] = snapshot.split("@");
  const [all, snapshots, of, node] = await Promise.all([
    host.ask(getAll(name)),
    host.ask(snapshotsOf(name)),
    host.ask(getAll(origin || name)),
    host.ask(["test", "-b", device(name)]),
  ]);
  const properties = readProperties(host, all, `clone ${name}`);
  const from = noZfs(of) ? undefined : readProperties(host, of, `dataset ${origin}`);
  return {
    programs: all.status !== 127,
    properties,
    snapshots: properties === undefined ? [] : readSnapshots(host, snapshots, name),
    of: from && kindOf(from),
    node: hasNode(host, node, name),
  };
}

const kindOf = (properties: Properties): Kind =>
  property(properties, "type") === "volume" ? "volume" : "filesystem";

function plan(
  desired: CloneInputs | undefined,
  observed: CloneObserved,
  inputs: CloneInputs,
  owner: string,
): Step[] {
  const { properties } = observed;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    const held = kindOf(properties) === "volume" ? device(inputs.name) : inputs.name;
    return [...destroySnapshots(observed.snapshots, owner), destroyStep("clone", inputs.name, held)];
  }
  const { name } = desired;
  const kind = properties === undefined ? observed.of : kindOf(properties);
  const names = namesOf(kind ?? "volume");
  if (properties === undefined) {
    const all = options({ ...declared(desired, names), ...marks(desired.onDelete, owner) });
    const create: Step = {
      say: `clone ${desired.snapshot} as ${name}`,
      argv: ["zfs", "clone", ...all, desired.snapshot, name],
    };
    return kind !== "volume" || desired.volmode === "none" ? [create] : [create, nodeStep(name)];
  }
  const values = [
    ...settingChanges(desired, names, properties),
    ...onDeleteChange(desired.onDelete, properties),
  ];
  if (values.length > 0) values.push(...ownerChange(owner, properties));
  if (kind === "filesystem") {
    return [...setSteps(name, values, properties), ...mountSteps(name, new Map(values), properties)];
  }
  const hidden = (desired.volmode ?? property(properties, "volmode")) === "none";
  return [
    ...(values.length === 0 ? [] : [setStep("clone", name, values)]),
    ...(hidden || observed.node ? [] : [nodeStep(name)]),
  ];
}

function refusals(
  desired: CloneInputs | undefined,
  observed: CloneObserved,
  inputs: CloneInputs,
  owner: string,
): string[] {
  const { properties, snapshots } = observed;
  const what = `Clone ${inputs.name}`;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    return refuseSnapshots(what, snapshots, owner);
  }
  if (!observed.programs) return [noPrograms(desired.host.name)];
  const origin = properties && (properties.get("origin")?.value ?? "-");
  if (origin !== undefined && origin !== desired.snapshot) {
    const is = origin === "-" ? "is no clone (it may have been promoted)" : `is a clone of ${origin}`;
    return [
      `${desired.name} ${is}, declared is one of ${desired.snapshot}. Give the clone another name, or take that dataset away by hand.`,
    ];
  }
  const kind = properties === undefined ? observed.of : kindOf(properties);
  if (kind === undefined) return [];
  const other = kind === "volume" ? filesystemNames : volumeNames;
  const word = kind === "volume" ? "volume" : "file system";
  return other
    .filter((name) => desired[name] !== undefined)
    .map(
      (name) =>
        `${what} is a ${word}, as its snapshot is of one; ${name} is no property of it. Leave it out.`,
    );
}

function rules(inputs: CloneInputs): [string, string][] {
  const { name, snapshot } = inputs;
  const found = nameRule("clone", "POOL/CLONE", name).map((sentence): [string, string] => ["name", sentence]);
  if (!/^[A-Za-z][A-Za-z0-9_.:-]*(\/[A-Za-z0-9_.:-]+)*@[A-Za-z0-9_.:-]+$/.test(snapshot)) {
    found.push(["snapshot", `a snapshot's name is DATASET@NAME; ${JSON.stringify(snapshot)} is not`]);
  } else if (snapshot.split("/")[0]?.split("@")[0] !== name.split("/")[0]) {
    found.push(["snapshot", `a clone lies in its snapshot's pool; ${snapshot} and ${name} are in two`]);
  }
  return [...found, ...blockRules(inputs)];
}

function current({ properties }: CloneObserved, inputs: CloneInputs): CloneInputs {
  if (properties === undefined) return inputs;
  const origin = properties.get("origin")?.value;
  return {
    ...inputs,
    ...currentSettings(inputs, namesOf(kindOf(properties)), properties),
    ...(origin !== undefined && origin !== "-" && { snapshot: origin }),
    onDelete: onDeleteNow(properties),
  };
}

export const clone: ResourceType<CloneInputs, CloneObserved> = {
  type: "zfs:Clone",
  inputs: cloneInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.properties !== undefined,
  owner: ({ properties }) => properties && local(properties, ownerProperty),
  current,
  plan,
  refusals,
  hints: (desired, { properties }) => settingHints(desired, properties),
  refusesReplace: (inputs) => keptFromReplace("clone", inputs, "what was written to it"),
  gone: (observed) => ({ ...observed, properties: undefined, snapshots: [], node: false }),
  rules,
  named: (host, name) =>
    nameRule("", "", name).length > 0 ? undefined : { host, name, snapshot: "", onDelete: "retain" },
  found: ({ properties }, named) =>
    properties === undefined
      ? named
      : {
          ...named,
          snapshot: properties.get("origin")?.value ?? "-",
          ...foundSettings(namesOf(kindOf(properties)), properties),
          onDelete: onDeleteNow(properties),
        },
  outputs: ({ name }, observed) => ({
    name,
    ...(observed?.properties && {
      guid: property(observed.properties, "guid"),
      ...(kindOf(observed.properties) === "volume" && { device: device(name) }),
    }),
  }),
};
