import { createHash } from "node:crypto";
import { ParseError } from "../../errors.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import { parseSize } from "../../size.ts";

/** Properties of pools and datasets (zpoolprops(7), zfsprops(7)), and the marks that this project puts on them. */

/** User property with the stack that made the object; only a locally set value counts, children inherit it. */
export const ownerProperty = "org.storage-lab:owner";
/**
 * User property of what is in a pool: what its stack file allows when it is deleted. A pool is destroyed only over
 * `destroy`. As with the owner, only a locally set value counts; none says what `retain` says.
 */
export const onDeleteProperty = "org.storage-lab:on-delete";

/**
 * The owner as a pool's `comment`: the one property that stands in the labels themselves, so that an exported or
 * destroyed pool still says whose it is. ZFS allows 32 printable ASCII characters; a longer owner is cut and hashed.
 */
export function poolComment(owner: string): string {
  if (/^[\x20-\x7e]{1,32}$/.test(owner)) return owner;
  const hash = createHash("sha256").update(owner).digest("hex").slice(0, 12);
  return `${owner.replace(/[^\x20-\x7e]/g, "?").slice(0, 19)}~${hash}`;
}

export type Property = { value: string; source: string };
export type Properties = ReadonlyMap<string, Property>;

/** All properties of a dataset, volume or snapshot; or of a pool. Everybody asks the same, so that it is asked once. */
export const getAll = (name: string): string[] => ["zfs", ...all, name];
export const getAllOfPool = (name: string): string[] => ["zpool", ...all, name];
const all = ["get", "-Hp", "-o", "property,value,source", "all"];

/** Output of `zfs get` or `zpool get` with `-Hp -o property,value,source`. */
export function parseProperties(text: string): Properties {
  return new Map(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const match = /^([^\t]+)\t(.*)\t([^\t]*)$/.exec(line);
        if (match === null)
          throw new ParseError(`not a line of "property value source": ${JSON.stringify(line)}`);
        const [, name = "", value = "", source = ""] = match;
        return [name, { value, source }];
      }),
  );
}

/** The value of a property that every version has. */
export function property(properties: Properties, name: string): string {
  const found = properties.get(name);
  if (found === undefined)
    throw new ParseError(`property ${name} is missing in: ${[...properties.keys()].join(" ")}`);
  return found.value;
}

/** The value of a property where it was set on the object itself, not inherited. */
export function local(properties: Properties, name: string): string | undefined {
  const found = properties.get(name);
  return found?.source === "local" ? found.value : undefined;
}

/** The properties whose value on the host means something else than the declared one. */
export function differing(
  desired: Readonly<Record<string, string>>,
  have: Properties,
): [name: string, value: string][] {
  return Object.entries(desired).filter(([name, value]) => {
    const found = have.get(name)?.value;
    return found === undefined || !sameValue(name, value, found, have);
  });
}

/** The declared properties as they hold on the host, in the declared spelling wherever that means the same. */
export function currentProperties(
  desired: Readonly<Record<string, string>>,
  have: Properties,
): Record<string, string> {
  const changed = new Map(differing(desired, have).map(([name]) => [name, have.get(name)?.value ?? "-"]));
  return Object.fromEntries(
    Object.entries(desired).map(([name, value]) => [name, changed.get(name) ?? value]),
  );
}

/** `name=value` for zfs and zpool: they know `128K`, but not `128 KiB`. */
export function assignment(name: string, value: string): string {
  const bytes = /[\d.]\s*[KMGTP]iB$|\d\s+[BKMGTP]$/i.test(value) ? parseSize(value) : undefined;
  return `${name}=${bytes ?? value}`;
}

/** Values that ZFS takes and prints as another word of the same meaning. */
const aliases: Record<string, Record<string, string>> = {
  compression: { "gzip-6": "gzip", "zstd-fast-1": "zstd-fast" },
  volmode: { geom: "full" },
  acltype: { posixacl: "posix", noacl: "off" },
};

/**
 * `zfs get -p` prints sizes as bytes and `none` as 0; a feature that is enabled may be active; some words have
 * another of the same meaning. `xattr=on` means `sa` since 2.3 (which has the property `direct`), `dir` before.
 */
function sameValue(name: string, declared: string, found: string, have: Properties): boolean {
  if (declared === found) return true;
  if (declared === "enabled" && found === "active") return true;
  if (declared === "none" && found === "0") return true;
  if (aliases[name]?.[declared] === found) return true;
  if (name === "xattr" && found === "on") return declared === xattrOn(have);
  const bytes = parseSize(declared);
  return bytes !== undefined && bytes === parseSize(found);
}

/** What `xattr=on` means on this host. */
export const xattrOn = (have: Properties): "sa" | "dir" => (have.has("direct") ? "sa" : "dir");

/** Whether this host has ZFS: its programs, and its kernel module loaded. */
export type Zfs = { programs: boolean; module: boolean };

/** The answers of a `get … all` as properties; undefined where the object is not there, or ZFS itself is not. */
export function readProperties(host: Questions, answer: Answer, what: string): Properties | undefined {
  if (noZfs(answer)) return undefined;
  const absent =
    /^(cannot open '.*'|Cannot get properties of .*): (no such pool( available\.)?|dataset does not exist)$/m;
  if (answer.status !== 0 && absent.test(answer.stderr)) return undefined;
  return parseProperties(expect(host, answer, what));
}

/** The shell's word for a program that is not there, or ZFS's for a module that is not loaded. */
export const noZfs = (answer: Answer): boolean =>
  answer.status === 127 ||
  (answer.status !== 0 && /ZFS modules (cannot be auto-loaded|are not loaded)/i.test(answer.stderr));

export const noPrograms = (host: string): string =>
  `${host} has no ZFS programs. Install them: apt-get install zfs-dkms zfsutils-linux (Debian, component contrib; ` +
  "on Ubuntu zfsutils-linux alone), or dnf install zfs from OpenZFS's own repository.";
