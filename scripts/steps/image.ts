import { existsSync } from "node:fs";
import { mkdir, readFile, readlink, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { buildFolder, contentKey, pointTo } from "../cache.ts";
import { cacheRoot, project } from "../environment.ts";
import type { Step, Work } from "../steps.ts";

/**
 * The guests' image, <cache>/image/<key>/{root.ext4,vmlinuz,initrd,manifest.json}, by the recipe in virtual/.
 * The key is the recipe's content; an older image stays, as guests that were made from it still need it.
 */

const virtual = (file: string): string => join(project, "virtual", file);
const recipe = [
  "build-image",
  "build-zfs-modules",
  "debian.sh",
  "initrd-init",
  "kernel-prune",
  "overlay",
  "packages",
  "root.hook",
  "services",
  "versions",
  "zfs-modules.hook",
].map(virtual);

const current = (): string => join(cacheRoot(), "image/current");
/** Debian's release, where it is not the recipe's own. */
const suite = process.env.STORAGE_LAB_DEBIAN_SUITE;
const key = (): Promise<string> => contentKey(recipe, ...(suite ? [suite] : []));

export const imageMissing = async (): Promise<boolean> =>
  basename(await readlink(current()).catch(() => "")) !== (await key()) ||
  !existsSync(join(current(), "manifest.json"));

/** What the image says of itself; the machine's resource starts guests by it. */
export type Manifest = {
  recipe: string;
  /** Versions by Debian package, the kernel's and ZFS's first. */
  versions: Record<string, string>;
  /** A kernel command line that suits these guests. */
  commandLine: string;
  /** Where the seed goes (see virtual/README.md), and what a guest needs at least. */
  seed: string;
  needs: { memory: string; rootDisk: string };
};

const reported = [
  "fio",
  "sysstat",
  "targetcli-fb",
  "python3-rtslib-fb",
  "open-iscsi",
  "rdma-core",
  "xfsprogs",
  "nvme-cli",
  "systemd",
];

/**
 * No predictable interface names (eth0 is the way in, eth1 the lab's link), no guards against attackers that a lab
 * on one machine does not have, a clock that TCG keeps well enough, and one serial port instead of four to probe.
 */
const commandLine =
  "console=ttyS0 net.ifnames=0 mitigations=off nokaslr tsc=reliable audit=0 lsm=capability 8250.nr_uarts=1 " +
  "systemd.show_status=0 loglevel=4 panic=10";

export const imageStep: Step = {
  name: "guest image",
  why: "Debian with ZFS for the guests; 7 to 10 minutes on two cores, of which ZFS's modules take 5, once",
  command: "virtual/build-image",
  async check() {
    if (await imageMissing()) return undefined;
    const { versions } = JSON.parse(await readFile(join(current(), "manifest.json"), "utf8")) as Manifest;
    return `Linux ${versions.linux}, ZFS ${versions.zfs}`;
  },
  async bring(work) {
    const folder = join(cacheRoot(), "image", await key());
    if (!existsSync(join(folder, "manifest.json"))) await build(folder, work);
    await pointTo(current(), folder);
  },
};

async function build(folder: string, { run, note }: Work): Promise<void> {
  note("asking which kernel and ZFS Debian has");
  const answer = await run(virtual("versions"), []);
  const { kernel, zfs } = parseVersions(answer);

  const modules = join(cacheRoot(), "zfs", `${kernel}-${zfs}.tar`);
  if (!existsSync(modules)) {
    note(`building ZFS ${zfs} for Linux ${kernel}`);
    await mkdir(join(cacheRoot(), "zfs"), { recursive: true });
    await run(virtual("build-zfs-modules"), [kernel, `${modules}.new`]);
    await rename(`${modules}.new`, modules);
  }

  await buildFolder(folder, async (staging) => {
    note("putting the image together");
    await run(virtual("build-image"), [kernel, modules, staging]);
    const packages = await readFile(join(staging, "packages"), "utf8");
    await writeFile(
      join(staging, "manifest.json"),
      `${JSON.stringify(await manifest(kernel, zfs, packages), undefined, 2)}\n`,
    );
  });
}

/** Reads the output of virtual/versions. */
export function parseVersions(answer: string): { kernel: string; zfs: string } {
  const kernel = /^kernel (\S+)$/m.exec(answer)?.[1];
  const zfs = /^zfs (\S+)$/m.exec(answer)?.[1];
  if (kernel === undefined || zfs === undefined)
    throw new Error(`virtual/versions printed no kernel and ZFS version, but: ${JSON.stringify(answer)}`);
  return { kernel, zfs };
}

async function manifest(kernel: string, zfs: string, packages: string): Promise<Manifest> {
  const versions: Record<string, string> = { linux: kernel, zfs };
  for (const line of packages.split("\n")) {
    const [name = "", version = ""] = line.split(" ");
    if (reported.includes(name)) versions[name] = version;
  }
  return {
    recipe: await key(),
    versions,
    commandLine,
    seed: "opt/org.storage-lab.seed",
    needs: {
      memory: "768 MiB, 1536 MiB with pools",
      rootDisk: "virtio-blk, first of all disks, an overlay of root.ext4",
    },
  };
}
