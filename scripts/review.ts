import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { type Context, type Inputs, settingsFrom } from "../provider/context.ts";
import { Lifecycle } from "../provider/lifecycle.ts";
import type { PlanNote } from "../provider/plan-note.ts";
import { typeOf } from "../provider/registry.ts";
import { urnParts } from "../provider/urn.ts";
import { project, pulumiEnvironment } from "./environment.ts";
import { explain } from "./explain.ts";
import { type Operation, page, rowsOf, statusOf } from "./review-page.ts";

/**
 * npm run -s review -- STACK: a preview as a Markdown page, on stdout. Touches nothing.
 * Exit status: 0 nothing would change, 2 something would, 3 something is refused, 1 the review failed.
 */

type Step = Operation & { oldState?: { inputs?: unknown } };
type Preview = {
  config?: Record<string, string>;
  steps?: Step[];
  diagnostics?: { severity: string; message: string; urn?: string }[];
};

const plans = join(tmpdir(), `storage-lab-plans-${process.pid}`);

async function preview(stack: string): Promise<Preview> {
  const result = await execa(
    "pulumi",
    ["preview", "--json", "--show-sames", "--stack", stack, "--non-interactive"],
    {
      cwd: project,
      env: { ...pulumiEnvironment(), STORAGE_LAB_PLANS: plans },
      reject: false,
      stdin: "ignore",
    },
  );
  const parsed = (result.stdout.startsWith("{") ? JSON.parse(result.stdout) : {}) as Preview;
  if (result.exitCode === 0) return parsed;
  const errors = (parsed.diagnostics ?? []).filter(({ severity }) => severity === "error");
  const said = errors.map(({ message }) => message.trim()).join("\n") || result.stderr || result.stdout;
  throw new Error(`the preview of stack ${stack} failed:\n${said}`);
}

/** What would be deleted: the engine asks no provider before it deletes, so it is asked here. */
async function deletions(steps: readonly Step[], config: Record<string, string>): Promise<PlanNote[]> {
  const notes: PlanNote[] = [];
  const lifecycle = new Lifecycle();
  lifecycle.settings = settingsFrom(
    Object.fromEntries(
      Object.entries(config).map(([key, value]) => [key.replace(/^storagelab:/, ""), value]),
    ),
  );
  await Promise.all(
    steps.map(async ({ urn, op, oldState }) => {
      const { owner, type: token } = urnParts(urn);
      const type = typeOf(token);
      if (op !== "delete" || type === undefined || oldState?.inputs === undefined) return;
      const context: Context = {
        owner,
        urn,
        report: () => {},
        note: (note) => notes.push(note),
      };
      await lifecycle.previewDelete(type, oldState.inputs as Inputs, context);
    }),
  );
  // Users of an object go before it: what refuses one delete of several now may be gone by then.
  const several = steps.filter(({ op }) => op === "delete").length > 1;
  return notes.map(({ refused, ...note }) => {
    if (refused === undefined || !several) return refused === undefined ? note : { ...note, refused };
    return { ...note, hints: [...note.hints, `as it stands now its delete would be refused: ${refused}`] };
  });
}

async function main(): Promise<number> {
  const [stack, ...more] = process.argv.slice(2);
  if (stack === undefined || more.length > 0) throw new Error("npm run -s review -- STACK");
  try {
    const { steps = [], diagnostics = [], config = {} } = await preview(stack);
    const lines = await readFile(plans, "utf8").catch(() => "");
    const planned = lines
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as PlanNote);
    const notes = [...planned, ...(await deletions(steps, config))];
    const warnings = diagnostics
      .filter(({ severity }) => severity === "warning")
      .map(({ message }) => message.replace(/^warning: /, "").trim());
    console.log(page({ stack, operations: steps, notes, warnings }));
    return statusOf(rowsOf({ operations: steps, notes }));
  } finally {
    await rm(plans, { force: true });
  }
}

process.exitCode = await main().catch(explain);
