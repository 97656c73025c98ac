import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { parseProcStat } from "../parse/proc-stat.ts";
import type { Precondition } from "../schema/result.ts";
import type { BenchHost } from "../unit.ts";

/**
 * Is anything else going on on a host? CPU time and disk traffic over two seconds, by two looks at /proc (proc(5),
 * Documentation/admin-guide/iostats.rst). What a run has left (transaction groups, page cache) is waited for.
 */

const seconds = 2;
/** Looking is load too, so what takes time to read is read outside of the two seconds, and printed after them. */
const script = `
clock() { cat /proc/uptime /proc/stat /proc/diskstats; }
processes() { cat /proc/[0-9]*/stat 2>/dev/null; }
before=$(processes; echo ---; clock)
sleep ${seconds}
after=$(clock; echo ---; processes)
printf '%s\\n---\\n%s\\n' "$before" "$after"`;
export const idleLook = ["sh", "-c", script];

/** Busier than this a host is not idle: cores' worth of CPU time, and 10^6 bytes a second on all its disks. */
export const idleBounds = { cores: 0.35, disks: 2 };
/** How long what is still being written is waited for. */
const deadlineSeconds = 60;

export type Load = {
  /** Cores' worth of time that was neither idle nor waiting for I/O. */
  readonly cores: number;
  /** MB/s read and written on all disks. */
  readonly disks: number;
  /** The process that took most, with its share of one core in percent. */
  readonly process: { readonly name: string; readonly pid: number; readonly percent: number } | null;
};

type Look = {
  readonly uptime: number;
  readonly busy: number;
  readonly sectors: number;
  readonly processes: ReadonlyMap<number, { name: string; ticks: number }>;
};

/** USER_HZ, the kernel's unit of CPU time in /proc on every architecture that Linux calls itself by 100. */
const ticksPerSecond = 100;
const sectorBytes = 512;

export function parseLoad(text: string): Load {
  const [processes, first, second, others, ...rest] = text.split(/^---\n/m);
  if (
    processes === undefined ||
    first === undefined ||
    second === undefined ||
    others === undefined ||
    rest.length > 0
  ) {
    throw new ParseError(`two looks at /proc expected, in ${JSON.stringify(text.slice(0, 80))}`);
  }
  const [before, after] = [parseLook(first, processes), parseLook(second, others)];
  const passed = after.uptime - before.uptime;
  if (!(passed > 0)) throw new ParseError(`/proc/uptime did not move between two looks: ${after.uptime}`);
  const grown = [...after.processes].map(([pid, { name, ticks }]) => ({
    ...{ pid, name },
    percent: ((ticks - (before.processes.get(pid)?.ticks ?? ticks)) / ticksPerSecond / passed) * 100,
  }));
  const busiest = grown.reduce<Load["process"]>(
    (most, one) => (one.percent > (most?.percent ?? 0) ? one : most),
    null,
  );
  return {
    cores: (after.busy - before.busy) / ticksPerSecond / passed,
    disks: ((after.sectors - before.sectors) * sectorBytes) / passed / 1e6,
    process: busiest,
  };
}

function parseLook(clock: string, processes: string): Look {
  const [up = "", ...lines] = linesOf(clock);
  const uptime = Number(/^(\d+\.\d+) \d+\.\d+$/.exec(up)?.[1]);
  if (Number.isNaN(uptime)) {
    throw new ParseError(`/proc/uptime expected in ${JSON.stringify(clock.slice(0, 80))}`);
  }
  const isStat = (line: string): boolean => /^[a-z]/.test(line);
  const { user, nice, system, irq, softirq, steal } = parseProcStat(lines.filter(isStat).join("\n")).all;
  const disks = new Map<string, number>();
  for (const line of lines.filter((line) => !isStat(line))) {
    const disk = /^\s*\d+\s+\d+ (\S+) \d+ \d+ (\d+) \d+ \d+ \d+ (\d+) /.exec(line);
    if (disk?.[1] === undefined)
      throw new ParseError(`/proc/diskstats: unknown line ${JSON.stringify(line)}`);
    disks.set(disk[1], Number(disk[2]) + Number(disk[3]));
  }
  const whole = [...disks].filter(([name]) => !isPart(name, disks));
  return {
    uptime,
    busy: user + nice + system + irq + softirq + steal,
    sectors: whole.reduce((sum, [, sectors]) => sum + sectors, 0),
    processes: new Map(linesOf(processes).map(parseProcess)),
  };
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** proc_pid_stat(5): utime and stime are fields 14 and 15; the name, which may hold anything, is the second. */
function parseProcess(line: string): [pid: number, { name: string; ticks: number }] {
  const [, pid, name, rest] = /^(\d+) \((.*)\) (.*)$/.exec(line) ?? [];
  const fields = rest?.split(" ") ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (name === undefined || Number.isNaN(ticks)) {
    throw new ParseError(`/proc/PID/stat: unknown line ${JSON.stringify(line)}`);
  }
  return [Number(pid), { name, ticks }];
}

/** Partitions and devices that stand on others would count their traffic twice; zvols are the pool's. */
function isPart(name: string, all: ReadonlyMap<string, number>): boolean {
  if (/^(loop|ram|zram|dm-|md|zd|sr|fd)\d+/.test(name)) return true;
  const parent = /^(.*\d)p\d+$/.exec(name)?.[1] ?? /^(\D+)\d+$/.exec(name)?.[1];
  return parent !== undefined && all.has(parent);
}

export const isIdle = ({ cores, disks }: Load): boolean =>
  cores <= idleBounds.cores && disks <= idleBounds.disks;

/** Wait until a host is idle; what it was at the last look. */
export async function idle(host: BenchHost, signal: AbortSignal): Promise<Precondition> {
  const began = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const load = parseLoad(expect(host, await host.ask(idleLook), "what is going on there"));
    const waited = (performance.now() - began) / 1000;
    if (isIdle(load) || waited > deadlineSeconds) return idlePrecondition(host.name, load, waited);
  }
}

export function idlePrecondition(host: string, load: Load, waited: number): Precondition {
  const { process } = load;
  const who =
    process === null
      ? ""
      : `, most by ${process.name} (process ${process.pid}, ${process.percent.toFixed(0)} % of a core)`;
  return {
    name: `${host} idle`,
    wanted: `no other load: at most ${idleBounds.cores} cores busy and ${idleBounds.disks} MB/s on its disks over ${seconds} s`,
    found: `${load.cores.toFixed(2)} cores busy${who}, ${load.disks.toFixed(1)} MB/s on its disks, after ${waited.toFixed(0)} s`,
    holds: isIdle(load),
  };
}
