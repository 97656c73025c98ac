import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, readlink, rename, rm, symlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { createInterface } from "node:readline";

/** The cache's rules: what is there is whole, and only one set-up writes at a time. */

/** A short key over the contents of files and folders, in a fixed order, and over further words. */
export async function contentKey(paths: readonly string[], ...words: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const word of words) hash.update(`${word}\0`);
  for (const path of paths) await addTo(hash, path, basename(path));
  return hash.digest("hex").slice(0, 16);
}

async function addTo(hash: ReturnType<typeof createHash>, path: string, name: string): Promise<void> {
  const content = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EISDIR") return undefined;
    throw error;
  });
  if (content) {
    hash.update(`${name}\0${content.length}\0`).update(content);
    return;
  }
  for (const entry of (await readdir(path)).sort()) await addTo(hash, join(path, entry), `${name}/${entry}`);
}

/**
 * Makes `folder` whole or not at all: `build` fills another one beside it, which is renamed at the end.
 * What an interrupted set-up has left is removed first; call it under the lock.
 */
export async function buildFolder(folder: string, build: (staging: string) => Promise<void>): Promise<void> {
  const parent = dirname(folder);
  await mkdir(parent, { recursive: true });
  for (const entry of await readdir(parent))
    if (entry.startsWith(".new-")) await rm(join(parent, entry), { recursive: true, force: true });
  // Its own name each time: what a killed set-up had started may still be writing to the other.
  const staging = join(parent, `.new-${basename(folder)}-${process.pid}`);
  await mkdir(staging);
  try {
    await build(staging);
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Points a symbolic link at `target`, in one step, relative so that the cache may be moved. */
export async function pointTo(link: string, target: string): Promise<void> {
  const to = relative(dirname(link), target);
  if ((await readlink(link).catch(() => undefined)) === to) return;
  const fresh = `${link}.new`;
  await rm(fresh, { force: true });
  await symlink(to, fresh);
  await rename(fresh, link);
}

/**
 * Runs `work` while holding the cache's lock. flock(1) holds it for as long as its standard input is open,
 * so a set-up that dies in whatever way gives it back.
 */
export async function locked<T>(root: string, waiting: () => void, work: () => Promise<T>): Promise<T> {
  await mkdir(root, { recursive: true });
  const holder = spawn("flock", [join(root, "lock"), "sh", "-c", "echo locked; exec cat"], {
    stdio: ["pipe", "pipe", "inherit"],
    // A Ctrl-C in the terminal is for this process, which then lets go in order.
    detached: true,
  });
  const timer = setTimeout(waiting, 500);
  const failed = new Promise<never>((_, reject) => {
    holder.on("error", (cause) =>
      reject(new Error("flock can't be run; it comes with util-linux", { cause })),
    );
    holder.on("exit", (status) =>
      reject(new Error(`flock could not lock ${root}/lock (exit status ${status})`)),
    );
  });
  failed.catch(() => {});
  try {
    const lines = createInterface({ input: holder.stdout });
    await Promise.race([new Promise((done) => lines.once("line", done)), failed]);
    clearTimeout(timer);
    return await work();
  } finally {
    clearTimeout(timer);
    holder.stdin.end();
  }
}
