import { createHash } from "node:crypto";
import type { Answer, Questions } from "../../../provider/host.ts";
import { keysFolder, keysUnit } from "../../../provider/resources/zfs/encryption.ts";
import { commandLine } from "../../../provider/shell.ts";
import type { Step } from "../../../provider/step.ts";
import { recorded } from "../../recorded.ts";

/**
 * A host with ZFS 2.3 and a pool `tank`, as far as the types below a pool use it: datasets, volumes, snapshots,
 * clones, keys, mounts and nodes. Answers in the form of the recorded outputs, refuses what ZFS refuses, and throws on
 * every command that it does not know.
 */

type Kind = "volume" | "filesystem" | "snapshot";
type Thing = {
  kind: Kind;
  local: Map<string, string>;
  txg: number;
  origin?: string;
  /** Of an encryption root: its real key. */
  key?: { bytes: string; format: string; cipher: string; loaded: boolean };
  mounted: boolean;
  holds: Set<string>;
};

const defaults = (name: string): Map<string, [value: string, source: string]> =>
  new Map(
    recorded(name)
      .split("\n")
      .filter((line) => line !== "" && !/^(org\.|origin|clones|encryptionroot|keystatus)/.test(line))
      .map((line) => {
        const [property = "", value = "", source = ""] = line.split("\t");
        return [property, [value, source]];
      }),
  );
const templates: Record<Kind, ReturnType<typeof defaults>> = {
  volume: defaults("zfs-get--volume-clone--zfs-2.3.9"),
  filesystem: defaults("zfs-get--file-system-key-not-loaded--zfs-2.3.9"),
  snapshot: defaults("zfs-get--snapshot--zfs-2.3.9"),
};

const notInherited =
  /^(quota|refquota|reservation|refreservation|canmount|volsize|volblocksize|keylocation|mountpoint)$/;
const readonlyProperties = /^(volblocksize|encryption|keyformat|origin|type|guid|createtxg)$/;
const canonical: Record<string, string> = {
  "compression=gzip-6": "gzip",
  "compression=zstd-fast-1": "zstd-fast",
  "volmode=geom": "full",
  "xattr=sa": "on",
  "quota=none": "0",
  "refquota=none": "0",
  "reservation=none": "0",
  "refreservation=none": "0",
};
const hash = (bytes: string): string =>
  createHash("sha256").update(Buffer.from(bytes, "latin1")).digest("hex");

class Failed extends Error {}
const fail = (message: string): never => {
  throw new Failed(message);
};

export class SimulatedZfs implements Questions {
  readonly name = "storage";
  readonly things = new Map<string, Thing>();
  /** Contents of files, as latin1; links hold what they point to. */
  readonly files = new Map<string, string>();
  readonly nodes = new Set<string>();
  #txg = 10;

  constructor() {
    this.things.set("tank", thing("filesystem", 1));
  }

  /** Runs the first `count` steps of a plan; a step that fails is an error. */
  apply(steps: readonly Step[], count = steps.length): void {
    for (const step of steps.slice(0, count)) this.#run(step);
  }

  /** Keys that no file holds are gone; the unit of ours loads the others; what is locked has no node and no mount. */
  reboot(): void {
    const unit = `/etc/systemd/system/${keysUnit}`;
    const enabled =
      this.files.has(unit) && this.files.has(`/etc/systemd/system/multi-user.target.wants/${keysUnit}`);
    for (const [name, { key, local }] of this.things) {
      if (key === undefined) continue;
      key.loaded = false;
      const location = local.get("keylocation") ?? "";
      if (enabled && location.startsWith(`file://${keysFolder}/`))
        this.#loadKey(name, this.#keyFile(location));
    }
    for (const [name, one] of this.things) {
      one.mounted = this.#mountable(name, one);
      this.#renewNode(name, one);
    }
  }

  /** What an operator does who still has the keys. */
  loadKeysByHand(): void {
    for (const { key } of this.things.values()) if (key) key.loaded = true;
    for (const [name, one] of this.things) this.#renewNode(name, one);
  }

