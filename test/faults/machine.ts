import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { execa } from "execa";

/** The second channel to a machine under test: its folder, its process, and plain ssh into it. */

/** A small disk for a lane's machines, which can be filled without harm; undefined where that is not allowed. */
export async function machineDisk(lane: string): Promise<true | undefined> {
  const folder = join(lane, "machines");
  mkdirSync(folder, { recursive: true });
  const { exitCode } = await execa(
    "mount",
    ["-t", "tmpfs", "-o", "size=768M,mode=700", "storage-lab-faults", folder],
    {
      reject: false,
    },
  );
  return exitCode === 0 ? true : undefined;
}

/** Ends the machines of a lane and removes them. */
export async function machineEnd(lane: string): Promise<void> {
  const folder = join(lane, "machines");
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const pid = qemuOf(join(folder, name));
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    while (existsSync(`/proc/${pid}`)) await pause(50);
  }
  await execa("umount", [folder], { reject: false });
  rmSync(folder, { recursive: true, force: true });
}

/** Run a line in the guest. */
export async function machineRun(folder: string, line: string): Promise<string> {
  const name = basename(folder);
  const { stdout } = await execa(
    "ssh",
    ["-F", join(folder, "ssh_config"), "-o", "ConnectTimeout=10", name, line],
    {
      stdin: "ignore",
    },
  );
  return stdout.trim();
}

/** The process that runs a machine of this folder. */
function qemuOf(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(folder, "qemu.pid"), "utf8"));
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(readFileSync(join(folder, "uuid"), "utf8"))
      ? pid
      : undefined;
  } catch {
    return undefined;
  }
}

/** What stands of machines in a lane's folder, a line each. */
export function machineFacts(lane: string): string[] {
  const all = join(lane, "machines");
  if (!existsSync(all)) return [];
  return readdirSync(all).flatMap((name) => {
    const folder = join(all, name);
    if (!existsSync(join(folder, "machine.json"))) return [`machine: ${name}`];
    return [
      // Made while it runs, by whoever connects first.
      ...readdirSync(folder).map((file) => `machine: ${name}/${file}`),
      `machine: ${name} is ${readFileSync(join(folder, "machine.json"), "utf8").replaceAll(/\s+/g, " ")}`,
      `machine: ${name} ${qemuOf(folder) === undefined ? "does not run" : "runs"}`,
    ];
  });
}

export function machineFree(folder: string): boolean {
  const parent = join(folder, "..");
  const files = existsSync(parent) ? readdirSync(parent).filter((file) => file.startsWith("ballast")) : [];
  for (const file of files) rmSync(join(parent, file));
  return files.length > 0;
}
