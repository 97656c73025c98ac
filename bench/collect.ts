import { CommandError } from "../provider/errors.ts";
import type { Answer } from "../provider/host.ts";
import { asUnit, type BenchHost, type RunName, stopUnits, type Unit, unitFailure } from "./unit.ts";

/**
 * A collector: a program that prints one sample a second on a host while fio runs. When each sample arrived here
 * is kept, so that the samples of both hosts are matched to the measured time by one clock, ours.
 */
export type Collector = {
  /** Resolves with its first sample, rejects when it ends before. */
  readonly running: Promise<void>;
  /** When each sample arrived, in ms of performance.now(). */
  readonly arrivals: readonly number[];
  /** Ends it; all that it printed. */
  stop(): Promise<string>;
};

export function collect(
  host: BenchHost,
  run: RunName,
  job: string,
  unit: Unit,
  argv: readonly string[],
  isSample: (line: string) => boolean,
  onLine?: (line: string) => void,
): Collector {
  const arrivals: number[] = [];
  const { promise: running, resolve, reject } = Promise.withResolvers<void>();
  const ended: Promise<Answer> = host.stream(asUnit(unit, argv), {
    deadlineSeconds: unit.seconds + 60,
    onLine(line) {
      if (isSample(line)) {
        arrivals.push(performance.now());
        resolve();
      }
      onLine?.(line);
    },
  });
  // Whoever waits for `running` or `stop` gets the failure; nobody has to wait for both.
  running.catch(() => {});
  ended.then((answer) => {
    const said = unitFailure(answer) ?? "no failure";
    reject(new Error(`${host.name}: ${argv[0]} ended before its first sample: ${said}`));
  }, reject);
  return {
    running,
    arrivals,
    async stop() {
      await stopUnits(host, run, job);
      const answer = await ended;
      // Asked to end, a program that has no handler dies of our signal: its output is whole up to there.
      if (answer.stdout !== "") return answer.stdout;
      const said = unitFailure(answer) ?? "nothing";
      throw new CommandError(
        host.name,
        answer.status,
        `${host.name}: ${argv[0]} printed nothing and said: ${said}`,
      );
    },
  };
}

/** Samples of the measured time only: whole intervals between `start` and `end`, give or take the connection. */
export function samplesWithin(
  arrivals: readonly number[],
  start: number,
  end: number,
  interval = 1000,
): { first: number; last: number } | undefined {
  const slack = 0.25 * interval;
  const inside = [...arrivals.entries()].filter(
    ([, at]) => at - interval >= start - slack && at <= end + slack,
  );
  const [first, last] = [inside.at(0)?.[0], inside.at(-1)?.[0]];
  return first === undefined || last === undefined ? undefined : { first, last };
}
