import { execa } from "execa";
import { project, pulumiEnvironment } from "./environment.ts";
import { explain } from "./explain.ts";

/** npm run check: what must hold before every commit, side by side, each with a line and its time. */

/** Programs that exit with an error, and say how to make it fresh, when a generated file is not what it would be. */
const generated: { name: string; command: string[] }[] = [
  { name: "docs/stack-file.md", command: ["node", "scripts/stack-file-reference.ts", "--check"] },
  { name: "docs/*.schema.json", command: ["node", "scripts/result-schema.ts", "--check"] },
];

const checks = [
  { name: "format and lint", command: ["biome", "check", "."] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "unit tests", command: ["node", "scripts/test.ts", "unit"] },
  ...generated,
];

async function check(name: string, command: readonly string[]): Promise<boolean> {
  const start = performance.now();
  const [file = "", ...args] = command;
  const env = { ...pulumiEnvironment(), FORCE_COLOR: process.stdout.isTTY ? "1" : "0" };
  const result = await execa(file, args, { cwd: project, env, all: true, reject: false, stdin: "ignore" });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (result.failed) console.log(`\n${result.all}\n✗ ${name} (${seconds} s): ${command.join(" ")}`);
  else console.log(`✓ ${name} (${seconds} s)`);
  return !result.failed;
}

const results = await Promise.all(checks.map(({ name, command }) => check(name, command))).catch((error) => {
  explain(error);
  return [false];
});
process.exitCode = results.every(Boolean) ? 0 : 1;
