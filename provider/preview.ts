import {
  type AnyType,
  type Context,
  type Inputs,
  type ProviderSettings,
  providerSettings,
} from "./context.ts";
import { RefusedError } from "./errors.ts";
import { noted, type PlanNote } from "./plan-note.ts";
import { effects, type Step, stepLine } from "./step.ts";
import type { Change } from "./values.ts";
import { at, effectWords, named, showAt } from "./wording.ts";

/** What a preview says: values, what a plan does to the storage's users, commands, and what is refused. */

export type Planned = Pick<PlanNote, "does" | "values" | "hints"> & { steps: readonly Step[] };

export const about = (type: AnyType, inputs: Inputs, { urn }: Context) => ({
  urn,
  object: named(type, inputs),
  host: inputs.host.name,
});

/** Runs a preview; where plans are noted, a refusal is noted as well, and the preview goes on with `otherwise`. */
export async function noting<T>(
  type: AnyType,
  inputs: Inputs,
  context: Context,
  planned: () => Pick<PlanNote, "does" | "values">,
  otherwise: T,
  preview: () => Promise<T>,
): Promise<T> {
  try {
    return await preview();
  } catch (error) {
    if (!(error instanceof RefusedError) || context.note === undefined) throw error;
    const { message: refused } = error;
    context.note({ ...about(type, inputs, context), ...planned(), steps: [], hints: [], refused });
    return otherwise;
  }
}

export const valuesOf = (
  type: AnyType,
  changes: readonly Pick<Change, "path" | "kind">[],
  before: unknown,
  after: unknown,
  { secrets = [] }: Context,
): PlanNote["values"] =>
  changes.map(({ path, kind }) => ({
    path,
    before: showAt(type, secrets, before, path),
    // What is updated to nothing comes from an object that is being replaced.
    after:
      kind === "update" && at(after, path) === undefined
        ? "known when it is made anew"
        : showAt(type, secrets, after, path),
  }));

export function reportDrift(
  type: AnyType,
  inputs: Inputs,
  there: boolean,
  values: PlanNote["values"],
  steps: readonly Step[],
  context: Context,
): void {
  if (context.note !== undefined) return;
  const does = steps.map((step) => step.say).join(", ");
  if (!there) {
    context.report("warning", `${named(type, inputs)} is not there. To do: ${does}`);
    return;
  }
  const said = values.map(({ path, before, after }) => `${path} is ${before}, declared ${after}`);
  const differs = said.length > 0 ? `: ${said.join("; ")}` : "";
  context.report("warning", `${named(type, inputs)} is not as declared${differs}. To do: ${does}`);
}

export const protectedFrom = (
  type: AnyType,
  inputs: Inputs,
  what: string,
  setting: keyof typeof providerSettings,
): RefusedError =>
  new RefusedError(
    `${named(type, inputs)} can't be ${what}: ${setting} is set. ${providerSettings[setting]} ` +
      `Allow it with: pulumi config set storagelab:${setting} false`,
  );

/** What a preview says of a plan: what it does to users, hints, its commands where they are asked for. */
export function tell(
  type: AnyType,
  inputs: Inputs,
  context: Context,
  settings: ProviderSettings,
  { steps, ...planned }: Planned,
): void {
  if (steps.length > 0 && settings.readOnly) throw protectedFrom(type, inputs, "changed", "readOnly");
  context.note?.({ ...about(type, inputs, context), ...planned, steps: noted(steps) });
  // A review has all of it in its notes.
  if (context.note !== undefined) return;
  for (const effect of effects) {
    const does = steps.filter((step) => step.effect === effect).map((step) => step.say);
    if (does.length === 0) continue;
    context.report("warning", `${named(type, inputs)}: ${effectWords[effect]}: ${does.join("; ")}`);
  }
  for (const hint of planned.hints) context.report("info", `${named(type, inputs)}: ${hint}`);
  if (steps.length === 0 || !settings.showCommands) return;
  const lines = steps.map((step) => `\n  ${stepLine(step)}`).join("");
  context.report("info", `${named(type, inputs)}: up runs on ${inputs.host.name}:${lines}`);
}
