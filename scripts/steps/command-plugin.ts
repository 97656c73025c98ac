import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { contentKey } from "../cache.ts";
import { cacheRoot, commandPlugin, project, pulumiEnvironment } from "../environment.ts";
import type { Step } from "../steps.ts";

/**
 * The plugin behind @pulumi/command. Its binary is on Pulumi's release host; where that can't be reached, the
 * stand-in of tools/command-provider is installed in its place, under the same name and version.
 */

const version = "1.2.1";
const source = join(project, "tools/command-provider");
/** What is bundled with it of the project's own provider. */
const shared = ["plugin.ts", "values.ts"].map((file) => join(project, "provider", file));

const folder = (): string =>
  join(pulumiEnvironment().PULUMI_HOME ?? join(homedir(), ".pulumi"), "plugins", commandPlugin);

/** The stand-in's file that says from which source it was made. */
const mark = async (): Promise<string> => join(folder(), `stand-in-${await contentKey([source, ...shared])}`);

const standIn = (): boolean => existsSync(join(folder(), "main.cjs"));

export const commandPluginStep: Step = {
  name: "command plugin",
  why: "@pulumi/command runs the benchmark; the official plugin is tried first, else the project's stand-in is installed",
  command: `pulumi plugin install resource command ${version}`,
  async check() {
    if (standIn())
      return existsSync(await mark()) ? `the project's stand-in for ${version} (${source})` : undefined;
    return existsSync(join(folder(), "pulumi-resource-command")) ? `the official ${version}` : undefined;
  },
  async bring({ run, note }) {
    const env = { ...pulumiEnvironment(), PULUMI_SKIP_UPDATE_CHECK: "1" };
    const install = (...more: string[]) =>
      run("pulumi", ["plugin", "install", "resource", "command", version, "--reinstall", ...more], {
        env,
        deadlineSeconds: 60,
      });
    try {
      note("trying the official plugin");
      await install();
    } catch {
      note("the official plugin can't be reached, installing the stand-in");
      const scratch = join(cacheRoot(), "command-provider");
      await rm(scratch, { recursive: true, force: true });
      await mkdir(scratch, { recursive: true });
      const archive = join(scratch, "plugin.tgz");
      await run(process.execPath, [join(source, "pack.ts"), archive, await mark()]);
      await install("--file", archive);
      await rm(scratch, { recursive: true, force: true });
    }
  },
};
