import {
  CommandError,
  ConcurrentUpdateError,
  type DestroyOptions,
  LocalWorkspace,
  PulumiCommand,
  Stack,
  type UpOptions,
} from "@pulumi/pulumi/automation/index.js";
import { forgetPending } from "../../scripts/pending.ts";
import { removeStaleLocks } from "../../scripts/stale-lock.ts";
import { experimentVariable } from "../../stack-file/experiment.ts";
import { BusyError, type Labs } from "./experiment.ts";
import { reasonOf } from "./pulumi-lines.ts";

/**
 * Labs by Pulumi's Automation API, on this project and its stacks as they are. Nothing of it writes a stack file or
 * selects a stack: what an experiment asks for goes by the environment, and every command names its stack.
 */
export function pulumiLabs(folder: string, signal: AbortSignal): Labs {
  return async (stack, asked, hear) => {
    const pulumiCommand = apart(await PulumiCommand.get());
    const workspace = await LocalWorkspace.create({
      workDir: folder,
      pulumiCommand,
      envVars: { [experimentVariable]: JSON.stringify(asked) },
    });
    // Selecting would change the stack that the operator's next `pulumi up` works on.
    workspace.selectStack = async (name) => {
      const stacks = await workspace.listStacks();
      if (!stacks.some((one) => one.name === name))
        throw new Error(
          `no stack ${name} in this backend; make it by: npm run -s pulumi -- stack init ${name}`,
        );
    };
    const its = await Stack.select(stack, workspace);
    const step = async <T>(work: (options: Options) => Promise<T>): Promise<T> => {
      for (const { stack: locked, line } of await removeStaleLocks(process.env.PULUMI_BACKEND_URL)) {
        hear(line);
        await forgetPending(locked);
      }
      const printed: string[] = [];
      const both = (line: string): void => {
        printed.push(line);
        hear(line);
      };
      try {
        return await work({ onOutput: byLine(both), onError: byLine(both), signal, color: "never" });
      } catch (cause) {
        if (!(cause instanceof CommandError)) throw cause;
        const reason = reasonOf(printed.join("\n"));
        if (cause instanceof ConcurrentUpdateError)
          throw new BusyError(
            `another Pulumi works on stack ${stack}; when it has ended, the same experiment goes on from here`,
            { cause: new Error(reason) },
          );
        throw new Error(reason === "" ? cause.message : reason);
      }
    };
    return {
      async stands() {
        const { deployment } = (await its.exportStack()) as {
          deployment?: { resources?: { type: string }[] } | null;
        };
        return (deployment?.resources ?? []).some(({ type }) => !type.startsWith("pulumi:"));
      },
      up: () =>
        step(async (options) => {
          const { outputs } = await its.up(options);
          const result: unknown = outputs.rawFolder?.value;
          if (typeof result !== "string") throw new Error("the stack has no result among its outputs");
          return result;
        }),
      async destroy() {
        await step((options) => its.destroy(options));
      },
    };
  };
}

type Options = Pick<UpOptions & DestroyOptions, "onOutput" | "onError" | "signal" | "color">;

/**
 * Pulumi in a session of its own: a Ctrl-C in the terminal reaches the experiment alone, which hands it on once. By
 * terminal and by hand it would be two, and at the second Pulumi drops what it is doing.
 */
function apart(found: PulumiCommand): PulumiCommand {
  const inSession: PulumiCommand = Object.create(found, { command: { value: "setsid" } });
  type Run = (args: string[], ...more: unknown[]) => unknown;
  const { run } = found as unknown as { run: Run };
  return Object.defineProperty(inSession, "run", {
    value: (args: string[], ...more: unknown[]) => run.call(inSession, [found.command, ...args], ...more),
  });
}

/** Whole lines of what arrives in pieces. */
export function byLine(hear: (line: string) => void): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(line);
  };
}
