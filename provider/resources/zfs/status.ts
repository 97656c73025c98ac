import { ParseError } from "../../errors.ts";

/**
 * What zpool-status(8) and zpool-import(8) print. The text form is the one that every version prints (JSON came
 * with 2.3, where it leaves out type and state of dRAID), so it is the only one read.
 */

export const roles = ["data", "log", "cache", "special", "dedup", "spare"] as const;
export type Role = (typeof roles)[number];
export const layouts = [
  ...(["stripe", "mirror", "raidz1", "raidz2", "raidz3"] as const),
  ...(["draid1", "draid2", "draid3"] as const),
] as const;
export type Layout = (typeof layouts)[number];

/** A top-level vdev. A single disk is a stripe of one; `name` is what `zpool remove` takes. */
export type TopLevelVdev = {
  role: Role;
  type: Layout;
  name: string;
  disks: string[];
  /** dRAID: data disks of a redundancy group, and distributed spares. */
  data?: number;
  spares?: number;
  /** The state of each disk that is not simply there: OFFLINE, UNAVAIL, FAULTED, REMOVED, DEGRADED. */
  states?: Record<string, string>;
  /** What zpool calls a disk of which it shows only where it was: its guid. */
  guids?: Record<string, string>;
  /** Disks that another one replaces; they leave when it is resilvered. */
  leaving?: string[];
  /** Hot spares that stand in for a disk, by that disk. */
  standIns?: Record<string, string>;
  /** `zpool remove` moves its data to the others. */
  removing?: true;
};
export type PoolStatus = {
  name: string;
  state: string;
  vdevs: TopLevelVdev[];
  /** What ZFS does by itself just now, and how far it is. */
  busy?: { resilver?: string; remove?: string; expand?: string };
  /** ZFS's advice, such as that not all features are enabled. */
  advice?: string;
};

const sections: Record<string, Role> = {
  logs: "log",
  cache: "cache",
  special: "special",
  dedup: "dedup",
  spares: "spare",
};
const keys = ["state", "status", "action", "see", "scan", "checkpoint", "remove", "expand", "errors"];

type Block = { name: string; config: string[]; said: Record<string, string> };

/** Output of `zpool status -P`: the imported pools. */
export function parsePoolStatus(text: string): PoolStatus[] {
  const pools: Block[] = [];
  let key = "";
  for (const line of text.split("\n")) {
    if (line === "" || line === "no pools available") continue;
    const match = /^ *([a-z]+):(?: (.*))?$/.exec(line);
    const pool = pools.at(-1);
    if (match?.[1] === "pool") {
      pools.push({ name: match[2] ?? "", config: [], said: {} });
      key = "pool";
    } else if (match && pool && (match[1] === "config" || keys.includes(match[1] ?? ""))) {
      key = match[1] ?? "";
      pool.said[key] = match[2] ?? "";
    } else if (pool && key === "config" && line.startsWith("\t")) {
      pool.config.push(line.slice(1));
    } else if (pool === undefined || key === "pool" || key === "config" || !/^\s/.test(line)) {
      throw new ParseError(`unknown line in zpool status: ${JSON.stringify(line)}`);
    } else pool.said[key] += ` ${line.trim()}`;
  }
  return pools.map(({ name, said, config }) => ({
    name,
    state: said.state ?? "",
    vdevs: markRemoval(parseConfig(config), said.remove ?? ""),
    ...busy(said),
    ...(said.status !== undefined && { advice: said.status }),
  }));
}

/** Sentences of zpool status on what is under way; the same keys tell of what has ended. */
const underWay = {
  // A sequential one says which vdev it is for.
  resilver: ["scan", /^resilver( \(.*\))? in progress/],
  remove: ["remove", /^Evacuation of .* in progress/],
  expand: ["expand", /^expansion of .* in progress/],
} as const;

function busy(said: Readonly<Record<string, string>>): Pick<PoolStatus, "busy"> {
  const found = Object.entries(underWay).flatMap(([what, [key, sign]]) => {
    const sentence = said[key] ?? "";
    return sign.test(sentence) ? [[what, progress(sentence)]] : [];
  });
  return found.length === 0 ? {} : { busy: Object.fromEntries(found) };
}

/**
 * Before 2.2, only the sentence tells which vdev is being removed: a disk by its path, all others by their kind, which
 * tells where there is one of that kind.
 */
function markRemoval(vdevs: TopLevelVdev[], said: string): TopLevelVdev[] {
  const what = /^Evacuation of (\S+) in progress/.exec(said)?.[1];
  if (what === undefined || vdevs.some(({ removing }) => removing)) return vdevs;
  const [vdev, another] = vdevs.filter(({ type, name }) => name === what || type === what);
  if (vdev !== undefined && another === undefined) vdev.removing = true;
  return vdevs;
}

/** "86.96% done, 00:10:00 to go" of a sentence of zpool status. */
const progress = (sentence: string): string => /[\d.]+% done.*$/.exec(sentence)?.[0] ?? "just begun";

type Entry = { name: string; state: string; was: string | undefined; line: string; children: Entry[] };

