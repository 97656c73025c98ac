import { RefusedError } from "../provider/errors.ts";
import { formatSize } from "../provider/size.ts";
import { prefillSize } from "./fio/prefill.ts";
import type { Request } from "./schema/request.ts";
import { type FioTest, type RunSpec, type Test, test as testSchema } from "./schema/test.ts";
import { directionOf } from "./schema/words.ts";

/** What will be run, in which order, and about how long it takes. Pure. */

export type Planned = Pick<Request, "tests" | "protocols" | "repeats">;

/** More runs than this are no benchmark but a mistake in a matrix: at lab A's 180 s they take two days. */
export const mostRuns = 1000;

/**
 * Every run, in the order in which they go. A repeat goes round all tests before the next begins, and every second
 * one takes the protocols the other way round, so that what drifts (temperature, fragmentation, other load) hits all
 * alike. A workload's writes come before its reads: a read then finds what its own protocol wrote.
 * A request that can't be run as it stands is a RefusedError.
 */
export function runsOf(request: Planned): RunSpec[] {
  const problems = planProblems(request);
  if (problems.length > 0) throw new RefusedError(problems.join("\n"));
  const tests = writesFirst(request.tests);
  return Array.from({ length: request.repeats }, (_, n) => n + 1).flatMap((repeat) => {
    const protocols = repeat % 2 === 1 ? request.protocols : request.protocols.toReversed();
    return protocols.flatMap((protocol) =>
      tests.map((test) => ({ id: `${protocol}-${testId(test)}-${repeat}`, protocol, repeat, test })),
    );
  });
}

/** A test's part of a run's id, the same in every benchmark that has it: random-read-iops-4k-d32-j4. */
export function testId(test: Test): string {
  const name = `${test.workload}-${test.test}`;
  return test.kind === "fio" ? `${name}-${blockLabel(test.blockSize)}-d${test.depth}-j${test.jobs}` : name;
}

function blockLabel(bytes: number): string {
  if (bytes % 1024 ** 2 === 0) return `${bytes / 1024 ** 2}m`;
  return bytes % 1024 === 0 ? `${bytes / 1024}k` : `${bytes}b`;
}

/** Within each workload, whose place among the others stays. */
function writesFirst(tests: readonly Test[]): Test[] {
  const workloads = [...new Set(tests.map(({ workload }) => workload))];
  const rank = (test: Test): number =>
    test.kind === "fio" ? ["write", "mixed", "read"].indexOf(directionOf(test.operation)) : 0;
  return tests.toSorted(
    (a, b) => workloads.indexOf(a.workload) - workloads.indexOf(b.workload) || rank(a) - rank(b),
  );
}

/** What keeps these tests from being run, in words; none where they can be. */
export function planProblems({ tests, protocols, repeats }: Planned): string[] {
  const count = tests.length * protocols.length * repeats;
  if (count > mostRuns) {
    const hours = estimateRuns({ tests, protocols, repeats }) / 3600;
    return [
      `${protocols.length} protocols × ${repeats} repeats × ${tests.length} tests are ${count} runs, about ${hours.toFixed(0)} hours; ` +
        `at most ${mostRuns}: take values out of the lists of block sizes, depths and jobs, or repeats`,
    ];
  }
  const ids = tests.map(testId);
  const twice = ids.find((id, n) => ids.indexOf(id) !== n);
  return [
    ...(twice === undefined
      ? []
      : [`test ${twice} is there twice; its runs would overwrite each other's files`]),
    ...tests.flatMap((test) => {
      const { error } = testSchema.safeParse(test);
      if (error)
        return error.issues.map(({ path, message }) => `${testId(test)}: ${path.join(".")}: ${message}`);
      return test.kind === "fio" ? fioProblems(test) : [];
    }),
  ];
}

