import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { project, pulumiEnvironment } from "./environment.ts";
import { explain } from "./explain.ts";
import { duration } from "./progress.ts";
import { runPulumi } from "./run-pulumi.ts";
import { setUp } from "./setup.ts";

/** npm start [-- STACK]: set-up, then `pulumi up` on the stack, `lab` unless one is named, then what came of it. */

async function start(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "setup-only": { type: "boolean", default: false } },
  });
  await setUp();
  if (values["setup-only"]) return 0;

  const stack = positionals[0] ?? "lab";
  const began = performance.now();
  console.log(`\n$ pulumi up --stack ${stack}`);
  const selected = await runPulumi(["stack", "select", "--create", stack]);
  if (selected !== 0) return selected;
  // Who starts it wants the lab; who wants to look first asks for a preview: npm run -s pulumi -- preview
  const up = await runPulumi(["up", "--stack", stack, "--yes", "--skip-preview"]);
  if (up !== 0) {
    console.error(`pulumi up did not end well; what is there stays, and npm start goes on from it`);
    return up;
  }
  await report(stack);
  console.log(`\nStack ${stack} is up (${duration(Math.round((performance.now() - began) / 1000))})`);
  return 0;
}

/** The summary's figures and its path; the other outputs have just been shown by Pulumi. */
async function report(stack: string): Promise<void> {
  const { stdout } = await execa("pulumi", ["stack", "output", "--json", "--stack", stack], {
    cwd: project,
    env: pulumiEnvironment(),
  });
  const { summary } = JSON.parse(stdout) as { summary?: unknown };
  if (typeof summary !== "string" || !summary.endsWith(".md")) return;
  const text = await readFile(summary, "utf8").catch(() => undefined);
  console.log(text === undefined ? "" : `\n${text.trimEnd()}`);
  console.log(`\nReport: ${summary}`);
}

process.exitCode = await start().catch(explain);
