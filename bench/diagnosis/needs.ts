import { failures } from "../model/layout.ts";
import { poolSpace } from "../model/space.ts";
import type { Evidence } from "../schema/evidence.ts";
import type { Needs, Verdict } from "../schema/needs.ts";
import type { Environment, Latency, Run } from "../schema/result.ts";
import { median } from "./disks.ts";
import {
  bestOf,
  figureOf,
  fromArc,
  type Load,
  loadOf,
  loads,
  measuring,
  middle,
  type Series,
  seriesOfRuns,
} from "./series.ts";
import { ms, plural, rounded, size } from "./words.ts";

/** What the application needs against what was measured: met or not, and by what margin. Pure. */

type Measure = { readonly need: string; readonly unit: string; readonly wanted: number };

const atLeast = ({ need, unit, wanted }: Measure, found: number | null): Verdict => ({
  ...{ need, wanted, found, unit },
  met: found === null ? null : found >= wanted,
  margin: found === null || wanted === 0 ? null : (found / wanted - 1) * 100,
});

const wordsOf = (load: Load, wanted: number): Measure => {
  const words = {
    write: { need: `${rounded(wanted)} MB/s written`, unit: "MB/s" },
    read: { need: `${rounded(wanted)} MB/s read`, unit: "MB/s" },
    writeIops: { need: `${rounded(wanted)} random 4 KiB writes a second`, unit: "IOPS" },
    readIops: { need: `${rounded(wanted)} random 4 KiB reads a second`, unit: "IOPS" },
  };
  return { ...words[load], wanted };
};

/** Percentiles that are stored; another one is judged by the next above it, which is no better. */
const percentiles: readonly (readonly [number, keyof Latency])[] = [
  ...([
    [50, "median"],
    [90, "p90"],
    [99, "p99"],
    [99.9, "p999"],
    [99.99, "p9999"],
  ] as const),
];
type Percentiles = Partial<Record<keyof Latency, number | null>>;

const storedFor = (percentile: number, of: Percentiles | undefined): [number, number] | undefined => {
  for (const [stored, key] of percentiles) {
    const value = of?.[key];
    if (stored >= percentile && value !== undefined && value !== null) return [stored, value];
  }
  return undefined;
};

function latencyVerdict(
  { percentile, ms: wanted }: NonNullable<Needs["latency"]>,
  found: { stored: number; value: number } | undefined,
): Verdict {
  const by = found !== undefined && found.stored !== percentile ? `, judged by p${found.stored}` : "";
  // A higher percentile that is too slow leaves open what the wanted one is.
  const met =
    found === undefined ? null : found.value <= wanted ? true : found.stored === percentile ? false : null;
  return {
    ...{
      need: `p${percentile} of the completion latency at most ${ms(wanted)}${by}`,
      wanted,
      unit: "ms",
      met,
    },
    found: found?.value ?? null,
    margin: found === undefined ? null : (1 - found.value / wanted) * 100,
  };
}

/** The needs that one run says something of, against its own figures; what it doesn't measure is left out. */
export function answers(needs: Needs, evidence: Evidence): Verdict[] {
  const { valid, bandwidth, iops, clat, sync, pool } = evidence;
  if (!valid || pool.backstore === "ramdisk") return [];
  const load = loadOf(evidence);
  const wanted = load === undefined ? undefined : needs[load];
  const found = load === "write" || load === "read" ? bandwidth : iops;
  const latency =
    needs.latency === undefined || sync ? undefined : storedFor(needs.latency.percentile, clat ?? undefined);
  return [
    ...(load === undefined || wanted === undefined || found === null
      ? []
      : [atLeast(wordsOf(load, wanted), found)]),
    ...(needs.latency === undefined || latency === undefined
      ? []
      : [latencyVerdict(needs.latency, { stored: latency[0], value: latency[1] })]),
  ];
}

const greatest = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.max(...values);

/** All needs against the valid runs of a result and its pools' layouts, in the order of the schema. */
export function verdictsOf(needs: Needs, runs: readonly Run[], environment: Environment): Verdict[] {
  const all = seriesOfRuns(runs);
  return [
    ...loads.flatMap((load) => {
      const wanted = needs[load];
      if (wanted === undefined) return [];
      const most = bestOf(all, load);
      const { need, unit } = wordsOf(load, wanted);
      const arc = most !== undefined && fromArc(most.series) ? " (measured from the ARC)" : "";
      return [atLeast({ need: `${need}${arc}`, unit, wanted }, most?.value ?? null)];
    }),
    ...latencyUnderLoad(needs, all),
    ...clientsAtOnce(needs, runs),
    ...synchronous(needs, all),
    ...ofLayout(needs, environment),
  ];
}

/**
 * The latency at the load that is needed: of the runs that carry it the quickest, of several loads the slowest of
 * those. Without a load stated, every kind of run that there is counts as one.
 */
