import type { CpuShares } from "../parse/cores.ts";
import type { PerfCount } from "../parse/perf.ts";
import type { HostRecording } from "../schema/recording.ts";

/** What programs say of a host's processors: mpstat and perf stat. */

export function coreSeries(samples: readonly (CpuShares | undefined)[]): HostRecording["cores"] {
  const cores = new Set(samples.flatMap((sample) => sample?.cores.map(({ core }) => core) ?? []));
  const by = samples.map((sample) => new Map(sample?.cores.map((core) => [core.core, core])));
  return [...cores]
    .sort((a, b) => a - b)
    .map((core) => {
      const series = (value: (shares: CpuShares["cores"][number]) => number) =>
        by.map((sample) => {
          const shares = sample.get(core);
          return shares === undefined ? null : value(shares);
        });
      return {
        core,
        user: series(({ user }) => user),
        system: series(({ system }) => system),
        softirq: series(({ softirq, interrupt }) => softirq + interrupt),
        iowait: series(({ iowait }) => iowait),
        idle: series(({ idle }) => idle),
      };
    });
}

export const perfEvents = ["cycles", "instructions", "cache-misses"] as const;

/** The counts of one interval of perf stat -I. */
export type PerfSample = readonly PerfCount[];

export function perfSamples(counts: readonly PerfCount[]): PerfSample[] {
  const byTime = Map.groupBy(counts, ({ time }) => time);
  return [...byTime.values()];
}

export function perfSeries(
  samples: readonly (PerfSample | undefined)[],
  interval: number,
): NonNullable<HostRecording["perf"]> {
  const series = (event: (typeof perfEvents)[number]) =>
    samples.map((sample) => {
      // perf adds :u, :k or a PMU's name where it counts less than all or on one sort of core alone.
      const counts = sample?.filter((one) => one.event.split(":")[0] === event) ?? [];
      const known = counts.flatMap(({ count }) => (count === null ? [] : [count]));
      return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / interval;
    });
  return {
    cycles: series("cycles"),
    instructions: series("instructions"),
    cacheMisses: series("cache-misses"),
  };
}
