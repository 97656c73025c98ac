import { ParseError } from "../../provider/errors.ts";

/**
 * What zpool-iostat(8) prints with -p (exact bytes, ns), -v (each vdev), -y (no report since boot) and -T u (a line
 * with the time before each report), with or without -l (mean waits) and -q (queues). Of ZFS 2.0 to 2.4.
 *
 * Two forms. With -H: fields by tabs, no heading, and neither a vdev's class nor its depth: a blank line alone parts
 * dedup, special, log and cache vdevs from those before. Without -H: a heading at each report, children indented by
 * two blanks, classes under a title. Use the second where roles matter.
 *
 * Without a heading the columns are known by their number, which is another for each set of options and version: -l
 * has one more since 2.2 (rebuild), -q two (rebuildq_write).
 */

/** Mean waits in ns; null where there was no such I/O in the interval. ZFS makes them of bins of powers of two. */
export type VdevWaits = {
  /** In the queue and on the disk. */
  readonly totalRead: number | null;
  readonly totalWrite: number | null;
  /** On the disk alone. */
  readonly diskRead: number | null;
  readonly diskWrite: number | null;
  /** In the queue alone, by its class. */
  readonly syncRead: number | null;
  readonly syncWrite: number | null;
  readonly asyncRead: number | null;
  readonly asyncWrite: number | null;
  readonly scrub: number | null;
  readonly trim: number | null;
  /** Null before ZFS 2.2 too. */
  readonly rebuild: number | null;
};
/** I/Os at the moment of the report, not over the interval. */
export type Queue = { readonly pending: number; readonly active: number };
export type VdevQueues = {
  readonly syncRead: Queue;
  readonly syncWrite: Queue;
  readonly asyncRead: Queue;
  readonly asyncWrite: Queue;
  readonly scrub: Queue;
  readonly trim: Queue;
  /** Null before ZFS 2.2. */
  readonly rebuild: Queue | null;
};
export type VdevRole = "pool" | "data" | "dedup" | "special" | "log" | "cache";

export type VdevRates = {
  readonly name: string;
  /** Null in the form without headings, but for the pool. */
  readonly role: VdevRole | null;
  /** 0: the pool; 1: a vdev; 2: a disk in it, or what replaces it, and so on. Null without headings, but for the pool. */
  readonly depth: number | null;
  /** Bytes. Null where ZFS prints a dash; for a disk within a vdev it prints 0, as it keeps no figure. */
  readonly allocated: number | null;
  readonly free: number | null;
  readonly readOperations: number;
  readonly writeOperations: number;
  /** Bytes a second. */
  readonly read: number;
  readonly write: number;
  /** Null without -l. */
  readonly waits: VdevWaits | null;
  /** Null without -q. */
  readonly queues: VdevQueues | null;
};
export type PoolSample = {
  /** Seconds since 1970. */
  readonly time: number;
  readonly pool: VdevRates;
  readonly vdevs: readonly VdevRates[];
};

/** Which columns follow the name: as the heading says, or as their number does. */
type Columns = { readonly waits: 0 | 10 | 11; readonly queues: 0 | 12 | 14 };
const rates = 6;
const known: readonly Columns[] = [
  { waits: 0, queues: 0 },
  { waits: 10, queues: 0 },
  { waits: 11, queues: 0 },
  { waits: 0, queues: 12 },
  { waits: 0, queues: 14 },
  { waits: 10, queues: 12 },
  { waits: 11, queues: 14 },
];
const count = ({ waits, queues }: Columns): number => rates + waits + queues;

const waitTitles = "total_wait disk_wait syncq_wait asyncq_wait scrub trim rebuild".split(" ");
const queueTitles =
  "syncq_read syncq_write asyncq_read asyncq_write scrubq_read trimq_write rebuildq_write".split(" ");
/** The upper line of a heading, for each set of columns. */
const titles = (columns: Columns): string =>
  [
    ...["capacity", "operations", "bandwidth"],
    ...waitTitles.slice(0, columns.waits === 0 ? 0 : columns.waits - 4),
    ...queueTitles.slice(0, columns.queues / 2),
  ].join(" ");
/** Its lower line, after the pool's. */
const subtitles = (columns: Columns): string =>
  [
    "alloc free read write read write",
    ...(columns.waits === 0
      ? []
      : ["read write read write read write read write", ...Array(columns.waits - 8).fill("wait")]),
    ...Array(columns.queues / 2).fill("pend activ"),
  ].join(" ");

