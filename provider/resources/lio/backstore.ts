import { createHash } from "node:crypto";
import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { type Block, core, type Lio, observeAttributes, observeLio } from "./configfs.ts";
import { missingPackage, observeRestore, prepareSteps, type Restore, saveSteps } from "./saved.ts";

/**
 * A block backstore of LIO (iblock) on a block device, by configfs. See targetcli(8), /backstores/block.
 * A block backstore passes the device's own write cache on: the initiator is told the truth about it.
 */
export const backstoreInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  name: z.string().meta({ change: "replace" }).describe("The backstore's name: lun0."),
  device: z.string().meta({ change: "replace" }).describe("The block device: /dev/zvol/tank/lun0."),
  serial: z
    .guid()
    .optional()
    .meta({ change: "replace" })
    .describe(
      "Unit serial, a UUID: what /dev/disk/by-id is made of. Default: derived from stack, host and name.",
    ),
  attributes: z
    .record(z.string(), z.union([z.string(), z.int()]))
    .optional()
    .describe("Attributes of the backstore: emulate_tpu, block_size. Those left out stay as they are."),
});
export type BackstoreInputs = z.infer<typeof backstoreInputs>;

type BackstoreObserved = {
  lio: Lio;
  block: Block | undefined;
  attributes: Map<string, string>;
  restore: Restore;
};

async function observe(
  host: Questions,
  { name, attributes = {} }: BackstoreInputs,
): Promise<BackstoreObserved> {
  const [lio, restore, values] = await Promise.all([
    observeLio(host),
    observeRestore(host),
    observeAttributes(host, core, Object.keys(attributes)),
  ]);
  const block = lio.blocks.get(name);
  const folder = `${block?.path}/attrib/`;
  const own = [...values].filter(([path]) => path.startsWith(folder));
  return {
    lio,
    block,
    attributes: new Map(own.map(([path, text]) => [path.slice(folder.length), text])),
    restore,
  };
}

