import { posix } from "node:path";
import type { Answer, Questions } from "../../../provider/host.ts";
import { commandLine } from "../../../provider/shell.ts";
import type { Step } from "../../../provider/step.ts";

/**
 * A host for tests of whole resource types: a tree of files and the programs that the type uses on it. It is strict:
 * what it does not know throws, and so does what the real kernel or program would refuse.
 */

export type Node = { kind: "folder" } | { kind: "file"; text: string } | { kind: "link"; to: string };
export type Result = { status: number; stdout?: string; stderr?: string };

/** What the real system refuses; the message is a program's. */
export class Refused extends Error {}

export abstract class SimulatedHost implements Questions {
  readonly name = "storage";
  readonly tree = new Map<string, Node>();

  /** A program that only reads. */
  abstract answer(argv: readonly string[]): Result;
  /** A program of a step. */
  abstract run(argv: readonly string[]): void;
  /** A value written into an attribute of configfs or sysfs. */
  abstract set(attribute: string, value: string): void;

  ask(argv: readonly string[]): Promise<Answer> {
    return Promise.resolve({ argv, stdout: "", stderr: "", ...this.answer(argv) });
  }

  /**
   * Run the first `count` steps. What a step with `onceAtEnd` does comes last. Where one fails, what was done is taken
   * back as the steps say, and the error is thrown.
   */
  apply(steps: readonly Step[], count = steps.length): void {
    const inOrder = [
      ...steps.filter((step) => !("onceAtEnd" in step)),
      ...steps.filter((step) => "onceAtEnd" in step),
    ].slice(0, count);
    for (const [index, step] of inOrder.entries()) {
      try {
        this.#do(step);
      } catch (error) {
        const undo = inOrder
          .slice(0, index)
          .flatMap((done) => ("undo" in done && done.undo ? [done.undo] : []));
        for (const argv of undo.reverse()) this.#takeBack(argv);
        throw error;
      }
    }
  }

  #takeBack(argv: readonly string[]): void {
    try {
      this.run(argv);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }

  #do(step: Step): void {
    if ("argv" in step) this.run(step.argv);
    else if ("file" in step) this.write(step.file, step.text);
    else if ("attribute" in step) this.set(step.attribute, step.value);
    else if (!this.holds(step.until)) throw new Refused(`not so: ${commandLine(step.until)}`);
  }

  /** The condition of a WaitUntil step. */
  holds(argv: readonly string[]): boolean {
    throw new Error(`the simulated host knows no condition ${commandLine(argv)}`);
  }

  write(path: string, text: string): void {
    this.tree.set(path, { kind: "file", text });
  }

  /** What rm -f and ln -sfn do on regular folders. */
  remove(...paths: string[]): void {
    for (const path of paths) this.tree.delete(path);
  }

  link(path: string, to: string): void {
    this.tree.set(path, { kind: "link", to });
  }

  below(folder: string): string[] {
    return [...this.tree.keys()].filter((path) => path.startsWith(`${folder}/`));
  }

  /** A file's text, through links. */
  text(path: string): string | undefined {
    const node = this.tree.get(path);
    if (node?.kind === "link") return this.text(posix.resolve(posix.dirname(path), node.to));
    return node?.kind === "file" ? node.text : undefined;
  }

  /** `grep -aHZ "" FILE...` */
  grepFiles(paths: readonly string[]): Result {
    const lines = paths.map((path) => {
      const text = this.text(path);
      return text === undefined
        ? { stdout: "", stderr: `grep: ${path}: No such file or directory\n` }
        : { stdout: grepLines(path, text), stderr: "" };
    });
    const stderr = lines.map((line) => line.stderr).join("");
    return { status: stderr === "" ? 0 : 2, stdout: lines.map((line) => line.stdout).join(""), stderr };
  }

  /** `grep -raHZ --include=NAME... --exclude-dir=NAME... "" FOLDER...` */
  grepBelow(names: readonly string[], leftOut: readonly string[], folders: readonly string[]): Result {
    let stdout = "";
    let stderr = "";
    for (const folder of folders) {
      if (!this.tree.has(folder)) stderr += `grep: ${folder}: No such file or directory\n`;
      for (const path of this.below(folder)) {
        const node = this.tree.get(path);
        const parts = path.slice(folder.length + 1).split("/");
        const out = parts.slice(0, -1).some((part) => leftOut.some((glob) => matches(part, glob)));
        if (node?.kind === "file" && !out && names.includes(parts.at(-1) ?? "")) {
          stdout += grepLines(path, node.text);
        }
      }
    }
    return { status: stderr === "" ? (stdout === "" ? 1 : 0) : 2, stdout, stderr };
  }
}

const grepLines = (path: string, text: string): string =>
  text === ""
    ? ""
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `${path}\0${line}\n`)
        .join("");

const matches = (name: string, glob: string): boolean =>
  new RegExp(`^${glob.replaceAll("*", ".*")}$`).test(name);

/** Reads the words of a `grep -raHZ`; undefined where it is none. */
export function recursiveGrep(
  argv: readonly string[],
): { names: string[]; leftOut: string[]; folders: string[] } | undefined {
  if (argv[0] !== "grep" || argv[1] !== "-raHZ") return undefined;
  const pattern = argv.indexOf("");
  const options = argv.slice(2, pattern);
  const of = (name: string): string[] =>
    options.filter((option) => option.startsWith(name)).map((option) => option.slice(name.length));
  const [names, leftOut] = [of("--include="), of("--exclude-dir=")];
  if (names.length + leftOut.length !== options.length)
    throw new Error(`unknown options: ${options.join(" ")}`);
  return { names, leftOut, folders: argv.slice(pattern + 1) };
}
