import { existsSync } from "node:fs";
import { join } from "node:path";
import { baseOf } from "../stack-file/base.ts";
import { settingsOf } from "../stack-file/read.ts";
import { RefusedError } from "./errors.ts";
import { type HostAddress, projectFolder } from "./host.ts";

/**
 * Where a host of a stack file is: an import's ID has no more than its name, and the program, which tells the
 * provider everything else, does not run for an import.
 */
export async function addressIn(stack: string, name: string, project = projectFolder): Promise<HostAddress> {
  if (name === "local") return { name, ssh: "local" };
  const own = await settingsOf(stack, project);
  const base = baseOf(own);
  const settings = typeof base === "string" ? { ...(await settingsOf(base, project)), ...own } : own;
  const hosts = (settings["storage-lab:hosts"] ?? {}) as Record<string, Partial<HostAddress> | null>;
  const host = hosts[name];
  if (host == null) {
    throw new RefusedError(
      `Pulumi.${stack}.yaml has no host ${name}; its hosts are ${Object.keys(hosts).join(", ") || "none"}`,
    );
  }
  const machine = `.lab/${stack}/${name}`;
  if (host.ssh !== undefined) return { name, ssh: host.ssh, ...(host.sudo && { sudo: true }) };
  if (existsSync(join(project, machine)))
    return { name, ssh: name, config: `${machine}/ssh_config`, machine };
  throw new RefusedError(
    `host ${name} is a virtual machine that is not there yet: nothing can be imported from it`,
  );
}
