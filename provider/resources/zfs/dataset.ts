import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { onceReleased } from "./busy.ts";
import {
  destroySnapshots,
  readSnapshots,
  refuseSnapshots,
  type SnapshotFound,
  snapshotsOf,
} from "./dependents.ts";
import {
  createSteps,
  currentEncryption,
  encryptionFields,
  encryptionRefusals,
  encryptionRules,
  foundEncryption,
  type KeyObserved,
  keySteps,
  observeKey,
  removeKeySteps,
} from "./encryption.ts";
import {
  getAll,
  local,
  noPrograms,
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
  settingChanges,
  settingHints,
} from "./settings.ts";
import { destroyStep, keptFromReplace, setStep } from "./steps.ts";

/**
 * zfs:Dataset: a file system in a pool, or a dataset that only groups others (canmount: off), so that volumes can
 * lie deeper (tank/apps/lun0): zfsconcepts(7), zfsprops(7), zfs-create(8), zfs-mount(8).
 */

export const datasetInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Pool and dataset: tank/apps."),
  ...filesystemFields,
  ...commonFields,
  ...encryptionFields,
  onDelete: onDelete("dataset"),
});
export type DatasetInputs = z.infer<typeof datasetInputs>;

const names = [...filesystemNames, ...commonNames];

export type DatasetObserved = {
  programs: boolean;
  properties: Properties | undefined;
  snapshots: SnapshotFound[];
  /** What lies right below it. */
  children: string[];
  key: KeyObserved;
};

async function observe(host: Questions, inputs: DatasetInputs): Promise<DatasetObserved> {
  const { name } = inputs;
  const [all, snapshots, children, key] = await Promise.all([
    host.ask(getAll(name)),
    host.ask(snapshotsOf(name)),
    host.ask(["zfs", "list", "-H", "-d", "1", "-t", "filesystem,volume", "-o", "name", name]),
    observeKey(host, inputs),
  ]);
  const properties = readProperties(host, all, `dataset ${name}`);
  const there = properties !== undefined;
  return {
    programs: all.status !== 127,
    properties,
    snapshots: there ? readSnapshots(host, snapshots, name) : [],
    children: there
      ? expect(host, children, `what is below ${name}`)
          .split("\n")
          .filter((line) => line !== "" && line !== name)
      : [],
    key,
  };
}

const mountpointOf = (properties: Properties): string => property(properties, "mountpoint");
const isMounted = (properties: Properties): boolean => property(properties, "mounted") === "yes";

function plan(
  desired: DatasetInputs | undefined,
  observed: DatasetObserved,
  inputs: DatasetInputs,
  owner: string,
): Step[] {
  const { properties } = observed;
  if (desired === undefined) {
    if (inputs.onDelete === "retain") return [];
    const destroy =
      properties === undefined
        ? []
        : [...destroySnapshots(observed.snapshots, owner), destroyStep("dataset", inputs.name, inputs.name)];
    return [...destroy, ...removeKeySteps(inputs.name, undefined, observed.key)];
  }
  const { name } = desired;
  if (properties === undefined) {
    const args = ["create", ...options({ ...declared(desired, names), ...marks(desired.onDelete, owner) })];
    return createSteps(`create dataset ${name}`, args, desired, observed.key);
  }
  const values = [
    ...settingChanges(desired, names, properties),
    ...onDeleteChange(desired.onDelete, properties),
  ];
  if (values.length > 0) values.push(...ownerChange(owner, properties));
  return [
    ...keySteps(desired, properties, observed.key),
    ...setSteps(name, values, properties),
    ...mountSteps(name, new Map(values), properties),
  ];
}

/** Properties whose change unmounts a mounted file system, to mount it elsewhere or not at all. */
const mounting = ["mountpoint", "canmount"];

export function setSteps(name: string, values: [string, string][], properties: Properties): Step[] {
  const moves = values.filter(([key, value]) => isMounted(properties) && unmounts(key, value));
  const rest = values.filter((value) => !moves.includes(value));
  return [
    ...(rest.length === 0 ? [] : [setStep("dataset", name, rest)]),
    ...moves.map(([key, value]): Step => {
      const argv = ["zfs", "set", `${key}=${value}`, name];
      const say = `set ${key} to ${value} on dataset ${name}`;
      return { ...onceReleased(say, name, argv), effect: "outage" };
    }),
  ];
}

const unmounts = (key: string, value: string): boolean =>
  mounting.includes(key) && !(key === "canmount" && value !== "off");

