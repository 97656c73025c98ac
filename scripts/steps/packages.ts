import { readFileSync } from "node:fs";
import { execa } from "execa";
import type { Step } from "../steps.ts";
import { browserPackage } from "./for-tests.ts";

/** Debian's packages, the only thing that set-up changes outside the project and the cache, and may need sudo for. */

const root = process.getuid?.() === 0;
const installing = ["install", "--yes", "--no-install-recommends"];

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

export const wantedPackages = (toBuild: boolean): string[] => [
  "openssh-client",
  ...(toBuild ? [...builders, ...(root ? [] : unprivileged)] : []),
];

const commandFor = (missing: readonly string[]): string =>
  [...(root ? [] : ["sudo"]), "apt-get", ...installing, ...missing].join(" ");

export function packagesStep(wanted: readonly string[]): Step {
  let missing: string[] = [];
  return {
    name: "Debian packages",
    why: wanted.includes(browserPackage)
      ? "they build the guests' image; tests open reports in the browser and ask fio"
      : "they build the guests' image",
    get command() {
      return commandFor(missing);
    },
    async check() {
      missing = await missingPackages(wanted);
      return missing.length === 0 ? wanted.join(" ") : undefined;
    },
    async bring({ run }) {
      const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
      await install(missing, (command) => run("apt-get", command, { env }));
    },
  };
}

/** The package lists may be fresh enough; only where they are not they are fetched. */
async function install(
  packages: readonly string[],
  aptGet: (command: string[]) => Promise<unknown>,
): Promise<void> {
  const command = [...installing, "-o", "DPkg::Lock::Timeout=300", ...packages];
  await aptGet(command).catch(async () => {
    await aptGet(["update"]);
    await aptGet(command);
  });
}

/**
 * For who is not root: installs what is missing by sudo, on the terminal as it is, so that sudo can ask for a
 * password there. All other steps do without root.
 */
export async function installBySudo(wanted: readonly string[]): Promise<void> {
  const missing = root ? [] : await missingPackages(wanted);
  if (missing.length === 0) return;
  const command = commandFor(missing);
  console.log(
    `Debian packages are missing, and only they need root; sudo may ask for your password:\n  $ ${command}`,
  );
  try {
    await install(missing, (args) => execa("sudo", ["apt-get", ...args], { stdio: "inherit" }));
  } catch (cause) {
    throw new Error(`the packages could not be installed; have it done, then try again: ${command}`, {
      cause,
    });
  }
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