/** A UUID that is the same for the same stack, host and name (RFC 9562 version 8). */
export function derivedSerial(owner: string, host: string, name: string): string {
  const hex = createHash("sha256").update([owner, host, name].join("\n")).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * A free number for iblock_N. It starts from the name, not from 0, so that backstores made in one go, which don't
 * see each other, take different ones. rtslib counts to the same limit.
 */
export function freeIndex(name: string, taken: ReadonlySet<number>): number {
  const limit = 1048576;
  let index = createHash("sha256").update(name).digest().readUInt32BE() % limit;
  while (taken.has(index)) index = (index + 1) % limit;
  return index;
}

function plan(
  desired: BackstoreInputs | undefined,
  observed: BackstoreObserved,
  { name, host }: BackstoreInputs,
  owner: string,
): Step[] {
  const { lio, block, restore } = observed;
  const saved = restore.blocks.get(name);
  if (desired === undefined) {
    const steps: Step[] = [];
    if (block !== undefined) {
      const alone = ![...lio.blocks.values()].some((b) => b !== block && b.index === block.index);
      const folders = [block.path, ...(alone ? [`${core}/iblock_${block.index}`] : [])];
      steps.push({ say: `remove backstore ${name}`, argv: ["rmdir", ...folders] });
    }
    if (block === undefined && saved === undefined) return [];
    return [...steps, ...saveSteps(lio, restore, name)];
  }
  const serial = block?.serial || desired.serial || derivedSerial(owner, host.name, name);
  const parent = `${core}/iblock_${freeIndex(name, lio.indexes)}`;
  const path = block?.path ?? `${parent}/${name}`;
  const steps = prepareSteps(lio, restore, false);
  if (block?.enabled !== true) {
    const { device } = desired;
    steps.push({ say: `wait for ${device}`, until: ["test", "-b", device], deadlineSeconds: 30 });
    if (block === undefined) {
      // A backstore left half made would make every later save fail.
      const made = { argv: ["mkdir", parent, path], undo: ["rmdir", path, parent] };
      steps.push({ say: `make backstore ${name}`, ...made });
    }
    steps.push(
      { say: `put ${name} on ${device}`, attribute: `${path}/control`, value: `udev_path=${device}` },
      { say: `name ${name}'s device`, attribute: `${path}/udev_path`, value: device },
      { say: `give ${name} serial ${serial}`, attribute: `${path}/wwn/vpd_unit_serial`, value: serial },
      {
        // The shell says no more of a device that is busy than "I/O error".
        say: `enable backstore ${name} on ${device}, which nothing else may have mounted or open`,
        attribute: `${path}/enable`,
        value: "1",
      },
    );
  }
  for (const [attribute, value] of wanted(desired)) {
    if (observed.attributes.get(attribute) === value) continue;
    steps.push({
      say: `set ${attribute} of ${name} to ${value}`,
      attribute: `${path}/attrib/${attribute}`,
      value,
    });
  }
  const isSaved =
    saved?.device === desired.device &&
    saved.serial === serial &&
    wanted(desired).every(([attribute, value]) => saved.attributes.get(attribute) === value);
  const changed = steps.some((step) => "attribute" in step);
  return changed || !isSaved ? [...steps, ...saveSteps(lio, restore, name)] : steps;
}

const wanted = ({ attributes = {} }: BackstoreInputs): [string, string][] =>
  Object.entries(attributes).map(([attribute, value]) => [attribute, String(value)]);

function refusals(
  desired: BackstoreInputs | undefined,
  { lio, block, restore }: BackstoreObserved,
  { name, host }: BackstoreInputs,
): string[] {
  const sentences: string[] = [];
  if (restore.unit === undefined) sentences.push(missingPackage(host.name));
  if (desired === undefined) {
    for (const [target, tpg] of lio.targets) {
      for (const [lun, { backstore }] of tpg.luns) {
        if (block === undefined || backstore !== `iblock_${block.index}/${name}`) continue;
        sentences.push(
          `backstore ${name} on ${host.name} is LUN ${lun} of target ${target}: remove that LUN or target first`,
        );
      }
    }
    return sentences;
  }
  for (const [other, { device }] of lio.blocks) {
    if (other === name || device !== desired.device) continue;
    sentences.push(`${device} on ${host.name} is in use by backstore ${other}: one device, one backstore`);
  }
  if (block?.enabled && block.device !== desired.device) {
    sentences.push(
      `backstore ${name} on ${host.name} is on ${block.device}, not ${desired.device}: ` +
        `choose another name, or remove it: targetcli /backstores/block delete ${name}`,
    );
  }
  const serial = desired.serial?.toLowerCase();
  if (block?.enabled && serial !== undefined && block.serial.toLowerCase() !== serial) {
    sentences.push(
      `backstore ${name} on ${host.name} has serial ${block.serial}, not ${desired.serial}: ` +
        "initiators know it by that; leave serial out to keep it, or replace the backstore",
    );
  }
  return sentences;
}

function rules({ name, device }: BackstoreInputs): [string, string][] {
  const found: [string, string][] = [];
  if (!/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$/.test(name)) {
    const rule = `1 to 63 letters, digits, "_", ".", ":" or "-", no blank or "/"`;
    found.push(["name", `${JSON.stringify(name)} is no name of a backstore: ${rule}`]);
  }
  // configfs takes a list of key=value: a comma would begin another key.
  if (!/^\/dev\/[^\s,]+$/.test(device)) {
    found.push(["device", `${JSON.stringify(device)} is no block device: write its path below /dev`]);
  }
  return found;
}

export const backstore: ResourceType<BackstoreInputs, BackstoreObserved> = {
  type: "lio:Backstore",
  inputs: backstoreInputs,
  identity: ({ name }) => name,
  observe,
  exists: ({ block }) => block !== undefined,
  current: ({ block, attributes }, inputs) => ({
    ...inputs,
    device: block?.device ?? inputs.device,
    ...(inputs.serial === undefined || block?.serial.toLowerCase() === inputs.serial.toLowerCase()
      ? {}
      : { serial: block?.serial }),
    ...(inputs.attributes === undefined
      ? {}
      : {
          attributes: Object.fromEntries(
            Object.entries(inputs.attributes).flatMap(([name, value]) => {
              const there = attributes.get(name);
              return there === undefined ? [] : [[name, there === String(value) ? value : there]];
            }),
          ),
        }),
  }),
  plan,
  refusals,
  rules,
  outputs: ({ name, device, serial }, observed) => ({
    name,
    device,
    ...(observed?.block === undefined
      ? serial === undefined
        ? {}
        : { serial }
      : { serial: observed.block.serial }),
  }),
};
