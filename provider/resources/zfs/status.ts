import { ParseError } from "../../errors.ts";

/**
 * What zpool-status(8) and zpool-import(8) print. The text form is the one that every version prints (JSON came
 * with 2.3, where it leaves out type and state of dRAID), so it is the only one read.
 */

export const roles = ["data", "log", "cache", "special", "dedup", "spare"] as const;
export type Role = (typeof roles)[number];
export const layouts = ["stripe", "mirror", "raidz1", "raidz2", "raidz3"] as const;
export type Layout = (typeof layouts)[number];

/** A top-level vdev. A single disk is a stripe of one; `name` is what `zpool remove` takes. */
export type TopLevelVdev = { role: Role; type: Layout; name: string; disks: string[] };
export type PoolStatus = { name: string; state: string; vdevs: TopLevelVdev[] };

const sections: Record<string, Role> = {
  logs: "log",
  cache: "cache",
  special: "special",
  dedup: "dedup",
  spares: "spare",
};
const keys = ["state", "status", "action", "see", "scan", "checkpoint", "remove", "expand", "errors"];

/** Output of `zpool status -P`: the imported pools. */
export function parsePoolStatus(text: string): PoolStatus[] {
  const pools: { name: string; state: string; config: string[] }[] = [];
  let key = "";
  for (const line of text.split("\n")) {
    if (line === "" || line === "no pools available") continue;
    const match = /^ *([a-z]+):(?: (.*))?$/.exec(line);
    const pool = pools.at(-1);
    if (match?.[1] === "pool") {
      pools.push({ name: match[2] ?? "", state: "", config: [] });
      key = "pool";
    } else if (match && pool && (match[1] === "config" || keys.includes(match[1] ?? ""))) {
      key = match[1] ?? "";
      if (key === "state") pool.state = match[2] ?? "";
    } else if (pool && key === "config" && line.startsWith("\t")) {
      pool.config.push(line.slice(1));
    } else if (pool === undefined || key === "pool" || key === "config" || !/^\s/.test(line)) {
      throw new ParseError(`unknown line in zpool status: ${JSON.stringify(line)}`);
    }
  }
  return pools.map(({ name, state, config }) => ({ name, state, vdevs: parseConfig(config) }));
}

type Entry = { name: string; was: string | undefined; line: string; children: Entry[] };

/** The tree below "config:", without its leading tab: two blanks deeper is one level down. */
function parseConfig(lines: readonly string[]): TopLevelVdev[] {
  const [header, pool, ...rest] = lines;
  if (header === undefined || !/^NAME +STATE/.test(header) || pool === undefined || pool.startsWith(" ")) {
    throw new ParseError(`zpool status shows no vdevs: ${JSON.stringify(lines.slice(0, 2))}`);
  }
  const root: Entry = { name: "", was: undefined, line: pool, children: [] };
  const open: Entry[] = [root];
  const vdevs: TopLevelVdev[] = [];
  let role: Role = "data";
  for (const line of rest) {
    const [, indent = "", name = ""] =
      /^((?: {2})*)(\S.*?)(?:\s+[A-Z]{4,}(?:\s.*)?)?\s*$/.exec(line) ?? fail(line);
    const depth = indent.length / 2;
    if (depth === 0) {
      vdevs.push(...root.children.splice(0).map((entry) => topLevel(role, entry)));
      role = sections[name] ?? fail(line);
      continue;
    }
    const entry: Entry = { name, was: /\swas (\/.*?)\s*$/.exec(line)?.[1], line, children: [] };
    (open[depth - 1] ?? fail(line)).children.push(entry);
    open.splice(depth, open.length, entry);
  }
  return [...vdevs, ...root.children.map((entry) => topLevel(role, entry))];
}

function topLevel(role: Role, entry: Entry): TopLevelVdev {
  const type = /^(mirror|raidz[123])-\d+$/.exec(entry.name)?.[1] as Layout | undefined;
  const disks = type === undefined ? [disk(entry)] : entry.children.map(disk);
  return { role, type: type ?? "stripe", name: entry.name, disks };
}

/** Below replacing-N stands the old disk, then the new one; below spare-N the disk, then the spare in its place. */
function disk(entry: Entry): string {
  const stands = /^replacing-\d+$/.test(entry.name)
    ? entry.children.at(-1)
    : /^spare-\d+$/.test(entry.name)
      ? entry.children[0]
      : undefined;
  if (stands !== undefined) return disk(stands);
  const path = entry.was ?? entry.name;
  return path.startsWith("/") && entry.children.length === 0 ? path : fail(entry.line);
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
