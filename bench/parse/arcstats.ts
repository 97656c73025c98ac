import { ParseError } from "../../provider/errors.ts";
import { parseKstat } from "./kstat.ts";

/** The counters of /proc/spl/kstat/zfs/arcstats. */
export const parseArcstats = (text: string): Map<string, number> => parseKstat(text, "arcstats");

export function arcCounter(counters: ReadonlyMap<string, number>, name: string): number {
  const value = counters.get(name);
  if (value === undefined) throw new ParseError(`arcstats: no counter ${name}`);
  return value;
}

/**
 * Demand accesses between two readings. A hit is data that was in memory; an access that waited for a read under
 * way (iohits, since ZFS 2.2) counts as a miss. Prefetch turns reads from disk into hits, so what the pool read
 * meanwhile (zpool iostat) belongs beside this ratio.
 */
export function arcBetween(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  const grown = (name: string) => arcCounter(after, name) - arcCounter(before, name);
  const hits = grown("demand_data_hits");
  const misses =
    grown("demand_data_misses") + (before.has("demand_data_iohits") ? grown("demand_data_iohits") : 0);
  return { hits, misses, hitRatio: hits + misses > 0 ? hits / (hits + misses) : null };
}
