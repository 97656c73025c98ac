import { ParseError } from "../provider/errors.ts";
import { expect } from "../provider/resource.ts";
import { arcCounter, parseArcstats } from "./parse/arcstats.ts";
import { linkSpeed, parseActiveMtu, parseInterface, parseRdmaLink, parseRoute } from "./parse/link.ts";
import { sysstatVersion } from "./parse/mpstat.ts";
import type { Request } from "./request.ts";
import type { Environment, HostState } from "./result.ts";
import type { BenchHost } from "./unit.ts";

/** What was measured on what: read back from both hosts, kept with the result. */

export const arcstats = ["cat", "/proc/spl/kstat/zfs/arcstats"];

const volumeProperties =
  "volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused";

export const packageVersion = (name: string) => [
  ...[
    "sh",
    "-c",
    `dpkg-query -W -f='\${Version}\\n' "$1" 2>/dev/null || rpm -q --qf '%{VERSION}-%{RELEASE}\\n' "$1"`,
  ],
  ...["sh", name],
];

/** How each program says its version, and what of the answer is it. */
const programs: Record<string, { argv: string[]; version: RegExp }> = {
  fio: { argv: ["fio", "--version"], version: /^fio-(\S+)$/m },
  "open-iscsi": { argv: ["iscsiadm", "--version"], version: /^iscsiadm version (\S+)$/m },
  "rdma-core": { argv: packageVersion("rdma-core"), version: /^(\S+)$/m },
  zfs: { argv: ["cat", "/sys/module/zfs/version"], version: /^(\S+)$/m },
  "zfs tools": { argv: ["zfs", "version"], version: /^zfs-(\d\S+)$/m },
};

export async function readHost(
  host: BenchHost,
  request: Request,
  role: "storage" | "initiator",
): Promise<HostState> {
  const rdma = request.paths.some((path) => path.protocol === "iser");
  const wanted = [
    ...(role === "storage" ? ["zfs", "zfs tools"] : ["fio", "open-iscsi"]),
    ...(rdma ? ["rdma-core"] : []),
  ];
  const [kernel, cpus, cpuinfo, meminfo, mpstat, link, ...versions] = await Promise.all([
    host.ask(["uname", "-r"]),
    host.ask(["nproc", "--all"]),
    host.ask(["grep", "-m1", "^model name", "/proc/cpuinfo"]),
    host.ask(["grep", "^MemTotal", "/proc/meminfo"]),
    host.ask(["mpstat", "-V"]),
    readLink(host, request, role, rdma),
    ...wanted.map((name) => readVersion(host, name)),
  ]);
  const memory = /^MemTotal:\s+(\d+) kB$/m.exec(expect(host, meminfo, "its memory"));
  return {
    name: host.name,
    kernel: expect(host, kernel, "its kernel's version").trim(),
    cpus: Number(expect(host, cpus, "how many CPUs it has")),
    cpuModel: expect(host, cpuinfo, "its CPU").split(":")[1]?.trim() ?? "",
    memory: Number(memory?.[1]) * 1024,
    versions: Object.fromEntries([
      ...wanted.map((name, n) => [name, versions[n]]),
      ["sysstat", sysstatVersion(expect(host, mpstat, "the version of mpstat (package sysstat)"), host.name)],
    ]),
    link,
  };
}

async function readVersion(host: BenchHost, name: string): Promise<string> {
  const program = programs[name];
  if (program === undefined) throw new TypeError(`no way known to ask for the version of ${name}`);
  const text = expect(host, await host.ask(program.argv), `the version of ${name}`);
  const version = program.version.exec(text)?.[1];
  if (version === undefined)
    throw new ParseError(`${host.name}: no version of ${name} in ${JSON.stringify(text)}`);
  return version;
}

async function readLink(host: BenchHost, request: Request, role: "storage" | "initiator", rdma: boolean) {
  const portal = (request.paths[0]?.portal ?? "").replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  const ip = async (...argv: string[]) =>
    expect(host, await host.ask(["ip", "-j", ...argv]), `the way to ${portal}`);
  const found =
    role === "storage"
      ? parseInterface(await ip("address", "show", "to", portal))
      : parseInterface(await ip("address", "show", "dev", parseRoute(await ip("route", "get", portal))));
  const [speed, links] = await Promise.all([
    // Reading it is an error (EINVAL) where the driver knows no speed.
    host.ask(["cat", `/sys/class/net/${found.name}/speed`]),
    rdma ? host.ask(["rdma", "-j", "link", "show"]) : undefined,
  ]);
  const device = links && parseRdmaLink(expect(host, links, "its RDMA links"), found.name);
  const port = device && (await readPort(host, device.device));
  return {
    interface: found.name,
    mtu: found.mtu,
    speed: linkSpeed(port, speed.status === 0 ? speed.stdout : "") ?? null,
    rdma: device && port ? { ...device, activeMtu: port.activeMtu } : null,
  };
}

async function readPort(host: BenchHost, device: string) {
  const [info, rate, layer] = await Promise.all([
    host.ask(["ibv_devinfo", "-d", device]),
    host.ask(["cat", `/sys/class/infiniband/${device}/ports/1/rate`]),
    host.ask(["cat", `/sys/class/infiniband/${device}/ports/1/link_layer`]),
  ]);
  return {
    activeMtu: parseActiveMtu(expect(host, info, `the active MTU of ${device} (package ibverbs-utils)`)),
    rate: expect(host, rate, `the rate of ${device}`),
    layer: expect(host, layer, `the link layer of ${device}`),
  };
}

/** The pool and the volume as they are now. */
export async function readPool(
  host: BenchHost,
  request: Request,
): Promise<Pick<Environment, "pool" | "volume" | "arcMaximum">> {
  const [status, properties, arc] = await Promise.all([
    host.ask(["zpool", "status", request.pool]),
    host.ask(["zfs", "get", "-Hp", "-o", "property,value", volumeProperties, request.volume]),
    host.ask(arcstats),
  ]);
  const rows = expect(host, properties, `the properties of ${request.volume}`).trimEnd().split("\n");
  return {
    pool: { name: request.pool, layout: expect(host, status, `the layout of pool ${request.pool}`) },
    volume: {
      name: request.volume,
      properties: Object.fromEntries(rows.map((row): [string, string] => splitProperty(row))),
    },
    arcMaximum: arcCounter(parseArcstats(expect(host, arc, "the ARC's counters")), "c_max"),
  };
}

function splitProperty(row: string): [string, string] {
  const [property, value, ...rest] = row.split("\t");
  if (!property || value === undefined || rest.length > 0) {
    throw new ParseError(`zfs get: unknown line ${JSON.stringify(row)}`);
  }
  return [property, value];
}
