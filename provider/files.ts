import { CommandError, ParseError } from "./errors.ts";
import type { Answer, Questions } from "./host.ts";

/**
 * Many small files of a host read by one process. `grep -Z` puts a NUL between a file's name and its line, so
 * that names with colons (iSCSI names) stay apart from values. See grep(1).
 */

/** The files' texts by path; a file that is not there is not in the map, nor is one without a line. */
export async function readFiles(host: Questions, paths: readonly string[]): Promise<Map<string, string>> {
  const answer = await host.ask(["grep", "-aHZ", "", ...paths]);
  return grepped(host, answer, "files");
}

/** As readFiles, for every file below `folders` that has one of these names; folders named so are left out. */
export async function readBelow(
  host: Questions,
  folders: readonly string[],
  names: readonly string[],
  leftOut: readonly string[] = [],
): Promise<Map<string, string>> {
  const filters = [...names.map((n) => `--include=${n}`), ...leftOut.map((n) => `--exclude-dir=${n}`)];
  const answer = await host.ask(["grep", "-raHZ", ...filters, "", ...folders]);
  return grepped(host, answer, folders.join(" and "));
}

/** The texts in an answer of `grep -HZ ""`; throws unless all that went wrong is that files are not there. */
export function grepped(host: Questions, answer: Answer, what: string): Map<string, string> {
  const complaints = withoutAbsent(answer.stderr, /^grep: .*: No such file or directory$/);
  if (answer.status > 2 || complaints.length > 0) {
    const said = complaints.join("; ") || "nothing";
    throw new CommandError(
      host.name,
      answer.status,
      `${host.name}: could not read ${what}: grep said: ${said}`,
    );
  }
  return parseGrep(answer.stdout);
}

/** Lines of `path NUL text`. A file's lines are joined by line feeds. */
export function parseGrep(stdout: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const line of stdout.split("\n")) {
    if (line === "") continue;
    const end = line.indexOf("\0");
    // The line may hold a secret: it is not quoted.
    if (end < 0) throw new ParseError(`grep -Z: a line of ${line.length} characters without a file name`);
    const path = line.slice(0, end);
    const before = files.get(path);
    const text = line.slice(end + 1);
    files.set(path, before === undefined ? text : `${before}\n${text}`);
  }
  return files;
}

/** What a program complained of, apart from the absence of things, which is an answer. */
export function withoutAbsent(stderr: string, absent: RegExp): string[] {
  return stderr.split("\n").filter((line) => line !== "" && !absent.test(line));
}
