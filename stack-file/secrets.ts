import type { LabConfig } from "../config.ts";
import type { Problem } from "./problems.ts";

/**
 * Secrets stand encrypted in a stack file. Pulumi tells which settings hold a secret, not where inside; so a
 * setting that has a password and no secret has it in clear, for everybody who sees the file.
 */
export function secretsInClear(lab: LabConfig, secretKeys: readonly string[] | undefined): Problem[] {
  if (secretKeys === undefined) return [];
  return secretPaths(lab)
    .filter(([key]) => !secretKeys.includes(`storage-lab:${key}`))
    .map(([key, ...path]) => [
      [key, ...path].join("."),
      `it stands in clear in the stack file; take it out and set it as a secret: pulumi config set --secret --path '${propertyPath(key, path)}'`,
    ]);
}

/** Where secrets are: a setting's key and the way inside. */
const secretPaths = (lab: LabConfig): [key: string, ...path: string[]][] => [
  ...Object.entries(lab.targets).flatMap(([iqn, { chap }]): [string, ...string[]][] => [
    ...(chap ? [["targets", iqn, "chap", "password"] as [string, ...string[]]] : []),
    ...(chap?.mutual ? [["targets", iqn, "chap", "mutual", "password"] as [string, ...string[]]] : []),
  ]),
  ...(["datasets", "volumes"] as const).flatMap((kind) =>
    Object.entries(lab[kind]).flatMap(([name, { key }]): [string, ...string[]][] =>
      key === undefined ? [] : [[kind, name, "key"]],
    ),
  ),
];

/** As `pulumi config set --path` takes it: a key that is no plain word in brackets. */
const propertyPath = (key: string, path: readonly string[]): string =>
  `storage-lab:${key}${path.map((part) => (/^\w+$/.test(part) ? `.${part}` : `["${part}"]`)).join("")}`;
