import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { figureSettings } from "../../components/benchmark-request.ts";
import { explain, RefusedError } from "../../provider/errors.ts";
import { project, pulumiEnvironment } from "../../scripts/environment.ts";
import { setUp } from "../../scripts/setup.ts";
import { testsOfStack } from "../../stack-file/benchmark.ts";
import { inProject, shown } from "../folder.ts";
import { readStack } from "../model/stack.ts";
import { estimate } from "../plan.ts";
import { sayTo } from "../progress.ts";
import { duration } from "../report/words.ts";
import { pulumiLabs } from "./automation.ts";
import { experiment, type Fingerprints, type Surroundings, takeUp } from "./experiment.ts";
import { type Experiment, readExperiment } from "./file.ts";
import { watching } from "./pulumi-lines.ts";
import { type ExperimentState, hold, readState, writeState } from "./state.ts";

/**
 *   bench experiment FILE.yaml            from nothing, or from where it stopped; ends with the comparison
 *   bench experiment FILE.yaml --again    everything anew, also what is measured
 *
 * State, logs and the comparison are in results/experiments/NAME, each lab's result is in results/STACK as always.
 */

const usage = "usage: bench experiment FILE.yaml [--again]";
const exitStatus: Record<string, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

export async function main(args: string[]): Promise<number> {
  const { file, again } = asked(args);
  const wanted = readExperiment(file);
  const planned = await plan(wanted);
  const folder = inProject(join("results/experiments", wanted.name));
  const release = hold(folder);
  const interruption = new AbortController();
  const say = sayTo((line) => process.stderr.write(line));
  const leave = (signal: NodeJS.Signals): void => {
    say(`${signal}: Pulumi ends what it is doing; this can take a minute`);
    interruption.abort(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  try {
    await setUp({ stacks: true });
    Object.assign(process.env, pulumiEnvironment());
    for (const signal of signals) process.on(signal, leave);
    const surroundings: Surroundings = {
      ...{ labs: pulumiLabs(project, interruption.signal), say, signal: interruption.signal },
      hear: log(folder, say),
      save: (state) => writeState(folder, state),
      there: (result) => existsSync(join(inProject(result), "result.json")),
      clock: () => performance.now() / 1000,
    };
    const earlier = again ? withoutResults(readState(folder)) : readState(folder);
    const from = takeUp(wanted, earlier, planned.fingerprints, surroundings, new Date());
    say(planned.sentence);
    const state = await experiment(wanted, from, surroundings);
    // Its charts take a second to load.
    const { conclude } = await import("./conclude.ts");
    return conclude(wanted, state, folder);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    const { reason } = interruption.signal;
    say(
      `interrupted by ${reason}; what is done is kept, what stands stays up. To go on: npm run bench -- experiment ${shown(resolve(file))}`,
    );
    return exitStatus[String(reason)] ?? 1;
  } finally {
    for (const signal of signals) process.off(signal, leave);
    release();
  }
}

function asked(args: string[]): { file: string; again: boolean } {
  try {
    const options = { again: { type: "boolean", default: false } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new Error("it takes one experiment file");
    return { file, again: values.again };
  } catch (cause) {
    throw new RefusedError(usage, { cause });
  }
}

/** To measure all anew: who built a lab that still stands is all that is remembered. */
function withoutResults(state: ExperimentState | undefined): ExperimentState | undefined {
  if (state === undefined) return undefined;
  const occasion = new Date().toISOString();
  const labs = state.labs.map((lab) => ({ ...lab, occasion, result: null, error: null, seconds: 0 }));
  return { ...state, began: occasion, labs };
}

/** Every stack file is read and checked before anything is touched. */
async function plan(wanted: Experiment): Promise<{ fingerprints: Fingerprints; sentence: string }> {
  const { stacks, benchmark } = wanted;
  const fingerprints = new Map<string, string>();
  const wrong: string[] = [];
  let [runs, seconds] = [0, 0];
  for (const stack of stacks) {
    try {
      const lab = await readStack(stack, project, { occasion: "plan", ...(benchmark && { benchmark }) });
      if (lab.benchmark === undefined)
        throw new RangeError(
          `${stack} measures nothing: it has no benchmark; write one in its stack file, or in the experiment`,
        );
      fingerprints.set(
        stack,
        createHash("sha256")
          .update(JSON.stringify(figureSettings(lab)))
          .digest("hex"),
      );
      const { protocols, repeats, targets } = lab.benchmark;
      const virtual = Object.values(lab.hosts).some((host) => host.virtual !== undefined);
      const clients = targets ?? [stack];
      const planned = estimate({
        ...{ tests: testsOfStack(lab.benchmark), protocols, repeats, virtual, clients },
      });
      runs += planned.runs.length;
      seconds += planned.total;
    } catch (error) {
      wrong.push(explain(error));
    }
  }
  if (wrong.length > 0) throw new RefusedError(`nothing was touched:\n${wrong.join("\n")}`);
  const labs = stacks.length === 1 ? "one lab" : `${stacks.length} labs`;
  return {
    fingerprints,
    sentence: `${wanted.title}: ${labs}, ${runs} runs; measuring takes about ${duration(seconds)} in all, beside building the labs`,
  };
}

/** All that Pulumi prints goes to the stack's log; what says something new is shown. */
function log(folder: string, say: (text: string) => void): (stack: string, line: string) => void {
  mkdirSync(folder, { recursive: true });
  const telling = watching();
  return (stack, line) => {
    appendFileSync(join(folder, `${stack}.log`), `${line}\n`);
    const text = telling(line);
    if (text !== undefined) say(`${stack}: ${text}`);
  };
}