function fioProblems(test: FioTest): string[] {
  const { blockSize, depth, jobs, size, operation, readShare, rateIops } = test;
  const wrong: string[] = [];
  const say = (sentence: string) => wrong.push(`${testId(test)}: ${sentence}`);
  const inFlight = blockSize * depth * jobs;
  if (size < inFlight) {
    say(
      `the test file of ${iec(size)} is smaller than what is in flight, ${iec(blockSize)} × depth ${depth} × ${jobs} jobs = ${iec(inFlight)}; make size larger, or depth or jobs smaller`,
    );
  }
  const direction = directionOf(operation);
  if ((direction === "mixed") !== (readShare !== null)) {
    say(
      direction === "mixed"
        ? `${operation} reads and writes; it needs readShare, the percent of reads`
        : `${operation} has no readShare (${readShare}): that is for rw and randrw`,
    );
  }
  if (test.sync !== "none" && direction === "read")
    say(`${operation} writes nothing that fdatasync could sync`);
  if (rateIops !== null) {
    // Each job and direction has a whole number; parts of them would add up to another rate than was asked for.
    const step = jobs * (readShare === null ? 1 : 100 / greatestCommon(readShare, 100));
    if (rateIops % step !== 0) {
      const next = Math.ceil(rateIops / step) * step;
      const over = `${jobs} job${jobs === 1 ? "" : "s"}${readShare === null ? "" : ` with ${readShare} % reads`}`;
      say(`rateIops ${rateIops} can't be divided over ${over} in whole I/Os a second; the next is ${next}`);
    }
  }
  return wrong;
}

const greatestCommon = (a: number, b: number): number => (b === 0 ? a : greatestCommon(b, a % b));
const iec = (bytes: number): string => formatSize(BigInt(bytes));

/** How long a benchmark takes, in seconds. Guesses: a run corrects those of the runs after it. */
export type Estimate = {
  /** Writing the test files, where they aren't there yet. */
  readonly prefill: number;
  readonly runs: readonly { readonly id: string; readonly seconds: number }[];
  /** With reading both hosts' state at the start. */
  readonly total: number;
};

/** What is known before anything was measured: of lab A's class of hosts, and of emulated guests. */
const paces = {
  real: { bytesPerSecond: 400e6, fileSeconds: 0.001 },
  virtual: { bytesPerSecond: 20e6, fileSeconds: 0.01 },
};
/** Collectors, mount, fio's start, unmount; and what a request does before its first run. */
const aroundRun = 8;
const aroundBenchmark = 10;
/** Exporting and importing a pool; making a ramdisk and logging in to it. */
const coldSeconds = 10;
const ramdiskSeconds = 10;
/** The IO500's four writing phases, each with its reading and deleting counterpart. */
const io500Phases = 8;

/** `clients` need only be as many as there are. */
export function estimate(
  request: Planned & Pick<Request, "virtual"> & { readonly clients: readonly unknown[] },
): Estimate {
  const pace = request.virtual ? paces.virtual : paces.real;
  const size = prefillSize(request.tests);
  const clients = request.clients.length;
  const prefill = size === 0 ? 0 : aroundRun + (size * clients) / pace.bytesPerSecond;
  const runs = runsOf(request).map(({ id, test }) => ({ id, seconds: testSeconds(test, pace, clients) }));
  return {
    prefill,
    runs,
    total: aroundBenchmark + prefill + runs.reduce((all, run) => all + run.seconds, 0),
  };
}

const estimateRuns = ({ tests, protocols, repeats }: Planned): number =>
  tests.reduce((all, test) => all + testSeconds(test, paces.real, 1), 0) * protocols.length * repeats;

function testSeconds(test: Test, pace: typeof paces.real, clients: number): number {
  switch (test.kind) {
    case "fio": {
      const cache = { left: 0, cold: coldSeconds, warm: (test.size * clients) / pace.bytesPerSecond };
      const backstore = test.backstore === "ramdisk" ? ramdiskSeconds : cache[test.arc];
      return aroundRun + test.rampTime + test.runtime + backstore;
    }
    case "files": {
      const { files, fileSize } = test;
      const once = (files * fileSize * clients) / pace.bytesPerSecond + files * pace.fileSeconds;
      return aroundRun + coldSeconds + 2 * once;
    }
    case "io500":
      return aroundRun + io500Phases * test.seconds;
  }
}
