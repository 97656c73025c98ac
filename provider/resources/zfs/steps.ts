import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { Effect, Step } from "../../step.ts";
import { onceReleased } from "./busy.ts";

/** What ZFS types have in common: nodes, the steps that set and destroy, and what keeps them from being replaced. */

export const device = (name: string): string => `/dev/zvol/${name}`;

/** test(1) says 1 for "no", 2 for an error. */
export const hasNode = (host: Questions, answer: Answer, name: string): boolean =>
  answer.status === 1 ? false : expect(host, answer, `the device node of ${name}`) === "";

export const nodeStep = (name: string): Step => ({
  say: `wait for ${device(name)}`,
  until: ["test", "-b", device(name)],
  deadlineSeconds: 120,
});

export const destroyStep = (kind: string, name: string, held: string): Step => ({
  ...onceReleased(`destroy ${kind} ${name}`, held, ["zfs", "destroy", name]),
  effect: "data loss",
});

/** Who uses the volume is stopped by a node that goes or takes no writes. */
const outages: readonly string[] = ["volmode=none", "readonly=on"];

export function setStep(kind: string, name: string, values: readonly [string, string][]): Step {
  const words = values.map(([key, value]) => `${key}=${value}`);
  const outage: { effect?: Effect } = words.some((word) => outages.includes(word))
    ? { effect: "outage" }
    : {};
  const say = `set ${values.map(([key, value]) => `${key} to ${value}`).join(", ")} on ${kind} ${name}`;
  return { say, argv: ["zfs", "set", ...words, name], ...outage };
}

/** Why this object may not be replaced; undefined where its stack file lets it be destroyed. */
export const keptFromReplace = (
  kind: string,
  { name, onDelete }: { name: string; onDelete: string },
  loses = "what it holds",
): string | undefined =>
  onDelete === "destroy"
    ? undefined
    : `Replacing ${kind} ${name} would lose ${loses}. Allow it with onDelete: destroy, or undo the change.`;
