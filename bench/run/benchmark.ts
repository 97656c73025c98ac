import { explain, RefusedError } from "../../provider/errors.ts";
import { formatSize } from "../../provider/size.ts";
import { verdictsOf } from "../diagnosis/needs.ts";
import { replaceEarlier } from "../earlier.ts";
import { readHost } from "../environment/host.ts";
import { readStorage } from "../environment/storage.ts";
import { prefillSize } from "../fio/prefill.ts";
import { inProject, shown } from "../folder.ts";
import { estimate, runsOf } from "../plan.ts";
import { duration, live, type Say } from "../progress.ts";
import { type Reference, readReference } from "../reference.ts";
import type { Client, Request } from "../schema/request.ts";
import { type Environment, type PathState, type Result, type Run, result } from "../schema/result.ts";
import type { RunSpec } from "../schema/test.ts";
import type { States } from "../telemetry/telemetry.ts";
import { type BenchHost, stopLeftovers, stopUnits } from "../unit.ts";
import { restoreArc } from "./arc.ts";
import { attempt } from "./attempt.ts";
import { type Bench, type BenchClient, clientHosts, distinctMounts, whyNotAtOnce } from "./bench.ts";
import { reportEvery } from "./fio.ts";
import { readPath } from "./path.ts";
import { prefill } from "./prepare.ts";
import { reportPaths, writeReports } from "./reports.ts";
import { type Attempt, setupOf, takeUp } from "./resume.ts";

/** The benchmark from start to end: all hosts read back, the test files written, each run, the result. */

export type Surroundings = {
  readonly storage: BenchHost;
  /** Of each client of the request, in its order; clients of one host share one. */
  readonly clients: readonly BenchHost[];
  readonly say: Say;
  /** Aborting ends the run under way, cleans up and rejects. */
  readonly signal: AbortSignal;
} & Pick<Bench, "telemetry">;

export async function benchmark(request: Request, surroundings: Surroundings): Promise<Result> {
  const { storage, say, signal } = surroundings;
  const now = new Date();
  const lab = readReference(request.reference);
  const wanted = runsOf(request);
  const refusal = whyNotAtOnce(request.clients);
  if (refusal !== undefined) throw new RefusedError(refusal);
  const results = inProject(request.folder);
  const forget = await replaceEarlier(results, say);
  const run = { stack: request.stack, id: now.toISOString().replaceAll(/[-:.]/g, "") };
  const hosts = [...new Set([storage, ...surroundings.clients])];
  let reached = false;
  try {
    for (const host of hosts) {
      const left = await stopLeftovers(host, request.stack);
      if (left.length > 0) say(`${host.name}: ended what an earlier benchmark left: ${left.join(", ")}`);
    }
    reached = true;
    await restoreArc(storage, request.stack);
    const clients = await theClients(distinctMounts(request.clients), surroundings.clients);
    const bench: Bench = { request, run, storage, clients, signal, telemetry: surroundings.telemetry };
    const before = await readBack(bench);
    const found = new Findings(before, request.clients);
    await firstPaths(bench, found, say);
    const part = takeUp(results, request, setupOf(before), now, say);
    const runs = await everyRun(bench, part, wanted, before, found, say);
    const environment = { ...found.environment(), ...(await readStorage(storage, request)) };
    return finish(bench, part, runs, environment, lab);
  } finally {
    if (reached) {
      await Promise.allSettled(hosts.map((host) => stopUnits(host, run)));
      await Promise.allSettled([restoreArc(storage, request.stack)]);
    }
    forget();
  }
}

async function theClients(clients: readonly Client[], hosts: readonly BenchHost[]): Promise<BenchClient[]> {
  return await Promise.all(
    clients.map(async (client, n) => {
      const host = hosts[n];
      if (host === undefined) throw new TypeError(`client ${client.name} has no host`);
      const there = await host.ask(["test", "-e", client.mount]);
      return { client, host, ownsMountPoint: there.status !== 0 };
    }),
  );
}

type Before = States & Awaited<ReturnType<typeof readStorage>>;

async function readBack(bench: Bench): Promise<Before & { clients: Environment["clients"] }> {
  const { request, storage } = bench;
  const [state, clients, side] = await Promise.all([
    readHost(storage, request, "storage"),
    Promise.all(clientHosts(bench).map((host) => readHost(host, request, "client"))),
    readStorage(storage, request),
  ]);
  return { storage: state, clients, ...side };
}

/** What runs find out of the environment as they go. */
class Findings {
  readonly #before: Before & { clients: Environment["clients"] };
  readonly #clients: readonly Client[];
  readonly #paths = new Map<string, PathState>();
  readonly #options = new Map<string, string>();

  constructor(before: Before & { clients: Environment["clients"] }, clients: readonly Client[]) {
    this.#before = before;
    this.#clients = clients;
  }

  onPath(path: PathState): void {
    this.#paths.set(`${path.client} ${path.protocol}`, path);
  }

  onMounted(client: string, options: string): void {
    this.#options.set(client, options);
  }

  environment(): Environment {
    const filesystems = this.#clients.flatMap(({ name, filesystem }) => {
      const options = this.#options.get(name);
      return options === undefined ? [] : [{ client: name, ...filesystem, options }];
    });
    return { ...this.#before, filesystems, paths: [...this.#paths.values()] };
  }
}