  ask(argv: readonly string[]): Promise<Answer> {
    try {
      return Promise.resolve({ argv, status: 0, stderr: "", stdout: this.#answer(argv) });
    } catch (error) {
      if (!(error instanceof Failed)) return Promise.reject(error);
      return Promise.resolve({
        argv,
        status: 1,
        stderr: error.message === "" ? "" : `${error.message}\n`,
        stdout: "",
      });
    }
  }

  #answer(argv: readonly string[]): string {
    const line = commandLine(argv);
    const name = argv.at(-1) ?? "";
    const marks = "createtxg,clones,userrefs,org.storage-lab:owner,org.storage-lab:on-delete";
    const columns = `-o name,property,value,source ${marks} ${name}`;
    if (line === `zfs get -Hp -o property,value,source all ${name}`) {
      return this.#properties(name)
        .map((row) => `${row.join("\t")}\n`)
        .join("");
    }
    if (line === `zfs get -Hp -d 1 -t snapshot ${columns}`) {
      this.#the(name);
      return this.#table(
        [...this.things.keys()].filter((n) => n.startsWith(`${name}@`)),
        marks,
      );
    }
    if (line === `zfs get -Hp -r -t filesystem,volume,snapshot ${columns}`) {
      this.#the(name);
      const below = (n: string): boolean =>
        n === name || n.startsWith(`${name}/`) || n.startsWith(`${name}@`);
      return this.#table([...this.things.keys()].filter(below), marks);
    }
    if (line === `zfs list -H -d 1 -t filesystem,volume -o name ${name}`) {
      this.#the(name);
      return [name, ...this.#children(name)].map((n) => `${n}\n`).join("");
    }
    if (line === `zfs holds -Hp ${name}`)
      return [...this.#the(name).holds].map((tag) => `${name}\t${tag}\t1796052147\n`).join("");
    if (line === `test -b ${name}`) return this.nodes.has(name) ? "" : fail("");
    if (line === "zpool status -P")
      return recorded("zpool-status--raidz1--zfs-2.3.9").replaceAll("rz", "tank");
    if (line === "zpool get -Hp -o property,value,source all tank")
      return recorded("zpool-get--two-mirrors--zfs-2.3.9");
    if (argv[0] === "find" && argv[1] === keysFolder) return this.#hashes(argv);
    if (line.startsWith("grep -aHZ ''")) {
      return argv
        .slice(3)
        .filter((path) => this.files.has(path))
        .flatMap((path) =>
          (this.files.get(path) ?? "")
            .trimEnd()
            .split("\n")
            .map((l) => `${path}\0${l}\n`),
        )
        .join("");
    }
    throw new Error(`the simulated host knows no question: ${line}`);
  }

  #hashes(argv: readonly string[]): string {
    const pattern = (argv[argv.indexOf("-name") + 1] ?? "").replace(/\*$/, "");
    const wanted = `find ${keysFolder} -maxdepth 1 -type f -name '${pattern}*' -exec sha256sum '{}' +`;
    if (commandLine(argv) !== wanted) throw new Error(`unknown find: ${commandLine(argv)}`);
    const all = [...this.files].filter(([path]) => path.startsWith(`${keysFolder}/`));
    if (all.length === 0) return fail(`find: '${keysFolder}': No such file or directory`);
    return all
      .filter(([path]) => path.startsWith(`${keysFolder}/${pattern}`))
      .map(([path, text]) => `${hash(text)}  ${path}\n`)
      .join("");
  }

  #the(name: string): Thing {
    return this.things.get(name) ?? fail(`cannot open '${name}': dataset does not exist`);
  }

