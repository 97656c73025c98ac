import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, Questions } from "../provider/host.ts";
import { commandLine } from "../provider/shell.ts";

/** A recorded output: `test/recorded/<command>--<situation>--<version>.out`, as the program printed it. */
export const recorded = (name: string): string =>
  readFileSync(join(import.meta.dirname, "recorded", `${name}.out`), "utf8");

/** The names of all recordings of a command, found by listing the folder, so that a new one is tested without a word. */
export const recordings = (command: string, situation: RegExp = /^/): string[] =>
  readdirSync(join(import.meta.dirname, "recorded"))
    .filter((file) => file.startsWith(`${command}--`) && file.endsWith(".out"))
    .map((file) => file.slice(0, -".out".length))
    .filter((name) => situation.test(name.slice(command.length + 2)))
    .sort();

/** What a fake host answers to one command line: stdout alone, or with a status and stderr. */
export type Told = string | { status: number; stdout?: string; stderr?: string };

/**
 * A strict fake host: it knows these command lines and fails on any other. `asked` holds what was asked, in
 * order, so that a test can assert the exact commands.
 */
export function fakeHost(told: Record<string, Told>, name = "storage"): Questions & { asked: string[] } {
  const asked: string[] = [];
  return {
    name,
    asked,
    ask(argv): Promise<Answer> {
      const line = commandLine(argv);
      asked.push(line);
      const answer = told[line];
      if (answer === undefined) return Promise.reject(new Error(`the fake host was not told of: ${line}`));
      return Promise.resolve(
        typeof answer === "string"
          ? { argv, status: 0, stdout: answer, stderr: "" }
          : { argv, stdout: "", stderr: "", ...answer },
      );
    },
  };
}
