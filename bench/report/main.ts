import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { RefusedError } from "../../provider/errors.ts";
import { replaceFile, shown } from "../folder.ts";
import { type Recording, recording } from "../schema/recording.ts";
import { type Result, result } from "../schema/result.ts";
import { csv } from "./csv.ts";
import { html } from "./html.ts";
import { markdown } from "./markdown.ts";
import { terminal } from "./terminal.ts";

/**
 *   bench report FOLDER|RESULT.json              writes report.html, summary.md and result.csv again, beside the result
 *   bench report FOLDER|RESULT.json --markdown   prints it; --html, --csv and --terminal likewise
 *
 * A report is made from what is stored, so one of today's form can be had of a result of last year's.
 */

const usage = "usage: bench report FOLDER|RESULT.json [--html|--markdown|--csv|--terminal]";

export type Reports = { readonly html: string; readonly markdown: string; readonly csv: string };

/** All of a result's reports, as the files' text. */
export const reportsOf = (found: Result, recordings: readonly Recording[]): Reports => ({
  html: html(found, recordings),
  markdown: markdown(found),
  csv: csv(found),
});

export const recordingFile = (run: string): string => `telemetry-${run}.json`;

/** A document by its schema; an error names the file and what in it is wrong. */
function read<T>(file: string, schema: z.ZodType<T>, what: string): T {
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new RefusedError(`${shown(file)} can't be read as JSON`, { cause });
  }
  const version = (document as { schema?: unknown } | null)?.schema;
  if (version !== 2)
    throw new RefusedError(
      `${shown(file)} is no ${what} of version 2 (its schema is ${JSON.stringify(version)}); run the benchmark again to have one`,
    );
  const checked = schema.safeParse(document);
  if (!checked.success)
    throw new RefusedError(
      `${shown(file)} is not of the form of a ${what}: ${z.prettifyError(checked.error)}`,
    );
  return checked.data;
}

/** The result in a folder, in its `latest`, or in a file; and where it is. */
export function readResult(argument: string): { found: Result; folder: string } {
  const path = resolve(argument);
  if (!existsSync(path)) throw new RefusedError(`${argument}: no such file or folder`);
  const candidates = statSync(path).isDirectory()
    ? [join(path, "result.json"), join(path, "latest", "result.json")]
    : [path];
  const file = candidates.find(existsSync);
  if (file === undefined)
    throw new RefusedError(
      `${argument}: no result.json in it, nor in its latest. Name a benchmark's folder.`,
    );
  return { found: read(file, result, "result"), folder: dirname(file) };
}

/** The recordings of a result's runs that are there; of a run without one there are no charts over time. */
export const readRecordings = (found: Result, folder: string): Recording[] =>
  found.runs
    .map(({ spec }) => join(folder, recordingFile(spec.id)))
    .filter(existsSync)
    .map((file) => read(file, recording, "recording"));

export async function main(args: string[]): Promise<number> {
  const forms = ["--html", "--markdown", "--csv", "--terminal"];
  const wanted = args.filter((arg) => arg.startsWith("--"));
  const [argument, ...more] = args.filter((arg) => !arg.startsWith("--"));
  const strange = wanted.find((form) => !forms.includes(form));
  if (strange !== undefined) throw new RefusedError(`${strange}: no such form of a report. ${usage}`);
  if (argument === undefined || more.length > 0 || wanted.length > 1) throw new RefusedError(usage);
  const { found, folder } = readResult(argument);
  const [form] = wanted;
  if (form === "--terminal") process.stdout.write(`${terminal(found)}\n`);
  else if (form === "--markdown") process.stdout.write(markdown(found));
  else if (form === "--csv") process.stdout.write(csv(found));
  else if (form === "--html") process.stdout.write(html(found, readRecordings(found, folder)));
  else {
    const made = reportsOf(found, readRecordings(found, folder));
    for (const name of ["html", "markdown", "csv"] as const) {
      const file = join(folder, basename(found.reports[name]));
      replaceFile(file, made[name]);
      process.stdout.write(`${shown(file)}\n`);
    }
  }
  return 0;
}
