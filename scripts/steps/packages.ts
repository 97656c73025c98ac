import { readFileSync } from "node:fs";
import { execa } from "execa";
import type { Step } from "../steps.ts";

/** Debian's packages, the only thing that set-up changes outside the project and the cache, and may need sudo for. */

const root = process.getuid?.() === 0;
const sudo = root ? [] : ["sudo"];
const apt = ["apt-get", "install", "--yes", "--no-install-recommends"];

/** What building needs; who has everything built does not need them. */
const builders = ["ca-certificates", "cpio", "debian-archive-keyring", "e2fsprogs", "mmdebstrap", "xz-utils"];
/** And what stands in for root: user namespaces with ranges of ids, files with owners that are only pretended. */
const unprivileged = ["fakeroot", "uidmap"];

export async function missingPackages(wanted: readonly string[]): Promise<string[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders.
  const query = await execa("dpkg-query", ["-W", "-f", "${Package} ${db:Status-Status}\n", ...wanted], {
    reject: false,
  });
  if (query.code === "ENOENT")
    throw new Error(
      "this machine has no dpkg: set-up knows Debian and Ubuntu. Elsewhere, run it in a Debian container or machine",
    );
  const there = new Set(query.stdout.split("\n").map((line) => line.trim()));
  return wanted.filter((name) => !there.has(`${name} installed`));
}

export function packagesStep(toBuild: boolean): Step {
  const wanted = ["openssh-client", ...(toBuild ? [...builders, ...(root ? [] : unprivileged)] : [])];
  let missing: string[] = [];
  return {
    name: "Debian packages",
    why: root
      ? "they build the guests' image"
      : "they build the guests' image. Only this needs root: sudo asks for your password",
    get command() {
      return [...sudo, ...apt, ...missing].join(" ");
    },
    async check() {
      missing = await missingPackages(wanted);
      return missing.length === 0 ? wanted.join(" ") : undefined;
    },
    async bring({ run }) {
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
      const asRoot = (command: string[]) => {
        const [file = "", ...args] = [...(root ? [] : ["sudo", "-n"]), ...command];
        return run(file, args, { env });
      };
      const install = [...apt, "-o", "DPkg::Lock::Timeout=300", ...missing];
      // The package lists may be fresh enough; only where they are not they are fetched.
      await asRoot(install).catch(async () => {
        await asRoot(["apt-get", "update"]);
        await asRoot(install);
      });
    },
  };
}

/** Asks for sudo's password before any live line is on the terminal; only if packages are missing. */
export async function askSudo(step: Step): Promise<void> {
  if (root || (await step.check()) !== undefined) return;
  console.log(`Debian packages are missing, and only they need root:\n  $ ${step.command}`);
  const { failed } = await execa("sudo", ["-v"], { stdio: "inherit", reject: false });
  if (failed)
    throw new Error(`sudo was refused; have the packages installed, then try again: ${step.command}`);
}

/** The image is Debian's for x86-64. */
export function refuseOtherMachines(): void {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(
      `the virtual lab needs Linux on x86-64, and this is ${process.platform} on ${process.arch}; ` +
        "a stack of real hosts works from here with Pulumi alone",
    );
  const name = /^PRETTY_NAME="?(.*?)"?$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
  if (!/Debian|Ubuntu/.test(name ?? ""))
    console.log(`This is ${name}; set-up is written for Debian and Ubuntu`);
}
