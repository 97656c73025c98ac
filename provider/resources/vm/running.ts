import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Does the guest of a machine's folder run? Its pid file may be an older run's, so the process has to have its UUID. */

/** Is this QEMU's command line, its arguments apart, that of the guest with this UUID? */
export const isGuest = (uuid: string, commandLine: readonly string[]): boolean =>
  uuid !== "" && commandLine[commandLine.indexOf("-uuid") + 1] === uuid;

/** The pid of the guest of a folder on this machine, if it runs. */
export async function runningPid(folder: string): Promise<number | undefined> {
  try {
    const pid = (await readFile(join(folder, "qemu.pid"), "utf8")).trim();
    const [uuid, commandLine] = await Promise.all([
      readFile(join(folder, "uuid"), "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
    ]);
    return isGuest(uuid.trim(), commandLine.split("\0")) ? Number(pid) : undefined;
  } catch (error) {
    // ESRCH: it ended while it was looked at.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** The same, asked of a host: the UUID, then QEMU's arguments, a line each. */
export const askRunning = (folder: string): string[] => ["sh", "-c", ask, "sh", folder];

const ask = 'u=$(cat "$1/uuid") && p=$(cat "$1/qemu.pid") && echo "$u" && tr "\\0" "\\n" <"/proc/$p/cmdline"';

/** What the shell and its programs say where there is no such file or process. */
export const isAbsent = (stderr: string): boolean => /No such (file|process)/.test(stderr);