/**
 * Look at every path, so that what can't be measured is said before an hour has passed; write each client's test
 * file through the first path that can be used. A client without one is refused.
 */
async function firstPaths(bench: Bench, found: Findings, say: Say): Promise<void> {
  const unusable: string[] = [];
  const usable = new Map<BenchClient, PathState>();
  for (const which of bench.clients) {
    for (const path of which.client.paths.filter(({ protocol }) =>
      bench.request.protocols.includes(protocol),
    )) {
      try {
        const state = await readPath(which.host, which.client, path);
        found.onPath(state);
        if (!usable.has(which)) usable.set(which, state);
      } catch (error) {
        bench.signal.throwIfAborted();
        unusable.push(explain(error));
      }
    }
  }
  const without = bench.clients.filter((which) => !usable.has(which));
  if (without.length > 0) throw new RefusedError(`nothing can be measured:\n${unusable.join("\n")}`);
  const { request } = bench;
  const size = prefillSize(request.tests);
  const { runs, total } = estimate(request);
  const file =
    size === 0
      ? ""
      : `; first a test file of ${formatSize(BigInt(size))} is written on each client, unless it is there`;
  say(
    `${runs.length} runs by ${bench.clients.length === 1 ? "one client" : `${bench.clients.length} clients`}, about ${duration(total)} in all${file}`,
  );
  if (size === 0) return;
  const after = runs.reduce((all, { seconds }) => all + seconds, 0);
  const display = live(say, "writing the test file", { bytes: size }, after);
  await Promise.all(
    [...usable].map(async ([which, path]) => {
      found.onMounted(which.client.name, await prefill(bench, which, path, display));
    }),
  );
}

async function everyRun(
  bench: Bench,
  part: Attempt,
  wanted: readonly RunSpec[],
  states: States,
  found: Findings,
  say: Say,
): Promise<Run[]> {
  const guesses = new Map(estimate(bench.request).runs.map(({ id, seconds }) => [id, seconds]));
  const guess = (specs: readonly RunSpec[]) => specs.reduce((all, { id }) => all + (guesses.get(id) ?? 0), 0);
  const runs = new Map(part.kept);
  const taken = { guessed: 0, seconds: 0 };
  for (const [number, spec] of wanted.entries()) {
    if (runs.has(spec.id)) continue;
    const pace = taken.guessed === 0 ? 1 : taken.seconds / taken.guessed;
    const left = guess(wanted.slice(number + 1).filter(({ id }) => !runs.has(id))) * pace;
    const began = performance.now();
    const name = `${number + 1}/${wanted.length} ${spec.id}`;
    const run = await attempt(
      bench,
      part.folder,
      spec,
      states,
      display(say, spec, name, guess([spec]), left),
      found,
    );
    say(`${name}: ${run.valid ? inShort(run) : `no figures: ${run.invalid}`}`);
    part.keep(run);
    runs.set(spec.id, run);
    if (run.valid) {
      taken.guessed += guess([spec]);
      taken.seconds += (performance.now() - began) / 1000;
    }
  }
  return wanted.flatMap(({ id }) => runs.get(id) ?? []);
}

/** What a run shows while it goes on. */
function display(say: Say, { test }: RunSpec, name: string, seconds: number, left: number) {
  if (test.kind !== "fio") return live(say, name, { seconds }, left);
  return live(say, name, { seconds: test.runtime }, left, reportEvery(test.runtime));
}

/** The result as one document with its reports, and RESULTS/latest. A benchmark without any figure is not finished. */
function finish(
  bench: Bench,
  part: Attempt,
  runs: readonly Run[],
  environment: Environment,
  lab: Reference,
): Result {
  const { request } = bench;
  const { folder } = part;
  if (runs.every((run) => !run.valid)) {
    const reasons = runs.map((run) => (run.valid ? "" : `${run.spec.id}: ${run.invalid}`));
    throw new Error(
      `no run has figures; they are tried again when the same is asked again:\n${reasons.join("\n")}`,
    );
  }
  const path = shown(folder.path);
  const found = result.parse({
    schema: 2,
    ...{ stack: request.stack, virtual: request.virtual, started: part.started.toISOString() },
    ...{ seconds: part.seconds(), folder: path, reports: reportPaths(path) },
    ...{ runs: [...runs], environment, needs: request.needs ?? null },
    verdicts: request.needs ? verdictsOf(request.needs, runs, environment) : [],
    reference: { name: lab.name, title: lab.title, figures: lab.figures },
  } satisfies Result);
  folder.write("environment.json", `${JSON.stringify(environment, null, 2)}\n`);
  writeReports(folder, found);
  folder.publish();
  part.finish();
  return found;
}

const inShort = (run: Extract<Run, { valid: true }>): string => {
  const phases = run.phases.map(({ phase, value, unit }) => `${phase} ${value.toFixed(1)} ${unit}`);
  const sides = (["read", "write"] as const).flatMap((direction) => {
    const side = run[direction];
    if (side === null) return [];
    const median = side.clat === null ? "?" : side.clat.median.toFixed(1);
    return [
      `${direction} ${side.bandwidth.toFixed(1)} MB/s, ${side.iops.toFixed(0)} IOPS, clat median ${median} ms`,
    ];
  });
  const limit = run.diagnosis?.limit ? [`limit: ${run.diagnosis.limit.sentence}`] : [];
  return [...sides, ...phases, ...limit].join("; ");
};
