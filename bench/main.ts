import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { explain } from "../provider/errors.ts";
import { Host } from "../provider/host.ts";
import { inProject } from "./folder.ts";
import { sayTo } from "./progress.ts";
import { request } from "./request.ts";
import { benchmark } from "./run.ts";
import { terminal } from "./summary.ts";

/**
 * The benchmark's command line:
 *   node bench/main.ts run < request.json    measure; progress on stderr, the result as JSON on stdout
 *   node bench/main.ts show [FOLDER]         the summary of the latest run, or of the one in FOLDER
 */

const usage = "usage: node bench/main.ts run < request.json | node bench/main.ts show [FOLDER]";

const exitStatus: Record<string, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

async function run(): Promise<number> {
  const asked = request.safeParse(parseJson(await text(process.stdin)));
  if (!asked.success)
    throw new TypeError(`the request is not of the form known here: ${z.prettifyError(asked.error)}`);
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => interruption.abort(signal));
  }
  // Nobody listens any more: pulumi has been killed.
  for (const output of [process.stdout, process.stderr])
    output.on("error", () => interruption.abort("SIGHUP"));
  const say = sayTo((line) => process.stderr.write(line));
  const { hosts } = asked.data;
  try {
    const found = await benchmark(asked.data, {
      storage: new Host(hosts.storage),
      initiator: new Host(hosts.initiator),
      say,
      signal: interruption.signal,
    });
    process.stderr.write(`\n${terminal(found)}\n`);
    if (found.runs.every((r) => !r.valid)) {
      throw new Error(`no run has figures: ${found.runs.map((r) => (r.valid ? "" : r.invalid)).join("\n")}`);
    }
    process.stdout.write(`${JSON.stringify(found)}\n`);
    return 0;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    const { reason } = interruption.signal;
    say(`interrupted by ${reason}: fio and the collectors are ended, the file system is unmounted`);
    return exitStatus[String(reason)] ?? 1;
  }
}

function parseJson(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch (cause) {
    throw new TypeError("the request on stdin is not JSON", { cause });
  }
}

function show(argument: string | undefined): number {
  const folder = argument === undefined ? latest() : resolve(argument);
  const file = [join(folder, "summary.md"), join(folder, "latest", "summary.md")].find(existsSync);
  if (file === undefined)
    throw new Error(`${folder}: no summary.md in it, nor in its latest. Name a run's folder.`);
  process.stdout.write(readFileSync(file, "utf8"));
  return 0;
}

/** The newest of all stacks' latest runs. */
function latest(): string {
  const results = inProject("results");
  const stacks = existsSync(results) ? readdirSync(results) : [];
  const runs = stacks.map((stack) => join(results, stack, "latest")).filter((link) => existsSync(link));
  const [newest] = runs.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (newest === undefined) throw new Error(`${results}: no run yet. Run pulumi up first, or name a folder.`);
  return newest;
}

const [verb, ...args] = process.argv.slice(2);
try {
  if (verb === "run" && args.length === 0) process.exitCode = await run();
  else if (verb === "show" && args.length <= 1) process.exitCode = show(args[0]);
  else throw new Error(usage);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
