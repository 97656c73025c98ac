import { createHash, scryptSync } from "node:crypto";
import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { Run, Step } from "../../step.ts";
import { storageServices, type UnitState, unitFiles, unitState, unitSteps } from "../../unit.ts";
import { local, type Properties, property } from "./properties.ts";

/**
 * Native encryption of a dataset with a key of its own: zfs-load-key(8). The key comes from the stack's secrets and
 * travels on stdin. It is kept on the host only where the stack says so (`keyOnHost`): in a file of mode 600, loaded
 * at boot by a unit of ours before the volumes' nodes and LIO's restore; else the next up loads it after a reboot.
 *
 * ZFS does not tell which key a dataset has. So its fingerprint stands on the host, in the key file's name or in a
 * user property: a key that was changed in the stack file is known by it.
 */

export const encryptionFields = {
  encryption: z
    .enum(["off", ...["128", "192", "256"].flatMap((n) => [`aes-${n}-ccm`, `aes-${n}-gcm`])])
    .optional()
    .meta({ change: "replace" })
    .describe("Cipher: aes-256-gcm is ZFS's own choice. Needs keyformat and key. Left out: as its parent."),
  keyformat: z
    .enum(["passphrase", "hex", "raw"])
    .optional()
    .meta({ change: "replace" })
    .describe(
      "What the key is: a passphrase of 8 to 512 characters, 64 hex digits, or 32 bytes in base64 (raw).",
    ),
  key: z
    .string()
    .optional()
    .meta({ secret: true, unseen: true })
    .describe("The key, from a Pulumi secret. A changed key is changed on the host (zfs change-key)."),
  keyOnHost: z
    .boolean()
    .optional()
    .describe(
      "Keep the key in /etc/storage-lab/keys, readable by root alone, and load it at boot. Left out: it is not " +
        "kept there, and after a reboot the next up loads it.",
    ),
};
type Encrypted = {
  name: string;
  encryption?: string | undefined;
  keyformat?: "passphrase" | "hex" | "raw" | undefined;
  key?: string | undefined;
  keyOnHost?: boolean | undefined;
};

/** User property with the fingerprint of the key, where no key file of ours says it. */
export const keyProperty = "org.storage-lab:key";
export const keysFolder = "/etc/storage-lab/keys";
export const keysUnit = "storage-lab-keys.service";

export type KeyObserved = {
  /** Key files of this dataset on the host, with their SHA-256. */
  files: ReadonlyMap<string, string>;
  unit: UnitState;
};

const unitText = `# Written by storage-lab.
[Unit]
Description=Load the keys of ZFS datasets that are kept in ${keysFolder}
DefaultDependencies=no
After=zfs-import.target zfs-import-cache.service
Before=zfs-mount.service zfs-volume-wait.service zfs-volumes.target ${storageServices}
ConditionPathIsDirectory=/sys/module/zfs

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'zfs get -Hp -t filesystem,volume -s local -o name,value keylocation | { r=0; while read -r name location; do case $$location in file://${keysFolder}/*) [ "$$(zfs get -H -o value keystatus "$$name")" = available ] || zfs load-key "$$name" || r=1;; esac; done; exit $$r; }'

[Install]
WantedBy=multi-user.target
`;

const isEncrypted = ({ encryption }: Encrypted): boolean => encryption !== undefined && encryption !== "off";

const prefix = (name: string): string => `${keysFolder}/${encodeURIComponent(name)}`;

/** Asks nothing where the inputs declare no encryption. */
export async function observeKey(host: Questions, inputs: Encrypted): Promise<KeyObserved> {
  if (!isEncrypted(inputs)) return { files: new Map(), unit: { text: undefined, enabled: false } };
  const find = ["find", keysFolder, "-maxdepth", "1", "-type", "f"];
  const pattern = `${encodeURIComponent(inputs.name)}.*`;
  const [files, unit] = await Promise.all([
    host.ask([...find, "-name", pattern, "-exec", "sha256sum", "{}", "+"]),
    readFiles(host, unitFiles(keysUnit)),
  ]);
  return { files: keyFiles(host, files, inputs.name), unit: unitState(unit, keysUnit) };
}