/** Mounted, where it is to be mounted by ZFS itself. `changes` are set by then. */
export function mountSteps(
  name: string,
  changes: ReadonlyMap<string, string>,
  properties: Properties,
): Step[] {
  const then = (key: string): string => changes.get(key) ?? property(properties, key);
  if (isMounted(properties) || !then("mountpoint").startsWith("/") || then("canmount") !== "on") return [];
  // Setting a mount point may have mounted it: some versions do.
  return [
    {
      say: `mount dataset ${name}`,
      argv: ["sh", "-c", '[ "$(zfs get -H -o value mounted "$1")" = yes ] || zfs mount "$1"', "sh", name],
    },
  ];
}

function refusals(
  desired: DatasetInputs | undefined,
  observed: DatasetObserved,
  inputs: DatasetInputs,
  owner: string,
): string[] {
  const { properties, snapshots, children } = observed;
  const what = `Dataset ${inputs.name}`;
  if (desired === undefined) {
    if (properties === undefined || inputs.onDelete === "retain") return [];
    const below =
      children.length === 0
        ? []
        : [
            `${what} holds ${children.join(", ")}, which would be lost with it. Delete them first, or keep it (onDelete: retain).`,
          ];
    return [...below, ...refuseSnapshots(what, snapshots, owner)];
  }
  if (!observed.programs) return [noPrograms(desired.host.name)];
  if (properties === undefined) return encryptionRefusals(what, desired, undefined);
  const type = property(properties, "type");
  if (type !== "filesystem")
    return [`${desired.name} is a ${type}, not a file system. Give the dataset another name.`];
  return encryptionRefusals(what, desired, properties);
}

function rules(inputs: DatasetInputs): [string, string][] {
  return [
    ...nameRule("dataset", "POOL/DATASET", inputs.name).map((sentence): [string, string] => [
      "name",
      sentence,
    ]),
    ...blockRules(inputs),
    ...encryptionRules(inputs),
  ];
}

export function blockRules(inputs: {
  recordsize?: string | undefined;
  special_small_blocks?: string | undefined;
}): [string, string][] {
  const wrong: [string, string][] = [];
  for (const key of ["recordsize", "special_small_blocks"] as const) {
    const value = inputs[key];
    if (value === undefined) continue;
    const bytes = BigInt(declared({ [key]: value }, [key])[key] ?? "0");
    const none = key === "special_small_blocks" && bytes === 0n;
    if (!none && ((bytes & (bytes - 1n)) !== 0n || bytes < 512n || bytes > 16777216n)) {
      wrong.push([key, `${key} is a power of two from 512 B to 16 MiB; ${value} is ${bytes} bytes`]);
    }
  }
  return wrong;
}

function current({ properties }: DatasetObserved, inputs: DatasetInputs): DatasetInputs {
  // What has that name and is something else shares no field with a file system.
  if (properties === undefined || property(properties, "type") !== "filesystem") return inputs;
  return {
    ...inputs,
    ...currentSettings(inputs, names, properties),
    ...currentEncryption(inputs, properties),
    onDelete: onDeleteNow(properties),
  };
}

export const dataset: ResourceType<DatasetInputs, DatasetObserved> = {
  type: "zfs:Dataset",
  inputs: datasetInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.properties !== undefined,
  owner: ({ properties }) => properties && local(properties, ownerProperty),
  current,
  plan,
  refusals,
  hints: (desired, { properties }) => settingHints(desired, properties),
  refusesReplace: (inputs) => keptFromReplace("dataset", inputs),
  gone: (observed) => ({
    ...observed,
    properties: undefined,
    snapshots: [],
    children: [],
    key: { ...observed.key, files: new Map() },
  }),
  rules,
  named: (host, name) => (nameRule("", "", name).length > 0 ? undefined : { host, name, onDelete: "retain" }),
  found: ({ properties }, named) =>
    properties === undefined || property(properties, "type") !== "filesystem"
      ? named
      : {
          ...named,
          ...foundSettings(names, properties),
          ...foundEncryption(named.name, properties),
          onDelete: onDeleteNow(properties),
        },
  outputs: ({ name, mountpoint }, observed) => ({
    name,
    ...(mountpoint !== undefined && { mountpoint }),
    ...(observed?.properties && {
      guid: property(observed.properties, "guid"),
      mountpoint: mountpointOf(observed.properties),
    }),
  }),
};
