import { ParseError } from "../provider/errors.ts";
import { type Collector, collect, samplesWithin } from "./collect.ts";
import { mean, summariseCpu } from "./cpu.ts";
import { type Bench, spareSeconds } from "./fio.ts";
import { type Mpstat, mpstatOf } from "./parse/mpstat.ts";
import { parseZpoolIostat } from "./parse/zpool-iostat.ts";
import type { Live } from "./progress.ts";
import type { Environment, ValidRun } from "./result.ts";
import { type BenchHost, unitName } from "./unit.ts";

/** What is recorded beside a run: mpstat on both hosts and zpool iostat on the storage host, a sample a second. */
export type Telemetry = {
  /** Resolves once each collector has given a sample. */
  readonly running: Promise<unknown>;
  /** Ends the collectors; their raw outputs by file name, and what they say of a time (performance.now()). */
  stop(): Promise<{
    files: Record<string, string>;
    between(start: number, end: number): Pick<ValidRun, "storage" | "initiator" | "pool">;
  }>;
};

export type HostStates = Pick<Environment, "storage" | "initiator">;

export function startTelemetry(
  bench: Bench,
  job: string,
  seconds: number,
  hosts: HostStates,
  live: Live,
): Telemetry {
  const { request, storage, initiator } = bench;
  const start = (
    host: BenchHost,
    program: string,
    argv: readonly string[],
    isSample: (line: string) => boolean,
    onLine?: (line: string) => void,
  ): Collector => {
    const unit = {
      name: unitName(bench.run, `${job}-${program}`),
      description: `storage-lab benchmark of stack ${request.stack}: ${program} on ${host.name} for ${job}`,
      seconds: seconds + 2 * spareSeconds,
      stopSignal: "SIGINT",
    } as const;
    return collect(host, bench.run, `${job}-${program}`, unit, argv, isSample, onLine);
  };
  const mpstat = (host: BenchHost, { argv, beginsSample, liveCore }: Mpstat): Collector =>
    start(host, "mpstat", argv, beginsSample, (line) => {
      const core = liveCore(line);
      if (core) live.core(host.name, core);
    });
  const formats = {
    storage: mpstatOf(hosts.storage.versions.sysstat ?? ""),
    initiator: mpstatOf(hosts.initiator.versions.sysstat ?? ""),
  };
  const iostat = ["zpool", "iostat", "-Hpvy", "-T", "u", request.pool, "1"];
  const collectors = {
    storage: mpstat(storage, formats.storage),
    initiator: mpstat(initiator, formats.initiator),
    pool: start(storage, "zpool-iostat", iostat, (line) => line.startsWith(`${request.pool}\t`)),
  };
  return {
    running: Promise.all(Object.values(collectors).map((collector) => collector.running)),
    async stop() {
      const [ofStorage, ofInitiator, ofPool] = await Promise.all([
        collectors.storage.stop(),
        collectors.initiator.stop(),
        collectors.pool.stop(),
      ]);
      return {
        files: {
          [`mpstat-storage-${job}.${formats.storage.extension}`]: ofStorage,
          [`mpstat-initiator-${job}.${formats.initiator.extension}`]: ofInitiator,
          [`zpool-iostat-${job}.txt`]: ofPool,
        },
        between(from, to) {
          const within = (name: keyof typeof collectors) => {
            const samples = samplesWithin(collectors[name].arrivals, from, to);
            if (samples !== undefined) return samples;
            throw new ParseError(
              `no sample of ${name} lies inside the ${(to - from) / 1000} s that fio measured`,
            );
          };
          const { first, last } = within("pool");
          const pool = parseZpoolIostat(ofPool, request.pool).slice(first, last + 1);
          return {
            storage: summariseCpu(formats.storage.parse(ofStorage), within("storage")),
            initiator: summariseCpu(formats.initiator.parse(ofInitiator), within("initiator")),
            pool: {
              read: mean(pool.map((sample) => sample.pool.read)) / 1e6,
              write: mean(pool.map((sample) => sample.pool.write)) / 1e6,
            },
          };
        },
      };
    },
  };
}
