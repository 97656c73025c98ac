import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { diagnose } from "../diagnosis/diagnose.ts";
import { namesOf } from "../diagnosis/rule.ts";
import { arcstats } from "../environment/storage.ts";
import { cpusOf, evidenceOf, overheadOf } from "../evidence.ts";
import type { FioSpec } from "../fio/argv.ts";
import { aboveLink } from "../fio/judge.ts";
import { mergeReports } from "../fio/merge.ts";
import { arcBetween, parseArcstats } from "../parse/arcstats.ts";
import type { Live } from "../progress.ts";
import type { Recording } from "../schema/recording.ts";
import type { Environment, Precondition, ValidRun } from "../schema/result.ts";
import { fasterThanDisks } from "../schema/words.ts";
import { meanOf } from "../series.ts";
import { onLine, type States, startTelemetry, type Window } from "../telemetry/telemetry.ts";
import { stopUnits } from "../unit.ts";
import { warmPrecondition } from "./arc.ts";
import { type Bench, clientHosts, hostsOf } from "./bench.ts";
import {
  type ClientPath,
  fioCommand,
  type Keep,
  type OneFio,
  overlap,
  runFio,
  togetherPrecondition,
} from "./fio.ts";
import { compressPrecondition } from "./readiness.ts";

/**
 * One measured run, with what is recorded beside it on all hosts. Raw outputs are kept before they are read, so that
 * they are there when reading them fails.
 */

export type Measured = Omit<ValidRun, "spec" | "preconditions" | "valid" | "files">;

export type Beside = {
  readonly environment: Environment;
  readonly states: States;
  readonly live: Live;
  readonly keep: Keep;
  /** What was read back; those that fail make the run invalid. */
  readonly preconditions: Precondition[];
};

export async function measureFio(
  bench: Bench,
  paths: readonly ClientPath[],
  spec: FioSpec,
  beside: Beside,
): Promise<Measured & { readonly mountOptions: ReadonlyMap<string, string> }> {
  const { request } = bench;
  const { test, id } = spec;
  const { environment, states, preconditions } = beside;
  const {
    result: clients,
    recorded,
    arc,
    began,
  } = await recordedWhile(bench, id, test.runtime + test.rampTime, beside, () =>
    runFio(bench, paths, spec, beside.live, beside.keep, preconditions),
  );
  const windows = clients.map(({ window }) => window);
  if (clients.length > 1) preconditions.push(togetherPrecondition(windows));
  if (test.arc === "warm" && test.backstore === "volume") {
    preconditions.push(warmPrecondition(arc.hitRatio, test.size * clients.length, environment.arcMaximum));
  }
  if (test.backstore === "volume") {
    const volumes = [...new Set(paths.map(({ which }) => which.client.volume))];
    preconditions.push(...(await Promise.all(volumes.map((v) => compressPrecondition(bench.storage, v)))));
  }
  const { read, write, latency } = mergeReports(clients.map(({ report }) => report));
  const window = overlap(windows);
  const recording = recordingOf(id, recorded, window, clients, latency);
  beside.keep(`telemetry-${id}.json`, `${JSON.stringify(recording)}\n`);
  const cpus = cpusOf(recording);
  const pool = poolOf(recording);
  const bandwidth = Math.max(read?.bandwidth ?? 0, write?.bandwidth ?? 0);
  const evidence = evidenceOf({
    ...{ spec, read, write, recording, environment, virtual: request.virtual },
    size: test.size * clients.length,
  });
  const known = { needs: request.needs, hardware: request.hardware, names: namesOf(environment) };
  return {
    command: paths.map((one) => fioCommand(one, spec)).join("\n"),
    ...{ began, read, write, cpus, evidence },
    seconds: (window.end - window.start) / 1000,
    ...{ phases: [], score: null, official: null },
    clients: clients.map(({ client, report }) => ({
      client,
      read: report.read?.bandwidth ?? null,
      write: report.write?.bandwidth ?? null,
    })),
    arc: { state: test.arc, ...arc },
    pool,
    // What each client's link carries comes together on the storage host's.
    aboveLink: aboveLink(bandwidth, [
      states.storage.link.speed,
      sumOf(states.clients.map(({ link }) => link.speed)),
    ]),
    overhead: overheadOf(recording),
    diagnosis: diagnose(evidence, known),
    warnings: [
      ...clients.flatMap(({ client, report }) =>
        report.warnings.map((warning) => (clients.length > 1 ? `${client}: ${warning}` : warning)),
      ),
      ...recording.hosts.flatMap(({ faults }) => faults ?? []),
      ...(test.backstore === "volume" ? servedByArc(read?.bandwidth ?? null, pool) : []),
    ],
    mountOptions: new Map(
      clients.flatMap(({ client, mountOptions }): [string, string][] =>
        mountOptions === null ? [] : [[client, mountOptions]],
      ),
    ),
  };
}

