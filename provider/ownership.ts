import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type HostAddress, projectFolder, type Questions } from "./host.ts";
import { expect } from "./resource.ts";
import type { Step } from "./step.ts";

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

export const claim = (type: string, identity: string, owner: string): Step[] => [
  { say: `note that ${owner} makes ${identity}`, file: file(type, identity), text: `${owner}\n` },
];

export const release = (type: string, identity: string): Step[] => [
  { say: `forget whose ${identity} was`, argv: ["rm", "-f", file(type, identity)] },
];

/** Is this host a virtual machine of the lab that does not run now? */
export async function isMachineStopped(address: HostAddress): Promise<boolean> {
  if (address.machine === undefined) return false;
  try {
    const pid = (await readFile(resolve(projectFolder, address.machine, "qemu.pid"), "utf8")).trim();
    const running = await readFile(`/proc/${pid}/cmdline`, "utf8");
    return !running.includes("qemu");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
}