  #children(name: string): string[] {
    return [...this.things.keys()].filter(
      (n) => n.startsWith(`${name}/`) && !/[/@]/.test(n.slice(name.length + 1)),
    );
  }

  #clones(name: string): string[] {
    return [...this.things].filter(([, { origin }]) => origin === name).map(([n]) => n);
  }

  /** The dataset whose key encrypts this one. */
  #root(name: string): string | undefined {
    const [dataset = ""] = name.split("@");
    const one = this.things.get(dataset);
    if (one?.key) return dataset;
    if (one?.origin) return this.#root(one.origin);
    return dataset.includes("/") ? this.#root(dataset.slice(0, dataset.lastIndexOf("/"))) : undefined;
  }

  #locked(name: string): boolean {
    const root = this.#root(name);
    return root !== undefined && this.things.get(root)?.key?.loaded === false;
  }

  /** Value and source of one property, inheritance included. */
  #value(name: string, property: string): [string, string] {
    const one = this.#the(name);
    const own = one.local.get(property);
    if (own !== undefined) return [own, "local"];
    const up = name.split(/[/@](?=[^/@]*$)/)[0] ?? "";
    if (property === "mountpoint" && up !== name && this.things.get(up)?.kind === "filesystem") {
      const [value, source] = this.#value(up, "mountpoint");
      const below = value.startsWith("/") ? `${value}/${name.slice(up.length + 1)}` : value;
      return [below, source === "local" ? `inherited from ${up}` : source];
    }
    if (property === "mountpoint") return [`/${name}`, "default"];
    if (
      up !== name &&
      !notInherited.test(property) &&
      (property.includes(":") || templates[one.kind].has(property))
    ) {
      const [value, source] = this.#value(up, property);
      if (source === "local") return [value, `inherited from ${up}`];
      if (source.startsWith("inherited")) return [value, source];
    }
    const [value, source] = templates[one.kind].get(property) ?? ["-", "-"];
    return [value, source];
  }

  #properties(name: string): [string, string, string][] {
    const one = this.#the(name);
    const root = this.#root(name);
    const key = root === undefined ? undefined : this.things.get(root)?.key;
    const clones = this.#clones(name).join(",");
    const fixed: Record<string, [string, string]> = {
      type: [one.kind, "-"],
      createtxg: [`${one.txg}`, "-"],
      guid: [`${one.txg}00`, "-"],
      ...(one.origin !== undefined && { origin: [one.origin, "-"] }),
      ...(clones !== "" && { clones: [clones, "-"] }),
      ...(one.kind === "snapshot" && { userrefs: [`${one.holds.size}`, "-"] }),
      ...(one.kind === "filesystem" && { mounted: [one.mounted ? "yes" : "no", "-"] }),
      encryption: key === undefined ? ["off", "default"] : [key.cipher, "-"],
      ...(key !== undefined && {
        encryptionroot: [root ?? "-", "-"],
        keystatus: [key.loaded ? "available" : "unavailable", "-"],
        keyformat: [key.format, "-"],
      }),
      ...(key === undefined && one.kind !== "snapshot" && { keyformat: ["none", "default"] }),
      ...(root !== name && one.kind !== "snapshot" && { keylocation: ["none", "default"] }),
    };
    const users = new Set<string>();
    for (const n of [name, ...ancestors(name)])
      for (const p of this.things.get(n)?.local.keys() ?? []) if (p.includes(":")) users.add(p);
    const names = new Set([
      ...templates[one.kind].keys(),
      ...Object.keys(fixed),
      ...one.local.keys(),
      ...users,
    ]);
    return [...names].map((p) => [p, ...(fixed[p] ?? this.#value(name, p))]);
  }

  #table(names: readonly string[], properties: string): string {
    return names
      .flatMap((name) => {
        const have = new Map(this.#properties(name).map(([p, value, source]) => [p, [value, source]]));
        return properties
          .split(",")
          .map((p) => `${[name, p, ...(have.get(p)?.[0] ? (have.get(p) ?? []) : ["-", "-"])].join("\t")}\n`);
      })
      .join("");
  }

  #run(step: Step): void {
    if ("file" in step) {
      if (step.file.startsWith(keysFolder) && (step.mode !== "600" || step.secret !== true))
        throw new Error("a key file that others can read");
      this.files.set(
        step.file,
        step.base64 ? Buffer.from(step.text, "base64").toString("latin1") : step.text,
      );
      return;
    }
    if ("until" in step) {
      const [program] = step.until;
      const path = step.until[program === "sh" ? 4 : 2] ?? "";
      if (!this.nodes.has(path)) throw new Error(`never so: ${commandLine(step.until)}`);
      if (program !== "sh") return;
      const [size] = this.#value(path.slice("/dev/zvol/".length), "volsize");
      if (step.until[5] !== size) throw new Error(`${path} has ${size}, waited for ${step.until[5]}`);
      return;
    }
    if (!("argv" in step)) throw new Error("the simulated host has no attributes");
    const { argv, stdin = "" } = step;
    if (stdin !== "" && argv[1] !== "-s" && step.secret !== true) throw new Error("a key that is shown");
    this.#program(argv, stdin);
  }

  #program(argv: readonly string[], stdin: string): void {
    const [program, flag, script = ""] = argv;
    if (program === "zfs") {
      this.#zfs(argv.slice(1), stdin);
      return;
    }
    if (program === "rm" && flag === "-f") {
      for (const path of argv.slice(2)) this.files.delete(path);
      return;
    }
    if (program === "ln" && flag === "-sfn") {
      this.files.set(argv[3] ?? "", this.files.get(argv[2] ?? "") ?? "");
      return;
    }
    if (program === "sh" && flag === "-s") {
      this.#zfs(argv.slice(6), "");
      return;
    }
    if (program === "sh" && flag === "-c") {
      const raw = script.startsWith("base64 -d | zfs");
      if (raw || script.startsWith('zfs "$@"')) {
        this.#zfs(argv.slice(4), raw ? Buffer.from(stdin, "base64").toString("latin1") : stdin);
        return;
      }
      if (script.startsWith("folder=$1 unit=$2")) {
        const [folder = "", unit = "", link = "", ...old] = argv.slice(4);
        const keys = [...this.files.keys()].filter((path) => path.startsWith(`${folder}/`));
        if (keys.every((path) => old.includes(path))) old.push(unit, link);
        for (const path of old) this.files.delete(path);
        return;
      }
      if (script.includes("zfs mount")) {
        const name = argv[4] ?? "";
        const one = this.#the(name);
        if (!one.mounted && !this.#mountable(name, one)) fail(`cannot mount '${name}'`);
        one.mounted = true;
        return;
      }
    }
    throw new Error(`the simulated host knows no program: ${commandLine(argv)}`);
  }

  #zfs([verb = "", ...args]: readonly string[], stdin: string): void {
    const name = args.at(-1) ?? "";
    const options = new Map(args.flatMap((word, n) => (args[n - 1] === "-o" ? [split(word)] : [])));
    const bare = args.filter((word, n) => word !== "-o" && args[n - 1] !== "-o");
    const words = bare.slice(0, -1).join(" ");
    if (verb === "create") {
      this.#create(name, words, options, stdin);
      return;
    }
    if (verb === "clone" && bare.length === 2) {
      this.#clone(bare[0] ?? "", name, options);
      return;
    }
    if (verb === "snapshot" && (words === "" || words === "-r")) {
      this.#snapshot(name, words === "-r", options);
      return;
    }
    if (verb === "destroy" && words === "" && options.size === 0) {
      this.#destroy(name);
      return;
    }
    if (verb === "set") {
      for (const word of bare.slice(0, -1)) this.#set(name, ...split(word));
      return;
    }
    if ((verb === "hold" || verb === "release") && bare.length === 2) {
      const { holds } = this.#the(name);
      if (holds.has(words) === (verb === "hold")) fail(`cannot ${verb} '${name}' by ${words}`);
      if (verb === "hold") holds.add(words);
      else holds.delete(words);
      return;
    }
    if (verb === "load-key" && words === "-L prompt") {
      this.#loadKey(name, stdin);
      return;
    }
    if (verb === "load-key" && words === "-n -L prompt") {
      this.#checkKey(name, stdin);
      return;
    }
    if (verb === "load-key" && words === "") {
      this.#loadKey(name, this.#keyFile(this.#the(name).local.get("keylocation") ?? ""));
      return;
    }
    if (verb === "change-key" && words === "") {
      this.#changeKey(name, options, stdin);
      return;
    }
    throw new Error(`the simulated host knows no command: zfs ${commandLine([verb, ...args])}`);
  }

  #create(name: string, words: string, options: Map<string, string>, stdin: string): void {
    const size = /^(?:-s )?-V (\d+)$/.exec(words)?.[1];
    if (size === undefined && words !== "")
      throw new Error(`the simulated host knows no zfs create ${words}`);
    this.#free(name);
    const one = thing(size === undefined ? "filesystem" : "volume", this.#next());
    const [cipher, format] = [options.get("encryption"), options.get("keyformat")];
    if (cipher !== undefined && cipher !== "off") {
      const location = options.get("keylocation") ?? "";
      const bytes = keyBytes(location === "prompt" ? stdin : this.#keyFile(location), format ?? "");
      one.key = { bytes, format: format ?? "", cipher, loaded: true };
    } else if (this.#root(name) !== undefined && this.#locked(name)) fail("permission denied");
    this.things.set(name, one);
    for (const [property, value] of options)
      if (!readonlyProperties.test(property)) this.#set(name, property, value);
    if (size !== undefined) {
      const block = options.get("volblocksize") ?? "16384";
      if (BigInt(size) % BigInt(block) !== 0n) fail("volume size must be a multiple of volume block size");
      one.local.set("volsize", size);
      one.local.set("volblocksize", block);
      if (!words.startsWith("-s")) one.local.set("refreservation", `${BigInt(size) + 1048576n}`);
    }
    one.mounted = this.#mountable(name, one);
    this.#renewNode(name, one);
  }

  #clone(origin: string, name: string, options: Map<string, string>): void {
    this.#the(origin);
    this.#free(name);
    const of = this.#the(origin.split("@")[0] ?? "");
    const one: Thing = { ...thing(of.kind, this.#next()), origin };
    for (const property of ["volsize", "volblocksize"]) {
      const value = of.local.get(property);
      if (value !== undefined) one.local.set(property, value);
    }
    this.things.set(name, one);
    for (const [property, value] of options) this.#set(name, property, value);
    one.mounted = this.#mountable(name, one);
    this.#renewNode(name, one);
  }

  #snapshot(name: string, recursive: boolean, options: Map<string, string>): void {
    const [dataset = "", label = ""] = name.split("@");
    this.#the(dataset);
    const below = [...this.things].filter(
      ([n, { kind }]) => kind !== "snapshot" && n.startsWith(`${dataset}/`),
    );
    const names = [dataset, ...(recursive ? below.map(([n]) => n) : [])].map((n) => `${n}@${label}`);
    for (const n of names)
      if (this.things.has(n)) fail(`cannot create snapshot '${n}': dataset already exists`);
    const txg = this.#next();
    for (const n of names) this.things.set(n, { ...thing("snapshot", txg), local: new Map(options) });
  }

  #destroy(name: string): void {
    const one = this.#the(name);
    const below = [...this.things.keys()].filter((n) => n.startsWith(`${name}/`) || n.startsWith(`${name}@`));
    if (below.length > 0) fail(`cannot destroy '${name}': it has children: ${below.join(", ")}`);
    if (this.#clones(name).length > 0) fail(`cannot destroy '${name}': snapshot has dependent clones`);
    if (one.holds.size > 0) fail(`cannot destroy snapshot ${name}: it's being held`);
    this.things.delete(name);
    this.nodes.delete(`/dev/zvol/${name}`);
  }

  #set(name: string, property: string, value: string): void {
    const one = this.#the(name);
    if (readonlyProperties.test(property))
      fail(`cannot set property for '${name}': '${property}' is readonly`);
    const known = templates[one.kind].has(property) || property.includes(":");
    if (!known || (property === "keylocation" && one.key === undefined))
      fail(`cannot set property for '${name}': ${property} does not apply`);
    if (property === "volsize") {
      if (this.#locked(name)) fail(`cannot set property for '${name}': permission denied`);
      if (BigInt(value) < BigInt(one.local.get("volsize") ?? "0")) throw new Error("a volume shrinks");
      const reserved = one.local.get("refreservation");
      if (reserved !== undefined && reserved !== "0")
        one.local.set("refreservation", `${BigInt(value) + 1048576n}`);
    }
    const auto = property === "refreservation" && value === "auto";
    const bytes = auto ? `${BigInt(one.local.get("volsize") ?? "0") + 1048576n}` : value;
    one.local.set(property, canonical[`${property}=${value}`] ?? bytes);
    if (property === "mountpoint" || property === "canmount") {
      if (!this.#mountable(name, one)) one.mounted = false;
    }
    if (property === "volmode") this.#renewNode(name, one);
  }

  #mountable(name: string, one: Thing): boolean {
    if (one.kind !== "filesystem" || this.#locked(name)) return false;
    return this.#value(name, "mountpoint")[0].startsWith("/") && (one.local.get("canmount") ?? "on") === "on";
  }

  #renewNode(name: string, one: Thing): void {
    const visible =
      one.kind === "volume" && this.#value(name, "volmode")[0] !== "none" && !this.#locked(name);
    if (visible) this.nodes.add(`/dev/zvol/${name}`);
    else this.nodes.delete(`/dev/zvol/${name}`);
  }

  #keyFile(location: string): string {
    return this.files.get(location.replace(/^file:\/\//, "")) ?? fail("Failed to open key material file");
  }

  #rootKey(name: string): NonNullable<Thing["key"]> {
    return this.#the(name).key ?? fail(`${name} is no encryption root`);
  }

  #checkKey(name: string, material: string): void {
    const key = this.#rootKey(name);
    if (keyBytes(material, key.format) !== key.bytes)
      fail(`Key load error: Incorrect key provided for '${name}'.`);
  }

  #loadKey(name: string, material: string): void {
    this.#checkKey(name, material);
    const one = this.#the(name);
    if (one.key?.loaded) fail(`Key load error: Key already loaded for '${name}'.`);
    if (one.key) one.key.loaded = true;
    for (const [n, other] of this.things) this.#renewNode(n, other);
  }

  #changeKey(name: string, options: Map<string, string>, stdin: string): void {
    const { local } = this.#the(name);
    const key = this.#rootKey(name);
    if (!key.loaded) fail("Key change error: Key must be loaded.");
    const [location, format] = [options.get("keylocation") ?? "", options.get("keyformat") ?? ""];
    if (options.size !== 2) throw new Error("zfs change-key with other options");
    key.bytes = keyBytes(location === "prompt" ? stdin : this.#keyFile(location), format);
    key.format = format;
    local.set("keylocation", location);
  }

  #free(name: string): void {
    if (this.things.has(name)) fail(`cannot create '${name}': dataset already exists`);
    this.#the(name.slice(0, name.lastIndexOf("/")));
  }

  #next(): number {
    this.#txg += 1;
    return this.#txg;
  }
}

const thing = (kind: Kind, txg: number): Thing => ({
  kind,
  local: new Map(),
  txg,
  mounted: kind === "filesystem",
  holds: new Set(),
});

const ancestors = (name: string): string[] => {
  const up = name.split(/[/@](?=[^/@]*$)/)[0] ?? "";
  return up === name ? [] : [up, ...ancestors(up)];
};

function split(word: string): [string, string] {
  const at = word.indexOf("=");
  return [word.slice(0, at), word.slice(at + 1)];
}

/** The key in its material, by ZFS's rules for its format. */
function keyBytes(material: string, format: string): string {
  if (format === "raw") return material.length === 32 ? material : fail("Raw key too short or too long");
  const text = material.replace(/\n$/, "");
  if (format === "hex") return /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : fail("Invalid hex key");
  return text.length >= 8 ? text : fail("Passphrase too short (min 8).");
}
