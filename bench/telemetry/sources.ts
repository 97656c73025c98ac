import { expect } from "../../provider/resource.ts";
import { type Iostat, iostatOf } from "../parse/iostat.ts";
import { lioCounters } from "../parse/lio.ts";
import { type Mpstat, mpstatOf } from "../parse/mpstat.ts";
import { parseZpoolIostat } from "../parse/zpool-iostat.ts";
import type { BenchHost } from "../unit.ts";
import type { Sources } from "./collector.ts";
import { perfEvents } from "./cpu.ts";

/** What is recorded on a host, and how it is asked for. */

export type Tools = { readonly mpstat: Mpstat; readonly iostat: Iostat };
export const toolsOf = (sysstat: string): Tools => ({ mpstat: mpstatOf(sysstat), iostat: iostatOf(sysstat) });

/** How often a program of sysstat samples is its last argument. */
const every = (interval: number, argv: readonly string[]): string[] => [
  ...argv.slice(0, -1),
  String(interval),
];

export const zpoolIostat = (pool: string): string => `zpool-iostat-${pool}`;
const poolIostat = ["zpool", "iostat", "-p", "-v", "-T", "u"];

/** `cgroup`: the unit's own; `perf`: it is allowed here. */
export function sourcesOf(
  role: "storage" | "client",
  interval: number,
  tools: Tools,
  { unit, pools, perf }: { readonly unit: string; readonly pools: readonly string[]; readonly perf: boolean },
): Sources {
  const rdma = "/sys/class/infiniband/*/ports/*";
  const zfs = "/proc/spl/kstat/zfs";
  const lio = "/sys/kernel/config/target";
  const storage = role === "storage";
  return {
    files: [
      "/proc/interrupts",
      "/proc/net/dev",
      `/sys/fs/cgroup/system.slice/${unit}/cpu.stat`,
      `${rdma}/counters/port_*_data`,
      `${rdma}/counters/port_*_packets`,
      `${rdma}/hw_counters/*_pkts`,
      ...(storage
        ? [
            ...[`${zfs}/arcstats`, `${zfs}/zil`],
            ...lioCounters.backstore.map((name) => `${lio}/core/*/*/statistics/scsi_lu/${name}`),
          ]
        : []),
    ],
    slow: [
      `${rdma}/counters/*`,
      `${rdma}/hw_counters/*`,
      "/sys/block/*/queue/rotational",
      ...(storage
        ? [
            `${zfs}/dbufstats`,
            ...pools.flatMap((pool) => [`${zfs}/${pool}/txgs`, `${zfs}/${pool}/objset-*`]),
            ...lioCounters.session.map(
              (name) => `${lio}/iscsi/*/tpgt_*/acls/*/fabric_statistics/iscsi_sess_stats/${name}`,
            ),
          ]
        : []),
    ],
    programs: [
      { name: "mpstat", signal: "INT", argv: every(interval, tools.mpstat.argv) },
      { name: "iostat", signal: "INT", argv: every(interval, tools.iostat.argv) },
      ...(storage ? pools : []).map((pool) => ({
        name: zpoolIostat(pool),
        signal: "TERM" as const,
        argv: [...poolIostat, "-y", "-l", "-q", pool, String(interval)],
      })),
      ...(perf
        ? [
            {
              name: "perf",
              signal: "INT" as const,
              argv: ["perf", "stat", "-a", "-x,", "-e", perfEvents.join(","), "-I", String(interval * 1000)],
            },
          ]
        : []),
    ],
  };
}

/** Does this line of zpool iostat begin a sample of this pool? Its row comes first, after a heading. */
export const beginsPool =
  (pool: string) =>
  (line: string): boolean =>
    line.startsWith(`${pool} `) && !/^pool\s+alloc\s/.test(line);

/** The kernel's name of each row of `zpool iostat -v`, the pool's first; "" of what is no disk. */
export async function diskNames(host: BenchHost, pool: string): Promise<string[]> {
  const answer = await host.ask([...poolIostat, "-L", pool]);
  const [sample] = parseZpoolIostat(expect(host, answer, `the disks of pool ${pool}`), pool);
  const rows = sample === undefined ? [] : [sample.pool, ...sample.vdevs];
  return rows.map(({ name, depth }, n) => {
    const leaf = (rows[n + 1]?.depth ?? 0) <= (depth ?? 0);
    return leaf && depth !== 0 ? name : "";
  });
}

/** The disk that iostat knows: of sdb1 and nvme0n1p1 it is sdb and nvme0n1. Undefined: none of them. */
export function wholeDisk(name: string, disks: ReadonlySet<string>): string | undefined {
  const parent = /^(.*\d)p\d+$/.exec(name)?.[1] ?? /^(\D+)\d+$/.exec(name)?.[1];
  return [name, parent].find((one) => one !== undefined && disks.has(one));
}

/** Undefined: perf stat counts here. Else why not. */
export async function whyNoPerf(host: BenchHost): Promise<string | undefined> {
  const { status, stdout, stderr } = await host.ask([
    ...["perf", "stat", "-a", "-x,", "-e", perfEvents.join(","), "true"],
  ]);
  if (status === 127) return "perf stat: perf is not installed";
  const said = `${stdout}${stderr}`.trim();
  if (status !== 0)
    return `perf stat is not allowed: ${said.split("\n").find((line) => line.trim() !== "") ?? `status ${status}`}`;
  return said.includes("<not supported>")
    ? "perf stat: the processor's counters are not there (a virtual machine without them)"
    : undefined;
}