/** Lines of sha256sum(1); no folder yet is no file. */
function keyFiles(host: Questions, answer: Answer, name: string): Map<string, string> {
  const absent =
    answer.status !== 0 && answer.stderr.includes(`${keysFolder}'`) && /No such file/.test(answer.stderr);
  if (absent) return new Map();
  const found = new Map<string, string>();
  for (const line of expect(host, answer, `the key files of ${name}`).split("\n")) {
    if (line === "") continue;
    const [, hash, path] = /^([0-9a-f]{64}) {2}(\/.+)$/.exec(line) ?? [];
    if (hash === undefined || path === undefined)
      throw new ParseError(`unknown line of sha256sum: ${JSON.stringify(line)}`);
    // tank/a.b is another dataset than tank/a, though its files match the pattern.
    if (fileMark(name, path) !== undefined) found.set(path, hash);
  }
  return found;
}

/** The fingerprint in the name of a dataset's key file. */
function fileMark(name: string, path: string): string | undefined {
  const [start, end] = [`${prefix(name)}.`, path.slice(-16)];
  return path === `${start}${end}` && /^[0-9a-f]{16}$/.test(end) ? end : undefined;
}

const marksMade = new Map<string, string>();

/**
 * What tells one key from another without telling the key. A passphrase could be guessed from it, so it takes
 * scrypt, which costs as much as ZFS's own PBKDF2; the other formats are 256 random bits.
 */
export function fingerprint(name: string, keyformat: string | undefined, key: string): string {
  const id = JSON.stringify([name, keyformat, key]);
  const made =
    marksMade.get(id) ??
    (keyformat === "passphrase"
      ? scryptSync(key, `storage-lab ${name}`, 8, { N: 2 ** 15, maxmem: 2 ** 26 }).toString("hex")
      : createHash("sha256").update(`storage-lab ${name} ${key}`).digest("hex").slice(0, 16));
  marksMade.set(id, made);
  return made;
}

const content = ({ keyformat, key = "" }: Encrypted): Buffer =>
  keyformat === "raw" ? Buffer.from(key, "base64") : Buffer.from(`${key}\n`);

/** The declared key's fingerprint, and where it is to be found. */
function wanted(inputs: Encrypted & { key: string }) {
  const mark = fingerprint(inputs.name, inputs.keyformat, inputs.key);
  const file = inputs.keyOnHost ? `${prefix(inputs.name)}.${mark}` : undefined;
  return { mark, file, location: file === undefined ? "prompt" : `file://${file}` };
}

/** What the host tells of the dataset's key. */
function keyNow(properties: Properties, name: string) {
  const location = property(properties, "keylocation");
  const path = location.startsWith("file://") ? location.slice("file://".length) : "";
  const inFile = fileMark(name, path);
  return {
    location,
    file: inFile === undefined ? undefined : path,
    mark: inFile ?? local(properties, keyProperty),
    noted: local(properties, keyProperty),
    loaded: properties.get("keystatus")?.value === "available",
  };
}

/** In place of a fingerprint while a key is being changed. */
const changing = "changing";

/** The dataset whose key encrypts this one; undefined where it is not encrypted. */
export function encryptionRoot(properties: Properties): string | undefined {
  const root = properties.get("encryptionroot")?.value;
  return root === "-" ? undefined : root;
}

export const isLocked = (properties: Properties): boolean =>
  properties.get("keystatus")?.value === "unavailable";

const hasKey = (inputs: Encrypted): inputs is Encrypted & { key: string } =>
  isEncrypted(inputs) && inputs.key !== undefined;

/** A zfs command that reads the key from stdin. The key's raw bytes travel as base64. */
function withKey(
  say: string,
  args: readonly string[],
  { keyformat, key = "" }: Encrypted,
  wrong?: string,
): Run {
  const zfs = keyformat === "raw" ? 'base64 -d | zfs "$@"' : 'zfs "$@"';
  const script = wrong === undefined ? zfs : `${zfs} || { echo "$0" >&2; exit 1; }`;
  const argv = script === 'zfs "$@"' ? ["zfs", ...args] : ["sh", "-c", script, wrong ?? "zfs", ...args];
  return { say, argv, stdin: key, secret: true };
}

const wrongKey = (name: string): string =>
  `The declared key is not the one that ${name} has: declare that, or load it by hand (zfs load-key ${name}) and run again`;

