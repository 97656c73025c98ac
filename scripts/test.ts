import { globSync } from "node:fs";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { project } from "./environment.ts";
import { explain } from "./explain.ts";
import { setUp } from "./setup.ts";

/**
 * npm test [-- unit | lab [PATTERN]]: the unit tests side by side, then the virtual lab's (*.lab.test.ts), which
 * share two processors and so run one by one. The last line is the sum over both.
 */

type Counts = { passed: number; failed: number; skipped: number };

async function pass(files: string[], concurrency: boolean): Promise<Counts> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  if (files.length === 0) return counts;
  const tests = run({ files, concurrency, cwd: project });
  tests.on("test:summary", ({ file, counts: seen }) => {
    // Each file has a summary of its own; the one without a file is the sum.
    if (file !== undefined) return;
    counts.passed = seen.passed;
    counts.failed = seen.tests - seen.passed - seen.skipped - seen.todo;
    counts.skipped = seen.skipped + seen.todo;
  });
  for await (const text of tests.compose(spec)) process.stdout.write(text as string);
  return counts;
}

async function main(): Promise<number> {
  const [which = "all", pattern = ""] = process.argv.slice(2);
  if (!["all", "unit", "lab"].includes(which))
    throw new Error(`npm test takes unit or lab [PATTERN], not ${JSON.stringify(which)}`);
  const files = globSync("test/**/*.test.ts", { cwd: project }).sort();
  const lab = files.filter((file) => file.endsWith(".lab.test.ts") && file.includes(pattern));
  const unit = files.filter((file) => !file.endsWith(".lab.test.ts"));

  if (which !== "unit") await setUp({ stacks: false, tests: true });
  const none: Counts = { passed: 0, failed: 0, skipped: 0 };
  const first = which === "lab" ? none : await pass(unit, true);
  const second = which === "unit" ? none : await pass(lab, false);

  const passed = first.passed + second.passed;
  const failed = first.failed + second.failed;
  const skipped = first.skipped + second.skipped;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

process.exitCode = await main().catch(explain);
