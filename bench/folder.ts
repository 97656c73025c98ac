import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";

/** The folder of one benchmark's raw outputs and results: RESULTS/2026-11-30T12-13-14Z, and RESULTS/latest. */

const project = resolve(import.meta.dirname, "..");

export const inProject = (path: string): string => resolve(project, path);

/** A path as an operator in the project's folder would name it. */
export function shown(path: string): string {
  const short = relative(project, path);
  return short.startsWith("..") || isAbsolute(short) ? path : short;
}

/** Whole or not at all, even over a power cut: nobody meets half a file. */
export function replaceFile(path: string, text: string): void {
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, text, { flush: true });
  renameSync(part, path);
}

export type Folder = {
  readonly path: string;
  /** Write a file whole; an existing one is never overwritten. */
  write(name: string, text: string): string;
  /** Write a file whole in place of the one that is there: for what says how far a benchmark is. */
  replace(name: string, text: string): void;
  /** A file's text; undefined where there is none. */
  read(name: string): string | undefined;
  remove(name: string): void;
  /** The names of its files. */
  names(): string[];
  /** Move these files into a folder of their own below it: what an attempt left that is made again. */
  setAside(wanted: (name: string) => boolean): string[];
  /** Make this folder RESULTS/latest. */
  publish(): void;
};

export function createFolder(results: string, started: Date): Folder {
  mkdirSync(results, { recursive: true });
  const name = started
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "-");
  return folderAt(results, freshFolder(join(results, name)));
}

/** The folders of a stack's benchmarks in which this file stands, the newest first. */
export function foldersWith(results: string, file: string): Folder[] {
  if (!existsSync(results)) return [];
  return readdirSync(results, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(results, entry.name, file)))
    .map((entry) => entry.name)
    .sort()
    .reverse()
    .map((name) => folderAt(results, join(results, name)));
}

function folderAt(results: string, path: string): Folder {
  const part = (name: string, text: string): string => {
    const file = join(path, `${name}.part`);
    writeFileSync(file, text, { flush: true });
    return file;
  };
  const names = (): string[] =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name);
  return {
    path,
    write(name, text) {
      const file = join(path, name);
      const written = part(name, text);
      linkSync(written, file);
      rmSync(written);
      return file;
    },
    replace(name, text) {
      renameSync(part(name, text), join(path, name));
    },
    read(name) {
      const file = join(path, name);
      return existsSync(file) ? readFileSync(file, "utf8") : undefined;
    },
    remove(name) {
      rmSync(join(path, name), { force: true });
    },
    names,
    setAside(wanted) {
      const aside = names().filter(wanted);
      if (aside.length === 0) return [];
      const beside = freshFolder(join(path, "attempt"));
      for (const name of aside) renameSync(join(path, name), join(beside, name));
      return aside;
    },
    publish() {
      const link = join(results, "latest");
      const temporary = `${link}.${process.pid}.part`;
      rmSync(temporary, { force: true });
      symlinkSync(basename(path), temporary);
      renameSync(temporary, link);
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