/** The tree below "config:", without its leading tab: two blanks deeper is one level down. */
function parseConfig(lines: readonly string[]): TopLevelVdev[] {
  const [header, pool, ...rest] = lines;
  if (header === undefined || !/^NAME +STATE/.test(header) || pool === undefined || pool.startsWith(" ")) {
    throw new ParseError(`zpool status shows no vdevs: ${JSON.stringify(lines.slice(0, 2))}`);
  }
  const root: Entry = { name: "", state: "", was: undefined, line: pool, children: [] };
  const open: Entry[] = [root];
  const vdevs: TopLevelVdev[] = [];
  let role: Role = "data";
  const close = () => vdevs.push(...root.children.splice(0).flatMap((entry) => topLevel(role, entry)));
  for (const line of rest) {
    const [, indent = "", name = "", state = ""] =
      /^((?: {2})*)(\S.*?)(?:\s+([A-Z]{4,})(?:\s.*)?)?\s*$/.exec(line) ?? fail(line);
    const depth = indent.length / 2;
    if (depth === 0) {
      close();
      role = sections[name] ?? fail(line);
      continue;
    }
    const entry: Entry = { name, state, was: /\swas (\/.*?)\s*$/.exec(line)?.[1], line, children: [] };
    (open[depth - 1] ?? fail(line)).children.push(entry);
    open.splice(depth, open.length, entry);
  }
  close();
  return vdevs;
}

/** A dRAID's distributed spares are listed as spares, but are a part of it: `draid2-0-0`. */
const distributedSpare = /^draid[123]-\d+-\d+$/;

function topLevel(role: Role, entry: Entry): TopLevelVdev[] {
  if (role === "spare" && distributedSpare.test(entry.name)) return [];
  const type = /^(mirror|raidz[123])-\d+$/.exec(entry.name)?.[1] as Layout | undefined;
  const draid = /^(draid[123]):(\d+)d:\d+c:(\d+)s-\d+$/.exec(entry.name);
  const children = type === undefined && draid === null ? [entry] : entry.children;
  const vdev: TopLevelVdev = {
    role,
    type: (draid?.[1] as Layout | undefined) ?? type ?? "stripe",
    name: entry.name,
    disks: [],
    ...(draid && { data: Number(draid[2]), spares: Number(draid[3]) }),
    ...(/\(removing\)\s*$/.test(entry.line) && { removing: true }),
  };
  for (const child of children) member(vdev, child);
  if (vdev.type === "stripe") vdev.name = vdev.guids?.[vdev.disks[0] ?? ""] ?? vdev.disks[0] ?? "";
  return [vdev];
}

/** Below replacing-N stands the old disk, then the new one; below spare-N the disk, then the spare in its place. */
function member(vdev: TopLevelVdev, entry: Entry): void {
  const [first, ...others] = entry.children;
  const last = others.at(-1);
  if (/^replacing-\d+$/.test(entry.name) && first && last) {
    for (const old of entry.children.slice(0, -1)) vdev.leaving = [...(vdev.leaving ?? []), ...paths(old)];
    member(vdev, last);
  } else if (/^spare-\d+$/.test(entry.name) && first && last) {
    member(vdev, first);
    const disk = vdev.disks.at(-1) ?? "";
    for (const spare of paths(last)) vdev.standIns = { ...vdev.standIns, [disk]: spare };
  } else {
    const path = entry.was ?? entry.name;
    if (!path.startsWith("/") || entry.children.length > 0) fail(entry.line);
    vdev.disks.push(path);
    if (entry.was !== undefined) vdev.guids = { ...vdev.guids, [path]: entry.name };
    if (!["ONLINE", "AVAIL", "INUSE"].includes(entry.state))
      vdev.states = { ...vdev.states, [path]: entry.state };
  }
}

/** The paths of an entry and of what is below it. */
function paths(entry: Entry): string[] {
  if (entry.children.length > 0) return entry.children.flatMap(paths);
  const path = entry.was ?? entry.name;
  return path.startsWith("/") ? [path] : distributedSpare.test(path) ? [] : fail(entry.line);
}

function fail(line: string): never {
  throw new ParseError(`unknown line in the vdevs of zpool status: ${JSON.stringify(line)}`);
}

/** A pool that is not imported here, as `zpool import` lists it. */
export type Importable = { name: string; guid: string; state: string; comment?: string; status?: string };

/** Output of `zpool import` without arguments. */
export function parseImportable(text: string): Importable[] {
  const pools: (Importable & { last?: "status" })[] = [];
  let key = "";
  for (const line of text.split("\n")) {
    if (line === "" || line === "no pools available to import") continue;
    const match = /^ *([a-z]+):(?: (.*))?$/.exec(line);
    const [, name = "", value = ""] = match ?? [];
    const pool = pools.at(-1);
    if (name === "pool") pools.push({ name: value, guid: "", state: "" });
    else if (pool === undefined)
      throw new ParseError(`unknown line in zpool import: ${JSON.stringify(line)}`);
    else if (name === "id") pool.guid = value;
    else if (name === "state") pool.state = value;
    else if (name === "comment") pool.comment = value;
    else if (name === "status") pool.status = value;
    else if (match === null && key === "status") pool.status = `${pool.status} ${line.trim()}`;
    else if (match === null ? !/^\s/.test(line) : !["action", "see", "config"].includes(name)) {
      throw new ParseError(`unknown line in zpool import: ${JSON.stringify(line)}`);
    }
    if (match !== null) key = name;
  }
  return pools;
}
