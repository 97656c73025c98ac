import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { execa } from "execa";
import { type Output, type Progress, startProgress } from "./progress.ts";

/** A thing that the lab needs on this machine: how to see that it is there, and how to bring it. */
export type Step = {
  name: string;
  /** What it is for, and what it costs, shown when it is missing. */
  why: string;
  /** What there is, in a few words; undefined when it is missing. Must be quick. */
  check: () => Promise<string | undefined>;
  /** The command that brings it, as shown to a person. */
  command: string;
  bring: (work: Work) => Promise<void>;
};

export type RunOptions = { cwd?: string; env?: Record<string, string | undefined>; deadlineSeconds?: number };

export type Work = {
  note: (text: string) => void;
  /** Runs a program, its output in the step's log and its latest line in the progress; resolves to its output. */
  run: (file: string, args: readonly string[], options?: RunOptions) => Promise<string>;
};

/** Something that is missing and could not be brought: says what, by which command, and what it printed last. */
export class MissingError extends Error {
  constructor(step: Step, log: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `Missing: ${step.name}, which could not be brought by: ${step.command}\n${reason}\n` +
        `The whole output is in ${log}. Set-up goes on from here when it is run again.`,
      { cause },
    );
    this.name = "MissingError";
  }
}

/** Checks each step in order and brings what is missing. Returns how many had to be brought. */
export async function runSteps(
  steps: readonly Step[],
  logs: string,
  output: Output = process.stdout,
): Promise<number> {
  let brought = 0;
  for (const step of steps) {
    if ((await step.check()) !== undefined) continue;
    brought++;
    output.write(`Missing: ${step.name}; ${step.why}\n  $ ${step.command}\n`);
    const log = `${logs}/${step.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.log`;
    const progress = startProgress(step.name, "begins", output);
    try {
      await step.bring(workOf(progress, log));
      const found = await step.check();
      if (found === undefined) throw new Error("the command succeeded, but it is still not there");
      progress.end(`✓ ${step.name}: ${found}`);
    } catch (error) {
      progress.end(`✗ ${step.name}`);
      throw new MissingError(step, log, error);
    }
  }
  return brought;
}

function workOf(progress: Progress, log: string): Work {
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, "");
  return {
    note: progress.note,
    async run(file, args, options = {}) {
      appendFileSync(log, `$ ${[file, ...args].join(" ")}\n`);
      const child = execa(file, args, {
        all: true,
        stdin: "ignore",
        reject: false,
        // A group of its own, so that ending it ends what it has started as well.
        detached: true,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.env === undefined ? {} : { env: options.env }),
      });
      const stop = () => endGroup(child.pid);
      process.once("exit", stop);
      let late = false;
      const deadline = setTimeout(
        () => {
          late = true;
          stop();
        },
        (options.deadlineSeconds ?? 3600) * 1000,
      );
      try {
        for await (const line of child.iterable({ from: "all" })) {
          appendFileSync(log, `${line}\n`);
          progress.detail(line);
        }
        const result = await child;
        if (late) throw new Error(`${file} did not end within ${options.deadlineSeconds ?? 3600} s`);
        if (result.failed) {
          const last = (result.all ?? "").split("\n").slice(-15).join("\n");
          throw new Error(`${result.shortMessage ?? `${file} failed`}\n${last}`);
        }
        return result.stdout;
      } finally {
        clearTimeout(deadline);
        process.off("exit", stop);
      }
    },
  };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // It has ended by itself.
  }
}
