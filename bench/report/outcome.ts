import type { Outcome, Result } from "../schema/result.ts";
import { sidesOf } from "./tables.ts";
import { titlesOf } from "./words.ts";

/** Four digits that count: exact figures are in result.json. */
const short = (value: number): number => Number(value.toPrecision(4));

/** What a result says in short: the stack's output. */
export function outcomeOf({ runs, folder, reports, verdicts }: Result): Outcome {
  const titles = titlesOf(runs);
  return {
    runs: runs.map((run) => {
      const name = titles.get(run.spec.id) ?? run.spec.id;
      if (!run.valid) return { run: name, valid: false, invalid: run.invalid };
      const sides = sidesOf(run);
      // Of a mixed run both directions have latencies; an outcome has one: the slower.
      const slowest = sides
        .flatMap(({ side }) => side.clat ?? [])
        .sort((a, b) => b.median - a.median)
        .at(0);
      return {
        // No name of a field says it, so the run's does: nobody is to take its score for an official one.
        ...{
          run: run.official === false ? `${name}, an IO500-shaped profile, not official` : name,
          valid: true,
        },
        ...(run.read && { "read MB/s": short(run.read.bandwidth) }),
        ...(run.write && { "write MB/s": short(run.write.bandwidth) }),
        ...(sides.length > 0 && { IOPS: short(sides.reduce((sum, { side }) => sum + side.iops, 0)) }),
        ...(slowest && { "clat median ms": short(slowest.median) }),
        ...(slowest && slowest.p999 !== null && { "clat p99.9 ms": short(slowest.p999) }),
        ...(run.diagnosis?.limit && { "limited by": run.diagnosis.limit.sentence }),
        ...(run.phases.length > 0 && {
          phases: Object.fromEntries(
            run.phases.map(({ phase, unit, value }) => [`${phase} ${unit}`, short(value)]),
          ),
        }),
        ...(run.score !== null && { score: short(run.score) }),
      };
    }),
    folder,
    reports,
    verdicts,
  };
}
