import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";
import { type PhaseName, phases } from "./score.ts";

/** What bench/io500/shaped.pl prints: a line of JSON for each report. Seconds to a hundredth, by the client's clock. */

const count = z.int().nonnegative();
const seconds = z.number().nonnegative();
const phase = z.enum(phases);

const progress = z.strictObject({ at: phase, count, bytes: count, seconds });
const ended = z.strictObject({
  ended: phase,
  count: count.describe("Transfers, or files."),
  bytes: count,
  seconds,
  user: seconds.describe("CPU time of the program itself."),
  system: seconds.describe("CPU time of the kernel for it."),
});
export type ShapedProgress = z.infer<typeof progress>;
export type ShapedPhase = z.infer<typeof ended>;

/** One line of its output; undefined for what others print (findmnt's table). */
export function parseShapedLine(line: string): ShapedProgress | ShapedPhase | undefined {
  if (!/^\{"(at|ended)":/.test(line)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new ParseError(`shaped.pl: not JSON: ${line}`, { cause });
  }
  const parsed = z.union([progress, ended]).safeParse(value);
  if (!parsed.success) throw new ParseError(`shaped.pl: unknown line ${line}`);
  return parsed.data;
}

/** Every phase, once. */
export function parseShaped(output: string): Record<PhaseName, ShapedPhase> {
  const lines = output.split("\n").flatMap((line) => parseShapedLine(line) ?? []);
  const of = (name: PhaseName): ShapedPhase => {
    const found = lines.find((line): line is ShapedPhase => "ended" in line && line.ended === name);
    if (found === undefined) throw new ParseError(`shaped.pl did not say how ${name} ended`);
    return found;
  };
  return Object.fromEntries(phases.map((name) => [name, of(name)])) as Record<PhaseName, ShapedPhase>;
}
