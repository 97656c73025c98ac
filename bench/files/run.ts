import { CommandError } from "../../provider/errors.ts";
import { commandLine } from "../../provider/shell.ts";
import type { Phased, PhaseLive, PhaseProgress } from "../phased.ts";
import { type Bench, type BenchClient, spareSeconds } from "../run/bench.ts";
import { runMounted } from "../run/mounted.ts";
import type { PathState, Phase, Precondition } from "../schema/result.ts";
import type { FilesTest, RunSpec } from "../schema/test.ts";
import { stopUnits, unitFailure } from "../unit.ts";
import { filesArgv, filesFolder, removeArgv } from "./job.ts";
import { type FilesPhase, type FilesProgress, type FilesReport, parseFiles, parseLine } from "./report.ts";

/** Kind `files`: lab C's load through one path, its two phases, and what has to hold for them. */

export type FilesSpec = RunSpec & { readonly test: FilesTest };

/** Nothing this project knows is slower: bytes a second, files a second. */
const slowest = { bytes: 1e6, files: 5 };
const MiB = 1048576;

/**
 * Write the files, drop the client's caches, read them, remove them. `path` is what readPath found right before.
 * Errors: a CommandError in the program's words (not enough space: both numbers), a ParseError; the files are
 * removed in either case, as they are after an interruption.
 */
export async function runFiles(
  bench: Bench,
  which: BenchClient,
  path: PathState,
  spec: FilesSpec,
  live: PhaseLive,
): Promise<Phased> {
  const { client, host } = which;
  const { test, id } = spec;
  const total = test.files * test.fileSize;
  const seconds = Math.ceil(2 * (total / slowest.bytes + test.files / slowest.files));
  const progressOf = progress(total);
  const windows: Phased["windows"][number][] = [];
  const onLine = (line: string): void => {
    const said = parseLine(line);
    if (said === undefined || "cached" in said) return;
    if ("at" in said) live(progressOf(said));
    else windows.push(windowOf(said, performance.now()));
  };
  let ended = false;
  try {
    const argv = filesArgv(path.block, client, test);
    const { answer, options } = await runMounted(bench, which, path, id, seconds, argv, { onLine });
    const failure = unitFailure(answer);
    if (failure !== undefined) {
      const message = `${host.name}: writing and reading ${test.files} files in ${filesFolder(client)} failed: ${failure}`;
      throw new CommandError(host.name, answer.status, message);
    }
    ended = true;
    const report = parseFiles(answer.stdout);
    const invalid = whyInvalid(report, test);
    return {
      phases: invalid === null ? [report.write, report.read].flatMap(phasesOf) : [],
      ...{ score: null, official: null, invalid, windows, mountOptions: options },
      seconds: report.write.seconds + report.read.seconds,
      command: `perl files.pl write, perl files.pl read: ${commandLine([filesFolder(client), ...[test.files, test.fileSize, test.folders].map(String)])}`,
      preconditions: preconditions(report, test),
      warnings: [report.write, report.read].flatMap((phase) => ownTime(phase, 20)),
      files: { [`files-${id}.out`]: answer.stdout + answer.stderr },
    };
  } finally {
    if (!ended) await removeFiles(bench, which, path, spec);
  }
}

/** What a unit that was ended had no time to remove. Its failure is not reported: the next run removes it first. */
async function removeFiles(bench: Bench, which: BenchClient, path: PathState, { id, test }: FilesSpec) {
  const job = `${id}-remove`;
  const uninterrupted = { ...bench, signal: new AbortController().signal };
  const seconds = spareSeconds + Math.ceil(test.files / slowest.files);
  await Promise.allSettled([
    // As a pattern, since systemctl calls it an error when a unit by name has ended already.
    stopUnits(which.host, bench.run, `${id.slice(0, -1)}[${id.at(-1)}]`).then(() =>
      runMounted(uninterrupted, which, path, job, seconds, removeArgv(which.client)),
    ),
  ]);
}

/** Progress from one report to the next; a phase begins with none before. */
function progress(total: number): (said: FilesProgress) => PhaseProgress {
  let before: FilesProgress | undefined;
  return (said) => {
    const from = before?.at === said.at ? before : { bytes: 0, seconds: 0 };
    before = said;
    const seconds = said.seconds - from.seconds;
    return {
      phase: said.at,
      done: said.bytes / total,
      bandwidth: seconds > 0 ? (said.bytes - from.bytes) / seconds / 1e6 : null,
    };
  };
}

/** Its line comes as the phase ends. */
const windowOf = ({ phase, seconds }: FilesPhase, now: number) => ({
  phase,
  start: now - seconds * 1000,
  end: now,
});

/** As lab C has them: megabytes of 2^20 bytes, and files. */
const phasesOf = ({ phase, files, bytes, seconds }: FilesPhase): Phase[] => [
  { phase, value: bytes / MiB / seconds, unit: "MiB/s", seconds },
  { phase, value: files / seconds, unit: "files/s", seconds },
];

/** Percent of a phase that the program itself took: making content, comparing it. */
const ownShare = ({ user, seconds }: FilesPhase): number => (100 * user) / seconds;

function ownTime(phase: FilesPhase, most: number): string[] {
  const share = ownShare(phase);
  if (share <= most) return [];
  return [
    `${phase.phase}: ${share.toFixed(0)} % of the time went into making or comparing contents on the client, not into storage`,
  ];
}

/** The clock has hundredths of a second. */
const least = 1;

export function whyInvalid({ write, read }: FilesReport, { files, fileSize }: FilesTest): string | null {
  for (const { phase, seconds, ...found } of [write, read]) {
    if (found.files !== files || found.bytes !== files * fileSize) {
      return `${phase}: ${found.files} files and ${found.bytes} bytes, asked for ${files} files and ${files * fileSize} bytes`;
    }
    if (seconds < least) {
      return `${phase} took ${seconds} s, less than ${least} s, which says nothing: take more files, or larger ones`;
    }
  }
  return null;
}

function preconditions({ write, read, cached }: FilesReport, { files, fileSize }: FilesTest): Precondition[] {
  const own = Math.max(ownShare(write), ownShare(read));
  return [
    {
      name: "client cache dropped",
      wanted: `no page of the files in the client's page cache after unmounting and mounting`,
      found:
        cached.pages === null
          ? "unmounted and mounted; not looked: Linux before 6.5 and no fincore (package util-linux-extra)"
          : `${cached.pages} pages of ${cached.files} of the files, by ${cached.by}`,
      holds: cached.pages === null ? null : cached.pages === 0,
    },
    {
      name: "files as written",
      wanted: `${files} files of ${fileSize} bytes, read in the order of the write`,
      found: `${read.files} files, ${read.bytes} bytes; sizes, the beginning of each MiB and every 64th MiB compared`,
      holds: read.files === files && read.bytes === files * fileSize,
    },
    {
      name: "the program is not the limit",
      wanted: "at most 50 % of a phase spent in the program itself",
      found: `write ${ownShare(write).toFixed(1)} %, read ${ownShare(read).toFixed(1)} %`,
      holds: own <= 50,
    },
  ];
}
