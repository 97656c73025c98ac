import { ParseError } from "../provider/errors.ts";
import { expect } from "../provider/resource.ts";
import { commandLine } from "../provider/shell.ts";
import { collect, samplesWithin } from "./collect.ts";
import { mean, summariseCpu } from "./cpu.ts";
import { arcstats } from "./environment.ts";
import { type Bench, expectFio, reportEvery, runFio, spareSeconds } from "./fio.ts";
import type { Folder } from "./folder.ts";
import { expectedOptions, fioArgv } from "./job.ts";
import { aboveLink, whyInvalid } from "./judge.ts";
import { arcBetween, parseArcstats } from "./parse/arcstats.ts";
import { parseFio } from "./parse/fio.ts";
import { type Mpstat, mpstatOf } from "./parse/mpstat.ts";
import { parseZpoolIostat } from "./parse/zpool-iostat.ts";
import type { Live } from "./progress.ts";
import type { Direction } from "./request.ts";
import type { Environment, PathState, ValidRun } from "./result.ts";
import { type BenchHost, stopUnits, type Unit, unitName } from "./unit.ts";

/** One measured fio run through one path, with its collectors on both hosts. */

export async function measure(
  bench: Bench,
  folder: Folder,
  path: PathState,
  direction: Direction,
  hosts: Pick<Environment, "storage" | "initiator">,
  live: Live,
): Promise<{ run: ValidRun; mountOptions: string }> {
  const { request, storage, initiator } = bench;
  const { runtime, rampTime = 0 } = request.workload;
  const job = `${path.protocol}-${direction}`;
  const unit = (host: BenchHost, program: string): Unit => ({
    name: unitName(bench.run, `${job}-${program}`),
    description: `storage-lab benchmark of stack ${request.stack}: ${program} on ${host.name} for ${job}`,
    seconds: runtime + rampTime + 2 * spareSeconds,
    stopSignal: "SIGINT",
  });
  const start = (
    host: BenchHost,
    program: string,
    argv: readonly string[],
    isSample: (line: string) => boolean,
    onLine?: (line: string) => void,
  ) => collect(host, bench.run, `${job}-${program}`, unit(host, program), argv, isSample, onLine);
  const mpstats = {
    storage: mpstatOf(hosts.storage.versions.sysstat ?? ""),
    initiator: mpstatOf(hosts.initiator.versions.sysstat ?? ""),
  };
  const mpstat = (host: BenchHost, { argv, beginsSample, liveCore }: Mpstat) =>
    start(host, "mpstat", argv, beginsSample, (line) => {
      const core = liveCore(line);
      if (core) live.core(host.name, core);
    });
  const iostat = ["zpool", "iostat", "-Hpvy", "-T", "u", request.pool, "1"];
  const argv = fioArgv(request, direction, reportEvery(runtime));
  // What came before is on the disks first, so that no run pays for another's dirty data.
  await storage.apply([{ say: `sync pool ${request.pool}`, argv: ["zpool", "sync", request.pool] }], {
    holder: request.stack,
    sideBySide: true,
  });
  const collectors = {
    storage: mpstat(storage, mpstats.storage),
    initiator: mpstat(initiator, mpstats.initiator),
    iostat: start(storage, "zpool-iostat", iostat, (line) => line.startsWith(`${request.pool}\t`)),
  };
  try {
    const [before] = await Promise.all([
      storage.ask(arcstats),
      ...Object.values(collectors).map((collector) => collector.running),
    ]);
    const { answer, ended, options } = await runFio(bench, path, job, runtime + rampTime, argv, live);
    const after = await storage.ask(arcstats);
    const [storageText, initiatorText, iostatText] = await Promise.all(
      Object.values(collectors).map((collector) => collector.stop()),
    );
    folder.write(`arcstats-before-${job}.txt`, expect(storage, before, "the ARC's counters"));
    folder.write(`arcstats-after-${job}.txt`, expect(storage, after, "the ARC's counters"));
    folder.write(`mpstat-storage-${job}.${mpstats.storage.extension}`, storageText ?? "");
    folder.write(`mpstat-initiator-${job}.${mpstats.initiator.extension}`, initiatorText ?? "");
    folder.write(`zpool-iostat-${job}.txt`, iostatText ?? "");
    expectFio(initiator, answer, "fio");
    const report = parseFio(answer.stdout, direction);
    folder.write(`fio-${job}.json`, `${report.text}\n`);
    const invalid = whyInvalid(report, expectedOptions(request, direction), request.workload);
    if (invalid !== undefined) throw new ParseError(invalid);
    const [from, to] = [ended - report.seconds * 1000, ended];
    const within = (collector: keyof typeof collectors) => {
      const samples = samplesWithin(collectors[collector].arrivals, from, to);
      if (samples !== undefined) return samples;
      throw new ParseError(`no sample of ${collector} lies inside the ${report.seconds} s that fio measured`);
    };
    const poolSamples = within("iostat");
    const pool = parseZpoolIostat(iostatText ?? "", request.pool)
      .slice(poolSamples.first, poolSamples.last + 1)
      .map((sample) => sample.pool);
    const bandwidth = report.bandwidth ?? 0;
    return {
      mountOptions: options,
      run: {
        ...{ protocol: path.protocol, direction, command: commandLine(argv), valid: true },
        ...{
          seconds: report.seconds,
          bytes: report.bytes,
          bandwidth,
          iops: report.iops ?? 0,
          clat: report.clat,
        },
        storage: summariseCpu(mpstats.storage.parse(storageText ?? ""), within("storage")),
        initiator: summariseCpu(mpstats.initiator.parse(initiatorText ?? ""), within("initiator")),
        arc: arcBetween(parseArcstats(before.stdout), parseArcstats(after.stdout)),
        pool: {
          read: mean(pool.map(({ read }) => read)) / 1e6,
          write: mean(pool.map(({ write }) => write)) / 1e6,
        },
        aboveLink: aboveLink(bandwidth, [hosts.storage.link.speed, hosts.initiator.link.speed]),
        warnings: [...report.warnings],
      },
    };
  } finally {
    // After a failure the collectors still run; how they end no longer matters.
    await Promise.allSettled([stopUnits(storage, bench.run), stopUnits(initiator, bench.run)]);
  }
}
