import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The lock that a killed engine leaves behind. The file backend writes one JSON file a lock, with the process id
 * and host of the engine that holds it, and refuses every later command. A lock is removed only if it is this
 * host's, and its process is gone.
 */

type Lock = { pid: number; hostname: string; timestamp?: string };

/** A lock that was removed: whose stack it locked, and a line that says what it was. */
export type Removed = { stack: string; line: string };

/** Removes the stale locks of a file backend. */
export async function removeStaleLocks(backendUrl: string | undefined): Promise<Removed[]> {
  if (!backendUrl?.startsWith("file:///")) return [];
  const folder = join(fileURLToPath(backendUrl), ".pulumi/locks");
  if (!existsSync(folder)) return [];
  const removed: Removed[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".json")) continue;
    const file = join(entry.parentPath, entry.name);
    const lock = parseLock(await readFile(file, "utf8").catch(() => ""));
    if (lock === undefined || lock.hostname !== hostname() || (await holds(lock))) continue;
    for (const part of [file, `${file}.attrs`]) await rm(part, { force: true });
    const line = `Removed the lock of an engine that is gone (process ${lock.pid}): ${file}`;
    removed.push({ stack: basename(entry.parentPath), line });
  }
  return removed;
}

export function parseLock(text: string): Lock | undefined {
  try {
    const lock = JSON.parse(text) as Partial<Lock>;
    if (!Number.isInteger(lock.pid) || typeof lock.hostname !== "string") return undefined;
    return lock as Lock;
  } catch {
    return undefined;
  }
}

/** Whether the lock's process lives. One that began after the lock was taken has only inherited its number. */
async function holds(lock: Lock): Promise<boolean> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${lock.pid}/stat`, "utf8");
  } catch (error) {
    return (
      (error as NodeJS.ErrnoException).code !== "ENOENT" && (error as NodeJS.ErrnoException).code !== "ESRCH"
    );
  }
  // proc_pid_stat(5): the name may hold blanks and brackets, so fields are counted from its end.
  const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Dead, and only not yet waited for.
  if (state === "Z" || state === "X") return false;
  const taken = Date.parse(lock.timestamp ?? "");
  if (Number.isNaN(taken)) return true;
  const ticks = Number(fields[18]);
  const booted = Number(/^btime (\d+)$/m.exec(await readFile("/proc/stat", "utf8"))?.[1]);
  const ticksPerSecond = 100;
  const margin = 5000;
  return (booted + ticks / ticksPerSecond) * 1000 <= taken + margin;
}
