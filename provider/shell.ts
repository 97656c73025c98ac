import { randomBytes } from "node:crypto";

/**
 * Words and scripts for a POSIX `sh`. The one place that knows quoting.
 * A script goes to the shell on stdin and is read whole before its first command runs, so that a connection
 * which breaks while it is being sent runs nothing.
 */

/** One word for a POSIX shell: single quotes, never Bash's `$'…'`. NUL can't be in an argument. */
export function quote(word: string): string {
  if (word.includes("\0")) throw new TypeError(`an argument holds a NUL byte: ${JSON.stringify(word)}`);
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A command line as an operator would type it. */
export const commandLine = (argv: readonly string[]): string => argv.map(quote).join(" ");

/** A heredoc redirection for `text`, with an end mark that is no line of it. */
export function heredoc(text: string): string {
  let mark = "EOF";
  while (text.split("\n").includes(mark)) mark = `EOF_${randomBytes(4).toString("hex")}`;
  return `<<'${mark}'\n${text}\n${mark}`;
}

/** What one framed command answered. */
export type Frame = { status: number; stdout: string; stderr: string };

/**
 * Frames the answers of several commands in one stdout and one stderr, each under a label of its own.
 * The mark is random, so no output can hold it by chance.
 */
export class Frames {
  readonly #mark = `--storage-lab-${randomBytes(12).toString("hex")}`;

  /** Shell text that runs `body` and closes its frame; `$s` is its status afterwards. */
  around(label: string, body: string): string {
    return `${body}\ns=$?; printf '\\n%s %s %d\\n' '${this.#mark}' '${label}' "$s"; printf '\\n%s\\n' '${this.#mark}' >&2`;
  }

  /** Comes first in a script: what ssh itself said before it (a banner, a socket of another's) is in no frame. */
  begin(): string {
    return this.around("begin", ":");
  }

  /** The label and status of the frame that this line closes, if it closes one. */
  closed(line: string): { label: string; status: number } | undefined {
    const [mark, label, status] = line.split(" ");
    return mark === this.#mark && label !== undefined ? { label, status: Number(status) } : undefined;
  }

  /** The frames that were closed, by label. */
  parse(stdout: string, stderr: string): Map<string, Frame> {
    const errors = stderr.split(`\n${this.#mark}\n`);
    const frames = new Map<string, Frame>();
    const [first = "", ...parts] = stdout.split(`\n${this.#mark} `);
    let text = first;
    for (const [index, part] of parts.entries()) {
      const end = part.indexOf("\n");
      const [label = "", status = ""] = part.slice(0, end).split(" ");
      frames.set(label, { status: Number(status), stdout: text, stderr: errors[index] ?? "" });
      text = part.slice(end + 1);
    }
    return frames;
  }

  /** What stderr holds outside of every frame: the words of ssh itself. */
  outside(stderr: string): string {
    return stderr.split(`\n${this.#mark}\n`).at(-1)?.trim() ?? "";
  }
}

/** A script that a shell reads to its end before it runs anything of it. */
export const whole = (body: string): string => `main() {\n${body}\n}\nmain\n`;
