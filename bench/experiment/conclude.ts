import { join } from "node:path";
import { compare } from "../compare/compare.ts";
import { html } from "../compare/html.ts";
import { markdown } from "../compare/markdown.ts";
import { terminal } from "../compare/terminal.ts";
import { inProject, replaceFile, shown } from "../folder.ts";
import { readReference } from "../reference.ts";
import { readResult } from "../report/main.ts";
import type { Experiment } from "./file.ts";
import type { ExperimentState } from "./state.ts";

/** The end of an experiment: its comparison, and which labs have no part in it. Exit status 1 where one failed. */
export function conclude({ title }: Experiment, { labs }: ExperimentState, folder: string): number {
  const failed = labs.filter(({ result }) => result === null);
  const left = labs.filter(({ result, error }) => result !== null && error !== null);
  const results = labs.flatMap(({ result }) =>
    result === null ? [] : [readResult(inProject(result)).found],
  );
  const [first] = results;
  if (first !== undefined) {
    const found = compare(results, [readReference(first.reference.name)], {
      title,
      missing: failed.map(({ stack, error }) => ({ name: stack, reason: error ?? "not measured" })),
    });
    const files = {
      "comparison.html": html(found),
      "comparison.md": markdown(found),
      "comparison.json": `${JSON.stringify(found, null, 2)}\n`,
    };
    for (const [name, text] of Object.entries(files)) replaceFile(join(folder, name), text);
    process.stdout.write(`${terminal(found)}\n\nComparison: ${shown(join(folder, "comparison.html"))}\n`);
  }
  for (const { stack, error } of failed)
    process.stderr.write(`${stack} has no result: ${error ?? "not measured"}\n`);
  for (const { stack, error } of left)
    process.stderr.write(`${stack} is measured, and could not be taken down: ${error}\n`);
  if (failed.length + left.length > 0)
    process.stderr.write("The same command tries these again; what is measured is kept.\n");
  return failed.length + left.length === 0 ? 0 : 1;
}
