import { explain, RefusedError } from "../provider/errors.ts";
import { commandLine } from "../provider/shell.ts";
import { replaceEarlier } from "./earlier.ts";
import { readHost, readPool } from "./environment.ts";
import { type Bench, prefill, reportEvery } from "./fio.ts";
import { createFolder, inProject, shown } from "./folder.ts";
import { fioArgv } from "./job.ts";
import { measure } from "./measure.ts";
import { readPath } from "./path.ts";
import { duration, live, runSeconds, type Say } from "./progress.ts";
import { readReference } from "./reference.ts";
import type { Direction, Path, Request } from "./request.ts";
import { type PathState, type Result, type Run, result } from "./result.ts";
import { size as sizeInWords, summary } from "./summary.ts";
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
  try {
    for (const host of new Set([storage, initiator])) {
      const left = await stopLeftovers(host, request.stack);
      if (left.length > 0) say(`${host.name}: ended what an earlier benchmark left: ${left.join(", ")}`);
    }
    const [storageState, initiatorState, , mountPoint] = await Promise.all([
      readHost(storage, request, "storage"),
      readHost(initiator, request, "initiator"),
      readPool(storage, request),
      initiator.ask(["test", "-e", request.mount]),
    ]);
    const folder = createFolder(results, started);
    folder.write("request.json", `${JSON.stringify(request, null, 2)}\n`);
    const bench: Bench = {
      ...{ request, storage, initiator, folder, signal },
      run: { stack: request.stack, id: started.toISOString().replaceAll(/[-:.]/g, "") },
      ownsMountPoint: mountPoint.status !== 0,
    };
    const runs: Run[] = [];
    const paths: PathState[] = [];
    let mountOptions = "";
    try {
      await prefillOnce(bench, surroundings);
      const wanted = request.paths.flatMap((path) =>
        request.workload.directions.map((direction) => ({ path, direction })),
      );
      let each = runSeconds(request.workload);
      for (const [number, { path, direction }] of wanted.entries()) {
        const left = (wanted.length - number - 1) * each;
        const began = performance.now();
        const outcome = await attempt(bench, path, direction, async () => {
          const state = await readPath(initiator, request, path);
          if (!paths.some(({ protocol }) => protocol === path.protocol)) paths.push(state);
          const seconds = request.workload.runtime;
          const shower = live(say, `${path.protocol} ${direction}`, { seconds }, left, reportEvery(seconds));
          const measured = await measure(
            bench,
            state,
            direction,
            { storage: storageState, initiator: initiatorState },
            shower,
          );
          mountOptions = measured.mountOptions;
          return measured.run;
        });
        say(
          `${path.protocol} ${direction}: ${outcome.valid ? inShort(outcome) : `no figures: ${outcome.invalid}`}`,
        );
        runs.push(outcome);
        if (outcome.valid) each = (performance.now() - began) / 1000;
      }
    } finally {
      await Promise.allSettled([stopUnits(storage, bench.run), stopUnits(initiator, bench.run)]);
    }
    const environment = {
      ...{ storage: storageState, initiator: initiatorState },
      ...(await readPool(storage, request)),
      target: request.target.iqn,
      filesystem: { ...request.filesystem, options: mountOptions },
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
    forget();
  }
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

/** Through the first path that can be used. Without a whole test file there is nothing to measure. */
async function prefillOnce(bench: Bench, { initiator, say }: Surroundings): Promise<void> {
  const { request, signal } = bench;
  const { size, directions } = request.workload;
  const measuring = request.paths.length * directions.length * runSeconds(request.workload);
  say(
    `${request.paths.length * directions.length} runs of ${request.workload.runtime} s, about ${duration(measuring)} in all; first the test file of ${sizeInWords(size)} is written, unless it is there`,
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
    return await prefill(bench, state, live(say, "writing the test file", { bytes: size }, measuring));
  }
  throw new RefusedError(`nothing can be measured:\n${unusable.join("\n")}`);
}

const inShort = (run: Extract<Run, { valid: true }>): string =>
  `${run.bandwidth.toFixed(1)} MB/s, ${run.iops.toFixed(0)} IOPS, clat median ${run.clat?.median.toFixed(1) ?? "?"} ms`;
