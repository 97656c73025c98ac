import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { project, pulumiEnvironment } from "../environment.ts";
import type { Step } from "../steps.ts";

/**
 * Pulumi knows a stack only once it has been made, even where its stack file is there. In the project's own state
 * every stack file gets its stack; in a backend of the operator's choice making one is the operator's decision.
 */

const ownState = join(project, ".state");
const isOwn = (): boolean => pulumiEnvironment().PULUMI_BACKEND_URL === `file://${ownState}`;

async function stackFiles(): Promise<string[]> {
  return (await readdir(project)).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.slice(1) ?? []).sort();
}

const made = (stack: string): boolean =>
  existsSync(join(ownState, ".pulumi/stacks/storage-lab", `${stack}.json`));

export const stacksStep: Step = {
  name: "stacks",
  why: "each Pulumi.STACK.yaml gets its state",
  command: "pulumi stack init STACK",
  async check() {
    const stacks = await stackFiles();
    if (!isOwn()) return "the operator's own";
    return stacks.every(made) ? stacks.join(", ") : undefined;
  },
  async bring({ run }) {
    await mkdir(ownState, { recursive: true });
    for (const stack of (await stackFiles()).filter((name) => !made(name))) {
      await run("pulumi", ["stack", "init", stack, "--no-select"], {
        cwd: project,
        env: pulumiEnvironment(),
      });
    }
  },
};
