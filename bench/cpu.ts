import type { CpuSample } from "./parse/mpstat.ts";
import type { Cpu } from "./result.ts";

/** The busiest core and the average over cores, from the samples inside the measured time. */
export function summariseCpu(samples: readonly CpuSample[], within: { first: number; last: number }): Cpu {
  const inside = samples.slice(within.first, within.last + 1);
  const rows = new Map<number, { busy: number[]; softirq: number[]; system: number[] }>();
  for (const { core, busy, softirq, system } of inside.flatMap((sample) => sample.cores)) {
    const row = rows.get(core) ?? { busy: [], softirq: [], system: [] };
    row.busy.push(busy);
    row.softirq.push(softirq);
    row.system.push(system);
    rows.set(core, row);
  }
  const cores = [...rows].map(([core, row]) => ({
    core,
    busy: mean(row.busy),
    softirq: mean(row.softirq),
    system: mean(row.system),
  }));
  const busiest = cores.reduce((a, b) => (b.busy > a.busy ? b : a));
  return {
    busiestCore: busiest.core,
    busy: busiest.busy,
    softirq: busiest.softirq,
    system: busiest.system,
    averageBusy: mean(inside.map((sample) => sample.all.busy)),
    averageSystem: mean(inside.map((sample) => sample.all.system)),
    cores: cores.length,
    samples: within,
  };
}

export const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
