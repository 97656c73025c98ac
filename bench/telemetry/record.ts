import { parseIostat } from "../parse/iostat.ts";
import { parsePerfStat } from "../parse/perf.ts";
import { parseZpoolIostat } from "../parse/zpool-iostat.ts";
import type { HostRecording } from "../schema/recording.ts";
import { active, fileOf, perFrame, scaled, type Values } from "./counters.ts";
import { coreSeries, perfSamples, perfSeries } from "./cpu.ts";
import type { Frame } from "./frames.ts";
import { interruptSeries, networkSeries, rdmaSeries } from "./network.ts";
import { beginsPool, type Tools, wholeDisk, zpoolIostat } from "./sources.ts";
import { type Placed, placeFrames, placeSamples, type TimeLine } from "./time-line.ts";
import { arcSeries, lunSeries, txgSeries, vdevSeries, zilSeries } from "./zfs.ts";

/** One host's frames as series on the time line of all hosts. */

export type Told = {
  readonly host: string;
  readonly role: "storage" | "client";
  readonly cpus: number;
  readonly frames: readonly Frame[];
  /** ms by which the host's clock is ahead of ours. */
  readonly ahead: number;
  readonly tools: Tools;
  /** Each pool, and the kernel's names of its rows (diskNames). */
  readonly pools: ReadonlyMap<string, readonly string[]>;
  /** Undefined: it was recorded. */
  readonly noPerf: string | undefined;
  /** The collector's unit, by whose cgroup its own CPU time is known. */
  readonly unit: string;
  /** What went wrong in its sessions meanwhile. */
  readonly faults: readonly string[];
};

export function recordHost(told: Told, line: TimeLine): HostRecording {
  const { frames, tools } = told;
  const placed = placeFrames(frames, told.ahead, line);
  const { spans } = placed;
  const gaps = [...placed.gaps];
  const samplesOf = <S>(
    name: string,
    begins: (text: string) => boolean,
    parse: (text: string) => readonly S[],
  ): (S | undefined)[] => {
    const found = placeSamples(name, { frames, placed, line }, begins, parse);
    gaps.push(...found.gaps);
    return found.samples;
  };
  const cpus = samplesOf("mpstat", tools.mpstat.beginsSample, tools.mpstat.parse);
  const disks = diskSeries(frames, samplesOf("iostat", tools.iostat.beginsSample, parseIostat));
  const names = new Set(disks.map(({ disk }) => disk));
  const pools = [...told.pools].map(([pool, rows]) => {
    const samples = samplesOf(zpoolIostat(pool), beginsPool(pool), (text) => parseZpoolIostat(text, pool));
    const txg = txgSeries(frames, pool, told.ahead, line);
    gaps.push(...txg.gaps);
    return {
      vdevs: vdevSeries(
        pool,
        samples,
        rows.map((row) => wholeDisk(row, names) ?? ""),
      ),
      txg: txg.series,
    };
  });
  const perf =
    told.noPerf === undefined
      ? perfSeries(
          samplesOf(
            "perf",
            (text) => /,cycles\b/.test(text),
            (text) => perfSamples(parsePerfStat(text)),
          ),
          line.interval,
        )
      : null;
  const collector = collectorShare(told, placed);
  const unread = [
    ...(told.noPerf === undefined ? [] : [told.noPerf]),
    ...(collector === null ? ["the collector's own CPU time: its cgroup has no cpu.stat (cgroup v1)"] : []),
  ];
  return {
    host: told.host,
    role: told.role,
    cores: coreSeries(cpus),
    interrupts: interruptSeries(spans),
    networks: networkSeries(spans),
    rdma: rdmaSeries(frames, spans),
    // A disk of a pool stands there even if it slept; of the others those that did anything.
    disks: disks.filter(
      ({ disk, read, written }) =>
        active(read, written) || pools.some(({ vdevs }) => vdevs.some((vdev) => vdev.disk === disk)),
    ),
    vdevs: pools.flatMap(({ vdevs }) => vdevs),
    ...(told.role === "storage"
      ? { arc: arcSeries(spans), zil: zilSeries(spans), luns: lunSeries(spans) }
      : { arc: null, zil: null, luns: [] }),
    // Of several pools the first: their groups are not in step.
    txg: pools[0]?.txg ?? null,
    perf,
    ...(unread.length === 0 ? {} : { unread }),
    ...(told.faults.length === 0 ? {} : { faults: [...told.faults] }),
    collector,
    gaps,
  };
}

function diskSeries(
  frames: readonly Frame[],
  samples: readonly (ReturnType<typeof parseIostat>[number] | undefined)[],
): HostRecording["disks"] {
  const names = new Set(samples.flatMap((sample) => sample?.disks.map(({ disk }) => disk) ?? []));
  const by = samples.map((sample) => new Map(sample?.disks.map((disk) => [disk.disk, disk])));
  return [...names].map((name) => {
    const series = (
      value: (rates: NonNullable<ReturnType<(typeof by)[number]["get"]>>) => number | null,
    ): Values =>
      by.map((sample) => {
        const rates = sample.get(name);
        return rates === undefined ? null : value(rates);
      });
    const rotational = spindle(frames, name);
    return {
      disk: name,
      read: scaled(
        series(({ read }) => read),
        1e-6,
      ),
      written: scaled(
        series(({ written }) => written),
        1e-6,
      ),
      reads: series(({ reads }) => reads),
      writes: series(({ writes }) => writes),
      flushes: series(({ flushes }) => flushes),
      wait: series(({ wait }) => wait),
      queue: series(({ queue }) => queue),
      busy: series(({ busy }) => busy),
      ...(rotational === undefined ? {} : { rotational }),
    };
  });
}

/** A virtual disk (vda, xvda) says whatever its host likes, and zvols (zd0) are none. */
function spindle(frames: readonly Frame[], disk: string): boolean | undefined {
  if (!/^(sd|hd|nvme|dm-)/.test(disk)) return undefined;
  const path = `/sys/block/${disk}/queue/rotational`;
  const value = frames.map(({ files }) => files.get(path)?.trim()).find((text) => text !== undefined);
  return value === undefined ? undefined : value === "1";
}

/** What the collector itself took, between the first and the last frame of the measured time. */
function collectorShare(told: Told, { spans }: Placed): HostRecording["collector"] {
  const path = `/sys/fs/cgroup/system.slice/${told.unit}/cpu.stat`;
  const usage = perFrame(fileOf(path, (text) => Number(/^usage_usec (\d+)$/m.exec(text)?.[1])));
  const known = spans.filter((span) => span !== undefined);
  const [first, last] = [known.at(0)?.before, known.at(-1)?.after];
  if (first === undefined || last === undefined) return null;
  const [before, after] = [usage(first), usage(last)];
  if (before === undefined || after === undefined || !(after >= before)) return null;
  const seconds = last.time - first.time;
  const cpuSeconds = (after - before) / 1e6;
  return { cpuSeconds, seconds, share: (100 * cpuSeconds) / (seconds * told.cpus) };
}
