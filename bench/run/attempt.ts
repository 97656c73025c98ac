import { explain } from "../../provider/errors.ts";
import { cpusOf, overheadOf } from "../evidence.ts";
import { runFiles } from "../files/run.ts";
import { isFio } from "../fio/argv.ts";
import type { Folder } from "../folder.ts";
import { runIo500 } from "../io500/run.ts";
import type { Phased } from "../phased.ts";
import type { Live } from "../progress.ts";
import type { Environment, PathState, Precondition, Run } from "../schema/result.ts";
import type { RunSpec } from "../schema/test.ts";
import type { States } from "../telemetry/telemetry.ts";
import { readRamdisk } from "../transport.ts";
import { coldPrecondition } from "./arc.ts";
import { type Bench, hostsOf } from "./bench.ts";
import { type ClientPath, fioCommand } from "./fio.ts";
import { idle } from "./idle.ts";
import { type Measured, measureFio, poolOf, recordedWhile } from "./measure.ts";
import { readPath } from "./path.ts";
import { prepareArc, syncPools } from "./prepare.ts";
import { linkPrecondition, mtuPrecondition, poolPrecondition, sessionPrecondition } from "./readiness.ts";

/** One run from its preparation to its figures, or why it has none. Only an interruption ends the whole benchmark. */

export type Found = {
  /** Of this run's paths, as they were read back right before. */
  onPath(path: PathState): void;
  onMounted(client: string, options: string): void;
  environment(): Environment;
};

export async function attempt(
  bench: Bench,
  folder: Folder,
  spec: RunSpec,
  states: States,
  live: Live,
  found: Found,
): Promise<Run> {
  const files: string[] = [];
  const keep = (name: string, text: string): void => {
    folder.write(name, text);
    files.push(name);
  };
  const preconditions: Precondition[] = [];
  const invalid = (why: string, command: string): Run => ({
    ...{ spec, command, preconditions, valid: false, invalid: why, files },
  });
  let command = spec.id;
  try {
    const paths = await usablePaths(bench, spec, found);
    const [first] = paths;
    if (isFio(spec) && first !== undefined) command = fioCommand(first, spec);
    await syncPools(bench);
    await prepareArc(bench, paths, spec, live);
    preconditions.push(...(await readiness(bench, paths, spec, states)));
    const before = failed(preconditions);
    if (before !== undefined) return invalid(before, command);
    const beside = { environment: found.environment(), states, live, keep, preconditions };
    const { mountOptions, ...measured } = isFio(spec)
      ? await measureFio(bench, paths, spec, beside)
      : await measurePhased(bench, paths, spec, beside);
    for (const [client, options] of mountOptions) found.onMounted(client, options);
    const after = failed(preconditions);
    if (after !== undefined) return invalid(after, measured.command);
    return { ...measured, spec, preconditions, valid: true, files };
  } catch (error) {
    bench.signal.throwIfAborted();
    return invalid(explain(error), command);
  }
}

const failed = (preconditions: readonly Precondition[]): string | undefined => {
  const reasons = preconditions.filter(({ holds }) => holds === false);
  if (reasons.length === 0) return undefined;
  return reasons.map(({ name, wanted, found }) => `${name}: ${wanted}; found: ${found}`).join("\n");
};

/** Each client's path by this protocol, read back. Phases are measured by one client. */
async function usablePaths(bench: Bench, spec: RunSpec, found: Found): Promise<ClientPath[]> {
  const clients = isFio(spec) ? bench.clients : bench.clients.slice(0, 1);
  return await Promise.all(
    clients.map(async (which) => {
      const asked = which.client.paths.find(({ protocol }) => protocol === spec.protocol);
      if (asked === undefined)
        throw new TypeError(`client ${which.client.name} has no path by ${spec.protocol}`);
      const path = await readPath(which.host, which.client, asked);
      found.onPath(path);
      if (!isFio(spec) || spec.test.backstore === "volume") return { which, path };
      const disk = await readRamdisk(which.host, asked, path, spec.test);
      return { which, path: disk, ramdisk: asked.ramdisk?.serial };
    }),
  );
}

