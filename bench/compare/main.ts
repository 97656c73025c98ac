import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { RefusedError } from "../../provider/errors.ts";
import { inProject, shown } from "../folder.ts";
import { readReference, referenceNames } from "../reference.ts";
import { readResult } from "../report/main.ts";
import { compare } from "./compare.ts";
import { html } from "./html.ts";
import { markdown } from "./markdown.ts";
import { terminal } from "./terminal.ts";

/**
 *   bench compare STACK|FOLDER|lab-a …     any number side by side, each with the first
 *     --best        each with the best of its row
 *     --protocols   iSCSI and iSER as columns, so that they are compared with each other
 *     --html FILE   the page; --markdown and --json print those forms
 *
 * STACK is its latest result, results/STACK/latest. A folder is named with a slash: ./results/lab/2026-11-30T12-13-14Z.
 */

const usage =
  "usage: bench compare STACK|FOLDER|lab-a … [--best] [--protocols] [--html FILE | --markdown | --json]";

export async function main(args: string[]): Promise<number> {
  const { values, positionals } = asked(args);
  const labs = positionals.filter((name) => referenceNames().includes(name));
  const results = positionals
    .filter((name) => !labs.includes(name))
    .map((name) => readResult(name.includes("/") ? name : resultsOf(name)).found);
  if (results.length === 0)
    throw new RefusedError(`name at least one stack or benchmark of your own. ${usage}`);
  const found = compare(results, labs.map(readReference), {
    title: titleOf(results.map(({ stack }) => stack)),
    against: values.best ? "best" : "first",
    protocols: values.protocols,
  });
  if (values.html !== undefined) {
    writeFileSync(values.html, html(found));
    process.stdout.write(`${shown(resolve(values.html))}\n`);
  } else if (values.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else process.stdout.write(values.markdown ? markdown(found) : `${terminal(found)}\n`);
  return 0;
}

/** A stack's folder of results. */
function resultsOf(name: string): string {
  const folder = inProject(join("results", name));
  if (existsSync(folder)) return folder;
  throw new RefusedError(
    `${name}: no stack with results (${shown(folder)} is not there), and no published lab; these are ${referenceNames().join(", ")}. Measure it: npm start -- ${name}`,
  );
}

const titleOf = (stacks: readonly string[]): string =>
  new Set(stacks).size === 1 ? `Benchmarks of ${stacks[0]}` : `${[...new Set(stacks)].join(", ")} compared`;

function asked(args: string[]) {
  const flag = { type: "boolean", default: false } as const;
  try {
    const options = {
      best: flag,
      protocols: flag,
      markdown: flag,
      json: flag,
      html: { type: "string" },
    } as const;
    const parsed = parseArgs({ args, options, allowPositionals: true });
    const { html: file, markdown: md, json } = parsed.values;
    if ([file !== undefined, md, json].filter(Boolean).length > 1) throw new Error("it takes one form");
    return parsed;
  } catch (cause) {
    throw new RefusedError(usage, { cause });
  }
}