function keepStep({ name, key = "", keyformat }: Encrypted, file: string): Step {
  const say = `keep the key of ${name} on the host`;
  const text = keyformat === "raw" ? { text: key, base64: true as const } : { text: `${key}\n` };
  return { say, file, ...text, mode: "600", secret: true };
}

/** Key file and unit, as declared. */
function keepSteps(inputs: Encrypted & { key: string }, file: string, { files, unit }: KeyObserved): Step[] {
  const hash = createHash("sha256").update(content(inputs)).digest("hex");
  if (files.get(file) === hash) return unitSteps(keysUnit, unitText, unit);
  // Another plan of the same round trip may take the unit away with the last key: written whatever was seen.
  return [keepStep(inputs, file), ...unitSteps(keysUnit, unitText, { text: undefined, enabled: false })];
}

/**
 * Key files that stand for no key any more; the unit goes with the host's last. The unit first: as long as a key
 * file is there, a run that was interrupted is taken up again.
 */
export function removeKeySteps(name: string, keep: string | undefined, { files }: KeyObserved): Step[] {
  const old = [...files.keys()].filter((file) => file !== keep);
  if (old.length === 0) return [];
  if (keep !== undefined)
    return [{ say: `remove the former key of ${name} from the host`, argv: ["rm", "-f", ...old] }];
  return [
    {
      say: `remove the key of ${name} from the host, and ${keysUnit} with the last key`,
      argv: ["sh", "-c", removeKeys, "sh", keysFolder, ...unitFiles(keysUnit), ...old],
    },
  ];
}

/** Half-written files of an interrupted run count as none. */
const removeKeys = `\
folder=$1 unit=$2 link=$3 others=; shift 3
for file in "$folder"/*; do
  case " $* $folder/* " in *" $file "*) continue ;; esac
  case $file in *.storage-lab-part) ;; *) others=1 ;; esac
done
[ -n "$others" ] || rm -f "$unit" "$link" "$folder"/*.storage-lab-part
rm -f "$@" && { rmdir "$folder" 2>/dev/null || :; }
`;

/** The step that creates an encrypted dataset: `zfs create` with its options before the name. */
export function createSteps(
  say: string,
  args: readonly string[],
  inputs: Encrypted,
  observed: KeyObserved,
): Step[] {
  const { name, encryption, keyformat } = inputs;
  if (!hasKey(inputs)) {
    const off = encryption === undefined ? [] : ["-o", `encryption=${encryption}`];
    return [{ say, argv: ["zfs", ...args, ...off, name] }];
  }
  const { mark, file, location } = wanted(inputs);
  const options = [`encryption=${encryption}`, `keyformat=${keyformat}`, `keylocation=${location}`];
  if (file === undefined) options.push(`${keyProperty}=${mark}`);
  const all = [...args, ...options.flatMap((option) => ["-o", option]), name];
  return [
    ...(file === undefined ? [] : keepSteps(inputs, file, observed)),
    file === undefined ? withKey(say, all, inputs) : { say, argv: ["zfs", ...all] },
    ...removeKeySteps(name, file, observed),
  ];
}

/** Loads the key of a dataset that is there, and makes it the declared one. */
export function keySteps(inputs: Encrypted, properties: Properties, observed: KeyObserved): Step[] {
  const { name } = inputs;
  if (!hasKey(inputs)) return [];
  const { mark, file, location } = wanted(inputs);
  const now = keyNow(properties, name);
  const steps: Step[] = file === undefined ? [] : keepSteps(inputs, file, observed);
  const set = (values: string[]): Step => ({
    say: `note where the key of ${name} is`,
    argv: ["zfs", "set", ...values, name],
  });
  let same = now.mark === mark;
  if (!now.loaded && !same && now.file !== undefined && observed.files.has(now.file)) {
    steps.push({ say: `load the former key of ${name}`, argv: ["zfs", "load-key", name] });
  } else if (!now.loaded) {
    steps.push(
      withKey(`load the key of ${name}`, ["load-key", "-L", "prompt", name], inputs, wrongKey(name)),
    );
    same = true;
  } else if (now.mark === undefined) {
    // Taken over: before its key is noted as known, it is tried.
    steps.push(
      withKey(`try the key of ${name}`, ["load-key", "-n", "-L", "prompt", name], inputs, wrongKey(name)),
    );
    same = true;
  }
  if (!same) {
    const args = ["change-key", "-o", `keyformat=${inputs.keyformat}`, "-o", `keylocation=${location}`, name];
    const say = `change the key of ${name}`;
    if (file !== undefined) steps.push({ say, argv: ["zfs", ...args] });
    else {
      // ZFS can't set both at once. Between them the mark names no key, so that none is taken for the one that it has.
      if (now.noted !== changing) steps.push(set([`${keyProperty}=${changing}`]));
      steps.push(withKey(say, args, inputs), set([`${keyProperty}=${mark}`]));
    }
  } else if (now.location !== location || (file === undefined && now.mark !== mark)) {
    steps.push(set([`keylocation=${location}`, ...(file === undefined ? [`${keyProperty}=${mark}`] : [])]));
  }
  return [...steps, ...removeKeySteps(name, file, observed)];
}