const classes: Readonly<Record<string, VdevRole>> = {
  dedup: "dedup",
  special: "special",
  logs: "log",
  cache: "cache",
};

export function parseZpoolIostat(text: string, pool: string): PoolSample[] {
  const samples: { time: number; rows: VdevRates[] }[] = [];
  let columns: Columns | undefined;
  let role: VdevRole = "data";
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (line.trim() === "" || /^-+(\s+-+)*$/.test(line)) continue;
    if (/^\d+$/.test(line)) {
      samples.push({ time: Number(line), rows: [] });
      role = "data";
      continue;
    }
    const sample = samples.at(-1);
    if (sample === undefined) throw unknown(line, "before the first time");
    if (/^\s+capacity\s/.test(line)) {
      columns = known.find((set) => titles(set) === words.join(" "));
      if (columns === undefined) throw unknown(line, "a heading of no version known here");
      continue;
    }
    if (words[0] === "pool" && words[1] === "alloc") {
      if (columns === undefined || words.slice(1).join(" ") !== subtitles(columns)) {
        throw unknown(line, "a heading of no version known here");
      }
      continue;
    }
    if (line.includes("\t")) sample.rows.push(scripted(line, sample.rows.length === 0));
    else {
      if (columns === undefined) throw unknown(line, "before any heading");
      const title = sample.rows.length > 0 ? classes[words[0] ?? ""] : undefined;
      if (title !== undefined && words.slice(1).every((word) => word === "-")) role = title;
      else sample.rows.push(headed(line, columns, sample.rows.length === 0 ? "pool" : role));
    }
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

/** A row of -H. */
function scripted(line: string, first: boolean): VdevRates {
  const [name = "", ...values] = line.split("\t");
  const columns = known.find((set) => count(set) === values.length);
  if (name === "" || columns === undefined) {
    const numbers = known.map((set) => count(set) + 1).join(", ");
    throw unknown(line, `${values.length + 1} fields; ${numbers} are known`);
  }
  return row(line, columns, { name, role: first ? "pool" : null, depth: first ? 0 : null }, values);
}

/** A row under a heading. A pool's name may hold blanks, so the figures are taken from the end. */
function headed(line: string, columns: Columns, role: VdevRole): VdevRates {
  const fields = line.trim().split(/\s+/);
  const values = fields.slice(-count(columns));
  const name = fields.slice(0, -count(columns)).join(" ");
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  if (name === "" || values.length !== count(columns)) {
    throw unknown(line, `a name and ${count(columns)} figures expected`);
  }
  if (blanks % 2 !== 0 || (role === "pool") !== (blanks === 0)) throw unknown(line, "indented otherwise");
  return row(line, columns, { name, role, depth: blanks / 2 }, values);
}

function row(
  line: string,
  { waits, queues }: Columns,
  which: Pick<VdevRates, "name" | "role" | "depth">,
  values: readonly string[],
): VdevRates {
  const cells = values.map((value) => {
    if (value === "-") return null;
    if (!/^\d+$/.test(value)) throw unknown(line, `${JSON.stringify(value)} is no number`);
    return Number(value);
  });
  const at = (index: number): number | null => cells[index] ?? null;
  const given = (index: number, what: string): number => {
    const value = at(index);
    if (value === null) throw unknown(line, `${what} missing`);
    return value;
  };
  const queue = (nth: number): Queue => ({
    pending: given(rates + waits + 2 * nth, "queues"),
    active: given(rates + waits + 2 * nth + 1, "queues"),
  });
  return {
    ...which,
    allocated: at(0),
    free: at(1),
    readOperations: given(2, "operations"),
    writeOperations: given(3, "operations"),
    read: given(4, "rates"),
    write: given(5, "rates"),
    waits:
      waits === 0
        ? null
        : {
            totalRead: at(6),
            totalWrite: at(7),
            diskRead: at(8),
            diskWrite: at(9),
            syncRead: at(10),
            syncWrite: at(11),
            asyncRead: at(12),
            asyncWrite: at(13),
            scrub: at(14),
            trim: at(15),
            rebuild: waits === 11 ? at(16) : null,
          },
    queues:
      queues === 0
        ? null
        : {
            syncRead: queue(0),
            syncWrite: queue(1),
            asyncRead: queue(2),
            asyncWrite: queue(3),
            scrub: queue(4),
            trim: queue(5),
            rebuild: queues === 14 ? queue(6) : null,
          },
  };
}

const unknown = (line: string, why: string): ParseError =>
  new ParseError(`zpool iostat: unknown line ${JSON.stringify(line)} (${why})`);
