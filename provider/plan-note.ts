import { appendFileSync } from "node:fs";
import { type Effect, type Step, stepLine } from "./step.ts";

/**
 * What a preview planned for one object, for programs to read: with STORAGE_LAB_PLANS=FILE every plan appends a line
 * of JSON there. While it is set, what is refused is noted and does not end the preview, so that one preview finds
 * all of it; nothing can be changed by a preview.
 */
export type PlanNote = {
  urn: string;
  /** `storage: Pool tank` */
  object: string;
  host: string;
  /** "set right": the host differs although the stack file is the same. */
  does: "create" | "update" | "replace" | "delete" | "set right";
  values: readonly { path: string; before: string; after: string }[];
  steps: { say: string; line: string; effect?: Effect }[];
  hints: readonly string[];
  /** Why it is refused. */
  refused?: string;
};

export const noted = (steps: readonly Step[]): PlanNote["steps"] =>
  steps.map((step) => ({
    say: step.say,
    line: stepLine(step),
    ...(step.effect && { effect: step.effect }),
  }));

/** Where a preview's plans go; undefined where nobody asked for them. */
export function noteFile(env = process.env): ((note: PlanNote) => void) | undefined {
  const file = env.STORAGE_LAB_PLANS;
  if (!file) return undefined;
  return (note) => appendFileSync(file, `${JSON.stringify(note)}\n`);
}
