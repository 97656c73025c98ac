import { resolve } from "node:path";
import type { AnyType, Context, Inputs } from "./context.ts";
import { RefusedError } from "./errors.ts";
import { type HostAddress, projectFolder, type Questions } from "./host.ts";
import { expect } from "./resource.ts";
import { runningPid } from "./resources/vm/running.ts";
import { commandLine } from "./shell.ts";
import type { Step } from "./step.ts";
import { urnParts } from "./urn.ts";
import { identifier, named } from "./wording.ts";

/**
 * Whose an object is, where the object itself has no room for a mark: a record on its host, written before the
 * object is made and removed after it is gone, so that an interrupted run finds its own work again.
 */

const folder = "/var/lib/storage-lab/owned";
const file = (type: string, identity: string): string =>
  `${folder}/${encodeURIComponent(`${type} ${identity}`)}`;

/** The stack that made the object, by the host's record; undefined where there is none. */
export async function recordedOwner(
  host: Questions,
  type: string,
  identity: string,
): Promise<string | undefined> {
  const answer = await host.ask(["cat", file(type, identity)]);
  if (answer.status !== 0 && answer.stderr.includes("No such file or directory")) return undefined;
  // An empty record says as much as none.
  return expect(host, answer, `who made ${identity}`).trim() || undefined;
}

/** Is this host a virtual machine of the lab that does not run now? */
export const isMachineStopped = async ({ machine }: HostAddress): Promise<boolean> =>
  machine !== undefined && (await runningPid(resolve(projectFolder, machine))) === undefined;

/** The steps that put our mark on, where the object has no room for one. */
export function mark(type: AnyType, inputs: Inputs, owner: string | undefined, context: Context): Step[] {
  if (type.owner || owner === context.owner) return [];
  const identity: string = type.identity(inputs);
  const record = file(type.type, identity);
  return [
    // Two stacks may have looked at the same time: under the host's lock only the first finds no record.
    { say: `make sure that nobody else makes ${identity}`, argv: ["test", "!", "-s", record] },
    { say: `note that ${context.owner} makes ${identity}`, file: record, text: `${context.owner}\n` },
  ];
}

/** The steps that take it off again, after the object is gone. */
export function unmark(type: AnyType, inputs: Inputs): Step[] {
  if (type.owner) return [];
  const identity: string = type.identity(inputs);
  return [{ say: `forget whose ${identity} was`, argv: ["rm", "-f", file(type.type, identity)] }];
}

/** Refuses what another stack, or nobody of ours, has made. */
export function mayTouch(
  type: AnyType,
  inputs: Inputs,
  owner: string | undefined,
  how: "create" | "update" | "delete",
  context: Context,
): void {
  if (owner === context.owner || (owner === undefined && how !== "create")) return;
  const whose = owner === undefined ? "this stack did not make it" : `stack ${owner} made it`;
  const out =
    how === "create"
      ? owner === undefined
        ? `Take it over: ${importCommand(type, inputs, context)} — or choose another name.`
        : "Choose another name, or take it away by hand."
      : `Forget it here with: pulumi state delete URN — or change it from stack ${owner}.`;
  throw new RefusedError(
    `${named(type, inputs)} is there already and ${whose} (this is ${context.owner}). Nothing was touched. ${out}`,
  );
}

/** What takes an object that is there into this stack's state. */
function importCommand(type: AnyType, inputs: Inputs, { urn }: Context): string {
  const { stack, name } = urnParts(urn);
  return commandLine([
    ...["pulumi", "import", "--stack", stack, "--generate-code=false", "--protect=false"],
    ...[`storagelab:${type.type}`, name, identifier(type, inputs)],
  ]);
}
