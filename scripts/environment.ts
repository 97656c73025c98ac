import { accessSync, constants, existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Where things are, and the environment that Pulumi runs in. The operator's own settings always win. */

export type Variables = Record<string, string | undefined>;

export const project: string = resolve(fileURLToPath(new URL("..", import.meta.url)));

/** What set-up brings and builds; may be deleted at any time, and is brought again. */
export function cacheRoot(env: Variables = process.env): string {
  if (env.STORAGE_LAB_CACHE) return resolve(env.STORAGE_LAB_CACHE);
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "storage-lab");
}

/** The folder, in a Pulumi home's plugins, of the plugin that @pulumi/command needs. */
export const commandPlugin = "resource-command-v1.2.1";

/** The folders that go before the operator's PATH: the project's Node, then its Pulumi unless there is another. */
function folders(env: Variables): string[] {
  const modules = join(project, "node_modules/.bin");
  return ownPulumi(env) ? [modules] : [modules, join(cacheRoot(env), "bin")];
}

/**
 * The folder of the operator's own Pulumi, if one is on the PATH together with its language host.
 * STORAGE_LAB_PULUMI=project makes the project take its own all the same.
 */
export function ownPulumi(env: Variables = process.env): string | undefined {
  if (env.STORAGE_LAB_PULUMI === "project") return undefined;
  const ours = [join(cacheRoot(env), "bin"), join(project, "node_modules/.bin")];
  const path = (env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !ours.includes(folder));
  const on = (program: string) => path.find((folder) => executable(join(folder, program)));
  return on("pulumi-language-nodejs") && on("pulumi");
}

export function executable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The variables to set for Pulumi, beside PATH: only those that the operator has left open. */
export function pulumiDefaults(env: Variables = process.env): Record<string, string> {
  const defaults: Record<string, string> = {
    // State stays in the project, and out of git.
    PULUMI_BACKEND_URL: `file://${join(project, ".state")}`,
    // Looking for a newer release only waits for a time-out on a closed network.
    PULUMI_SKIP_UPDATE_CHECK: "1",
  };
  // Guards the secrets of a virtual lab from casual eyes, no more: a stack of real hosts wants one of its own.
  if (!env.PULUMI_CONFIG_PASSPHRASE_FILE) defaults.PULUMI_CONFIG_PASSPHRASE = "storage-lab";
  // An operator's own Pulumi keeps its home where that has what the project needs; else plugins go into the cache,
  // so that set-up changes nothing outside it.
  const home = join(env.HOME || homedir(), ".pulumi");
  if (!ownPulumi(env) || !existsSync(join(home, "plugins", commandPlugin)))
    defaults.PULUMI_HOME = join(cacheRoot(env), "pulumi-home");
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => env[name] === undefined));
}

/** The whole environment for a child process. */
export function pulumiEnvironment(env: Variables = process.env): Variables {
  return { ...env, ...pulumiDefaults(env), PATH: [...folders(env), env.PATH].join(delimiter) };
}

/** Lines for `eval` in the operator's shell, so that plain `pulumi` works there. */
export function exportLines(env: Variables = process.env): string[] {
  const lines = Object.entries(pulumiDefaults(env)).map(([name, value]) => `export ${name}=${quote(value)}`);
  return [...lines, `export PATH=${quote(folders(env).join(delimiter))}:"$PATH"`];
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
