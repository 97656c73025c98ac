import { parseKstat, parseTxgs, type Txg } from "../parse/kstat.ts";
import { parseLioStatistics } from "../parse/lio.ts";
import type { PoolSample, VdevRates } from "../parse/zpool-iostat.ts";
import type { HostRecording } from "../schema/recording.ts";
import { active, fileOf, filesBelow, levels, perFrame, rates, scaled, sum, type Values } from "./counters.ts";
import type { Frame } from "./frames.ts";
import type { Span, TimeLine } from "./time-line.ts";

/** What ZFS and LIO count on the storage host. */

type Spans = readonly (Span | undefined)[];
const kstats = "/proc/spl/kstat/zfs";

/** Every vdev and disk of one pool. `disks`: the kernel's name of each row, in zpool's order; "" of what is no disk. */
export function vdevSeries(
  pool: string,
  samples: readonly (PoolSample | undefined)[],
  disks: readonly string[],
): HostRecording["vdevs"] {
  const first = samples.find((sample) => sample !== undefined);
  if (first === undefined) return [];
  const rows = (sample: PoolSample): VdevRates[] => [sample.pool, ...sample.vdevs];
  return rows(first).map(({ name, role, depth }, n) => {
    const series = (value: (row: VdevRates) => number | null, factor = 1): Values =>
      samples.map((sample) => {
        const row = sample && rows(sample)[n];
        // A disk that was replaced while it ran moves the rows below it.
        if (row === undefined || row.name !== name) return null;
        const found = value(row);
        return found === null ? null : found * factor;
      });
    const disk = disks[n] ?? "";
    return {
      vdev: name,
      role: role ?? "data",
      depth: depth ?? 0,
      pool,
      ...(disk === "" ? {} : { disk }),
      read: series(({ read }) => read, 1e-6),
      written: series(({ write }) => write, 1e-6),
      reads: series(({ readOperations }) => readOperations),
      writes: series(({ writeOperations }) => writeOperations),
      readWait: series(({ waits }) => waits?.totalRead ?? null, 1e-6),
      writeWait: series(({ waits }) => waits?.totalWrite ?? null, 1e-6),
      diskReadWait: series(({ waits }) => waits?.diskRead ?? null, 1e-6),
      diskWriteWait: series(({ waits }) => waits?.diskWrite ?? null, 1e-6),
      syncWriteQueue: series(({ queues }) => queues?.syncWrite.active ?? null),
      asyncWriteQueue: series(({ queues }) => queues?.asyncWrite.active ?? null),
    };
  });
}

export function arcSeries(spans: Spans): HostRecording["arc"] {
  const path = `${kstats}/arcstats`;
  const table = perFrame(fileOf(path, (text) => parseKstat(text, "arcstats")));
  if (!spans.some((span) => span?.after.files.has(path))) return null;
  const of = (name: string) => rates(spans, (frame) => table(frame)?.get(name));
  // An access that waited for a read under way is a miss; counted apart since ZFS 2.2.
  const missed = (kind: "demand" | "prefetch") =>
    rates(spans, (frame) => {
      const misses = table(frame)?.get(`${kind}_data_misses`);
      return misses === undefined ? undefined : misses + (table(frame)?.get(`${kind}_data_iohits`) ?? 0);
    });
  return {
    hits: of("demand_data_hits"),
    misses: missed("demand"),
    size: levels(spans, (frame) => table(frame)?.get("size")),
    target: levels(spans, (frame) => table(frame)?.get("c")),
    prefetchHits: of("prefetch_data_hits"),
    prefetchMisses: missed("prefetch"),
  };
}

/** Of all pools together: ZFS counts the log apart by dataset, which only the slow files tell. */
export function zilSeries(spans: Spans): HostRecording["zil"] {
  const path = `${kstats}/zil`;
  const table = perFrame(fileOf(path, (text) => parseKstat(text, "zil")));
  if (!spans.some((span) => span?.after.files.has(path))) return null;
  // _write are the bytes of whole log blocks, since ZFS 2.2; _bytes those of the records in them.
  const blocks = (where: "normal" | "slog") =>
    rates(
      spans,
      (frame) =>
        table(frame)?.get(`zil_itx_metaslab_${where}_write`) ??
        table(frame)?.get(`zil_itx_metaslab_${where}_bytes`),
    );
  return {
    commits: rates(spans, (frame) => table(frame)?.get("zil_commit_count")),
    written: scaled(sum(blocks("normal"), blocks("slog")), 1e-6),
    slog: scaled(blocks("slog"), 1e-6),
  };
}

/** A transaction group that has ended, and when: s by the host's clock. */
export type EndedTxg = Txg & { readonly ended: number };

/**
 * A reading of POOL/txgs holds the last hundred. Births count in ns since boot; what time it is in those the heading
 * of another kstat says, which ends with it and is read in the same frame.
 */
function endedTxgs(frame: Frame, pool: string): EndedTxg[] | undefined {
  const text = frame.files.get(`${kstats}/${pool}/txgs`);
  const arc = frame.files.get(`${kstats}/arcstats`);
  if (text === undefined || arc === undefined) return undefined;
  const read = Number(arc.slice(0, arc.indexOf("\n")).trim().split(" ").at(-1));
  return parseTxgs(text)
    .filter(({ state }) => state === "C")
    .map((txg) => {
      const end = txg.birth + txg.openTime + txg.quiesceTime + txg.waitTime + txg.syncTime;
      return { ...txg, ended: frame.time - (read - end) / 1e9 };
    });
}

/** `ahead`: ms by which the host's clock is ahead of ours. */
export function txgSeries(
  frames: readonly Frame[],
  pool: string,
  ahead: number,
  { interval, times }: TimeLine,
): { series: HostRecording["txg"]; gaps: string[] } {
  const readings = frames.flatMap((frame) => endedTxgs(frame, pool) ?? []);
  if (readings.length === 0) return { series: null, gaps: [] };
  const all = [...new Map(readings.map((txg) => [txg.txg, txg])).values()].sort((a, b) => a.txg - b.txg);
  const lost = all.slice(1).reduce((sum, { txg }, n) => sum + (txg - (all[n]?.txg ?? txg) - 1), 0);
  const of = times.map((time) =>
    all.filter(({ ended }) => {
      const at = ended * 1000 - ahead;
      return at > time - interval * 1000 && at <= time;
    }),
  );
  return {
    series: {
      synced: of.map((txgs) => txgs.length),
      syncTime: of.map((txgs) => {
        const last = txgs.at(-1);
        return last === undefined ? null : last.syncTime / 1e6;
      }),
      dirty: of.map((txgs) =>
        txgs.length === 0 ? null : txgs.reduce((sum, { written }) => sum + written, 0),
      ),
    },
    gaps: lost === 0 ? [] : [`${lost} transaction groups of ${pool} were gone before they were read`],
  };
}

export function lunSeries(spans: Spans): HostRecording["luns"] {
  const folder = "/sys/kernel/config/target/core/";
  const table = perFrame((frame: Frame) => parseLioStatistics(filesBelow(frame, folder)).backstores);
  const names = new Set(spans.flatMap((span) => (span === undefined ? [] : [...table(span.after).keys()])));
  return [...names]
    .map((backstore) => {
      const of = (what: "commands" | "read" | "written") =>
        rates(spans, (frame) => table(frame).get(backstore)?.[what]);
      return {
        backstore,
        read: scaled(of("read"), 1e-6),
        written: scaled(of("written"), 1e-6),
        commands: of("commands"),
      };
    })
    .filter(({ commands }) => active(commands));
}