async function readiness(
  bench: Bench,
  paths: readonly ClientPath[],
  spec: RunSpec,
  states: States,
): Promise<Precondition[]> {
  const { storage, signal } = bench;
  const hosts = hostsOf(bench);
  const pools = [...new Set(paths.map(({ which }) => which.client.pool))];
  const stateOf = (name: string) => [states.storage, ...states.clients].find((state) => state.name === name);
  const found = await Promise.all([
    ...pools.map((pool) => poolPrecondition(storage, pool)),
    ...hosts.map(async (host) => {
      const state = stateOf(host.name);
      return state ? [await linkPrecondition(host, state, spec.protocol)] : [];
    }),
  ]);
  // Last, since the looks before are load too.
  const quiet = await Promise.all(hosts.map((host) => idle(host, signal)));
  const { test } = spec;
  const cold =
    test.kind === "fio" && test.arc === "cold" && test.backstore === "volume"
      ? [await coldPrecondition(storage, test.size * paths.length)]
      : [];
  return [
    ...paths.map(({ which, path }) => sessionPrecondition(which.client.name, path)),
    ...[found.flat(), mtuPrecondition(states), quiet, cold].flat(),
  ];
}

type Beside = Parameters<typeof measureFio>[3];

/** Kinds of several phases, by the first client: what they measure is one thread's, or the io500 program's own. */
async function measurePhased(
  bench: Bench,
  paths: readonly ClientPath[],
  spec: RunSpec,
  beside: Beside,
): Promise<Measured & { readonly mountOptions: ReadonlyMap<string, string> }> {
  const [path] = paths;
  if (path === undefined) throw new TypeError("no client to run on");
  const {
    result: phased,
    recorded,
    arc,
    began,
  } = await recordedWhile(bench, spec.id, phasedSeconds, beside, () =>
    runPhased(bench, path, spec, beside.live),
  );
  for (const [name, text] of Object.entries(phased.files)) beside.keep(name, text);
  beside.preconditions.push(...phased.preconditions);
  if (phased.invalid !== null) throw new Error(phased.invalid);
  const [start, end] = [
    Math.min(...phased.windows.map((w) => w.start)),
    Math.max(...phased.windows.map((w) => w.end)),
  ];
  const { times: _, ...hosts } = recorded.record({ start, end });
  const recording = {
    schema: 2 as const,
    run: spec.id,
    ...hosts,
    clients: [],
    latency: { read: null, write: null },
  };
  beside.keep(`telemetry-${spec.id}.json`, `${JSON.stringify(recording)}\n`);
  const { client } = path.which;
  const others = bench.clients.length - 1;
  return {
    command: phased.command,
    ...{ began, seconds: phased.seconds, read: null, write: null },
    ...{ phases: phased.phases, score: phased.score, official: phased.official },
    clients: [{ client: client.name, read: null, write: null }],
    ...{ cpus: cpusOf(recording), arc: { state: "left", ...arc }, pool: poolOf(recording) },
    ...{ aboveLink: null, overhead: overheadOf(recording), evidence: null, diagnosis: null },
    warnings: [
      ...phased.warnings,
      ...recording.hosts.flatMap(({ faults }) => faults ?? []),
      ...(others > 0
        ? [`measured by client ${client.name} alone; kind ${spec.test.kind} is one client's`]
        : []),
    ],
    mountOptions: new Map([[client.name, phased.mountOptions]]),
  };
}

/** A collector's unit ends by itself after this long, whatever becomes of us: a day. */
const phasedSeconds = 86_400;

function runPhased(
  bench: Bench,
  { which, path }: ClientPath,
  { test, ...spec }: RunSpec,
  live: Live,
): Promise<Phased> {
  switch (test.kind) {
    case "files":
      return runFiles(bench, which, path, { ...spec, test }, (progress) => live.phase(progress));
    case "io500":
      return runIo500(bench, which, path, { ...spec, test }, (progress) => live.phase(progress));
    case "fio":
      throw new TypeError("kind fio has no phases");
  }
}
