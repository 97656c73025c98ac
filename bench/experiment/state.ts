import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { RefusedError } from "../../provider/errors.ts";
import { processBegan } from "../earlier.ts";
import { replaceFile, shown } from "../folder.ts";

/** How far an experiment is, in results/experiments/NAME/state.json: written whole at every step, read when it goes on. */

export const labState = z.strictObject({
  stack: z.string(),
  phase: z
    .enum(["waiting", "up", "measured", "done", "failed"])
    .describe(
      "up: being built or measured; measured: its result is there; done: taken down, too, or kept; failed: by `error`.",
    ),
  settings: z.string().describe("Fingerprint of all that its figures depend on."),
  occasion: z.string().describe("Names its measurement: a lab that stands is measured once for each."),
  stood: z.boolean().describe("It stood before the experiment began, so it is not taken down."),
  standing: z
    .boolean()
    .describe("The experiment has built it, as a whole or in part, and not taken it down."),
  result: z.string().nullable().describe("The folder of its result, relative to the project."),
  error: z.string().nullable().describe("Why it has no result, or why it could not be taken down."),
  seconds: z.number().nonnegative().describe("What its steps took so far."),
});
export type LabState = z.infer<typeof labState>;

export const experimentState = z.strictObject({
  schema: z.literal(1),
  began: z.iso.datetime(),
  labs: z.array(labState),
});
export type ExperimentState = z.infer<typeof experimentState>;

const stateFile = "state.json";

/** Undefined where none has begun. */
export function readState(folder: string): ExperimentState | undefined {
  const path = join(folder, stateFile);
  if (!existsSync(path)) return undefined;
  try {
    return experimentState.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new RefusedError(
      `${shown(path)} is no experiment's state of version 1; move it away to begin anew`,
      { cause },
    );
  }
}

export const writeState = (folder: string, state: ExperimentState): void =>
  replaceFile(join(folder, stateFile), `${JSON.stringify(state, null, 2)}\n`);

const holder = z.object({ pid: z.int().positive(), began: z.string() });

/** Take an experiment's folder for this process alone; returns what gives it back. One of a dead process is taken over. */
export function hold(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, ".running");
  const mine = `${path}.${process.pid}.part`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, began: processBegan(process.pid) ?? "" }));
  try {
    for (let tries = 1; ; tries += 1) {
      try {
        // Linking fails where another has been quicker.
        linkSync(mine, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        const other = readHolder(path);
        if (tries > 2 || (other !== undefined && processBegan(other.pid) === other.began))
          throw new RefusedError(
            `${shown(folder)} belongs to an experiment that runs (process ${other?.pid ?? "not known"}); wait for its end, or end it by Ctrl-C where it runs`,
          );
        rmSync(path, { force: true });
      }
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function readHolder(path: string): z.infer<typeof holder> | undefined {
  try {
    return holder.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // Gone in between, or cut off by a full disk: it names nobody.
    return undefined;
  }
}
