import { CommandError, ParseError } from "../../provider/errors.ts";
import { commandLine } from "../../provider/shell.ts";
import type { Phased, PhaseLive } from "../phased.ts";
import { type Bench, type BenchClient, spareSeconds } from "../run/bench.ts";
import { runMounted } from "../run/mounted.ts";
import type { PathState, Phase, Precondition } from "../schema/result.ts";
import type { Io500Test, RunSpec } from "../schema/test.ts";
import { stopUnits, unitFailure } from "../unit.ts";
import { ini, io500Argv, io500Folder, removeArgv, shapedArgv } from "./job.ts";
import { parseShaped, parseShapedLine, type ShapedPhase } from "./report.ts";
import { type PhaseName, phases, scoreOf, unitOf } from "./score.ts";
import { parseSummary } from "./summary.ts";

/** Kind `io500`: the io500 program where the client has it, else phases of its shape. */

export type Io500Spec = RunSpec & { readonly test: Io500Test };

/** By the IO500's rules each writing phase takes this long; a shorter run's score is marked as invalid by itself. */
const officialSeconds = 300;
/** Nothing this project knows is slower: files a second, bytes a second. */
const slowest = { files: 5, bytes: 1e6 };
const GiB = 2 ** 30;

/**
 * Run it through one path; `path` is what readPath found right before. Where the client has the io500 program and the
 * test gives it the 300 s that its rules want, the score is the program's own (official: true); else it is that of
 * phases of the same shape by one process (official: false). What was written is removed, whatever happens.
 */
export async function runIo500(
  bench: Bench,
  which: BenchClient,
  path: PathState,
  spec: Io500Spec,
  live: PhaseLive,
): Promise<Phased> {
  const { client, host } = which;
  const { test, id } = spec;
  const look = await host.ask(["sh", "-c", "command -v io500 || true"]);
  if (look.status !== 0)
    throw new CommandError(
      host.name,
      look.status,
      `${host.name}: could not look for io500: ${look.stderr.trim()}`,
    );
  const isThere = look.stdout.trim() !== "";
  const official = isThere && test.seconds >= officialSeconds;
  const argv = official ? io500Argv(client, test) : shapedArgv(path.block, client, test);
  // The stonewall of the writing phases and of io500's random read, and all that may have been written, file by file.
  const work = 4 * (test.size / slowest.bytes) + (10 * test.files) / slowest.files;
  const seconds = Math.ceil(5 * test.seconds + 2 * work);
  const heard = official ? listenOfficial(live) : listenShaped(live, test);
  let ended = false;
  try {
    const { answer, options } = await runMounted(bench, which, path, id, seconds, argv, {
      onLine: heard.onLine,
    });
    const failure = unitFailure(answer);
    if (failure !== undefined) {
      const name = official ? "io500" : "phases of the IO500's shape";
      throw new CommandError(
        host.name,
        answer.status,
        `${host.name}: ${name} in ${io500Folder(client)} failed: ${failure}`,
      );
    }
    ended = true;
    const found = official ? officialOf(answer.stdout) : shapedOf(answer.stdout);
    const short = isThere && !official;
    return {
      ...found,
      windows: heard.windows,
      mountOptions: options,
      seconds: found.phases.reduce((sum, phase) => sum + phase.seconds, 0),
      command: official
        ? `io500 with:\n${ini(client, "RESULTS", test)}`
        : `perl shaped.pl PHASE: ${commandLine([io500Folder(client), ...[test.seconds, test.size, test.files].map(String)])}`,
      warnings: [
        ...(official
          ? []
          : [
              "IO500-shaped: one process, phases of the IO500's shape by a program of ours; no official score.",
            ]),
        ...(short
          ? [
              `The io500 program is there; it takes a score for valid from ${officialSeconds} s a writing phase on, this test has ${test.seconds} s.`,
            ]
          : []),
      ],
      files: { [`${official ? "io500" : "io500-shaped"}-${id}.out`]: answer.stdout + answer.stderr },
    };
  } finally {
    if (!ended) await removeFolder(bench, which, path, spec);
  }
}

type Found = Pick<Phased, "phases" | "score" | "official" | "invalid" | "preconditions">;

/** Between the frames that bench/io500/job.ts prints. */
export function summaryText(output: string): string {
  const text = /^==> result_summary\.txt <==\n(.*?)^==> result\.txt <==$/ms.exec(output)?.[1];
  if (text === undefined) throw new ParseError("io500 left no result_summary.txt");
  return text;
}