/** `what` as in "Volume tank/lun0". */
export function encryptionRefusals(
  what: string,
  inputs: Encrypted,
  properties: Properties | undefined,
): string[] {
  const { name, encryption, keyformat } = inputs;
  if (properties === undefined) {
    return isEncrypted(inputs) && inputs.key === undefined
      ? [`${what} is to be encrypted and no key is declared. Declare key, from a Pulumi secret.`]
      : [];
  }
  const root = encryptionRoot(properties);
  const have = property(properties, "encryption");
  const fixed = `That is fixed when it is created: declare what it has, or make another.`;
  if (encryption !== undefined && encryption !== have)
    return [`${what} has encryption ${have}, declared is ${encryption}. ${fixed}`];
  if (isEncrypted(inputs) && root !== name)
    return [`${what} is encrypted with the key of ${root}, declared is a key of its own. ${fixed}`];
  const format = property(properties, "keyformat");
  if (keyformat !== undefined && keyformat !== format)
    return [`${what} has keyformat ${format}, declared is ${keyformat}. ${fixed}`];
  if (!isLocked(properties) || hasKey(inputs)) return [];
  return [
    `The key of ${root}, which encrypts ${name}, is not loaded. Load it (zfs load-key ${root}), or declare it.`,
  ];
}

/** The value is in no sentence. */
export function encryptionRules(inputs: Encrypted): [key: string, sentence: string][] {
  const { keyformat, key, keyOnHost } = inputs;
  const given = { keyformat, key, keyOnHost };
  if (!isEncrypted(inputs)) {
    return Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([field]) => [
        field,
        `${field} goes with encryption, which is ${inputs.encryption ?? "left out"}`,
      ]);
  }
  if (keyformat === undefined) return [["keyformat", "encryption goes with a keyformat; it is left out"]];
  if (key === undefined) return [];
  const wrong = (sentence: string): [string, string][] => [["key", sentence]];
  const length = [...key].length;
  if (keyformat === "passphrase" && (length < 8 || Buffer.byteLength(key) > 512 || /[\n\0]/.test(key)))
    return wrong(`a passphrase has 8 to 512 characters in one line; here are ${length}`);
  if (keyformat === "hex" && !/^[0-9a-fA-F]{64}$/.test(key))
    return wrong(`a key in hex is 64 hex digits; here are ${length} characters`);
  if (keyformat === "raw" && !/^[A-Za-z0-9+/]{43}=$/.test(key))
    return wrong(`a raw key is 32 bytes in base64, which are 44 characters; here are ${length}`);
  return [];
}

export function currentEncryption(inputs: Encrypted, properties: Properties): Partial<Encrypted> {
  const { name, encryption, keyformat, keyOnHost } = inputs;
  const format = property(properties, "keyformat");
  return {
    ...(encryption !== undefined && { encryption: property(properties, "encryption") }),
    ...(keyformat !== undefined && { keyformat: format as NonNullable<Encrypted["keyformat"]> }),
    ...(keyOnHost !== undefined && { keyOnHost: keyNow(properties, name).file !== undefined }),
  };
}

/** Encryption with a key of its own; one that is inherited is its parent's. */
export function foundEncryption(name: string, properties: Properties): Partial<Encrypted> {
  if (encryptionRoot(properties) !== name) return {};
  const onHost = keyNow(properties, name).file !== undefined;
  return {
    encryption: property(properties, "encryption"),
    keyformat: property(properties, "keyformat") as NonNullable<Encrypted["keyformat"]>,
    ...(onHost && { keyOnHost: true }),
  };
}
