import { CommandError, ParseError } from "../../provider/errors.ts";
import type { Answer } from "../../provider/host.ts";
import { expect } from "../../provider/resource.ts";
import { commandLine } from "../../provider/shell.ts";
import { type FioSpec, fioArgv, testFile } from "../fio/argv.ts";
import { whyInvalid } from "../fio/judge.ts";
import { type FioReport, parseFio } from "../fio/report.ts";
import { documents } from "../parse/documents.ts";
import { type Live, transferred } from "../progress.ts";
import type { PathState, Precondition } from "../schema/result.ts";
import type { Progress, Window } from "../telemetry/telemetry.ts";
import { runOnRamdisk } from "../transport.ts";
import { type BenchHost, stopUnits, unitFailure } from "../unit.ts";
import { type Bench, type BenchClient, clientHosts } from "./bench.ts";
import { runMounted } from "./mounted.ts";
import { clientCachePrecondition, movedBytes, testFilePrecondition } from "./readiness.ts";
import { gated, gateFolder, isWaiting, open, sayingTestFile, testFileOf } from "./start.ts";

/** fio on each client, all begun at one moment. */

export type OneFio = {
  readonly client: string;
  readonly report: FioReport;
  /** What it had moved at the times of its reports. */
  readonly progress: readonly Progress[];
  /** When it measured, in ms of performance.now(). */
  readonly window: Window;
  /** Null: nothing was mounted. */
  readonly mountOptions: string | null;
};

/** A client with the path that is measured, as it was read back right before. */
export type ClientPath = {
  readonly which: BenchClient;
  /** Of a test on the target's RAM disk it is that disk's. */
  readonly path: PathState;
  /** The serial by which that RAM disk is known. */
  readonly ramdisk?: string | undefined;
};

/** How often fio reports while it runs; a unit that prints dies soon after its listener. */
export const reportEvery = (seconds: number): number => Math.min(10, Math.max(2, Math.round(seconds / 10)));

/** fio ended well, or an error with the first of what it said: it repeats itself for each I/O that fails. */
export function expectFio(host: BenchHost, answer: Answer, what: string): void {
  const failure = unitFailure(answer);
  if (failure === undefined) return;
  const said = [...documents(answer.stdout).outside, ...failure.split("; ")];
  const more = said.length > 3 ? ` (and ${said.length - 3} more)` : "";
  const message = `${host.name}: ${what} failed with status ${answer.status}: ${said.slice(0, 3).join("; ")}${more}`;
  throw new CommandError(host.name, answer.status, message);
}

/** Of a run's own outputs, kept as soon as they are there: reading them may fail. */
export type Keep = (name: string, text: string) => void;

export const fioCommand = ({ which, path, ramdisk }: ClientPath, spec: FioSpec): string =>
  commandLine(fioArgv(which.client, spec, reportEvery(spec.test.runtime), ramdisk && path.block));

/**
 * Run fio on all clients at once. A client that fails ends the others, and the error names it. What was read back of
 * each client is added to `preconditions`.
 */
