import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { types } from "../../provider/registry.ts";
import { duration } from "../../scripts/progress.ts";
import { type Kind, kinds } from "./fault.ts";
import { Lane } from "./lane.ts";
import { type Point, pointName, random, sampleOf, turnsOf } from "./points.ts";
import type { Result } from "./result.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { isGood, legend, parseResults, sum, table } from "./table.ts";

/** npm run faults -- [OPTIONS]: see docs/reliability.md. */

export type Request = {
  readonly types: readonly string[];
  readonly kinds: readonly Kind[];
  /** So many of the kinds at each place, by turns; all where it is left out. */
  readonly turns?: number | undefined;
  /** So many faults a type; all where it is left out. */
  readonly sample?: number | undefined;
  readonly seed: number;
  readonly lanes: number;
  /** Faults that an earlier run has done. */
  readonly before: readonly Result[];
  /** Ends the run where it is. */
  readonly signal?: AbortSignal;
};

export const usage = `\
npm run faults -- [--type TYPE]… [--kind KIND]… [--turns N] [--sample N] [--seed N] [--lanes N] [--resume FILE]
npm run faults -- --table FILE

--type    zfs:Pool and so on; all where left out
--kind    ${kinds.join(", ")}; all where left out
--turns   so many of the ${kinds.length} kinds at each step, by turns (2)
--sample  so many faults of each type, by chance
--seed    other turns, another choice by chance (1)
--lanes   so many at once, each with guests of its own (2)
--resume  go on with the run that wrote this file
--table   print the table of a run, from its file, and run nothing`;

/** Every type has its scenario: a type that nothing strikes would look as if it survived. */
export function scenariosOf(wanted: readonly string[]): Scenario[] {
  const without = types.filter(({ type }) => !scenarios.some((scenario) => scenario.type === type));
  if (without.length > 0) {
    const names = without.map(({ type }) => type).join(", ");
    throw new Error(`test/faults/scenarios.ts has no scenario of ${names}: add one`);
  }
  const unknown = wanted.filter((type) => !scenarios.some((scenario) => scenario.type === type));
  if (unknown.length > 0)
    throw new Error(
      `there is no type ${unknown.join(", ")}; there are ${scenarios.map(({ type }) => type).join(", ")}`,
    );
  return scenarios.filter(({ type }) => wanted.length === 0 || wanted.includes(type));
}

/** Runs the faults; each result is handed over as it is there. Ends what it started, however it ends. */
export async function faults(
  request: Request,
  say: (line: string) => void,
  done: (result: Result) => void,
): Promise<Result[]> {
  const queue = scenariosOf(request.types);
  const results: Result[] = [...request.before];
  const known = new Set(results.map(pointName));
  const choose = (scenario: Scenario) => {
    // Of the type alone, so that the choice does not depend on which lane comes first.
    const next = random(request.seed * scenarios.length + scenarios.indexOf(scenario));
    return (all: Point[]): Point[] => {
      const points = turnsOf(all, request.turns ?? kinds.length, request.seed);
      const chosen = request.sample === undefined ? points : sampleOf(points, request.sample, next);
      return chosen.filter((point) => !known.has(pointName(point)));
    };
  };
  const failures: unknown[] = [];
  const lanes = Array.from({ length: Math.min(request.lanes, queue.length) }, () => new Lane(say));
  const work = lanes.map(async (lane) => {
    for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
      try {
        await lane.run(scenario, request.kinds, choose(scenario), (result) => {
          results.push(result);
          done(result);
        });
      } catch (error) {
        // The other types are tried all the same.
        if (request.signal?.aborted) return;
        failures.push(error);
        say(`${scenario.type} could not be tried: ${error instanceof Error ? error.message : error}`);
        await lane.renew();
      }
    }
  });
  try {
    await Promise.race([Promise.all(work), aborted(request.signal)]);
  } finally {
    // Twice, since a run that is ended on its way may be starting a guest.
    await Promise.allSettled(lanes.map((lane) => lane.close()));
    await Promise.allSettled(work);
    await Promise.all(lanes.map((lane) => lane.close()));
  }
  if (failures.length > 0)
    throw new Error(`${failures.length} of the types could not be tried`, { cause: failures[0] });
  return results;
}

const aborted = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, failed) => signal?.addEventListener("abort", () => failed(signal.reason)));

const number = (name: string, text: string | undefined, otherwise: number): number => {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes a number from 1, not ${text}`);
  return value;
};

export async function main(argv: readonly string[], project: string): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: {
      type: { ...text, multiple: true },
      kind: { ...text, multiple: true },
      turns: text,
      sample: text,
      seed: text,
      lanes: text,
      resume: text,
      table: text,
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.table !== undefined) return show(parseResults(readFileSync(values.table, "utf8")));
  const wanted = (values.kind ?? []).flatMap((list) => list.split(","));
  const unknown = wanted.filter((kind) => !kinds.some((known) => known === kind));
  if (unknown.length > 0)
    throw new Error(`there is no kind ${unknown.join(", ")}; there are ${kinds.join(", ")}`);
  const file =
    values.resume ??
    join(project, "results/faults", `${new Date().toISOString().replaceAll(/[:.]/g, "-")}.jsonl`);
  mkdirSync(join(file, ".."), { recursive: true });
  const stop = new AbortController();
  // Not `once`: what ends child processes takes a signal that nobody listens to any more for the end of this one.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => stop.abort(new Error(`${signal}: go on with --resume ${file}`)));
  const began = Date.now();
  const clock = (): string => duration(Math.round((Date.now() - began) / 1000)).padStart(9);
  const results = await faults(
    {
      types: (values.type ?? []).flatMap((list) => list.split(",")),
      kinds: wanted.length === 0 ? kinds : kinds.filter((kind) => wanted.includes(kind)),
      turns: number("turns", values.turns, 2),
      sample: values.sample === undefined ? undefined : number("sample", values.sample, 1),
      seed: number("seed", values.seed, 1),
      lanes: number("lanes", values.lanes, 2),
      before: values.resume === undefined ? [] : parseResults(readFileSync(values.resume, "utf8")),
      signal: stop.signal,
    },
    (line) => console.log(`${clock()}  ${line}`),
    (result) => {
      appendFileSync(file, `${JSON.stringify(result)}\n`);
      console.log(
        `${clock()}  ${pointName(result)} (${result.step}): ${result.outcome}, ${result.seconds} s`,
      );
      if (result.detail !== undefined) console.log(result.detail);
    },
  );
  console.log(`\nThe results are in ${file}\n`);
  return show(results);
}

function show(results: readonly Result[]): number {
  console.log(`${table(results)}\n\n${legend()}\n\n${sum(results)}`);
  return isGood(results) ? 0 : 1;
}
