import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";

/** The folder of one benchmark's raw outputs and results: RESULTS/2026-11-30T12-13-14Z, and RESULTS/latest. */

const project = resolve(import.meta.dirname, "..");

export const inProject = (path: string): string => resolve(project, path);

/** A path as an operator in the project's folder would name it. */
export function shown(path: string): string {
  const short = relative(project, path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
}

export type Folder = {
  readonly path: string;
  /** Write a file whole; an existing one is never overwritten. */
  write(name: string, text: string): string;
  /** Make this folder RESULTS/latest. */
  publish(): void;
};

export function createFolder(results: string, started: Date): Folder {
  mkdirSync(results, { recursive: true });
  const path = freshFolder(
    join(
      results,
      started
        .toISOString()
        .replace(/\.\d+Z$/, "Z")
        .replaceAll(":", "-"),
    ),
  );
  return {
    path,
    write(name, text) {
      const file = join(path, name);
      const part = `${file}.part`;
      writeFileSync(part, text, { flush: true });
      linkSync(part, file);
      rmSync(part);
      return file;
    },
    publish() {
      const link = join(results, "latest");
      const part = `${link}.${process.pid}.part`;
      rmSync(part, { force: true });
      symlinkSync(basename(path), part);
      renameSync(part, link);
    },
  };
}

/** Two benchmarks may begin in one second. */
function freshFolder(wanted: string): string {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : `${wanted}-${n}`;
    try {
      mkdirSync(path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
