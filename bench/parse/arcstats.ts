import { ParseError } from "../../provider/errors.ts";

/** The counters of /proc/spl/kstat/zfs/arcstats: two lines of heading, then name, type and number. */
export function parseArcstats(text: string): Map<string, number> {
  const [header, columns, ...lines] = text.trimEnd().split("\n");
  if (!/^\d+ \d+ 0x/.test(header ?? "") || !/^name\s+type\s+data$/.test(columns?.trim() ?? "")) {
    throw new ParseError(`arcstats: not a kstat: ${JSON.stringify(text.slice(0, 80))}`);
  }
  const counters = new Map<string, number>();
  for (const line of lines) {
    const row = /^(\w+)\s+([34])\s+(-?\d+)$/.exec(line.trim());
    if (row?.[1] === undefined) throw new ParseError(`arcstats: unknown line ${JSON.stringify(line)}`);
    counters.set(row[1], Number(row[3]));
  }
  return counters;
}

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
