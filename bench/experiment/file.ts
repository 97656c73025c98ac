import { existsSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parse, YAMLParseError } from "yaml";
import { z } from "zod";
import { RefusedError } from "../../provider/errors.ts";
import { experimentBenchmark } from "../../stack-file/experiment.ts";

/** An experiment file: which stacks are brought up one after the other, and what is measured on each. */

const file = z.strictObject({
  title: z.string().min(1).describe("In a few words, for the comparison's head."),
  stacks: z
    .array(z.string().regex(/^[A-Za-z0-9_.-]+$/, "the name of a stack: lab for Pulumi.lab.yaml"))
    .min(1)
    .refine((names) => new Set(names).size === names.length, "each stack once")
    .describe(
      "Stacks by name, in the order in which they are built; the others are compared with the first.",
    ),
  benchmark: experimentBenchmark
    .optional()
    .describe(
      "What is measured on each, as `benchmark` in a stack file, whose targets, reference, needs and hardware stay its own. Default: each stack's own benchmark.",
    ),
  afterwards: z
    .enum(["destroy", "keep"])
    .default("destroy")
    .describe(
      "What becomes of a lab when it is measured. One that stood before the experiment began is never destroyed. Default: destroy.",
    ),
});

export type Experiment = Omit<z.infer<typeof file>, "benchmark"> & {
  /** The file's name without its ending: results/experiments/NAME. */
  readonly name: string;
  /** As YAML has it: it is checked here, and read again by each stack's program. */
  readonly benchmark?: Record<string, unknown>;
};

export function readExperiment(path: string): Experiment {
  const at = resolve(path);
  if (!existsSync(at)) throw new RefusedError(`${path}: there is no such experiment file`);
  const name = basename(at).replace(/\.ya?ml$/, "");
  if (!/^[a-z0-9][a-z0-9-]*$/.test(name))
    throw new RefusedError(
      `${path}: an experiment's file is named in lower-case letters, digits and dashes, such as layouts.yaml`,
    );
  return { name, ...parseExperiment(readFileSync(at, "utf8"), path) };
}

/** `from`: what to call it in an error. */
export function parseExperiment(text: string, from: string): Omit<Experiment, "name"> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    if (!(cause instanceof YAMLParseError)) throw cause;
    throw new RefusedError(`${from} is no YAML: ${cause.message.split("\n")[0]}`, { cause });
  }
  const found = file.safeParse(value);
  if (!found.success) throw new RefusedError(`${from} is not right: ${z.prettifyError(found.error)}`);
  const { title, stacks, afterwards } = found.data;
  const { benchmark } = value as { benchmark?: Record<string, unknown> };
  return { title, stacks, afterwards, ...(benchmark && { benchmark }) };
}
