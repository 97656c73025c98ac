import { ParseError } from "../../provider/errors.ts";

/**
 * `perf stat -x, -I MS` (perf-stat(1), CSV format): a line for each event at each interval, on stderr unless -o says
 * otherwise: time, count, unit, event, time that it ran, share of the time that it ran, and figures made of it. With
 * -A or --per-core a field more comes second; not used here.
 */

export type PerfCount = {
  /** Seconds since perf began; null without -I. */
  readonly time: number | null;
  readonly event: string;
  /** Null where perf had no count: the processor lacks the event, or it never came to run. */
  readonly count: number | null;
  /** msec for clocks; "" for plain counts. */
  readonly unit: string;
  /** Percent of the time that the counter ran: below 100 the count is an estimate. Null where perf doesn't say. */
  readonly running: number | null;
};

const nothing = ["<not supported>", "<not counted>"];

export function parsePerfStat(text: string): PerfCount[] {
  return text.split("\n").flatMap((line) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const fields = line.split(",");
    const unknown = (why: string): ParseError =>
      new ParseError(`perf stat: unknown line ${JSON.stringify(line)} (${why})`);
    // With -I the time comes first, padded by blanks; a count is never followed by a count.
    const timed = /^\s*\d+\.\d+$/.test(fields[0] ?? "") && isCount(fields[1] ?? "");
    const [count = "", unit, event, , share = ""] = timed ? fields.slice(1) : fields;
    if (!isCount(count)) throw unknown("no count");
    if (unit === undefined || event === undefined || event === "" || /\s/.test(unit)) {
      throw unknown("count, unit and event expected");
    }
    if (share !== "" && !/^\d+(\.\d+)?$/.test(share)) {
      throw unknown(`${JSON.stringify(share)} is no share`);
    }
    return [
      {
        time: timed ? Number(fields[0]) : null,
        event,
        count: nothing.includes(count) ? null : Number(count),
        unit,
        running: share === "" ? null : Number(share),
      },
    ];
  });
}

const isCount = (text: string): boolean => nothing.includes(text) || /^\d+(\.\d+)?$/.test(text);
