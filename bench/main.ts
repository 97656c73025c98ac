import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { explain } from "../provider/errors.ts";
import { Host, type HostAddress } from "../provider/host.ts";
import { inProject } from "./folder.ts";
import { sayTo } from "./progress.ts";
import { request } from "./schema/request.ts";

/**
 * The benchmark's command line:
 *   node bench/main.ts run < request.json    measure; progress on stderr, what the stack's outputs hold on stdout
 *   node bench/main.ts show [FOLDER]         the summary of the latest run, or of the one in FOLDER
 * The other verbs are programs of their own, each in its folder: bench/VERB/main.ts.
 */

const verbs: Record<string, { readonly folder: string; readonly about: string }> = {
  report: { folder: "report", about: "make the reports of a result again" },
  model: { folder: "model", about: "what a stack's layout gives, before it is built" },
  compare: { folder: "compare", about: "set stacks, runs and published labs side by side" },
  experiment: { folder: "experiment", about: "bring up, measure and compare several stacks" },
  diagnose: { folder: "diagnosis", about: "say again what limits the runs of a result" },
};

const usage = [
  "usage: node bench/main.ts run < request.json",
  "       node bench/main.ts show [FOLDER]",
  ...Object.entries(verbs).map(([verb, { about }]) => `       node bench/main.ts ${verb} …    ${about}`),
].join("\n");

const exitStatus: Record<string, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

async function run(): Promise<number> {
  const asked = request.safeParse(parseJson(await text(process.stdin)));
  if (!asked.success)
    throw new TypeError(`the request is not of the form known here: ${z.prettifyError(asked.error)}`);
  // Only now: whoever asks for something else doesn't wait for the charts' library.
  const [{ benchmark }, { outcomeOf }, { terminal }] = await Promise.all([
    import("./run/benchmark.ts"),
    import("./report/outcome.ts"),
    import("./report/terminal.ts"),
  ]);
  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => interruption.abort(signal));
  }
  // Nobody listens any more: pulumi has been killed.
  for (const output of [process.stdout, process.stderr])
    output.on("error", () => interruption.abort("SIGHUP"));
  const say = sayTo((line) => process.stderr.write(line));
  const hosts = new Map<string, Host>();
  const hostAt = (address: HostAddress): Host => {
    const host = hosts.get(address.name) ?? new Host(address);
    hosts.set(address.name, host);
    return host;
  };
  try {
    const found = await benchmark(asked.data, {
      storage: hostAt(asked.data.storage),
      clients: asked.data.clients.map(({ host }) => hostAt(host)),
      say,
      signal: interruption.signal,
    });
    process.stderr.write(`\n${terminal(found)}\n`);
    process.stdout.write(`${JSON.stringify(outcomeOf(found))}\n`);
    return 0;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    const { reason } = interruption.signal;
    say(
      `interrupted by ${reason}: fio and the collectors are ended, the file system is unmounted; the same again goes on from here`,
    );
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

/** Loaded when it is asked for: a benchmark under `pulumi up` needs none of them. */
async function other(verb: string, args: string[]): Promise<number> {
  const folder = verbs[verb]?.folder;
  if (folder === undefined) throw new Error(usage);
  const { main }: { main(args: string[]): Promise<number> } = await import(`./${folder}/main.ts`);
  return await main(args);
}

const [verb = "", ...args] = process.argv.slice(2);
try {
  if (verb === "run" && args.length === 0) process.exitCode = await run();
  else if (verb === "show" && args.length <= 1) process.exitCode = show(args[0]);
  else process.exitCode = await other(verb, args);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
