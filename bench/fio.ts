import { CommandError, ParseError } from "../provider/errors.ts";
import type { Answer } from "../provider/host.ts";
import { mounted, prefillArgv } from "./job.ts";
import { documents } from "./parse/documents.ts";
import { parseMounts } from "./parse/mounts.ts";
import type { Live } from "./progress.ts";
import type { Request } from "./request.ts";
import type { PathState } from "./result.ts";
import { asUnit, type BenchHost, type RunName, type Unit, unitFailure, unitName } from "./unit.ts";

/** fio in a unit of its own, on the file system mounted through one path. */

export type Bench = {
  readonly request: Request;
  readonly run: RunName;
  readonly storage: BenchHost;
  readonly initiator: BenchHost;
  readonly signal: AbortSignal;
  /** The mount point is not there yet, so it goes when we go. */
  readonly ownsMountPoint: boolean;
};

/** Guests are slow to start programs, arrays slow to stop. */
export const spareSeconds = 120;
/** Nothing this project knows writes slower than this many bytes a second. */
const slowestPrefill = 2e6;

/** How often fio reports while it runs; a unit that prints dies soon after its listener. */
export const reportEvery = (seconds: number): number => Math.min(10, Math.max(2, Math.round(seconds / 10)));

/** Run fio on the mounted file system; what was mounted is checked against the path. */
export async function runFio(
  bench: Bench,
  path: PathState,
  job: string,
  seconds: number,
  argv: string[],
  live: Live,
) {
  const { request, initiator } = bench;
  const unit: Unit = {
    name: unitName(bench.run, job),
    description: `storage-lab benchmark of stack ${request.stack}: ${job}`,
    seconds: seconds + spareSeconds,
    ...(bench.ownsMountPoint ? { afterwards: ["/usr/bin/rmdir", request.mount] } : {}),
  };
  let lastReport = 0;
  let report = "";
  const answer = await initiator.stream(asUnit(unit, mounted(path.block, request, argv)), {
    deadlineSeconds: unit.seconds + spareSeconds,
    signal: bench.signal,
    onLine(line) {
      if (line.startsWith("{")) {
        lastReport = performance.now();
        report = "";
      }
      report += `${line}\n`;
      if (line.startsWith("}")) live.fio(report);
    },
  });
  await released(bench, path);
  return { answer, ended: lastReport, options: mountOptions(answer, path, bench) };
}

/** XFS gives the device back a moment after the process that mounted it has ended. */
const released = (bench: Bench, path: PathState): Promise<void> => {
  const name = path.block.slice("/dev/".length);
  const until = ["test", "!", "-e", `/sys/fs/xfs/${name}`];
  return bench.initiator.apply(
    [{ say: `wait until ${path.block} is unmounted`, until, deadlineSeconds: spareSeconds }],
    { holder: bench.request.stack, sideBySide: true },
  );
};

function mountOptions(answer: Answer, path: PathState, { initiator, request }: Bench): string {
  const table = documents(answer.stdout).documents.find(({ value }) => "filesystems" in (value as object));
  const mount = table && parseMounts(table.value)[0];
  if (mount === undefined) {
    const said = unitFailure(answer) ?? (answer.stdout.trim() || "nothing");
    const message = `${initiator.name}: could not mount ${path.block} (${path.device}) on ${request.mount}: ${said}`;
    throw new CommandError(initiator.name, answer.status, message);
  }
  const { uuid } = request.filesystem;
  // udev may not have told findmnt the UUID; the path was probed for it a moment ago.
  if (mount.source !== path.block || mount.target !== request.mount || (mount.uuid ?? uuid) !== uuid) {
    throw new ParseError(
      `${initiator.name}: ${mount.source} ${mount.uuid} is mounted on ${mount.target}; expected ${path.block} ${uuid} on ${request.mount}`,
    );
  }
  return mount.options;
}

/** fio ended well, or an error with the first of what it said: it repeats itself for each I/O that fails. */
export function expectFio(host: BenchHost, answer: Answer, what: string): void {
  const failure = unitFailure(answer);
  if (failure === undefined) return;
  const said = [...documents(answer.stdout).outside, ...failure.split("; ")];
  const more = said.length > 3 ? ` (and ${said.length - 3} more)` : "";
  const message = `${host.name}: ${what} failed with status ${answer.status}: ${said.slice(0, 3).join("; ")}${more}`;
  throw new CommandError(host.name, answer.status, message);
}

/** Write the test file once, unless an earlier benchmark has. */
export async function prefill(bench: Bench, path: PathState, live: Live): Promise<void> {
  const seconds = Math.ceil(bench.request.workload.size / slowestPrefill);
  const { answer } = await runFio(bench, path, "prefill", seconds, prefillArgv(bench.request, 5), live);
  expectFio(bench.initiator, answer, `writing the test file on ${bench.request.mount}`);
}
