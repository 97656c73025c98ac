import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { cacheRoot } from "../environment.ts";
import type { Step } from "../steps.ts";

/**
 * Whether KVM really runs a stock kernel here, found by booting ours once and remembered in <cache>/qemu/accel.json:
 * /dev/kvm may exist and hang all the same (nested virtualisation).
 */

export type Accelerator = { accel: "kvm" | "tcg"; smp: number; why: string; machine: string };

const file = (): string => join(cacheRoot(), "qemu/accel.json");

/** One virtual processor under TCG: with two, guests crashed at boot in most tries. */
const decided = (accel: "kvm" | "tcg", why: string, machine: string): Accelerator => ({
  accel,
  smp: accel === "kvm" ? Math.max(1, Math.min(4, Math.floor(cpus().length / 2))) : 1,
  why,
  machine,
});

/** Another machine, or one with another kernel or virtualisation, is asked anew. */
async function thisMachine(): Promise<string> {
  const id = await readFile("/etc/machine-id", "utf8").catch(() => "");
  const kernel = await readFile("/proc/sys/kernel/osrelease", "utf8");
  return [id.trim().slice(0, 8), kernel.trim(), existsSync("/dev/kvm") ? "kvm" : "no kvm"].join(" ");
}

export const acceleratorStep: Step = {
  name: "KVM probe",
  why: "a kernel is booted under KVM once, to see whether the guests can have it; 15 s at most",
  command: "qemu-system-x86_64 -accel kvm",
  async check() {
    const known = await readFile(file(), "utf8")
      .then((text) => JSON.parse(text) as Accelerator)
      .catch(() => undefined);
    if (known?.machine !== (await thisMachine())) return undefined;
    return `${known.accel}, ${known.why}`;
  },
  async bring() {
    const machine = await thisMachine();
    const result = existsSync("/dev/kvm")
      ? (await bootsUnderKvm())
        ? decided("kvm", "a kernel boots under it", machine)
        : decided("tcg", "/dev/kvm is there, but no kernel boots under it", machine)
      : decided("tcg", "no /dev/kvm", machine);
    await writeFile(file(), `${JSON.stringify(result)}\n`);
  },
};

/** The kernel panics at once for lack of a root, and -no-reboot makes QEMU end: a boot, in a second. */
async function bootsUnderKvm(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "storage-lab-kvm-"));
  const serial = join(folder, "serial");
  try {
    await execa(
      join(cacheRoot(), "qemu/current/qemu-system-x86_64"),
      [
        ..."-machine q35 -accel kvm -cpu host -smp 1 -m 256 -nodefaults -no-user-config -display none -no-reboot".split(
          " ",
        ),
        ...["-kernel", join(cacheRoot(), "image/current/vmlinuz"), "-serial", `file:${serial}`],
        ...["-append", "console=ttyS0 panic=-1 rdinit=/none root=/dev/none"],
      ],
      { reject: false, timeout: 15_000, forceKillAfterDelay: 1000 },
    );
    return (await readFile(serial, "utf8").catch(() => "")).includes("Kernel panic");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
