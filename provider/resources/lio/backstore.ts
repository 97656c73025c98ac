import { createHash } from "node:crypto";
import { z } from "zod";
import { RefusedError } from "../../errors.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { attributeTexts, currentAttributes, setAttributes } from "./attributes.ts";
import { backstoreProblem, backstoreRefusals, backstoreRules } from "./backstore-rules.ts";
import { type Block, core, type Lio, observeAttributes, observeLio } from "./configfs.ts";
import { observeRestore, preparedByOthers, type Restore, saveSteps, wholePlan } from "./saved.ts";

/**
 * A block backstore of LIO (iblock) on a block device, by configfs. See targetcli(8), /backstores/block.
 * The device's own write cache and size are passed on. A zvol has a write cache, so initiators see write-back and
 * flush it, which ZFS answers from its log; the attribute emulate_write_cache stays 0 and says nothing. A zvol that
 * grew is reported in its new size at once; initiators see that when they rescan their session.
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
    .describe(
      "Attributes of the backstore, as LIO names them: emulate_tpu 1 passes UNMAP (discard) on to the device, so that " +
        "a sparse zvol gives space back. Those left out stay as they are.",
    ),
});
export type BackstoreInputs = z.infer<typeof backstoreInputs>;

export type BackstoreObserved = {
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
  const steps: Step[] = [];
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
  for (const [attribute, value] of attributeTexts(desired.attributes)) {
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
    attributeTexts(desired.attributes).every(
      ([attribute, value]) => saved.attributes.get(attribute) === value,
    );
  return wholePlan(steps, isSaved, observed, { name, iser: false });
}

/** What the kernel gives a new block backstore, whatever its device. What differs from it was set by somebody. */
const kernelDefaults = {
  ...{ alua_support: 1, emulate_3pc: 1, emulate_caw: 1, emulate_dpo: 1, emulate_fua_read: 1 },
  ...{ emulate_fua_write: 1, emulate_model_alias: 0, emulate_pr: 1, emulate_rest_reord: 0, emulate_rsoc: 1 },
  ...{ emulate_tas: 1, emulate_tpu: 0, emulate_tpws: 0, emulate_ua_intlck_ctrl: 0, enforce_pr_isids: 1 },
  ...{ pgr_support: 1, pi_prot_type: 0, submit_type: 0 },
};

/** The device is what `found` tells. */
const named = (host: HostAddress, name: string): BackstoreInputs | undefined =>
  backstoreProblem(name) === undefined ? { host, name, device: "", attributes: kernelDefaults } : undefined;

function found({ block, attributes }: BackstoreObserved, { host, name }: BackstoreInputs): BackstoreInputs {
  if (!block?.enabled) {
    throw new RefusedError(
      `backstore ${name} on ${host.name} is not enabled, so there is nothing to take over: ` +
        `remove it: targetcli /backstores/block delete ${name}`,
    );
  }
  const set = setAttributes(attributes, kernelDefaults);
  const { device, serial } = block;
  return {
    host,
    name,
    device,
    ...(backstoreInputs.shape.serial.safeParse(serial).success ? { serial } : {}),
    ...(Object.keys(set).length === 0 ? {} : { attributes: set }),
  };
}

function gone(observed: BackstoreObserved, { name }: BackstoreInputs): BackstoreObserved {
  const { lio, restore, block } = observed;
  const without = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...map].filter(([key]) => key !== name));
  const blocks = without(lio.blocks);
  const alone = ![...blocks.values()].some(({ index }) => index === block?.index);
  const indexes = new Set([...lio.indexes].filter((index) => !alone || index !== block?.index));
  return {
    lio: { ...lio, blocks, indexes },
    block: undefined,
    attributes: new Map(),
    restore: { ...restore, blocks: without(restore.blocks) },
  };
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
      : { attributes: currentAttributes(attributes, inputs.attributes) }),
  }),
  plan,
  refusals: backstoreRefusals,
  hints: ({ host }, { lio, restore }) => preparedByOthers(lio, restore, host.name),
  named,
  found,
  gone,
  rules: backstoreRules,
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
