import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";
import { atLeast } from "./version.ts";

/**
 * What iostat(1) of sysstat prints with `-x -y -t -k`: at each interval one row for each disk, means over that
 * interval. -y leaves out the report since boot, -k keeps kilobytes whatever the environment says; they are of 1024
 * bytes. Rows are read by the columns' names, as those differ between versions: svctm until 12.1.1,
 * discards since 12.1.2, flushes (f/s, f_await) since 12.3.1.
 */

export type DiskRates = {
  /** The kernel's name: sda. */
  readonly disk: string;
  /** Requests a second; null where the version has no such column. */
  readonly reads: number;
  readonly writes: number;
  readonly discards: number | null;
  readonly flushes: number | null;
  /** Bytes a second. */
  readonly read: number;
  readonly written: number;
  /** Mean ms of a request, its time in the queue included; null without any request. */
  readonly readWait: number | null;
  readonly writeWait: number | null;
  readonly flushWait: number | null;
  /** Of reads and writes together. */
  readonly wait: number | null;
  /** Requests in flight, on average (aqu-sz). */
  readonly queue: number;
  /** Percent of the time with a request in flight (%util): no measure of load for disks that serve many at once. */
  readonly busy: number;
};
export type DiskSample = {
  /** As iostat prints it with -t: local time; null without. */
  readonly time: string | null;
  readonly disks: readonly DiskRates[];
};

/** JSON or text, whichever it is. A text may end within a sample, of which the whole rows count. */
export const parseIostat = (text: string): DiskSample[] =>
  text.trimStart().startsWith("{") ? parseIostatJson(text) : parseIostatText(text);

/** How a version of iostat is asked, and how its answer is read. */
export type Iostat = {
  readonly argv: readonly string[];
  readonly extension: "json" | "txt";
  /** Does this line begin a sample? */
  beginsSample(line: string): boolean;
};
const options = ["-x", "-y", "-t", "-k"];
const json: Iostat = {
  argv: ["iostat", ...options, "-o", "JSON", "1"],
  extension: "json",
  beginsSample: (line) => /^\s*"disk": \[/.test(line),
};
const text: Iostat = {
  argv: ["iostat", ...options, "1"],
  extension: "txt",
  beginsSample: (line) => /^Device:?\s/.test(line),
};

/** JSON from sysstat 12.2.1 on: before, it was not ended on SIGINT, or its kilobytes were sectors. */
export const iostatOf = (version: string): Iostat => (atLeast(version, [12, 2, 1]) ? json : text);

const document = z.object({
  sysstat: z.object({
    hosts: z
      .array(
        z.object({
          statistics: z.array(
            z.object({
              timestamp: z.string().optional(),
              disk: z.array(z.record(z.string(), z.union([z.string(), z.number()]))),
            }),
          ),
        }),
      )
      .length(1),
  }),
});

function parseIostatJson(output: string): DiskSample[] {
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch (cause) {
    const end = output.trimEnd().split("\n").at(-1)?.trim() ?? "";
    throw new ParseError(`iostat's output is not whole JSON; its last line: ${JSON.stringify(end)}`, {
      cause,
    });
  }
  const parsed = document.safeParse(value);
  if (!parsed.success) {
    throw new ParseError(`iostat's output is not of the form known here: ${z.prettifyError(parsed.error)}`);
  }
  const samples = parsed.data.sysstat.hosts[0]?.statistics ?? [];
  return samples.map(({ timestamp, disk: rows }) => ({
    time: timestamp ?? null,
    disks: rows.map((row) => {
      const name = row.disk_device;
      if (typeof name !== "string") throw unknown(JSON.stringify(row), "no disk_device");
      // In JSON the percent sign is left out.
      return rates(name, (column) => row[column.replace("%", "")], JSON.stringify(row));
    }),
  }));
}

const timestamp = /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}|\d\d\/\d\d\/\d\d(?:\d\d)? \d\d:\d\d:\d\d)$/;
const number = /^\d+\.\d+$/;

function parseIostatText(output: string): DiskSample[] {
  const samples: { time: string | null; disks: DiskRates[] }[] = [];
  let time: string | null = null;
  let columns: readonly string[] | undefined;
  let cpu = false;
  for (const line of output.split("\n")) {
    const [first = "", ...fields] = line.trim().split(/\s+/);
    if (timestamp.test(line.trim())) time = line.trim();
    else if (first === "" || first === "Linux") columns = undefined;
    else if (first === "avg-cpu:") cpu = true;
    else if (cpu && [first, ...fields].every((field) => number.test(field))) cpu = false;
    else if (/^Device:?$/.test(first)) {
      columns = fields;
      samples.push({ time, disks: [] });
    } else {
      if (columns === undefined) throw unknown(line, "before any heading");
      const known = columns;
      if (fields.length !== known.length) throw unknown(line, `${known.length} figures expected`);
      samples.at(-1)?.disks.push(rates(first, (column) => fields[known.indexOf(column)], line));
    }
  }
  return samples;
}

function rates(
  disk: string,
  cell: (column: string) => string | number | undefined,
  quoted: string,
): DiskRates {
  const optional = (column: string): number | null => {
    const value = cell(column);
    if (value === undefined) return null;
    if (typeof value === "number" && value >= 0) return value;
    if (typeof value === "string" && number.test(value)) return Number(value);
    throw unknown(quoted, `${column} ${JSON.stringify(value)} is no figure`);
  };
  const of = (...columns: string[]): number => {
    for (const column of columns) {
      const value = optional(column);
      if (value !== null) return value;
    }
    throw unknown(quoted, `no column ${columns.join(" or ")}`);
  };
  const waited = (requests: number | null, wait: number | null): number | null => (requests ? wait : null);
  const [reads, writes, flushes] = [of("r/s"), of("w/s"), optional("f/s")];
  const [readWait, writeWait] = [of("r_await"), of("w_await")];
  return {
    disk,
    reads,
    writes,
    discards: optional("d/s"),
    flushes,
    read: of("rkB/s") * 1024,
    written: of("wkB/s") * 1024,
    readWait: waited(reads, readWait),
    writeWait: waited(writes, writeWait),
    flushWait: waited(flushes, optional("f_await")),
    wait: reads + writes > 0 ? (reads * readWait + writes * writeWait) / (reads + writes) : null,
    queue: of("aqu-sz", "avgqu-sz"),
    busy: of("%util"),
  };
}

const unknown = (line: string, why: string): ParseError =>
  new ParseError(`iostat: unknown line ${JSON.stringify(line)} (${why})`);