type Recorded = Awaited<ReturnType<ReturnType<typeof startTelemetry>["stop"]>>;

/** Do something while all hosts are recorded; the ARC's counters are read right before and after it. */
export async function recordedWhile<T>(
  bench: Bench,
  job: string,
  seconds: number,
  { states, live, keep }: Pick<Beside, "states" | "live" | "keep">,
  act: () => Promise<T>,
): Promise<{ result: T; recorded: Recorded; arc: ReturnType<typeof arcBetween>; began: string }> {
  const { request, run, storage } = bench;
  const recorded = { request, run, storage, clients: clientHosts(bench) };
  const telemetry = (bench.telemetry ?? startTelemetry)(recorded, job, seconds, states, live);
  const counters = async (when: string) => {
    const text = expect(storage, await storage.ask(arcstats), "the ARC's counters");
    keep(`arcstats-${when}-${job}.txt`, text);
    return parseArcstats(text);
  };
  try {
    await telemetry.running;
    const before = await counters("before");
    const began = new Date().toISOString();
    const result = await act();
    const after = await counters("after");
    const stopped = await telemetry.stop();
    for (const [name, text] of Object.entries(stopped.files)) keep(name, text);
    return { result, recorded: stopped, arc: arcBetween(before, after), began };
  } finally {
    // After a failure the collectors still run; how they end no longer matters.
    await Promise.allSettled(hostsOf(bench).map((host) => stopUnits(host, run)));
  }
}

function recordingOf(
  run: string,
  recorded: Recorded,
  window: Window,
  clients: readonly OneFio[],
  latency: Recording["latency"],
): Recording {
  if (window.end <= window.start) throw new ParseError("the clients measured at no common time");
  const { times, ...hosts } = recorded.record(window);
  return {
    ...{ schema: 2, run, ...hosts, latency },
    clients: clients.map(({ client, progress }) => ({ client, ...onLine(times, progress) })),
  };
}

/** Reads above what the pool's disks delivered meanwhile: a cache's figure, which says nothing of the disks. */
export function servedByArc(read: number | null, pool: ValidRun["pool"]): string[] {
  // Samples of a second don't end where a run ends.
  if (read === null || pool === null || read <= pool.read * 1.05) return [];
  const share = ((read - pool.read) / read) * 100;
  return [
    `${fasterThanDisks}: ${read.toFixed(1)} MB/s to the clients, of which the pool's vdevs delivered ${pool.read.toFixed(1)} MB/s; ${share.toFixed(0)} % came from the ARC`,
  ];
}

/** The sum over all pools that are measured. */
export function poolOf(recording: Pick<Recording, "hosts">): ValidRun["pool"] {
  const pools = (recording.hosts[0]?.vdevs ?? []).filter(({ role }) => role === "pool");
  if (pools.length === 0) return null;
  const sum = (of: "read" | "written") => pools.reduce((all, pool) => all + (meanOf(pool[of]) ?? 0), 0);
  return { read: sum("read"), write: sum("written") };
}

/** Null where one of them isn't known. */
const sumOf = (speeds: readonly (number | null)[]): number | null =>
  speeds.reduce((all, speed) => (all === null || speed === null ? null : all + speed), 0);
