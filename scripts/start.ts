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
  const { stack, setUpOnly } = asked(process.argv.slice(2));
  await setUp({ stacks: true });
  if (setUpOnly) return 0;

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
  const took = duration(Math.round((performance.now() - began) / 1000));
  console.log(`\nStack ${stack}: ${(await changed(stack)) ? "up" : "no changes"} (${took})`);
  return 0;
}

function asked(args: string[]): { stack: string; setUpOnly: boolean } {
  const options = { "setup-only": { type: "boolean", default: false } } as const;
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (positionals.length > 1) throw new Error(`these are ${positionals.length} names`);
    return { stack: positionals[0] ?? "lab", setUpOnly: values["setup-only"] };
  } catch (cause) {
    throw new Error("npm start takes the name of one stack, `lab` unless given: npm start -- lab-raidz2", {
      cause,
    });
  }
}

const pulumi = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await execa("pulumi", args, { cwd: project, env: pulumiEnvironment() })).stdout);

/** Whether the update that has just ended changed anything. */
async function changed(stack: string): Promise<boolean> {
  const [last] = (await pulumi("stack", "history", "--json", "--page-size", "1", "--stack", stack)) as {
    resourceChanges?: Record<string, number>;
  }[];
  return Object.keys(last?.resourceChanges ?? {}).some((kind) => kind !== "same");
}

/** What the summary says before it goes into details, and where all of it is. */
async function report(stack: string): Promise<void> {
  const outputs = await pulumi("stack", "output", "--json", "--stack", stack);
  const { summary, report: page } = outputs as { summary?: unknown; report?: unknown };
  if (typeof summary !== "string" || !summary.endsWith(".md")) return;
  const text = await readFile(summary, "utf8").catch(() => undefined);
  if (text !== undefined) console.log(`\n${text.split("<details>")[0]?.trimEnd()}`);
  console.log(`\nReport: ${page}, ${summary}`);
}

process.exitCode = await start().catch(explain);
