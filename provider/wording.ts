import type { z } from "zod";
import type { AnyType, Inputs } from "./context.ts";
import type { Effect } from "./step.ts";
import { join, type Plain, related, topLevel } from "./values.ts";

/** The lifecycle's words: how objects, values and effects are named to an operator. A secret's value is in none of them. */

export const identifier = (type: AnyType, inputs: Inputs): string =>
  `${inputs.host.name}/${type.identity(inputs)}`;

/** `Pool` of `zfs:Pool`. */
export const kind = (type: AnyType): string => type.type.split(":").at(-1) ?? type.type;

export const named = (type: AnyType, inputs: Inputs): string =>
  `${inputs.host.name}: ${kind(type)} ${type.identity(inputs)}`;

export const effectWords: Record<Effect, string> = {
  "sessions drop": "sessions drop",
  outage: "what stands on it is not available meanwhile",
  "cannot be undone": "this cannot be undone",
  "data loss": "data is lost",
};

/** A value as it is shown; `[secret]` where its path, one above or one below it is secret. */
export function showAt(type: AnyType, secrets: readonly string[], value: unknown, path: string): string {
  if (
    [...secretPaths(type.inputs), ...secrets].some((secret) => related(secret, withoutIndices(path, secret)))
  )
    return at(value, path) === undefined ? "nothing" : "[secret]";
  return show(at(value, path));
}

/** A schema's paths know no index: `acls[].password` is secret for every one. */
const withoutIndices = (path: string, secret: string): string =>
  secret.includes("[]") ? path.replace(/\[\d+\]/g, "[]") : path;

export function at(value: unknown, path: string): unknown {
  const keys = path.match(/[^.[\]"]+/g) ?? [];
  return keys.reduce<unknown>((v, key) => (v as Plain | undefined)?.[key], value);
}

const show = (value: unknown): string =>
  value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);

/** The paths of a schema's fields that say `.meta({ secret: true })`. */
export function secretPaths(schema: z.ZodType, path = ""): string[] {
  if (schema.meta()?.secret === true) return [path];
  const { def } = schema as unknown as { def: Record<string, unknown> };
  if (def.innerType !== undefined) return secretPaths(def.innerType as z.ZodType, path);
  if (def.type === "array") return secretPaths(def.element as z.ZodType, `${path}[]`);
  if (def.type !== "object") return [];
  return Object.entries(def.shape as Record<string, z.ZodType>).flatMap(([key, field]) =>
    secretPaths(field, join(path, key)),
  );
}

/** What a field's schema says of it: `{ change: "replace" }`, `{ unseen: true }`. */
export function fieldMeta(type: AnyType, path: string): Record<string, unknown> {
  const shape = (type.inputs as unknown as z.ZodObject).shape as Record<string, z.ZodType | undefined>;
  return shape[topLevel(path)]?.meta() ?? {};
}

export const issuePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (joined, key) => (typeof key === "number" ? `${joined}[${key}]` : join(joined, String(key))),
    "",
  );

/** Why an input is wrong, with what was given. */
export function sentence(
  type: AnyType,
  issue: { message: string; path: readonly PropertyKey[] },
  inputs: Plain,
  secrets: readonly string[],
): string {
  const value = issue.path.reduce<unknown>((v, key) => (v as Plain | undefined)?.[key as string], inputs);
  return value === undefined || typeof value === "object"
    ? issue.message
    : `${issue.message} (given: ${showAt(type, secrets, inputs, issuePath(issue.path))})`;
}
