import { ParseError } from "../../provider/errors.ts";

/**
 * /proc/stat (proc_stat(5)): time by processor since boot, in ticks of 1/100 s (USER_HZ). The kernel counts a guest's
 * time within user's, and a guest's nice time within nice's.
 */

export type CpuTimes = {
  readonly user: number;
  readonly nice: number;
  readonly system: number;
  readonly idle: number;
  readonly iowait: number;
  readonly irq: number;
  readonly softirq: number;
  readonly steal: number;
  readonly guest: number;
  readonly guestNice: number;
};
export type ProcStat = {
  readonly all: CpuTimes;
  /** By processor number; one that is offline is not listed. */
  readonly cores: ReadonlyMap<number, CpuTimes>;
  /** Interrupts and context switches since boot. */
  readonly interrupts: number;
  readonly contextSwitches: number;
};

export function parseProcStat(text: string): ProcStat {
  const cores = new Map<number, CpuTimes>();
  const counters = new Map<string, number>();
  let all: CpuTimes | undefined;
  for (const line of text.trimEnd().split("\n")) {
    const [name = "", ...values] = line.trim().split(/\s+/);
    if (!/^[a-z_]+\d*$/.test(name) || values.length === 0 || !values.every((v) => /^\d+$/.test(v))) {
      throw unknown(line);
    }
    const core = /^cpu(\d*)$/.exec(name)?.[1];
    if (core === "") all = times(line, values);
    else if (core !== undefined) cores.set(Number(core), times(line, values));
    // Of intr and softirq the first figure is the sum of those that follow.
    else counters.set(name, Number(values[0]));
  }
  const [interrupts, contextSwitches] = [counters.get("intr"), counters.get("ctxt")];
  if (all === undefined || cores.size === 0 || interrupts === undefined || contextSwitches === undefined) {
    throw new ParseError(
      `/proc/stat: cpu, cpuN, intr and ctxt expected in ${JSON.stringify(text.slice(0, 80))}`,
    );
  }
  return { all, cores, interrupts, contextSwitches };
}

function times(line: string, values: readonly string[]): CpuTimes {
  if (values.length !== 10) throw unknown(line);
  const [user, nice, system, idle, iowait, irq, softirq, steal, guest, guestNice] = values.map(Number);
  const of = (value: number | undefined): number => value ?? 0;
  return {
    user: of(user),
    nice: of(nice),
    system: of(system),
    idle: of(idle),
    iowait: of(iowait),
    irq: of(irq),
    softirq: of(softirq),
    steal: of(steal),
    guest: of(guest),
    guestNice: of(guestNice),
  };
}

const unknown = (line: string): ParseError =>
  new ParseError(`/proc/stat: unknown line ${JSON.stringify(line.slice(0, 120))}`);
