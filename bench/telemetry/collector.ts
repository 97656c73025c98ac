import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "../../provider/errors.ts";
import type { Answer } from "../../provider/host.ts";
import { asUnit, type BenchHost, type RunName, stopUnits, unitFailure, unitName } from "../unit.ts";
import { type Frame, frameReader } from "./frames.ts";

/** collector.sh on one host: a unit whose frames come over one connection. */

export const script = readFileSync(join(import.meta.dirname, "collector.sh"), "utf8");

/** A program that prints samples beside the counters. `signal`: how it ends with its output whole. */
export type Program = {
  readonly name: string;
  readonly argv: readonly string[];
  readonly signal: "INT" | "TERM";
};

export type Sources = {
  /** Patterns of files that are read in each frame. */
  readonly files: readonly string[];
  /** In every tenth frame. */
  readonly slow: readonly string[];
  readonly programs: readonly Program[];
};

export type Collector = {
  /** Resolves once each program has printed a line and two frames have come; rejects when it ends before. */
  readonly running: Promise<void>;
  /** Ends it; every frame. */
  stop(): Promise<readonly Frame[]>;
};

/** The arguments of collector.sh. `ahead`: ms by which the host's clock is ahead of ours. */
export const collectorArguments = (interval: number, ahead: number, sources: Sources): string[] => [
  ...[String(interval), String(Math.round(ahead * 1000))],
  ...sources.files.flatMap((pattern) => ["file", pattern]),
  ...sources.slow.flatMap((pattern) => ["slow", pattern]),
  ...sources.programs.flatMap(({ name, signal, argv }) => [
    ...["program", name, signal, String(argv.length)],
    ...argv,
  ]),
];

export function startCollector(
  host: BenchHost,
  run: RunName,
  job: string,
  {
    description,
    seconds,
    interval,
    ahead,
    sources,
    onLine,
  }: {
    readonly description: string;
    readonly seconds: number;
    readonly interval: number;
    readonly ahead: number;
    readonly sources: Sources;
    readonly onLine: (program: string, line: string) => void;
  },
): Collector {
  const frames: Frame[] = [];
  const silent = new Set(sources.programs.map(({ name }) => name));
  const { promise: running, resolve, reject } = Promise.withResolvers<void>();
  const read = frameReader((frame) => {
    frames.push(frame);
    for (const name of frame.printed.keys()) silent.delete(name);
    if (silent.size === 0 && frames.length > 2) resolve();
  }, onLine);
  const unit = { name: unitName(run, job), description, seconds, stopSignal: "SIGINT" } as const;
  const argv = asUnit(unit, ["bash", "-s", "--", ...collectorArguments(interval, ahead, sources)]);
  const ended: Promise<Answer> = host.stream(argv, {
    stdin: script,
    deadlineSeconds: seconds + 60,
    onLine: read,
  });
  const failed = (answer: Answer): CommandError =>
    new CommandError(
      host.name,
      answer.status,
      `${host.name}: the telemetry ended by itself: ${unitFailure(answer) ?? "without a failure"}`,
    );
  // Whoever waits for `running` or `stop` gets the failure; nobody has to wait for both.
  running.catch(() => {});
  ended.then((answer) => reject(failed(answer)), reject);
  return {
    running,
    async stop() {
      await stopUnits(host, run, job);
      const answer = await ended;
      if (unitFailure(answer) !== undefined || frames.length === 0) throw failed(answer);
      return frames;
    },
  };
}
