import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";

/** What bench/files/files.pl prints: a line of JSON for each report. Seconds to a hundredth, by the client's clock. */

const count = z.int().nonnegative();
const seconds = z.number().nonnegative();

const progress = z.strictObject({ at: z.enum(["write", "read"]), files: count, bytes: count, seconds });
const ended = z.strictObject({
  phase: z.enum(["write", "read"]),
  files: count,
  bytes: count,
  seconds: seconds.describe("From the first file to the last byte read, or on the disks (sync -f included)."),
  sync: seconds.describe("Of them, waiting for sync -f at the end of the write."),
  user: seconds.describe("CPU time of the program itself: making and comparing content."),
  system: seconds.describe("CPU time of the kernel for it."),
});
const cached = z.strictObject({
  cached: z.strictObject({
    files: count.describe("How many of the files were looked at."),
    pages: count.nullable().describe("Pages of them in the page cache; null: neither way is there."),
    by: z.string().describe("cachestat or fincore."),
  }),
});
export type FilesProgress = z.infer<typeof progress>;
export type FilesPhase = z.infer<typeof ended>;
export type Cached = z.infer<typeof cached>["cached"];

/** One line of its output; undefined for what others print (findmnt's table). */
export function parseLine(line: string): FilesProgress | FilesPhase | { cached: Cached } | undefined {
  if (!/^\{"(at|phase|cached)":/.test(line)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ParseError(`files.pl: not JSON: ${line}`, { cause });
  }
  const parsed = z.union([progress, ended, cached]).safeParse(value);
  if (!parsed.success) throw new ParseError(`files.pl: unknown line ${line}`);
  return parsed.data;
}

export type FilesReport = { readonly write: FilesPhase; readonly read: FilesPhase; readonly cached: Cached };

/** All that it printed. An output without one of the three reports is an error. */
export function parseFiles(output: string): FilesReport {
  const lines = output.split("\n").flatMap((line) => parseLine(line) ?? []);
  const phase = (name: FilesPhase["phase"]): FilesPhase => {
    const found = lines.find((line): line is FilesPhase => "phase" in line && line.phase === name);
    if (found === undefined) throw new ParseError(`files.pl did not say how the ${name} ended`);
    return found;
  };
  const looked = lines.find((line) => "cached" in line);
  if (looked === undefined) throw new ParseError("files.pl did not say what the client's cache holds");
  return { write: phase("write"), read: phase("read"), cached: looked.cached };
}
