import { z } from "zod";
import type { Base } from "./base.ts";
import { benchmark } from "./benchmark.ts";

/**
 * An experiment measures several stacks by one benchmark and leaves their files as they are: what it asks for comes
 * in this variable. Pulumi's own ways (`pulumi config set`, `up --config`) write it into Pulumi.STACK.yaml.
 */

export const experimentVariable = "STORAGE_LAB_EXPERIMENT";

const own = { targets: true, reference: true, needs: true, hardware: true } as const;

/** What an experiment may say of the benchmark. What belongs to a lab (its targets, needs, hardware) stays the stack file's. */
export const experimentBenchmark = benchmark.omit(own);

const asked = z.strictObject({
  occasion: z
    .string()
    .min(1)
    .describe("Names the experiment: a lab that stands is measured once for each of them."),
  benchmark: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("In place of the stack file's, as YAML has it. Left out: the stack file's own."),
});
export type ExperimentAsked = z.infer<typeof asked>;

/** What the variable holds; undefined where no experiment runs. */
export function experimentAsked(
  environment: Readonly<Record<string, string | undefined>>,
): ExperimentAsked | undefined {
  const text = environment[experimentVariable];
  if (text === undefined || text === "") return undefined;
  const found = asked.safeParse(JSON.parse(text));
  if (found.success) return found.data;
  throw new RangeError(`${experimentVariable} is not right: ${z.prettifyError(found.error)}`);
}

const key = "storage-lab:benchmark";

/** A stack's settings with the experiment's benchmark in them; those keys that belong to the lab stay its own. */
export function withExperiment(
  settings: Readonly<Record<string, string>>,
  base: Base | undefined,
  experiment: ExperimentAsked | undefined,
): Record<string, string> {
  if (experiment?.benchmark === undefined) return { ...settings };
  const text = settings[key];
  const stated: unknown = text === undefined ? base?.settings[key] : jsonOr(text);
  const kept =
    typeof stated === "object" && stated !== null
      ? Object.fromEntries(Object.entries(stated).filter(([name]) => name in own))
      : {};
  return { ...settings, [key]: JSON.stringify({ ...kept, ...experiment.benchmark }) };
}

/** Pulumi gives a setting that is an object as JSON, and a plain one as it is. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
