import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { parsePoolStatus, type TopLevelVdev } from "../../provider/resources/zfs/status.ts";
import { arcCounter, parseArcstats } from "../parse/arcstats.ts";
import type { Layout, VdevShape } from "../schema/evidence.ts";
import type { Request } from "../schema/request.ts";
import type { Environment } from "../schema/result.ts";
import type { BenchHost } from "../unit.ts";

/** The storage side as it is now: pools with their layout, zvols, ARC, ZFS module parameters, targets. */

export const arcstats = ["cat", "/proc/spl/kstat/zfs/arcstats"];

const volumeProperties =
  "volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused";

/** Module parameters (zfs(4)) that figures here depend on; those that a version lacks are left out. */
const parameters = [
  ...["zfs_arc_max", "zfs_arc_min", "zfs_dirty_data_max", "zfs_txg_timeout", "zfs_immediate_write_sz"],
  ...["zfs_prefetch_disable", "zfetch_max_distance", "zfs_vdev_sync_write_max_active", "zvol_threads"],
  ...["zfs_vdev_async_write_max_active", "zfs_vdev_async_read_max_active", "zfs_vdev_sync_read_max_active"],
  ...["zfs_vdev_aggregation_limit", "zfs_abd_scatter_enabled", "zvol_request_sync", "dbuf_cache_max_bytes"],
  ...["zil_slog_bulk", "zvol_use_blk_mq", "zfs_vdev_raidz_impl", "zfs_fletcher_4_impl"],
];

type StorageSide = Pick<Environment, "pools" | "volumes" | "arcMaximum" | "zfsParameters" | "targets">;

const once = (values: readonly string[]): string[] => [...new Set(values)];

export async function readStorage(host: BenchHost, request: Request): Promise<StorageSide> {
  const [pools, volumes, targets, arc, module] = await Promise.all([
    Promise.all(once(request.clients.map(({ pool }) => pool)).map((pool) => readPool(host, pool, request))),
    Promise.all(once(request.clients.map(({ volume }) => volume)).map((volume) => readVolume(host, volume))),
    Promise.all(once(request.clients.map(({ target }) => target)).map((iqn) => readTarget(host, iqn))),
    host.ask(arcstats),
    host.ask(["grep", "-rH", "", "/sys/module/zfs/parameters"]),
  ]);
  const values = parseFolder(
    expect(host, module, "the parameters of the zfs module"),
    "/sys/module/zfs/parameters",
  );
  return {
    pools,
    volumes,
    targets,
    arcMaximum: arcCounter(parseArcstats(expect(host, arc, "the ARC's counters")), "c_max"),
    zfsParameters: Object.fromEntries(
      parameters.flatMap((name) => (name in values ? [[name, values[name] ?? ""]] : [])),
    ),
  };
}

async function readVolume(host: BenchHost, name: string): Promise<Environment["volumes"][number]> {
  const answer = await host.ask(["zfs", "get", "-Hp", "-o", "property,value", volumeProperties, name]);
  const rows = expect(host, answer, `the properties of ${name}`).trimEnd().split("\n");
  return {
    name,
    properties: Object.fromEntries(
      rows.map((row): [string, string] => {
        const [property = "", value = ""] = fields(row, 2, "zfs get");
        return [property, value];
      }),
    ),
  };
}

async function readPool(
  host: BenchHost,
  name: string,
  request: Request,
): Promise<Environment["pools"][number]> {
  const [status, properties] = await Promise.all([
    host.ask(["zpool", "status", "-P", name]),
    host.ask(["zpool", "get", "-Hp", "-o", "property,value,source", "all", name]),
  ]);
  const text = expect(host, status, `the layout of pool ${name}`);
  const rows = expect(host, properties, `the properties of pool ${name}`).trimEnd().split("\n");
  const set = rows.map((row) => fields(row, 3, "zpool get"));
  // Features are there or not by the pool's age; "active" says only that one was used.
  const kept = set.filter(
    ([property = "", , source]) =>
      (source === "local" && !property.startsWith("feature@")) || property === "ashift",
  );
  const vdevs = parsePoolStatus(text).find((pool) => pool.name === name)?.vdevs;
  if (vdevs === undefined) throw new ParseError(`zpool status -P ${name} does not show pool ${name}`);
  const volume = request.clients.find(({ pool }) => pool === name)?.volume ?? "";
  return {
    name,
    status: text,
    layout: await readLayout(
      host,
      name,
      volume,
      vdevs,
      set.find(([property]) => property === "ashift")?.[1] ?? "0",
    ),
    properties: Object.fromEntries(kept.map(([property = "", value = ""]) => [property, value])),
  };
}