export async function runFio(
  bench: Bench,
  paths: readonly ClientPath[],
  spec: FioSpec,
  live: Live,
  keep: Keep,
  preconditions: Precondition[],
): Promise<OneFio[]> {
  const [only, second] = paths;
  if (only === undefined) throw new TypeError("no client to run fio on");
  if (second === undefined) return [await runOne(bench, only, spec, spec.id, live, keep, preconditions)];
  // The first that fails is why; the others are ended because of it.
  const failures: unknown[] = [];
  const clients = paths.map((one, n) => {
    const job = `${spec.id}-client${n + 1}`;
    const waiting = Promise.withResolvers<void>();
    const gate = { host: one.which.host, folder: gateFolder(bench.run.id, job), waits: waiting.resolve };
    const run = runOne(bench, one, spec, job, live, keep, preconditions, gate).catch(async (error) => {
      failures.push(error);
      waiting.reject(error);
      await stopClients(bench, spec);
      throw error;
    });
    return { gate, run, waits: waiting.promise };
  });
  const ended = Promise.allSettled(clients.map(({ run }) => run));
  await Promise.all(clients.map(({ waits }) => waits))
    .then(() =>
      open(
        clients.map(({ gate }) => gate),
        bench.request.stack,
      ),
    )
    .catch(async (error) => {
      failures.push(error);
      await stopClients(bench, spec);
    });
  const all = await ended;
  if (failures.length > 0) throw failures[0];
  return all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

const stopClients = async (bench: Bench, { id }: FioSpec): Promise<void> => {
  await Promise.allSettled(clientHosts(bench).map((host) => stopUnits(host, bench.run, `${id}-client*`)));
};

async function runOne(
  bench: Bench,
  { which, path, ramdisk }: ClientPath,
  spec: FioSpec,
  job: string,
  live: Live,
  keep: Keep,
  preconditions: Precondition[],
  gate?: { readonly folder: string; readonly waits: () => void },
): Promise<OneFio> {
  const { client, host } = which;
  const { runtime, rampTime } = spec.test;
  const file = ramdisk === undefined ? undefined : path.block;
  const fio = fioArgv(client, spec, reportEvery(runtime), file);
  const argv = file === undefined ? sayingTestFile(testFile(client), fio) : fio;
  const stat = ["cat", `/sys/class/block/${path.block.slice("/dev/".length)}/stat`];
  const moved = async () => movedBytes(expect(host, await host.ask(stat), `what ${path.block} has moved`));
  const before = await moved();
  const heard = listen(client.name, live, () => gate?.waits());
  const begun = gate ? gated(gate.folder, argv) : argv;
  const seconds = runtime + rampTime;
  const also = { onLine: heard.onLine, ...(gate && { unit: { runtimeDirectory: gate.folder } }) };
  const { answer, options } =
    ramdisk === undefined
      ? await runMounted(bench, which, path, job, seconds, begun, also)
      : { answer: await runOnRamdisk(bench, which, path, ramdisk, job, seconds, begun, also), options: null };
  keep(`fio-${job}.out`, answer.stdout + answer.stderr);
  const after = await moved();
  if (file === undefined) {
    preconditions.push(testFilePrecondition(client.name, spec.test.size, testFileOf(answer.stdout)));
  }
  expectFio(host, answer, "fio");
  const report = parseFio(answer.stdout);
  keep(`fio-${job}.json`, `${report.text}\n`);
  const invalid = whyInvalid(report, client, spec, file);
  if (invalid !== undefined) throw new ParseError(`${client.name}: ${invalid}`);
  const bytes = { read: report.read?.bytes ?? 0, written: report.write?.bytes ?? 0 };
  const lun = { read: after.read - before.read, written: after.written - before.written };
  preconditions.push(clientCachePrecondition(client.name, bytes, lun));
  const { ended, progress } = heard;
  const measured = Math.max(report.read?.seconds ?? 0, report.write?.seconds ?? 0);
  const window = { start: ended() - measured * 1000, end: ended() };
  return { client: client.name, report, progress, window, mountOptions: options };
}

/** Follows what fio prints: its reports for the display and the recording; the last one comes as it ends. */
function listen(client: string, live: Live, onWaiting: () => void) {
  const progress: Progress[] = [];
  let last = 0;
  let report = "";
  return {
    progress,
    ended: () => last,
    onLine(line: string): void {
      if (isWaiting(line)) onWaiting();
      if (line.startsWith("{")) {
        last = performance.now();
        report = "";
      }
      report += `${line}\n`;
      if (!line.startsWith("}")) return;
      live.fio(report, client);
      const now = transferred(report);
      if (now === undefined) return;
      // When its ramp is over, fio counts from nothing again.
      const before = progress.at(-1);
      if (before && now.read + now.written < before.read + before.written) progress.length = 0;
      progress.push({ at: last, ms: now.ms, read: now.read, written: now.written });
    },
  };
}

/** Of several clients' windows: the time in which all measured. */
export const overlap = (windows: readonly Window[]): Window => ({
  start: Math.max(...windows.map(({ start }) => start)),
  end: Math.min(...windows.map(({ end }) => end)),
});

/** Below this share of the run, the sum of several clients' figures is of no time in which all ran. */
const least = 0.9;

export function togetherPrecondition(windows: readonly Window[]): Precondition {
  const { start, end } = overlap(windows);
  const longest = Math.max(...windows.map((one) => one.end - one.start));
  const apart = start - Math.min(...windows.map((one) => one.start));
  return {
    name: "clients at once",
    wanted: `at least ${least * 100} % of the measured time common to all clients`,
    found: `${((100 * Math.max(0, end - start)) / longest).toFixed(1)} %, begun ${(apart / 1000).toFixed(2)} s apart`,
    holds: (end - start) / longest >= least,
  };
}
