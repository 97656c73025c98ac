import { explain } from "../../provider/errors.ts";
import type { ExperimentAsked } from "../../stack-file/experiment.ts";
import type { Say } from "../progress.ts";
import type { Experiment } from "./file.ts";
import type { ExperimentState, LabState } from "./state.ts";

/**
 * An experiment from where it stands to its end: one lab after the other is built, measured and taken down. Every
 * step is noted before it begins, so that it goes on from there after any interruption. A lab that fails is noted
 * with its error, and the others go on.
 */

/** One stack's lab. Each step rejects where it fails; what the program printed goes to `hear`, line by line. */
export type Lab = {
  /** Whether anything of it stands. */
  stands(): Promise<boolean>;
  /** Build it as far as it isn't there, measure it; the folder of the result. */
  up(): Promise<string>;
  destroy(): Promise<void>;
};

export type Labs = (stack: string, asked: ExperimentAsked, hear: (line: string) => void) => Promise<Lab>;

/** Somebody else works on the stack: nothing is wrong with it, and to go on now would be. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

export type Surroundings = {
  readonly labs: Labs;
  readonly say: Say;
  /** A line of what Pulumi prints for a stack. */
  hear(stack: string, line: string): void;
  /** Aborting ends the step under way in order. */
  readonly signal: AbortSignal;
  save(state: ExperimentState): void;
  /** Whether a result's folder is still there. */
  there(folder: string): boolean;
  /** Seconds of any clock that only goes forward. */
  clock(): number;
};

/** What each stack's figures depend on, by stack. */
export type Fingerprints = ReadonlyMap<string, string>;

/** Where it goes on: what is measured stays, where all that its figures depend on is as it was. */
export function takeUp(
  { stacks }: Pick<Experiment, "stacks">,
  earlier: ExperimentState | undefined,
  fingerprints: Fingerprints,
  { there, say }: Pick<Surroundings, "there" | "say">,
  now: Date,
): ExperimentState {
  const occasion = now.toISOString();
  const labs = stacks.map((stack): LabState => {
    const settings = fingerprints.get(stack) ?? "";
    const fresh: LabState = {
      ...{ stack, phase: "waiting", settings, occasion, stood: false, standing: false },
      ...{ result: null, error: null, seconds: 0 },
    };
    const before = earlier?.labs.find((lab) => lab.stack === stack);
    if (before === undefined) return fresh;
    const { stood, standing, result, seconds } = before;
    // Who built it stays known until it is taken down.
    const again: LabState = standing ? { ...fresh, phase: "up", stood, standing } : fresh;
    if (result === null) return { ...again, occasion: before.occasion, seconds };
    if (before.settings !== settings) {
      say(`${stack}: what its figures depend on has changed since it was measured; it is measured again`);
      return again;
    }
    if (!there(result)) {
      say(`${stack}: its result ${result} is no longer there; it is measured again`);
      return again;
    }
    return before.phase === "done" ? before : { ...before, phase: "measured", error: null };
  });
  for (const { stack, stood, standing } of earlier?.labs ?? [])
    if (standing && !stood && !stacks.includes(stack))
      say(
        `${stack} is no longer in the experiment, which has built it; it stays up. Take it down by: npm run -s pulumi -- destroy --stack ${stack}`,
      );
  return { schema: 1, began: earlier?.began ?? occasion, labs };
}

/** Everything that is not done yet. Rejects only where it is interrupted, or where somebody else works on a stack. */
export async function experiment(
  { stacks, benchmark, afterwards }: Experiment,
  from: ExperimentState,
  surroundings: Surroundings,
): Promise<ExperimentState> {
  const { say, signal } = surroundings;
  let state = from;
  const note = (lab: LabState): LabState => {
    state = { ...state, labs: state.labs.map((one) => (one.stack === lab.stack ? lab : one)) };
    surroundings.save(state);
    return lab;
  };
  surroundings.save(state);
  for (const [n, begun] of state.labs.entries()) {
    const { stack } = begun;
    const name = `${n + 1}/${stacks.length} ${stack}`;
    if (begun.phase === "done") {
      say(`${name}: measured before, ${begun.result}`);
      continue;
    }
    signal.throwIfAborted();
    let lab = begun;
    const timed = async <T>(step: () => Promise<T>): Promise<T> => {
      const start = surroundings.clock();
      try {
        return await step();
      } finally {
        lab = note({ ...lab, seconds: lab.seconds + surroundings.clock() - start });
      }
    };
    try {
      const asked = { occasion: lab.occasion, ...(benchmark && { benchmark }) };
      const its = await surroundings.labs(stack, asked, (line) => surroundings.hear(stack, line));
      if (lab.phase === "waiting") {
        const stood = await its.stands();
        lab = note({ ...lab, phase: "up", stood, standing: true });
        say(
          `${name}: ${stood ? "stands already; it is brought up to date and measured" : "is built and measured"}`,
        );
      } else if (lab.phase === "up") say(`${name}: is taken up where it was left`);
      if (lab.phase === "up") {
        try {
          const result = await timed(() => its.up());
          lab = note({ ...lab, phase: "measured", result, error: null });
          say(`${name}: measured in ${seconds(lab.seconds)}, ${result}`);
        } catch (error) {
          if (signal.aborted || error instanceof BusyError) throw error;
          lab = note({ ...lab, phase: "failed", error: explain(error) });
          say(`${name}: failed: ${lab.error}`);
        }
      }
      if (!lab.stood && afterwards === "destroy") {
        say(`${name}: is taken down`);
        await timed(() => its.destroy());
        lab = note({ ...lab, standing: false });
      } else say(`${name}: stays up; take it down by: npm run -s pulumi -- destroy --stack ${stack}`);
      if (lab.phase === "measured") lab = note({ ...lab, phase: "done" });
    } catch (error) {
      if (signal.aborted || error instanceof BusyError) throw error;
      const reason = explain(error);
      lab = note({ ...lab, phase: "failed", error: lab.error === null ? reason : `${lab.error}\n${reason}` });
      say(`${name}: failed: ${reason}`);
    }
  }
  return state;
}

const seconds = (value: number): string => `${Math.round(value)} s`;
