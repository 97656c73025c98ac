import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { sysstatVersion } from "../parse/mpstat.ts";
import type { Request } from "../schema/request.ts";
import type { HostState } from "../schema/result.ts";
import type { BenchHost } from "../unit.ts";
import { hardwareFiles, parseHardware, parsePciNames, pciNames } from "./hardware.ts";
import { portalAddress, readLink } from "./link.ts";

/** What a host is: its CPUs, memory, versions, hardware and link, read back and kept with the result. */

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
  lio: {
    argv: ["cat", "/sys/kernel/config/target/version"],
    version: /^Target Engine Core ConfigFS Infrastructure (v\S+)/m,
  },
};

export type Role = "storage" | "client";

export async function readHost(host: BenchHost, request: Request, role: Role): Promise<HostState> {
  const rdma = request.protocols.includes("iser");
  const wanted = [
    ...(role === "storage" ? ["zfs", "zfs tools", "lio"] : ["fio", "open-iscsi"]),
    ...(rdma ? ["rdma-core"] : []),
  ];
  const client = request.clients.find((one) => one.host.name === host.name) ?? request.clients[0];
  const portal = portalAddress(client?.paths[0]?.portal ?? "");
  const [kernel, cpus, cpuinfo, meminfo, mpstat, hardware, names, link, ...versions] = await Promise.all([
    host.ask(["uname", "-r"]),
    host.ask(["nproc", "--all"]),
    host.ask(["grep", "-m1", "^model name", "/proc/cpuinfo"]),
    host.ask(["grep", "^MemTotal", "/proc/meminfo"]),
    host.ask(["mpstat", "-V"]),
    host.ask(hardwareFiles),
    host.ask(pciNames),
    readLink(host, portal, role, rdma),
    ...wanted.map((name) => readVersion(host, name)),
  ]);
  const memory = /^MemTotal:\s+(\d+) kB$/m.exec(expect(host, meminfo, "its memory"));
  return {
    name: host.name,
    kernel: expect(host, kernel, "its kernel's version").trim(),
    cpus: Number(expect(host, cpus, "how many CPUs it has")),
    cpuModel: expect(host, cpuinfo, "its CPU").split(":")[1]?.trim() ?? "",
    memory: Number(memory?.[1]) * 1024,
    // 127: the host has no lspci; devices then go by their numbers.
    ...parseHardware(
      expect(host, hardware, "its hardware"),
      names.status === 127 ? new Map() : parsePciNames(expect(host, names, "the names of its PCI devices")),
    ),
    versions: Object.fromEntries([
      ...wanted.map((name, n): [string, string] => [name, versions[n] ?? ""]),
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
