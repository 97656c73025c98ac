import { ParseError } from "../../provider/errors.ts";

/**
 * Counters of ZFS below /proc/spl/kstat/zfs: arcstats, dbufstats, zil, POOL/objset-0x… are tables of name, type and
 * value under two lines of heading; POOL/txgs has one line of heading and a row for each transaction group.
 */

/** Values by name; texts (an objset's dataset_name) are left to `kstatText`. */
export function parseKstat(text: string, what: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const [name, type, value] of rows(text, what)) {
    // SPL's types: 1 and 2 are 32 bits, 3 and 4 are 64 bits, signed and unsigned; 7 is a text.
    if (type === "7") continue;
    if (!/^[1-6]$/.test(type) || !/^-?\d+$/.test(value)) {
      throw new ParseError(`${what}: unknown line ${JSON.stringify([name, type, value].join(" "))}`);
    }
    values.set(name, Number(value));
  }
  return values;
}

/** A text by its name: dataset_name of POOL/objset-0x…. */
export function kstatText(text: string, name: string, what: string): string {
  const row = rows(text, what).find(([found, type]) => found === name && type === "7");
  if (row === undefined) throw new ParseError(`${what}: no text ${name}`);
  return row[2];
}

function rows(text: string, what: string): [name: string, type: string, value: string][] {
  const [header, columns, ...lines] = text.trimEnd().split("\n");
  if (!/^\d+ \d+ 0x/.test(header ?? "") || !/^name\s+type\s+data$/.test(columns?.trim() ?? "")) {
    throw new ParseError(`${what}: not a kstat: ${JSON.stringify(text.slice(0, 80))}`);
  }
  return lines.map((line) => {
    const row = /^(\S+)\s+(\d)\s+(.*\S)$/.exec(line.trimEnd());
    if (row?.[1] === undefined || row[2] === undefined || row[3] === undefined) {
      throw new ParseError(`${what}: unknown line ${JSON.stringify(line)}`);
    }
    return [row[1], row[2], row[3]];
  });
}

/** One transaction group in POOL/txgs. Times are ns. */
export type Txg = {
  readonly txg: number;
  /** When it was opened: ns since boot (gethrtime). */
  readonly birth: number;
  /** O open, Q quiescing, W waiting for sync, S syncing, C committed. */
  readonly state: "O" | "Q" | "W" | "S" | "C";
  /** Dirty bytes when it was synced. */
  readonly dirty: number;
  /** Bytes and operations of its sync. */
  readonly read: number;
  readonly written: number;
  readonly reads: number;
  readonly writes: number;
  /** How long it was open, quiesced, waited and synced; 0 until that is over. */
  readonly openTime: number;
  readonly quiesceTime: number;
  readonly waitTime: number;
  readonly syncTime: number;
};

const txgColumns = "txg birth state ndirty nread nwritten reads writes otime qtime wtime stime".split(" ");

/** The last transaction groups (zfs_txg_history of them, 100 by default), the oldest first. */
export function parseTxgs(text: string): Txg[] {
  const [columns, ...lines] = text.trimEnd().split("\n");
  if (columns?.trim().split(/\s+/).join() !== txgColumns.join()) {
    throw new ParseError(`txgs: not a kstat of transaction groups: ${JSON.stringify(text.slice(0, 80))}`);
  }
  return lines.map((line) => {
    const fields = line.trim().split(/\s+/);
    const state = fields[2] ?? "";
    const numbers = fields.filter((_, at) => at !== 2);
    if (
      fields.length !== txgColumns.length ||
      !/^[OQWSC]$/.test(state) ||
      !numbers.every((n) => /^\d+$/.test(n))
    ) {
      throw new ParseError(`txgs: unknown line ${JSON.stringify(line)}`);
    }
    const of = (column: string): number => Number(fields[txgColumns.indexOf(column)]);
    return {
      txg: of("txg"),
      birth: of("birth"),
      state: state as Txg["state"],
      dirty: of("ndirty"),
      read: of("nread"),
      written: of("nwritten"),
      reads: of("reads"),
      writes: of("writes"),
      openTime: of("otime"),
      quiesceTime: of("qtime"),
      waitTime: of("wtime"),
      syncTime: of("stime"),
    };
  });
}
