import type { Problem } from "./problems.ts";
import { settingsOf } from "./read.ts";

/**
 * `storage-lab:base: lab`: each key that a stack file leaves out is taken, whole, from Pulumi.lab.yaml. Keys are
 * not merged inside: what stands in a file is all that counts for that key.
 */

/** Another stack file's settings, as its YAML has them. */
export type Base = { stack: string; settings: Record<string, unknown> };

const prefix = "storage-lab:";

/** The base that a stack file names. */
export const baseOf = <T>(settings: Record<string, T>): T | undefined => settings[`${prefix}base`];

/** Reads a base from the project's folder. */
export async function readBase(stack: string, folder: string): Promise<Base> {
  try {
    return { stack, settings: await settingsOf(stack, folder) };
  } catch (cause) {
    throw new RangeError(`storage-lab:base: ${stack}: ${(cause as Error).message}`, { cause });
  }
}

/** What is taken over, by key without prefix, and what forbids it. */
export function takenOver(
  own: Record<string, unknown>,
  stack: string,
  base: Base | undefined,
): { values: Record<string, unknown>; wrong: Problem[] } {
  if (base === undefined) return { values: {}, wrong: [] };
  if (base.stack === stack)
    return {
      values: {},
      wrong: [["base", `${stack} is this stack itself; name another, or leave base out`]],
    };
  const theirs = Object.entries(base.settings).flatMap(([key, value]): [string, unknown][] =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
  );
  const values = Object.fromEntries(theirs.filter(([key]) => !(key in own)));
  const wrong: Problem[] = [];
  if (theirs.some(([key]) => key === "base")) {
    wrong.push([
      "base",
      `Pulumi.${base.stack}.yaml has a base itself (${JSON.stringify(base.settings[`${prefix}base`])}); name a stack file without one`,
    ]);
  }
  for (const [key, value] of Object.entries(values)) {
    if (holdsSecret(value))
      wrong.push([
        key,
        `Pulumi.${base.stack}.yaml has a secret here, which opens with that stack's key alone; write ${prefix}${key} in this stack file, and set the secret with pulumi config set --secret --path`,
      ]);
  }
  return { values, wrong };
}

/** Pulumi writes a secret as `{secure: v1:…}`. */
function holdsSecret(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  return "secure" in value || Object.values(value).some(holdsSecret);
}
