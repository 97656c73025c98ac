import { z } from "zod";
import { formatSize, parseSize } from "../../size.ts";
import {
  currentProperties,
  differing,
  local,
  onDeleteProperty,
  ownerProperty,
  type Properties,
  xattrOn,
} from "./properties.ts";

/**
 * The properties that volumes, file systems and clones of both are declared with, by ZFS's own names: zfsprops(7).
 * One that is left out is left alone on the host.
 */

export const size = z.string().refine((text) => parseSize(text) !== undefined, {
  error: "a size is a number with a unit in zfs notation or IEC (200G, 200 GiB, 1.5T), in whole bytes",
});
const sizeOrNone = z.string().refine((text) => text === "none" || (parseSize(text) ?? 0n) > 0n, {
  error: "a size in zfs notation or IEC (200G, 200 GiB), or none",
});
const onOff = z.enum(["on", "off"]);
const cache = z.enum(["all", "none", "metadata"]);

/** Of volumes and file systems. */
export const commonFields = {
  compression: z
    .string()
    .regex(
      /^(on|off|lz4|lzjb|zle|gzip(-[1-9])?|zstd(-fast)?(-\d+)?)$/,
      "off, on, lz4, zstd, gzip-6, …; see zfsprops(7)",
    )
    .optional()
    .describe("Compression of what is written from now on."),
  sync: z
    .enum(["standard", "always", "disabled"])
    .optional()
    .describe("When a synchronous write counts as written."),
  logbias: z
    .enum(["latency", "throughput"])
    .optional()
    .describe("Whether synchronous writes go by the log vdev."),
  primarycache: cache.optional().describe("What of it the ARC holds."),
  secondarycache: cache.optional().describe("What of it the L2ARC (cache vdevs) holds."),
  checksum: z
    .enum(["on", "off", "fletcher2", "fletcher4", "sha256", "noparity", "sha512", "skein", "edonr", "blake3"])
    .optional()
    .describe("Checksum of what is written from now on."),
  dedup: z
    .string()
    .regex(
      /^(on|off|verify|(sha256|sha512|skein|blake3)(,verify)?|edonr,verify)$/,
      "off, on, verify, …; see zfsprops(7)",
    )
    .optional()
    .describe("Deduplication of what is written from now on."),
  copies: z
    .union([z.literal(1), z.literal(2), z.literal(3)])
    .optional()
    .describe("How often each block is written from now on, beside the pool's redundancy: 1, 2 or 3."),
  readonly: onOff.optional().describe("Whether writes are refused."),
};

/** Of volumes alone. */
export const volumeFields = {
  volmode: z
    .enum(["default", "full", "geom", "dev", "none"])
    .optional()
    .describe("How the device node is exposed."),
  snapdev: z.enum(["hidden", "visible"]).optional().describe("Whether its snapshots have device nodes."),
};

/** Of file systems alone. */
export const filesystemFields = {
  recordsize: size
    .optional()
    .describe("Largest block of a file, a power of two from 512 B to 16 MiB. ZFS's default: 128 KiB."),
  special_small_blocks: size
    .optional()
    .describe("Blocks up to this size go to the pool's special vdev; 0: none do."),
  quota: sizeOrNone.optional().describe("Most that it and all below it may use, or none."),
  refquota: sizeOrNone.optional().describe("Most that it alone may use, or none."),
  reservation: sizeOrNone.optional().describe("Space that is kept for it and all below it, or none."),
  refreservation: sizeOrNone.optional().describe("Space that is kept for it alone, or none."),
  atime: onOff.optional().describe("Whether a read updates the time of access."),
  xattr: z
    .enum(["off", "dir", "sa"])
    .optional()
    .describe("Where extended attributes are kept; `dir` by this name since ZFS 2.3."),
  acltype: z.enum(["off", "posix", "nfsv4"]).optional().describe("Which access control lists it has."),
  snapdir: z.enum(["hidden", "visible"]).optional().describe("Whether .zfs is listed in its root."),
  mountpoint: z
    .string()
    .regex(
      /^(none|legacy|(\/[^/\s]+)+)$/,
      "a mount point is none, legacy, or an absolute path without blanks",
    )
    .optional()
    .describe("Where it is mounted, or none, or legacy (by mount(8)). ZFS's default: below its parent's."),
  canmount: z
    .enum(["on", "off", "noauto"])
    .optional()
    .describe("Whether it is mounted; off for a dataset that only groups others."),
};

