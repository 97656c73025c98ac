import { commandLine } from "../../../provider/shell.ts";
import { Refused, type Result, SimulatedHost } from "./tree.ts";

/**
 * A host with disks and ZFS pools, as much of it as zfs:Pool uses: it answers in the programs' own format, carries out
 * a plan's steps, and refuses what ZFS refuses (or would do with -f only).
 */

const MiB = 1024 ** 2;
const metaslabShift = 25;

type Label = { state: number; txg: number; guid: string; pool?: string; comment?: string; asize?: number };
type Disk = {
  id: string;
  kname: string;
  size: number;
  label: Label | undefined;
  parted: boolean;
  foreign: string | undefined;
};
type Member = { disk: string; old?: string; offline?: true };
type Vdev = {
  role: string;
  kind: string;
  number: number;
  members: Member[];
  asize: number;
  removing?: true;
};
export type Pool = {
  name: string;
  guid: string;
  vdevs: Vdev[];
  next: number;
  properties: Map<string, [value: string, source: string]>;
  root: Map<string, [value: string, source: string]>;
  resilver: boolean;
  widened: Vdev | undefined;
};

const part = (kname: string): string => `${kname}1`;
const zfsParts = ["6a898cc3-1dd2-11b2-99a6-080020736631", "6a945a3b-1dd2-11b2-99a6-080020736631"];
const sections = ["data", "dedup", "special", "logs", "cache", "spares"];
const sectionOf = (role: string): string => ({ log: "logs", spare: "spares" })[role] ?? role;
const parityOf = (kind: string): number => Number(/^(?:raidz|draid)(\d)/.exec(kind)?.[1] ?? 0);
const refuse = (message: string): never => {
  throw new Refused(message);
};

export class SimulatedZpool extends SimulatedHost {
  readonly disks: Disk[];
  readonly pools = new Map<string, Pool>();
  readonly exported = new Map<string, Pool>();
  #guid = 1000;

  constructor(sizes: readonly number[]) {
    super();
    this.disks = sizes.map((MiBs, n) => ({
      id: `D${n + 1}`,
      kname: `/dev/vd${"bcdefghijklmnop"[n]}`,
      size: MiBs * MiB,
      label: undefined,
      parted: false,
      foreign: undefined,
    }));
  }

  /** Time passes: what ZFS does by itself ends. */
  settle(name: string): void {
    const pool = this.#pool(name);
    this.#resilvered(pool);
    this.#widened(pool);
    this.#removed(pool);
  }

