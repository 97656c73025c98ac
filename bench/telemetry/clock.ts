import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import type { BenchHost } from "../unit.ts";

/**
 * By how many ms a host's clock is ahead of ours. Ours is performance.now() counted from its origin: unlike the wall
 * clock it is never set while a benchmark runs.
 */

export const now = (): number => performance.timeOrigin + performance.now();

const question = ["date", "+%s.%N"];

/** Of a few round trips the shortest counts: the host answered somewhere within it, so half of it is the error. */
export async function clockAhead(host: BenchHost, roundTrips = 4): Promise<{ ahead: number; error: number }> {
  let best = { ahead: 0, error: Number.POSITIVE_INFINITY };
  for (let n = 0; n < roundTrips; n += 1) {
    const asked = now();
    const text = expect(host, await host.ask(question), "its clock").trim();
    const answered = now();
    if (!/^\d+\.\d+$/.test(text))
      throw new ParseError(`date +%s.%N on ${host.name}: ${JSON.stringify(text)}`);
    const error = (answered - asked) / 2;
    if (error < best.error) best = { ahead: Number(text) * 1000 - (asked + answered) / 2, error };
  }
  return best;
}
