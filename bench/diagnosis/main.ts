import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { evidence } from "../schema/evidence.ts";
import { hardware, needs } from "../schema/needs.ts";
import { diagnose } from "./diagnose.ts";
import { inWords } from "./in-words.ts";
import { namesOf } from "./rule.ts";

/**
 * `bench diagnose RESULT.json|FOLDER`: diagnoses a stored result again from its runs' evidence and prints what
 * limits each. `--json` prints the diagnoses as data, by run. The file is not changed.
 */

const usage = "usage: npm run -s bench -- diagnose [--json] RESULT.json|FOLDER";

/** What is read of a result; the rest of it may be of a newer form. */
const stored = z.object({
  schema: z.literal(2),
  stack: z.string(),
  needs: needs.nullable(),
  environment: z.object({
    pools: z.array(z.object({ name: z.string() })),
    volumes: z.array(z.object({ name: z.string() })),
    targets: z.array(z.object({ iqn: z.string() })),
  }),
  runs: z.array(
    z.discriminatedUnion("valid", [
      z.object({ valid: z.literal(true), spec: z.object({ id: z.string() }), evidence: evidence.nullable() }),
      z.object({ valid: z.literal(false), spec: z.object({ id: z.string() }), invalid: z.string() }),
    ]),
  ),
});
/** The request beside it knows what was stated of the hardware. */
const asked = z.object({ hardware: hardware.optional() });

export function diagnoseStored(file: string, json: boolean): string {
  const found = stored.safeParse(parseJson(file));
  if (!found.success) {
    throw new TypeError(
      `${file} is no result of version 2, the one known here: ${z.prettifyError(found.error)}. Older results have no evidence; measure again.`,
    );
  }
  const request = join(file, "..", "request.json");
  const stated = existsSync(request) ? asked.safeParse(parseJson(request)).data?.hardware : undefined;
  const runs = found.data.runs.map((run) => {
    const known = {
      needs: found.data.needs ?? undefined,
      hardware: stated,
      names: namesOf(found.data.environment),
    };
    const diagnosis = run.valid && run.evidence !== null ? diagnose(run.evidence, known) : null;
    const without = run.valid
      ? "it has phases, or no evidence was stored: nothing to diagnose"
      : `no figures: ${run.invalid}`;
    return { run: run.spec.id, diagnosis, without };
  });
  if (json)
    return JSON.stringify(
      runs.map(({ run, diagnosis }) => ({ run, diagnosis })),
      null,
      2,
    );
  return runs
    .map(
      ({ run, diagnosis, without }) => `${run}\n${diagnosis === null ? `  ${without}` : inWords(diagnosis)}`,
    )
    .join("\n\n");
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new TypeError(`${file} can't be read as JSON`, { cause });
  }
}

export async function main(args: string[]): Promise<number> {
  const json = args.includes("--json");
  const [path, ...more] = args.filter((argument) => argument !== "--json");
  if (path === undefined || path.startsWith("-") || more.length > 0) throw new Error(usage);
  const at = resolve(path);
  if (!existsSync(at)) throw new Error(`${path}: no such file or folder. ${usage}`);
  const inside = [join(at, "result.json"), join(at, "latest", "result.json")];
  const file = statSync(at).isDirectory() ? inside.find((one) => existsSync(one)) : at;
  if (file === undefined) throw new Error(`${path}: no result.json in it, nor in its latest. Name a result.`);
  process.stdout.write(`${diagnoseStored(file, json)}\n`);
  return 0;
}