async function readLayout(
  host: BenchHost,
  pool: string,
  volume: string,
  vdevs: readonly TopLevelVdev[],
  ashift: string,
): Promise<Layout> {
  const disks = vdevs.flatMap((vdev) => vdev.disks);
  const [sizes, properties, zdb] = await Promise.all([
    host.ask(["blockdev", "--getsize64", ...disks]),
    host.ask(["zfs", "get", "-Hpo", "value", "volblocksize,compression,sync,logbias", volume]),
    // 0: each vdev has taken the one that its disks ask for; only the pool's configuration tells which.
    ashift === "0" ? host.ask(["zdb", "-C", pool]) : undefined,
  ]);
  const [volblocksize, compression = null, sync = null, logbias = null] = expect(
    host,
    properties,
    `the properties of ${volume}`,
  ).split("\n");
  // A disk that is gone has no size; the layout stands without.
  const size = sizes.status === 0 ? sizes.stdout.trim().split("\n").map(Number) : [];
  const bytesOf = new Map(disks.map((disk, n) => [disk, size[n] ?? null]));
  return {
    vdevs: shapesOf(vdevs, bytesOf),
    ashift: zdb ? ashiftOf(expect(host, zdb, `the configuration of pool ${pool}`), pool) : Number(ashift),
    ...{ volblocksize: Number(volblocksize), compression, sync, logbias },
  };
}

/** The largest ashift of a pool's vdevs in `zdb -C`. */
export function ashiftOf(text: string, pool: string): number {
  const found = [...text.matchAll(/^\s+ashift: (\d+)$/gm)].map((match) => Number(match[1]));
  if (found.length === 0)
    throw new ParseError(`zdb -C ${pool}: no ashift in ${JSON.stringify(text.slice(0, 120))}`);
  return Math.max(...found);
}

/** Vdevs of one shape are counted. */
export function shapesOf(
  vdevs: readonly TopLevelVdev[],
  bytesOf: ReadonlyMap<string, number | null>,
): VdevShape[] {
  const shapes = new Map<string, VdevShape>();
  for (const vdev of vdevs) {
    const known = vdev.disks.flatMap((disk) => bytesOf.get(disk) ?? []);
    const shape: VdevShape = {
      kind: vdev.type === "stripe" ? "disk" : vdev.type,
      ...{ role: vdev.role, disks: vdev.disks.length },
      ...{ data: vdev.data ?? null, spares: vdev.spares ?? 0, count: 1 },
      diskSize: known.length === 0 ? null : Math.min(...known),
    };
    const key = JSON.stringify(shape);
    const same = shapes.get(key);
    shapes.set(key, { ...shape, count: (same?.count ?? 0) + 1 });
  }
  return [...shapes.values()];
}

/** Attributes and parameters of a target's first TPG, the only one that this project makes. */
async function readTarget(host: BenchHost, iqn: string): Promise<Environment["targets"][number]> {
  const tpg = `/sys/kernel/config/target/iscsi/${iqn}/tpgt_1`;
  const answer = await host.ask(["grep", "-rH", "", `${tpg}/attrib`, `${tpg}/param`]);
  return { iqn, attributes: parseFolder(expect(host, answer, `the attributes of target ${iqn}`), tpg) };
}

/** `grep -rH "" FOLDER`: FOLDER/name:value. */
export function parseFolder(text: string, folder: string): Record<string, string> {
  const rows = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    rows.map((line): [string, string] => {
      const colon = line.indexOf(":", folder.length);
      if (!line.startsWith(`${folder}/`) || colon === -1) {
        throw new ParseError(`${folder}: unknown line ${JSON.stringify(line)}`);
      }
      return [line.slice(folder.length + 1, colon), line.slice(colon + 1)];
    }),
  );
}

function fields(row: string, count: number, command: string): string[] {
  const found = row.split("\t");
  if (found.length !== count || !found[0])
    throw new ParseError(`${command}: unknown line ${JSON.stringify(row)}`);
  return found;
}
