import { ParseError } from "../../provider/errors.ts";

/**
 * What `zpool iostat -Hpvy -T u POOL 1` prints (zpool-iostat(8)): at each interval a line with the time, then one
 * line for the pool and one for each vdev: name, allocated, free, operations and bytes a second, by tabs.
 * -y leaves out the first report, which is the average since boot. Columns differ with -l and -q: not used here.
 */

export type VdevRates = {
  readonly name: string;
  /** Null where ZFS keeps no figure: space of a leaf vdev. */
  readonly allocated: number | null;
  readonly free: number | null;
  readonly readOperations: number;
  readonly writeOperations: number;
  /** Bytes a second. */
  readonly read: number;
  readonly write: number;
};
export type PoolSample = {
  readonly time: number;
  readonly pool: VdevRates;
  readonly vdevs: readonly VdevRates[];
};

export function parseZpoolIostat(text: string, pool: string): PoolSample[] {
  const samples: { time: number; rows: VdevRates[] }[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    if (/^\d+$/.test(line)) {
      samples.push({ time: Number(line), rows: [] });
      continue;
    }
    const sample = samples.at(-1);
    if (sample === undefined) throw unknown(line, "before the first time");
    sample.rows.push(row(line));
  }
  return samples.flatMap(({ time, rows }) => {
    const [first, ...vdevs] = rows;
    // The report that was being printed when zpool was ended may have no line yet.
    if (first === undefined) return [];
    if (first.name !== pool) throw new ParseError(`zpool iostat: ${pool} expected, ${first.name} found`);
    return [{ time, pool: first, vdevs }];
  });
}

/** Does this line begin a report? */
export const beginsReport = (line: string): boolean => /^\d+$/.test(line);

function row(line: string): VdevRates {
  const fields = line.split("\t");
  const [name, ...values] = fields;
  if (name === undefined || name === "" || values.length !== 6) throw unknown(line, "7 fields expected");
  const [allocated, free, readOperations, writeOperations, read, write] = values.map((value) => {
    if (value === "-") return null;
    if (!/^\d+$/.test(value)) throw unknown(line, `${JSON.stringify(value)} is no number`);
    return Number(value);
  });
  if (typeof readOperations !== "number" || typeof writeOperations !== "number") {
    throw unknown(line, "operations missing");
  }
  if (typeof read !== "number" || typeof write !== "number") throw unknown(line, "rates missing");
  return {
    name,
    allocated: allocated ?? null,
    free: free ?? null,
    readOperations,
    writeOperations,
    read,
    write,
  };
}

const unknown = (line: string, why: string): ParseError =>
  new ParseError(`zpool iostat: unknown line ${JSON.stringify(line)} (${why})`);
