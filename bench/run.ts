import { explain, RefusedError } from "../provider/errors.ts";
import { commandLine } from "../provider/shell.ts";
import { replaceEarlier } from "./earlier.ts";
import { readHost, readPool } from "./environment.ts";
import { type Bench, prefill, reportEvery } from "./fio.ts";
import { createFolder, type Folder, inProject, shown } from "./folder.ts";
import { fioArgv } from "./job.ts";
import { measure } from "./measure.ts";
import { readPath } from "./path.ts";
import { duration, live, runSeconds, type Say } from "./progress.ts";
import { readReference } from "./reference.ts";
import type { Direction, Path, Request } from "./request.ts";
import { type Environment, type PathState, type Result, type Run, result } from "./result.ts";
import { size, summary } from "./summary.ts";
import type { HostStates } from "./telemetry.ts";
import { type BenchHost, stopLeftovers, stopUnits } from "./unit.ts";

/** The benchmark from start to end: both hosts read back, the test file written, each run, the result. */

export type Surroundings = {
  readonly storage: BenchHost;
  readonly initiator: BenchHost;
  readonly say: Say;
  /** Aborting ends the run under way, cleans up and rejects. */
  readonly signal: AbortSignal;
};

export async function benchmark(request: Request, surroundings: Surroundings): Promise<Result> {
  const { storage, initiator, say, signal } = surroundings;
  const started = new Date();
  const lab = readReference(request.reference);
  const results = inProject(request.folder);
  const forget = await replaceEarlier(results, say);
  const run = { stack: request.stack, id: started.toISOString().replaceAll(/[-:.]/g, "") };
  let reached = false;
  try {
    for (const host of [storage, initiator]) {
      const left = await stopLeftovers(host, request.stack);
      if (left.length > 0) say(`${host.name}: ended what an earlier benchmark left: ${left.join(", ")}`);
    }
    reached = true;
    const [storageState, initiatorState, , mountPoint] = await Promise.all([
      readHost(storage, request, "storage"),
      readHost(initiator, request, "initiator"),
      readPool(storage, request),
      initiator.ask(["test", "-e", request.mount]),
    ]);
    const hosts = { storage: storageState, initiator: initiatorState };
    const bench = { request, run, storage, initiator, signal, ownsMountPoint: mountPoint.status !== 0 };
    await writeTestFile(bench, say);
    const folder = createFolder(results, started);
    folder.write("request.json", `${JSON.stringify(request, null, 2)}\n`);
    const { runs, paths, options } = await everyRun(bench, folder, hosts, say);
    const environment: Environment = {
      ...hosts,
      ...(await readPool(storage, request)),
      target: request.target.iqn,
      filesystem: { ...request.filesystem, options },
      paths,
    };
    folder.write("environment.json", `${JSON.stringify(environment, null, 2)}\n`);
    const path = shown(folder.path);
    const found = result.parse({
      schema: 1,
      ...{ stack: request.stack, virtual: request.virtual, started: started.toISOString() },
      ...{ seconds: (Date.now() - started.getTime()) / 1000, folder: path },
      summary: { markdown: `${path}/summary.md`, json: `${path}/result.json` },
      ...{ workload: request.workload, runs, environment },
      reference: { name: lab.name, title: lab.title, figures: lab.figures },
    } satisfies Result);
    folder.write("summary.md", summary(found));
    folder.write("result.json", `${JSON.stringify(found, null, 2)}\n`);
    folder.publish();
    return found;
  } finally {
    if (reached) await Promise.allSettled([stopUnits(storage, run), stopUnits(initiator, run)]);
    forget();
  }
}

/** Through the first path that can be used. Without a whole test file there is nothing to measure. */
async function writeTestFile(bench: Bench, say: Say): Promise<void> {
  const { request, initiator, signal } = bench;
  const { workload } = request;
  const count = request.paths.length * workload.directions.length;
  const measuring = count * runSeconds(workload);
  say(
    `${count} runs of ${workload.runtime} s, about ${duration(measuring)} in all; first the test file of ${size(workload.size)} is written, unless it is there`,
  );
  const unusable: string[] = [];
  for (const path of request.paths) {
    let state: PathState;
    try {
      state = await readPath(initiator, request, path);
    } catch (error) {
      signal.throwIfAborted();
      unusable.push(explain(error));
      continue;
    }
    return await prefill(
      bench,
      state,
      live(say, "writing the test file", { bytes: workload.size }, measuring),
    );
  }
  throw new RefusedError(`nothing can be measured:\n${unusable.join("\n")}`);
}

/** Each protocol, each direction, one after the other. */
async function everyRun(
  bench: Bench,
  folder: Folder,
  hosts: HostStates,
  say: Say,
): Promise<{ runs: Run[]; paths: PathState[]; options: string }> {
  const { request, initiator } = bench;
  const { runtime, directions } = request.workload;
  const wanted = request.paths.flatMap((path) => directions.map((direction) => ({ path, direction })));
  const runs: Run[] = [];
  const paths = new Map<string, PathState>();
  let options = "";
  let each = runSeconds(request.workload);
  for (const [number, { path, direction }] of wanted.entries()) {
    const name = `${path.protocol} ${direction}`;
    const left = (wanted.length - number - 1) * each;
    const began = performance.now();
    const run = await attempt(bench, path, direction, async () => {
      const state = await readPath(initiator, request, path);
      paths.set(path.protocol, state);
      const display = live(say, name, { seconds: runtime }, left, reportEvery(runtime));
      const measured = await measure(bench, folder, state, direction, hosts, display);
      options = measured.mountOptions;
      return measured.run;
    });
    say(`${name}: ${run.valid ? inShort(run) : `no figures: ${run.invalid}`}`);
    if (run.valid) each = (performance.now() - began) / 1000;
    runs.push(run);
  }
  return { runs, paths: [...paths.values()], options };
}

/** A run, or why it has no figures. Only an interruption ends the whole benchmark. */
async function attempt(
  bench: Bench,
  path: Path,
  direction: Direction,
  run: () => Promise<Run>,
): Promise<Run> {
  try {
    return await run();
  } catch (error) {
    bench.signal.throwIfAborted();
    const command = commandLine(
      fioArgv(bench.request, direction, reportEvery(bench.request.workload.runtime)),
    );
    return { protocol: path.protocol, direction, command, valid: false, invalid: explain(error) };
  }
}

const inShort = (run: Extract<Run, { valid: true }>): string =>
  `${run.bandwidth.toFixed(1)} MB/s, ${run.iops.toFixed(0)} IOPS, clat median ${run.clat?.median.toFixed(1) ?? "?"} ms`;