  #resilvered(pool: Pool): void {
    pool.resilver = false;
    for (const member of pool.vdevs.flatMap(({ members }) => members)) {
      if (member.old !== undefined) this.#giveUp(pool, member.old);
      delete member.old;
    }
  }
  #widened(pool: Pool): void {
    const { widened } = pool;
    if (widened !== undefined) widened.asize *= widened.members.length / (widened.members.length - 1);
    pool.widened = undefined;
    this.#labels(pool);
  }
  #removed(pool: Pool): void {
    for (const vdev of pool.vdevs.filter(({ removing }) => removing)) this.#drop(pool, vdev);
  }

  // --- What programs print ---

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    const [program, ...args] = argv;
    const last = args.at(-1) ?? "";
    if (line === "udevadm settle --timeout=30") return { status: 0 };
    if (line === "cat /sys/module/zfs/version") return { status: 0, stdout: "2.3.9-1\n" };
    if (program === "lsblk" && /^lsblk -J -b -p -o \S+,PHY-SEC,LOG-SEC$/.test(line)) return ok(this.#lsblk());
    if (program === "readlink" && args[0] === "-m" && args.length > 1)
      return ok(
        args
          .slice(1)
          .map((path) => `${this.#target(path)}\n`)
          .join(""),
      );
    if (program === "cat" && args.length === 1) {
      const text = this.text(last);
      const missing = { status: 1, stderr: `cat: ${last}: No such file or directory\n` };
      return text === undefined ? missing : ok(text);
    }
    if (line === "zpool status -P") return ok(this.#status());
    if (line === `zpool get -Hp -o property,value,source all ${last}`)
      return this.#get(
        last,
        ({ properties }) => properties,
        `Cannot get properties of ${last}: no such pool available.`,
      );
    if (line === `zfs get -Hp -o property,value,source all ${last}`)
      return this.#get(last, ({ root }) => root, `cannot open '${last}': dataset does not exist`);
    if (line === `zfs get -Hp -r -t all -o name,value,source org.storage-lab:on-delete ${last}`) {
      const absent = { status: 1, stderr: `cannot open '${last}': dataset does not exist\n` };
      return this.pools.has(last) ? ok(`${last}\t-\t-\n`) : absent;
    }
    if (line === "zpool import") return ok(this.#importable());
    if (line === `wipefs -J -n ${last}`) return ok(this.#signatures(this.#disk(last)));
    if (line === `zdb -l ${last}`) return this.#zdb(last);
    throw new Error(`the simulated host does not know: ${line}`);
  }

  #lsblk(): string {
    const rest = { ro: false, label: null, mountpoint: null, "phy-sec": 512, "log-sec": 512 };
    const blockdevices = this.disks.map(({ kname, size, parted, label, foreign }) => ({
      ...{ kname, name: kname, type: "disk", size, ...rest, parttype: null },
      fstype: foreign ?? null,
      pttype: parted ? "gpt" : null,
      ...(parted && {
        children: [1, 9].map((n, index) => ({
          ...{ kname: `${kname}${n}`, name: `${kname}${n}`, type: "part", ...rest, pttype: "gpt" },
          size: n === 9 ? 8 * MiB : size - 9 * MiB,
          fstype: n === 1 && label !== undefined ? "zfs_member" : null,
          parttype: zfsParts[index],
        })),
      }),
    }));
    return JSON.stringify({ blockdevices });
  }

  #signatures({ foreign, parted }: Disk): string {
    const types = foreign !== undefined ? [foreign] : parted ? ["gpt", "gpt", "PMBR"] : [];
    const signatures = types.map((type) => ({ device: "x", offset: "0x0", type, uuid: null, label: null }));
    return signatures.length === 0 ? "" : JSON.stringify({ signatures });
  }

  #zdb(device: string): Result {
    const disk = this.disks.find(({ kname }) => part(kname) === device);
    const label = disk?.label;
    if (label === undefined) {
      const stdout = [0, 1, 2, 3].map((n) => `failed to unpack label ${n}\n`).join("");
      return { status: 2, stdout };
    }
    const lines = [
      "version: 5000",
      ...(label.pool === undefined ? [] : [`name: '${label.pool}'`]),
      `state: ${label.state}`,
      ...(label.state < 3 ? [`txg: ${label.txg}`] : []),
      ...(label.state === 3 ? [] : [`pool_guid: ${label.guid}`]),
      ...(label.comment === undefined ? [] : [`comment: '${label.comment}'`]),
      ...(label.asize === undefined ? [] : ["vdev_tree:", ...this.#tree(device, label.asize)]),
    ];
    return ok(
      `${"-".repeat(36)}\nLABEL 0 \n${"-".repeat(36)}\n${lines.map((line) => `    ${line}\n`).join("")}`,
    );
  }
  #tree(device: string, asize: number): string[] {
    const kind = [...this.pools.values()]
      .flatMap(({ vdevs }) => vdevs)
      .find(({ members }) => members.some(({ disk }) => part(this.#disk(disk).kname) === device))?.kind;
    const fields = [`type: '${(kind ?? "disk").replace(/\d.*/, "")}'`, `metaslab_shift: ${metaslabShift}`];
    return [...fields, `asize: ${asize}`].map((field) => `    ${field}`);
  }

  #status(): string {
    const pools = [...this.pools.values()].map((pool) => {
      const scan = pool.resilver
        ? "  scan: resilver in progress since Mon\n\t1M / 2M scanned\n\t0B resilvered, 50.00% done, 00:01:00 to go\n"
        : "";
      const removes = pool.vdevs.some(({ removing }) => removing);
      const remove = removes
        ? "remove: Evacuation of mirror in progress since Mon\n\t44K copied out of 20.6M at 44K/s, 0.21% done, 0h7m to go\n"
        : "";
      const expand = pool.widened
        ? "expand: expansion of raidz1-0 in progress since Mon\n\t1 / 45.8M copied at 1/s, 0.00% done, (copy is slow, no estimated time)\n"
        : "";
      const config = sections.flatMap((section) => {
        const vdevs = pool.vdevs.filter(({ role }) => sectionOf(role) === section);
        if (vdevs.length === 0) return [];
        return [
          ...(section === "data" ? [] : [`${section}\t`]),
          ...vdevs.flatMap((vdev) => this.#lines(vdev)),
        ];
      });
      const tree = [
        "NAME  STATE     READ WRITE CKSUM",
        `${pool.name}  ONLINE       0     0     0`,
        ...config,
      ];
      return `  pool: ${pool.name}\n state: ONLINE\n${scan}${remove}${expand}config:\n\n${tree.map((line) => `\t${line}\n`).join("")}\nerrors: No known data errors\n`;
    });
    return pools.length === 0 ? "no pools available\n" : pools.join("\n");
  }
  #lines({ role, kind, number, members, removing }: Vdev): string[] {
    const state = (word: string, note = "") => `${word}       0     0     0${note}`;
    const alone = kind === "stripe";
    const [indent, mark] = [alone ? "  " : "    ", removing ? "  (removing)" : ""];
    const disks = members.flatMap(({ disk, old, offline }, n) => {
      const shown = (id: string) => `/dev/disk/by-id/${id}-part1`;
      const word = offline ? "OFFLINE" : role === "spare" ? "AVAIL" : "ONLINE";
      const note = alone ? mark : "";
      if (old === undefined)
        return [`${indent}${shown(disk)}  ${role === "spare" ? "AVAIL   " : state(word, note)}`];
      return [
        `${indent}replacing-${n}  ${state("ONLINE")}`,
        ...[old, disk].map((id) => `${indent}  ${shown(id)}  ${state("ONLINE")}`),
      ];
    });
    return alone ? disks : [`  ${kind}-${number}  ${state("ONLINE", mark)}`, ...disks];
  }

  #get(name: string, of: (pool: Pool) => Pool["properties"], absent: string): Result {
    const pool = this.pools.get(name);
    if (pool === undefined) return { status: 1, stderr: `${absent}\n` };
    return ok([...of(pool)].map(([key, [value, source]]) => `${key}\t${value}\t${source}\n`).join(""));
  }

  #importable(): string {
    const pools = [...this.exported.values()].map(({ name, guid, properties }) => {
      const comment = properties.get("comment")?.[0];
      return `   pool: ${name}\n     id: ${guid}\n  state: ONLINE\n action: The pool can be imported.\n${comment === "-" ? "" : `comment: ${comment}\n`} config:\n\n\t${name}  ONLINE\n`;
    });
    return pools.length === 0 ? "no pools available to import\n" : pools.join("\n");
  }

  // --- What steps do ---

  set(attribute: string): void {
    throw new Error(`the simulated host has no attribute ${attribute}`);
  }

  override holds(argv: readonly string[]): boolean {
    const [program, ...args] = argv;
    const line = commandLine(argv);
    if (line === "udevadm settle --timeout=5") return true;
    if (program === "ls" && args[0] === "-L")
      return args.slice(1).every((path) => this.#target(path) !== path);
    if (program === "test") {
      const paths = args.filter((word) => word.startsWith("/"));
      return paths.every((path) => !this.#disk(path.replace(/-part1$/, "")).parted);
    }
    const [, what, name = ""] = /^timeout 5 zpool wait -t (\S+) (\S+)$/.exec(line) ?? [];
    const pool = this.#pool(name);
    if (what === "resilver") this.#resilvered(pool);
    else if (what === "raidz_expand") this.#widened(pool);
    else if (what === "remove") this.#removed(pool);
    else throw new Error(`the simulated host knows no condition ${line}`);
    return true;
  }

  run(argv: readonly string[]): void {
    const [program, ...args] = argv;
    const [first = "", second = "", third = "", ...rest] = args;
    const line = commandLine(argv);
    if (program === "flock" && first === "-s") {
      this.#disk(second);
      this.run(args.slice(2));
    } else if (program === "sh" && line.startsWith("sh -s -- 60 /dev/zvol/")) this.run(args.slice(4));
    else if (program === "rm" && first === "-f" && args.length === 2) this.remove(second);
    else if (program === "wipefs" && line.startsWith("wipefs -q -a ")) this.#wipe(args.slice(2));
    else if (program === "zfs" && first === "set" && args.length > 2) {
      const pool = this.#pool(args.at(-1) ?? "");
      for (const word of args.slice(1, -1)) set(pool.root, word);
    } else if (program !== "zpool") throw new Error(`the simulated host does not know: ${line}`);
    else if (first === "labelclear" && second === "-f") this.#diskOfPart(third).label = undefined;
    else if (first === "create") this.#create(args.slice(1));
    else if (first === "import") this.#import(args.at(-1) ?? "");
    else if (first === "set") set(this.#pool(third).properties, second);
    else if (first === "add") this.#add(args.slice(1));
    else if (first === "remove" && second === "-s") this.#stop(this.#pool(third));
    else if (first === "remove") for (const name of [third, ...rest]) this.#remove(this.#pool(second), name);
    else if (first === "replace") this.#replace(this.#pool(second), third, rest[0] ?? "");
    else if (first === "attach") this.#attach(this.#pool(second), third, rest[0] ?? "");
    else if (first === "detach" && args.length === 3) this.#detach(this.#pool(second), third);
    else if (first === "online" && second === "-e") this.#expand(this.#pool(third), rest);
    else if (first === "online" || first === "offline") this.#switch(this.#pool(second), third, first);
    else if (first === "export" && args.length === 2) this.#leave(second, 1);
    else if (first === "destroy" && args.length === 2) this.#leave(second, 2);
    else throw new Error(`the simulated host does not know: ${line}`);
  }

  #pool = (name: string): Pool => this.pools.get(name) ?? refuse(`cannot open '${name}': no such pool`);
  #disk(path: string): Disk {
    const id = path.replace("/dev/disk/by-id/", "");
    return (
      this.disks.find((disk) => disk.id === id || disk.kname === path) ?? refuse(`${path}: no such disk`)
    );
  }
  #diskOfPart = (device: string): Disk =>
    this.disks.find(({ kname }) => part(kname) === device) ?? refuse(`${device}: no such device`);
  #target(path: string): string {
    const [, id, partition] = /^\/dev\/disk\/by-id\/(.*?)(-part1)?$/.exec(path) ?? [];
    const disk = this.disks.find((other) => other.id === id);
    if (disk === undefined || (partition !== undefined && !disk.parted)) return path;
    return partition === undefined ? disk.kname : part(disk.kname);
  }

  /** Labels go with the partition that holds them. */
  #wipe(devices: readonly string[]): void {
    for (const device of devices) {
      const partition = this.disks.find(({ kname }) => device.startsWith(kname) && device !== kname);
      const disk = partition ?? this.#disk(device);
      if (this.#user(disk.id) !== undefined) refuse(`wipefs: ${device}: Device or resource busy`);
      disk.label = undefined;
      if (partition !== undefined) continue;
      disk.parted = false;
      disk.foreign = undefined;
    }
  }

  #user = (id: string): Pool | undefined =>
    [...this.pools.values()].find(({ vdevs }) =>
      vdevs.some(({ members }) => members.some(({ disk, old }) => disk === id || old === id)),
    );

  /** A blank disk: zpool -f is never given. */
  #take(path: string): Disk {
    const disk = this.#disk(path);
    if (this.#user(disk.id) !== undefined) refuse(`${path} is part of an active pool`);
    if (disk.foreign !== undefined || disk.label !== undefined || disk.parted) refuse(`${path} is not blank`);
    disk.parted = true;
    return disk;
  }

  #vdevs(pool: Pool, words: readonly string[]): void {
    let role = "data";
    let kind = "stripe";
    let open: string[] = [];
    const there = pool.vdevs.length;
    const close = () => {
      if (kind !== "stripe" && open.length > 0) this.#vdev(pool, there, role, kind, open);
      open = [];
    };
    for (const word of words) {
      if (["log", "cache", "special", "dedup", "spare"].includes(word)) {
        close();
        [role, kind] = [word, "stripe"];
      } else if (!word.startsWith("/")) {
        close();
        kind = word;
      } else if (kind === "stripe") this.#vdev(pool, there, role, kind, [word]);
      else open.push(word);
    }
    close();
  }

  /** `there`: how many vdevs the pool had when the command began. */
  #vdev(pool: Pool, there: number, role: string, kind: string, paths: readonly string[]): void {
    const disks = paths.map((path) => this.#take(path));
    const sizes = disks.map(({ size }) => size);
    if (kind !== "stripe" && Math.max(...sizes) - Math.min(...sizes) > 16 * MiB)
      refuse("devices of different sizes");
    const each = Math.min(...sizes) - 13 * MiB;
    const asize = kind === "mirror" || kind === "stripe" ? each : each * disks.length;
    const vdev: Vdev = {
      role,
      kind,
      number: pool.next,
      members: disks.map(({ id }) => ({ disk: id })),
      asize,
    };
    const counts = (one: { role: string }): boolean => ["data", "special", "dedup"].includes(one.role);
    const [first, ...others] = pool.vdevs.slice(0, there).filter(counts);
    // Where a pool's own vdevs differ from each other, zpool compares no new one with them (check_replication).
    const alike = first !== undefined && others.every((other) => asSafe(other, first));
    const like = [...(alike ? [first] : []), ...pool.vdevs.slice(there).filter(counts)].at(0);
    if (counts(vdev) && like !== undefined && !asSafe(vdev, like))
      refuse(`mismatched replication level: ${kind} and ${like.kind}`);
    pool.next += 1;
    pool.vdevs.push(vdev);
  }

  #create(words: readonly string[]): void {
    const name = words.findIndex((word, n) => !word.startsWith("-") && !/^-[oO]$/.test(words[n - 1] ?? ""));
    const guid = String(this.#guid++);
    const properties: Pool["properties"] = new Map([
      ...(["size", "health"] as const).map((key): [string, [string, string]] => [
        key,
        [key === "size" ? "1" : "ONLINE", "-"],
      ]),
      ["guid", [guid, "-"]],
      ["ashift", ["0", "default"]],
      ["comment", ["-", "default"]],
      ["expandsize", ["-", "-"]],
      ["autotrim", ["off", "default"]],
      ["feature@device_removal", ["enabled", "local"]],
      ["feature@raidz_expansion", ["disabled", "local"]],
    ]);
    const root: Pool["root"] = new Map([["compression", ["on", "default"]]]);
    for (const [n, word] of words.slice(0, name).entries()) {
      if (words[n - 1] === "-o") set(properties, word);
      if (words[n - 1] === "-O") set(root, word);
    }
    const pool: Pool = {
      ...{ name: words[name] ?? "", guid, vdevs: [], next: 0, properties, root },
      ...{ resilver: false, widened: undefined },
    };
    if (this.pools.has(pool.name)) refuse("pool already exists");
    this.#vdevs(pool, words.slice(name + 1));
    this.pools.set(pool.name, pool);
    this.#labels(pool);
  }

  #labels(pool: Pool): void {
    for (const vdev of pool.vdevs) {
      for (const { disk } of vdev.members) {
        const at = this.#disk(disk);
        const comment = pool.properties.get("comment")?.[0] ?? "-";
        const named = { pool: pool.name, ...(comment !== "-" && { comment }), asize: vdev.asize };
        const state = { cache: 4, spare: 3 }[vdev.role] ?? 0;
        at.label = { state, txg: 10, guid: pool.guid, ...(state === 0 && named) };
      }
    }
  }

  #add(args: readonly string[]): void {
    const words = args[0] === "-o" ? args.slice(2) : args;
    const pool = this.#pool(words[0] ?? "");
    this.#vdevs(pool, words.slice(1));
    this.#labels(pool);
  }

  #find(pool: Pool, shown: string): { vdev: Vdev; member: Member } {
    const id = shown.replace("/dev/disk/by-id/", "").replace(/-part1$/, "");
    for (const vdev of pool.vdevs) {
      const member = vdev.members.find(({ disk }) => disk === id);
      if (member !== undefined) return { vdev, member };
    }
    return refuse(`no such device in pool: ${shown}`);
  }

  /** What ZFS takes out of a pool bears a label of transaction group 0; a cache's and a spare's stay. */
  #giveUp(pool: Pool, id: string): void {
    const disk = this.#disk(id);
    if ((disk.label?.state ?? 0) > 2) return;
    disk.label = { state: 0, txg: 0, guid: pool.guid, pool: pool.name };
  }
  #drop(pool: Pool, vdev: Vdev): void {
    pool.vdevs.splice(pool.vdevs.indexOf(vdev), 1);
    for (const { disk } of vdev.members) this.#giveUp(pool, disk);
  }

  #remove(pool: Pool, name: string): void {
    const vdev =
      pool.vdevs.find(({ kind, number }) => `${kind}-${number}` === name) ?? this.#find(pool, name).vdev;
    if (["log", "cache", "spare"].includes(vdev.role)) {
      this.#drop(pool, vdev);
      return;
    }
    if (pool.vdevs.some(({ removing }) => removing)) refuse("removal in progress");
    if (pool.vdevs.some(({ kind }) => parityOf(kind) > 0)) refuse("invalid config; … not be raidz");
    if (pool.resilver) refuse("invalid config: resilver");
    if (pool.vdevs.filter(({ role }) => role === "data").every((other) => other === vdev))
      refuse("out of space");
    vdev.removing = true;
  }
  #stop(pool: Pool): void {
    if (!pool.vdevs.some(({ removing }) => removing)) refuse("no removal in progress");
    for (const vdev of pool.vdevs) delete vdev.removing;
  }

  #replace(pool: Pool, old: string, path: string): void {
    const { vdev, member } = this.#find(pool, old);
    if (vdev.removing || ["cache", "spare"].includes(vdev.role) || member.old)
      refuse(`cannot replace ${old}`);
    const disk = this.#take(path);
    if (disk.size < this.#room(vdev)) refuse("device is too small");
    Object.assign(member, { disk: disk.id, old: member.disk });
    delete member.offline;
    pool.resilver = true;
    this.#labels(pool);
  }
  /** What each disk of a vdev holds at least. */
  #room = ({ kind, asize, members }: Vdev): number =>
    (kind === "mirror" || kind === "stripe" ? asize : asize / members.length) + 13 * MiB;

  #attach(pool: Pool, to: string, path: string): void {
    const raidz = pool.vdevs.find(({ kind, number }) => `${kind}-${number}` === to);
    const vdev = raidz ?? this.#find(pool, to).vdev;
    const parity = parityOf(vdev.kind) > 0;
    if (parity !== (raidz !== undefined)) refuse("can only attach to mirrors and top-level disks");
    if (raidz && pool.properties.get("feature@raidz_expansion")?.[0] !== "enabled")
      refuse("raidz_expansion feature");
    if (raidz && pool.widened) refuse("raidz expansion in progress");
    if (["cache", "spare"].includes(vdev.role)) refuse("can't attach");
    const disk = this.#take(path);
    if (disk.size < this.#room(vdev)) refuse("device is too small");
    vdev.members.push({ disk: disk.id });
    if (raidz) pool.widened = raidz;
    else {
      if (vdev.kind === "stripe") Object.assign(vdev, { kind: "mirror", number: pool.next++ });
      pool.resilver = true;
    }
    this.#labels(pool);
  }

  #detach(pool: Pool, shown: string): void {
    const { vdev, member } = this.#find(pool, shown);
    if (vdev.kind !== "mirror" || pool.resilver) refuse(`cannot detach ${shown}: no valid replicas`);
    if (vdev.members.every((other) => other === member || other.offline)) refuse("no valid replicas");
    vdev.members.splice(vdev.members.indexOf(member), 1);
    if (vdev.members.length === 1) vdev.kind = "stripe";
    this.#giveUp(pool, member.disk);
  }

  #switch(pool: Pool, shown: string, to: "online" | "offline"): void {
    const { vdev, member } = this.#find(pool, shown);
    const off = vdev.members.filter(({ offline }) => offline).length;
    const may = vdev.kind === "mirror" ? vdev.members.length - 1 : parityOf(vdev.kind);
    if (to === "offline" && off >= may) refuse("no valid replicas");
    if (to === "offline") member.offline = true;
    else delete member.offline;
  }

  #expand(pool: Pool, disks: readonly string[]): void {
    if (disks.some((path) => path.endsWith("-part1"))) refuse("unable to read disk capacity");
    for (const vdev of new Set(disks.map((path) => this.#find(pool, path).vdev))) {
      const olds = vdev.members.flatMap(({ disk, old }) => (old === undefined ? [disk] : [disk, old]));
      const each = Math.min(...olds.map((id) => this.#disk(id).size)) - 13 * MiB;
      const most = vdev.kind === "mirror" || vdev.kind === "stripe" ? each : each * vdev.members.length;
      vdev.asize = Math.max(vdev.asize, most);
    }
    this.#labels(pool);
  }

  #leave(name: string, state: 1 | 2): void {
    const pool = this.#pool(name);
    for (const { disk, old } of pool.vdevs.flatMap(({ members }) => members)) {
      for (const id of old === undefined ? [disk] : [disk, old]) {
        const at = this.#disk(id);
        if (at.label !== undefined && at.label.state < 3) at.label.state = state;
      }
    }
    this.pools.delete(name);
    if (state === 1) this.exported.set(pool.guid, pool);
  }

  #import(guid: string): void {
    const pool = this.exported.get(guid) ?? refuse(`no pool ${guid}`);
    this.exported.delete(guid);
    this.pools.set(pool.name, pool);
    this.#labels(pool);
  }
}

/** As zpool compares them. */
function asSafe(a: Vdev, b: Vdev): boolean {
  const losses = ({ kind, members }: Vdev) => (kind === "mirror" ? members.length - 1 : parityOf(kind));
  if (losses(a) !== losses(b)) return false;
  return a.kind !== b.kind || a.kind === "stripe" || a.members.length === b.members.length;
}

const ok = (stdout: string): Result => ({ status: 0, stdout });

function set(properties: Map<string, [string, string]>, assignment: string): void {
  const at = assignment.indexOf("=");
  properties.set(assignment.slice(0, at), [assignment.slice(at + 1), "local"]);
}