export const commonNames = Object.keys(commonFields) as (keyof typeof commonFields)[];
export const volumeNames = Object.keys(volumeFields) as (keyof typeof volumeFields)[];
export const filesystemNames = Object.keys(filesystemFields) as (keyof typeof filesystemFields)[];
export type SettingName =
  | keyof typeof commonFields
  | keyof typeof volumeFields
  | keyof typeof filesystemFields;
export type Settings = { readonly [N in SettingName]?: string | number | undefined };

export const onDelete = (what: string) =>
  z
    .enum(["retain", "destroy"])
    .describe(`retain leaves the ${what} and its data in the pool; destroy destroys it.`);
export type OnDelete = "retain" | "destroy";

const sizes: readonly SettingName[] = [
  ...(["recordsize", "special_small_blocks", "quota", "refquota", "reservation", "refreservation"] as const),
];

/** The declared properties, sizes in bytes. */
export const declared = (inputs: Settings, names: readonly SettingName[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = inputs[name];
      return value === undefined ? [] : [[name, inBytes(name, `${value}`)]];
    }),
  );

const inBytes = (name: SettingName, value: string): string =>
  sizes.includes(name) && value !== "none" ? `${parseSize(value) ?? value}` : value;

/** `-o name=value` for each. */
export const options = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ["-o", `${name}=${value}`]);

/** What is to be set, our marks apart. */
export const settingChanges = (
  inputs: Settings,
  names: readonly SettingName[],
  have: Properties,
): [name: string, value: string][] => differing(declared(inputs, names), have);

/** The declared properties as they hold on the host, in the declared spelling wherever that means the same. */
export function currentSettings(
  inputs: Settings,
  names: readonly SettingName[],
  have: Properties,
): Record<string, string | number> {
  const want = declared(inputs, names);
  const now = currentProperties(want, have);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = inputs[name];
      if (value === undefined) return [];
      return [[name, now[name] === want[name] ? value : shown(name, now[name] ?? "-", have)]];
    }),
  );
}

/** What was set on the object itself, not inherited, as inputs. */
export const foundSettings = (
  names: readonly SettingName[],
  have: Properties,
): Record<string, string | number> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = local(have, name);
      return value === undefined ? [] : [[name, shown(name, value, have)]];
    }),
  );

function shown(name: SettingName, value: string, have: Properties): string | number {
  if (name === "copies") return Number(value);
  if (name === "xattr" && value === "on") return xattrOn(have);
  if (!sizes.includes(name)) return value;
  if (value === "0") return name === "special_small_blocks" ? "0" : "none";
  const bytes = parseSize(value);
  return bytes === undefined ? value : formatSize(bytes);
}

/** Our marks at create. */
export const marks = (onDelete: OnDelete, owner: string): Record<string, string> => ({
  [onDeleteProperty]: onDelete,
  [ownerProperty]: owner,
});

/** What the object's own mark allows; none says what `retain` says. */
export const onDeleteNow = (have: Properties): OnDelete =>
  local(have, onDeleteProperty) === "destroy" ? "destroy" : "retain";

export const onDeleteChange = (onDelete: OnDelete, have: Properties): [string, string][] =>
  onDelete === onDeleteNow(have) ? [] : [[onDeleteProperty, onDelete]];

/** The owner's mark, where it is not on yet: it goes on together with another change, never alone. */
export const ownerChange = (owner: string, have: Properties): [string, string][] =>
  local(have, ownerProperty) === owner ? [] : [[ownerProperty, owner]];

/** ZFS's rules for a name below a pool, by zfsconcepts(7), less what has another name as a device node. */
export function nameRule(kind: string, form: string, name: string): string[] {
  // Blanks are legal in ZFS, but udev names such a node otherwise.
  const legal =
    /^[A-Za-z][A-Za-z0-9_.:-]*(\/[A-Za-z0-9_.:-]+)+$/.test(name) &&
    !/\/\.{1,2}(\/|$)/.test(name) &&
    name.length <= 255;
  return legal
    ? []
    : [
        `a ${kind}'s name is ${form} of letters, digits, "_", "-", ":" and "."; ${JSON.stringify(name)} is not`,
      ];
}

/** What an operator should know of settings that are not so yet. */
export const settingHints = (inputs: Settings, have: Properties | undefined): string[] =>
  inputs.sync === "disabled" && have?.get("sync")?.value !== "disabled"
    ? [`With sync=disabled, writes that were acknowledged are lost when the host crashes.`]
    : [];
