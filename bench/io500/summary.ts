import { ParseError } from "../../provider/errors.ts";
import type { Phase } from "../schema/result.ts";
import { type PhaseName, phases, type Score, scoreOf, unitOf } from "./score.ts";

/**
 * result_summary.txt of the io500 program (main.c of IO500/io500): a line a phase, then the score. Phases without a
 * score begin with blanks in the brackets, an extended run adds a line SCOREX; neither is part of the standard score.
 */

export type Summary = {
  readonly phases: readonly Phase[];
  readonly score: Score;
  /** What the program marked as invalid: phases by name, and the score. Empty: it counts. */
  readonly invalid: readonly string[];
};

const result =
  /^\[(RESULT| {6})\] +(\S+) +(-?\d+\.\d+) (GiB\/s|kIOPS) : time (\d+\.\d+) seconds( \[INVALID\])?$/;
const total =
  /^\[(SCORE |SCOREX)\] Bandwidth (\d+\.\d+) GiB\/s : IOPS (\d+\.\d+) kiops : TOTAL (\d+\.\d+)( \[INVALID\])?$/;

export function parseSummary(text: string): Summary {
  const found: Phase[] = [];
  const invalid: string[] = [];
  let score: Score | undefined;
  for (const line of text.split("\n")) {
    if (line.trim() === "" || /^IO500 version \S* ?\(\w+\)$/.test(line)) continue;
    const [, kind, phase = "", value, unit = "", seconds, mark] = result.exec(line) ?? [];
    if (kind !== undefined) {
      if (kind !== "RESULT") continue;
      if (mark !== undefined) invalid.push(phase);
      found.push({ phase, value: Number(value), unit, seconds: Number(seconds) });
      continue;
    }
    const [, which, bandwidth, metadata, whole, wrong] = total.exec(line) ?? [];
    if (which === undefined)
      throw new ParseError(`result_summary.txt of io500: unknown line ${JSON.stringify(line)}`);
    if (which !== "SCORE ") continue;
    score = { bandwidth: Number(bandwidth), metadata: Number(metadata), total: Number(whole) };
    if (wrong !== undefined) invalid.push("the score");
  }
  if (score === undefined)
    throw new ParseError("result_summary.txt of io500 has no score: the program has not ended");
  const missing = phases.find((phase) => !found.some((one) => one.phase === phase));
  if (missing !== undefined) throw new ParseError(`result_summary.txt of io500 has no phase ${missing}`);
  if (invalid.length === 0) agrees(found, score);
  return { phases: found, score, invalid };
}

/** The score is that of the phases, give or take its own rounding; a hand-edited file's is not. */
function agrees(found: readonly Phase[], score: Score): void {
  const value = (phase: PhaseName): number => {
    const one = found.find((other) => other.phase === phase);
    if (one?.unit !== unitOf(phase))
      throw new ParseError(`io500: ${phase} is in ${one?.unit}, not ${unitOf(phase)}`);
    return one.value;
  };
  const own = scoreOf(
    Object.fromEntries(phases.map((phase) => [phase, value(phase)])) as Record<PhaseName, number>,
  );
  // Six decimals each, of values that may be small.
  const smallest = Math.min(...found.map((one) => one.value));
  if (Math.abs(own.total / score.total - 1) > 1e-3 + 1e-6 / smallest) {
    throw new ParseError(
      `io500: its score is ${score.total}, and that of its phases ${own.total.toFixed(6)}`,
    );
  }
}
