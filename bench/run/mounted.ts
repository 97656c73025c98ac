import { CommandError, ParseError } from "../../provider/errors.ts";
import type { Answer } from "../../provider/host.ts";
import { mounted } from "../fio/mounted.ts";
import { documents } from "../parse/documents.ts";
import { parseMounts } from "../parse/mounts.ts";
import type { PathState } from "../schema/result.ts";
import { asUnit, type Unit, unitFailure, unitName } from "../unit.ts";
import { type Bench, type BenchClient, spareSeconds } from "./bench.ts";

/** A program in a unit of its own on a client, with the LUN mounted through one path for as long as it runs. */

export type MountedRun = {
  readonly answer: Answer;
  /** The options that the file system was mounted with. */
  readonly options: string;
};

/**
 * Mount the LUN through this path in a mount namespace of the unit's own, run `argv` there, and wait until the file
 * system is unmounted again. What was mounted is read back; another file system than the client's is an error, as is
 * a mount that failed. How the program itself ended is the caller's to look at (`unitFailure(answer)`).
 *
 * `job` names the unit; `seconds` is how long the program takes at most, beside `spareSeconds`.
 */
export async function runMounted(
  bench: Bench,
  which: BenchClient,
  path: PathState,
  job: string,
  seconds: number,
  argv: readonly string[],
  options: { readonly onLine?: (line: string) => void; readonly unit?: Partial<Unit> } = {},
): Promise<MountedRun> {
  const { client, host } = which;
  const unit: Unit = {
    name: unitName(bench.run, job),
    description: `storage-lab benchmark of stack ${bench.request.stack}: ${job}`,
    seconds: seconds + spareSeconds,
    ...(which.ownsMountPoint ? { afterwards: ["/usr/bin/rmdir", client.mount] } : {}),
    ...options.unit,
  };
  const answer = await host.stream(asUnit(unit, mounted(path.block, client, argv)), {
    deadlineSeconds: unit.seconds + spareSeconds,
    signal: bench.signal,
    ...(options.onLine && { onLine: options.onLine }),
  });
  await released(bench, which, path);
  return { answer, options: mountOptions(answer, path, which) };
}

/** XFS gives the device back a moment after the process that mounted it has ended. */
const released = (bench: Bench, { host }: BenchClient, path: PathState): Promise<void> => {
  const name = path.block.slice("/dev/".length);
  const until = ["test", "!", "-e", `/sys/fs/xfs/${name}`];
  return host.apply(
    [{ say: `wait until ${path.block} is unmounted`, until, deadlineSeconds: spareSeconds }],
    { holder: bench.request.stack, sideBySide: true },
  );
};

function mountOptions(answer: Answer, path: PathState, { client, host }: BenchClient): string {
  const table = documents(answer.stdout).documents.find(({ value }) => "filesystems" in (value as object));
  const mount = table && parseMounts(table.value)[0];
  if (mount === undefined) {
    const said = unitFailure(answer) ?? (answer.stdout.trim() || "nothing");
    const message = `${host.name}: could not mount ${path.block} (${path.device}) on ${client.mount}: ${said}`;
    throw new CommandError(host.name, answer.status, message);
  }
  const { uuid } = client.filesystem;
  // udev may not have told findmnt the UUID; the path was probed for it a moment ago.
  if (mount.source !== path.block || mount.target !== client.mount || (mount.uuid ?? uuid) !== uuid) {
    throw new ParseError(
      `${host.name}: ${mount.source} ${mount.uuid} is mounted on ${mount.target}; expected ${path.block} ${uuid} on ${client.mount}`,
    );
  }
  return mount.options;
}
