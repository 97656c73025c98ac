import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { project, pulumiEnvironment } from "./environment.ts";
import { forgetPending } from "./pending.ts";
import { removeStaleLocks } from "./stale-lock.ts";

/** Runs Pulumi in the project with the terminal of this process; resolves to its exit status. */
export async function runPulumi(args: readonly string[]): Promise<number> {
  const env = pulumiEnvironment();
  const backend = env.PULUMI_BACKEND_URL;
  if (backend?.startsWith("file:///")) await mkdir(fileURLToPath(backend), { recursive: true });
  for (const { stack, line } of await removeStaleLocks(backend)) {
    console.error(line);
    await forgetPending(stack);
  }

  const child = spawn("pulumi", args, { cwd: project, env, stdio: "inherit" });
  // Ctrl-C reaches Pulumi by the terminal, and it ends in order; this process only waits. Signals to it alone go on.
  const wait = () => {};
  const hand = (signal: NodeJS.Signals) => child.kill(signal);
  process.on("SIGINT", wait).on("SIGTERM", hand).on("SIGHUP", hand);
  try {
    return await new Promise((done, failed) => {
      child.on("exit", (code, signal) => done(code ?? 128 + (signal === "SIGINT" ? 2 : 15)));
      child.on("error", (cause) =>
        failed(new Error("pulumi can't be started; run set-up: npm run setup", { cause })),
      );
    });
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", hand).off("SIGHUP", hand);
  }
}
