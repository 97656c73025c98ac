import { readlink, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { execa } from "execa";
import { buildFolder, contentKey, pointTo } from "../cache.ts";
import { cacheRoot, executable, project } from "../environment.ts";
import type { Step } from "../steps.ts";

/**
 * QEMU, always found as <cache>/qemu/current/{qemu-system-x86_64,qemu-img}: links to the machine's own from
 * version 8 on (7.2 crashes guests under software emulation), else Debian's, unpacked with its libraries.
 */

const programs = ["qemu-system-x86_64", "qemu-img"];
const current = (): string => join(cacheRoot(), "qemu/current");
const virtual = (file: string): string => join(project, "virtual", file);

/** The version of the machine's own QEMU, if both programs are there. */
async function ownQemu(): Promise<{ folder: string; major: number } | undefined> {
  for (const folder of ["/usr/local/bin", "/usr/bin"]) {
    if (!programs.every((program) => executable(join(folder, program)))) continue;
    const { stdout } = await execa(join(folder, "qemu-system-x86_64"), ["--version"], { reject: false });
    return { folder, major: Number(/version (\d+)\./.exec(stdout ?? "")?.[1] ?? 0) };
  }
  return undefined;
}

const unpackedKey = (): Promise<string> => contentKey([virtual("fetch-qemu"), virtual("debian.sh")]);

export const qemuMissing = async (): Promise<boolean> => {
  if (!programs.every((program) => executable(join(current(), program)))) return true;
  const key = basename((await readlink(current()).catch(() => "")) || "");
  return key !== "own" && key !== (await unpackedKey());
};

export const qemuStep: Step = {
  name: "QEMU",
  why: "it runs the guests; the machine has none from version 8 on, so Debian's is unpacked into the cache, half a minute",
  command: "virtual/fetch-qemu",
  async check() {
    if (await qemuMissing()) return undefined;
    return (await readlink(current())) === "own" ? "the machine's own" : "Debian's, unpacked";
  },
  async bring({ run }) {
    const own = await ownQemu();
    const folder = join(cacheRoot(), "qemu", own && own.major >= 8 ? "own" : await unpackedKey());
    // One that another checkout has brought already is only pointed to: guests may run from it.
    const whole = programs.every((program) => executable(join(folder, program)));
    if (!whole)
      await buildFolder(folder, async (staging) => {
        if (own && own.major >= 8) {
          for (const program of programs) await symlink(join(own.folder, program), join(staging, program));
        } else {
          await run(virtual("fetch-qemu"), [staging]);
        }
      });
    await pointTo(current(), folder);
  },
};