export function officialOf(output: string): Found {
  const { phases: found, score, invalid } = parseSummary(summaryText(output));
  const reasons = [...new Set([...output.matchAll(/^; ERROR INVALID (.+)$/gm)].map(([, why]) => why))];
  const isValid = invalid.length === 0;
  return {
    phases: isValid ? [...found] : [],
    score: isValid ? score.total : null,
    official: true,
    invalid: isValid ? null : `io500 marks as invalid: ${invalid.join(", ")}: ${reasons.join("; ")}`,
    preconditions: [],
  };
}

/** The clock has hundredths of a second. */
const least = 0.2;

export function shapedOf(output: string): Found {
  const ended = parseShaped(output);
  const short = phases.find((phase) => ended[phase].seconds < least);
  if (short !== undefined) {
    const invalid = `${short} took ${ended[short].seconds} s, less than ${least} s, which says nothing: take more files, or a larger size`;
    return { phases: [], score: null, official: false, invalid, preconditions: [] };
  }
  const value = (phase: PhaseName): number => figureOf(ended[phase]);
  const values = Object.fromEntries(phases.map((phase) => [phase, value(phase)])) as Record<
    PhaseName,
    number
  >;
  return {
    phases: phases.map(
      (phase): Phase => ({ phase, value: values[phase], unit: unitOf(phase), seconds: ended[phase].seconds }),
    ),
    ...{ score: scoreOf(values).total, official: false, invalid: null },
    preconditions: [ownTime(phases.map((phase) => ended[phase]))],
  };
}

const figureOf = ({ ended, count, bytes, seconds }: ShapedPhase): number =>
  unitOf(ended) === "GiB/s" ? bytes / GiB / seconds : count / 1000 / seconds;

/** Stat of a cached inode is microseconds, so some phases are the program's own time; said, not judged. */
function ownTime(ended: readonly ShapedPhase[]): Precondition {
  const shares = ended.map(
    ({ ended: phase, user, seconds }) => `${phase} ${((100 * user) / seconds).toFixed(0)} %`,
  );
  const whole =
    (100 * ended.reduce((sum, one) => sum + one.user, 0)) / ended.reduce((sum, one) => sum + one.seconds, 0);
  return {
    name: "the program is not the limit",
    wanted: "at most 50 % of all phases' time spent in the program itself",
    found: `${whole.toFixed(1)} %: ${shares.join(", ")}`,
    holds: whole <= 50,
  };
}

type Heard = { onLine(line: string): void; readonly windows: Phased["windows"][number][] };

function listenShaped(live: PhaseLive, test: Io500Test): Heard {
  const windows: Phased["windows"][number][] = [];
  let before = { phase: "", bytes: 0, seconds: 0 };
  return {
    windows,
    onLine(line) {
      const said = parseShapedLine(line);
      if (said === undefined) return;
      if ("ended" in said) {
        const end = performance.now();
        windows.push({ phase: said.ended, start: end - said.seconds * 1000, end });
        return;
      }
      const { at: phase, bytes, seconds } = said;
      const from = before.phase === phase ? before : { bytes: 0, seconds: 0 };
      before = { phase, bytes, seconds };
      const writes = phase.endsWith("-write") && test.seconds > 0;
      live({
        phase,
        done: writes ? Math.min(1, seconds / test.seconds) : null,
        bandwidth: seconds > from.seconds ? (bytes - from.bytes) / (seconds - from.seconds) / 1e6 : null,
      });
    },
  };
}

/** The program prints a line as each phase ends. */
function listenOfficial(live: PhaseLive): Heard {
  const windows: Phased["windows"][number][] = [];
  return {
    windows,
    onLine(line) {
      const [, phase, seconds] = /^\[RESULT\] +(\S+) .* time (\d+\.\d+) seconds/.exec(line) ?? [];
      if (phase === undefined || windows.some((one) => one.phase === phase)) return;
      const end = performance.now();
      windows.push({ phase, start: end - Number(seconds) * 1000, end });
      live({ phase, done: 1, bandwidth: null });
    },
  };
}

/** What a unit that was ended had no time to remove. Its failure is not reported: the next run removes it first. */
async function removeFolder(bench: Bench, which: BenchClient, path: PathState, { id, test }: Io500Spec) {
  const uninterrupted = { ...bench, signal: new AbortController().signal };
  const seconds = spareSeconds + Math.ceil((2 * test.files) / slowest.files);
  await Promise.allSettled([
    // As a pattern, since systemctl calls it an error when a unit by name has ended already.
    stopUnits(which.host, bench.run, `${id.slice(0, -1)}[${id.at(-1)}]`).then(() =>
      runMounted(uninterrupted, which, path, `${id}-remove`, seconds, removeArgv(which.client)),
    ),
  ]);
}
