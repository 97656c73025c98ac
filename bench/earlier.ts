import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { replaceFile } from "./folder.ts";

/**
 * A benchmark of this stack that still runs on this machine: a killed `pulumi up` leaves its benchmark behind.
 * Pulumi's lock lets only one `up` a stack run, so whatever is found has lost its caller, and the newer one ends it.
 */

const note = z.strictObject({ pid: z.int().positive(), began: z.string() });

const waitSeconds = 30;

/** When a process began, in the kernel's ticks (proc(5), stat field 22): with it, a pid is one process for good. */
export function processBegan(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** End the earlier one, if there is one, and note that it is us now. Returns what takes the note back. */
export async function replaceEarlier(results: string, say: (text: string) => void): Promise<() => void> {
  mkdirSync(results, { recursive: true });
  const file = join(results, ".running");
  const earlier = readNote(file);
  const lives = () =>
    earlier !== undefined && earlier.pid !== process.pid && processBegan(earlier.pid) === earlier.began;
  if (earlier !== undefined && lives()) {
    say(`an earlier benchmark of this stack still runs (process ${earlier.pid}); ending it`);
    process.kill(earlier.pid, "SIGTERM");
    const deadline = Date.now() + waitSeconds * 1000;
    while (lives() && Date.now() < deadline) await pause(100);
    if (lives()) process.kill(earlier.pid, "SIGKILL");
  }
  const mine = { pid: process.pid, began: processBegan(process.pid) ?? "" };
  replaceFile(file, JSON.stringify(mine));
  return () => {
    if (readNote(file)?.pid === process.pid) rmSync(file, { force: true });
  };
}

function readNote(file: string): z.infer<typeof note> | undefined {
  try {
    return note.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    // A note that was cut off by a full disk or a crash names nobody.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