function latencyUnderLoad(needs: Needs, every: readonly Series[]): Verdict[] {
  const { latency } = needs;
  if (latency === undefined) return [];
  // fio's completion latency leaves out the flush after a write, which is most of it.
  const all = every.filter(([first]) => first?.test.sync === "none");
  const stated = loads.filter((load) => needs[load] !== undefined);
  const perLoad =
    stated.length === 0
      ? [...Map.groupBy(all, ([first]) => first?.test.operation).values()]
      : stated.map((load) =>
          measuring(all, load).filter((one) => (middle(one, figureOf(load)) ?? 0) >= (needs[load] ?? 0)),
        );
  const each = perLoad.map((series) => quickest(series, latency.percentile));
  const known = each.filter((one) => one !== undefined);
  const slowest = known.toSorted((a, b) => b.value - a.value)[0];
  // A load that nothing carries has no latency; one that is too slow already decides, whatever the others are.
  const decided = slowest !== undefined && (known.length === each.length || slowest.value > latency.ms);
  return [latencyVerdict(latency, decided ? slowest : undefined)];
}

function quickest(
  series: readonly Series[],
  percentile: number,
): { stored: number; value: number } | undefined {
  const values = series.flatMap((one) => {
    const sides = one.flatMap(({ run }) => {
      const both = [run.read, run.write].flatMap((side) => {
        const found = side === null ? undefined : storedFor(percentile, side.clat ?? undefined);
        return found === undefined ? [] : [found];
      });
      const [slower] = both.toSorted((a, b) => b[1] - a[1]);
      return slower === undefined ? [] : [slower];
    });
    const stored = sides[0]?.[0];
    return stored === undefined ? [] : [{ stored, value: median(sides.map(([, value]) => value)) }];
  });
  return values.toSorted((a, b) => a.value - b.value)[0];
}

function clientsAtOnce(needs: Needs, runs: readonly Run[]): Verdict[] {
  if (needs.clients === undefined) return [];
  const wanted = needs.clients;
  const most = greatest(runs.flatMap((run) => (run.valid ? [run.clients.length] : [])));
  return [atLeast({ need: plural(wanted, "client") + " at once", unit: "clients", wanted }, most)];
}

/** The needed share of the writes, as bandwidth and IOPS of runs that flush after each write. */
function synchronous(needs: Needs, all: readonly Series[]): Verdict[] {
  const { syncShare } = needs;
  if (syncShare === undefined || syncShare === 0) return [];
  const flushed = all.filter(([first]) => first !== undefined && first.test.sync === "fdatasync");
  const part = (wanted: number): number => (wanted * syncShare) / 100;
  const verdicts = [
    ...(needs.write === undefined
      ? []
      : [
          atLeast(
            {
              ...{ need: `${rounded(part(needs.write))} MB/s written synchronously`, unit: "MB/s" },
              wanted: part(needs.write),
            },
            greatest(flushed.flatMap((one) => middle(one, figureOf("write")) ?? [])),
          ),
        ]),
    ...(needs.writeIops === undefined
      ? []
      : [
          atLeast(
            {
              ...{ need: `${rounded(part(needs.writeIops))} synchronous writes a second`, unit: "IOPS" },
              wanted: part(needs.writeIops),
            },
            greatest(flushed.flatMap((one) => middle(one, figureOf("writeIops")) ?? [])),
          ),
        ]),
  ];
  if (verdicts.length > 0) return verdicts;
  const measure = { need: `${rounded(syncShare)} % of the writes synchronous`, unit: "%", wanted: syncShare };
  return [atLeast(measure, flushed.length > 0 ? 100 : null)];
}

/** What the layout gives, of several pools the weakest: failures that are survived, whichever disks they are. */
function ofLayout(needs: Needs, { pools }: Environment): Verdict[] {
  const layouts = pools.map(({ layout }) => layout);
  const known = layouts.filter((layout) => layout !== null);
  const whole = known.length === layouts.length && known.length > 0;
  const verdicts: Verdict[] = [];
  if (needs.failures !== undefined) {
    const wanted = needs.failures;
    const found = whole ? Math.min(...known.map((layout) => failures(layout).any)) : null;
    verdicts.push(
      atLeast({ need: `${plural(wanted, "disk")} may fail at once`, unit: "disks", wanted }, found),
    );
  }
  if (needs.capacity !== undefined) {
    const wanted = needs.capacity;
    const each = known.map((layout) => poolSpace(layout)?.usable ?? null);
    const found =
      whole && each.every((bytes) => bytes !== null)
        ? each.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
        : null;
    verdicts.push(atLeast({ need: `${size(wanted)} usable`, unit: "bytes", wanted }, found));
  }
  return verdicts;
}
