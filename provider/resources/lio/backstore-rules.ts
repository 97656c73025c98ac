import { attributeProblem, attributeTexts } from "./attributes.ts";
import type { BackstoreInputs, BackstoreObserved } from "./backstore.ts";
import { core, type Lio } from "./configfs.ts";
import { missingPackage } from "./saved.ts";

/** What forbids a backstore's plan. */
export function backstoreRefusals(
  desired: BackstoreInputs | undefined,
  { lio, block, attributes, restore }: BackstoreObserved,
  { name, host }: BackstoreInputs,
): string[] {
  const sentences: string[] = [];
  if (restore.unit === undefined) sentences.push(missingPackage(host.name));
  const users = lunsOf(lio, block?.path);
  if (desired === undefined) {
    for (const user of users) {
      sentences.push(`backstore ${name} on ${host.name} is ${user}: remove that LUN or target first`);
    }
    return sentences;
  }
  if (lio.ramdisks.has(name)) sentences.push(`${name} on ${host.name} is a RAM disk: choose another name`);
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
  for (const [attribute, value] of block?.enabled ? attributeTexts(desired.attributes) : []) {
    const there = attributes.get(attribute);
    if (there === undefined) {
      const list = `ls ${block?.path}/attrib`;
      sentences.push(
        `backstore ${name} on ${host.name} has no attribute ${attribute}; those that it has: ${list}`,
      );
    } else if (there !== value && users.length > 0 && whileUnused.includes(attribute)) {
      sentences.push(
        `${attribute} of backstore ${name} on ${host.name} is ${there} and can't become ${value} while it is ` +
          `${users.join(" and ")}: remove that LUN first`,
      );
    }
  }
  return sentences;
}

/** The LUNs that a backstore is behind, in words. */
export function lunsOf(lio: Lio, path: string | undefined): string[] {
  return [...lio.targets].flatMap(([target, { luns }]) =>
    [...luns]
      .filter(([, { backstore }]) => path !== undefined && path === `${core}/${backstore}`)
      .map(([lun]) => `LUN ${lun} of target ${target}`),
  );
}

/** Why this is no backstore's name, as a sentence; undefined when it is one. */
export function backstoreProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,62}$/.test(name)) return undefined;
  const rule = `1 to 63 letters, digits, "_", ".", ":" or "-", no blank or "/"`;
  return `${JSON.stringify(name)} is no name of a backstore: ${rule}`;
}

/** What a backstore's inputs have to obey among themselves. No host is asked. */
export function backstoreRules({ name, device, attributes = {} }: BackstoreInputs): [string, string][] {
  const found: [string, string][] = [];
  const problem = backstoreProblem(name);
  if (problem !== undefined) found.push(["name", problem]);
  // configfs takes a list of key=value: a comma would begin another key.
  if (!/^\/dev\/[^\s,]+$/.test(device)) {
    found.push(["device", `${JSON.stringify(device)} is no block device: write its path below /dev`]);
  }
  for (const attribute of Object.keys(attributes)) {
    const problem =
      attributeProblem(attribute) ??
      (attribute === "emulate_write_cache"
        ? "emulate_write_cache can't be set: a block backstore passes its device's own write cache on; leave it out"
        : attribute.startsWith("hw_")
          ? `${attribute} can't be set: it says what the device is; leave it out`
          : undefined);
    if (problem !== undefined) found.push(["attributes", problem]);
  }
  return found;
}

/** Attributes that LIO does not let change while the backstore is behind a LUN. */
const whileUnused = [
  ...["block_size", "optimal_sectors", "queue_depth", "emulate_model_alias"],
  ...["emulate_tas", "emulate_ua_intlck_ctrl"],
];
