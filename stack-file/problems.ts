import type { z } from "zod";
import type { LabConfig } from "../config.ts";

/** What is wrong with a stack file: [key path, sentence]. */
export type Problem = [path: string, sentence: string];

/**
 * An issue of the schema as problems, one for each cause: a union's branch that fits best, a key that is wrong.
 * The schema's own sentences show no value, so that no secret gets out; only those that we wrote do, where no
 * secret can stand.
 */
export function problems(
  issue: z.core.$ZodIssue,
  stackFile: unknown,
  above: readonly PropertyKey[] = [],
): Problem[] {
  const path = [...above, ...issue.path];
  const at = (...more: string[]): string => [...path, ...more].map(String).join(".");
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => [at(key), "there is no such key"]);
  if (issue.code === "invalid_key") return [[at(), issue.issues[0]?.message ?? issue.message]];
  if (issue.code === "invalid_union" && issue.message === "Invalid input") {
    const other = (branch: z.core.$ZodIssue[]): boolean =>
      branch.some(({ code, path: inside }) => code === "invalid_type" && inside.length === 0);
    const best = issue.errors.find((branch) => !other(branch)) ?? [];
    if (best.length > 0) return best.flatMap((inner) => problems(inner, stackFile, path));
  }
  if (issue.code === "invalid_type" && valueAt(stackFile, path) === undefined)
    return [[at(), `missing (${issue.expected})`]];
  return [[at(), issue.message]];
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inside, key) => (inside as Record<PropertyKey, unknown> | undefined)?.[key], value);

/** What there is, behind a name that there is not. */
export const known = (kind: string, names: object): string =>
  `; ${kind}: ${Object.keys(names).join(", ") || "none"}`;
export const noHost = (lab: LabConfig, host: string): string => `no host ${host}${known("hosts", lab.hosts)}`;
