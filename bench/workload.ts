import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse, YAMLParseError } from "yaml";
import { z } from "zod";
import { parseSize } from "../provider/size.ts";
import { inYaml, size, seconds as wholeSeconds } from "../stack-file/words.ts";
import type { Test } from "./schema/test.ts";
import {
  type ArcState,
  arcState,
  backstore,
  type Direction,
  directionOf,
  operation,
} from "./schema/words.ts";

/**
 * Workloads: what is run, as data. A file is a workload: those in bench/workloads by their name, any other by its
 * path. Sizes and times have units as in the stack file; a list makes a matrix with the other lists of its test.
 */

export const bytes = inYaml(size).transform((text) => Number(parseSize(text) ?? 0n));
export const seconds = wholeSeconds;
const positive = z.int().positive();

/** One value, or several that are tried one after the other. */
export const oneOrMore = <T extends z.ZodType>(value: T) =>
  z
    .union([z.array(value).min(1), value.transform((one) => [one])])
    .transform((values) => values as z.output<T>[]);

const fioTest = z
  .strictObject({
    kind: z.literal("fio").default("fio").describe("This kind."),
    about: z.string().optional().describe("For whoever reads the file."),
    operation: oneOrMore(operation).describe(
      "fio's rw. Of several each makes a test of its own, NAME-OPERATION.",
    ),
    blockSize: oneOrMore(bytes).describe("Bytes an I/O, a multiple of 512."),
    depth: oneOrMore(positive).prefault(1).describe("I/Os in flight a job. Default: 1."),
    jobs: oneOrMore(positive)
      .prefault(1)
      .describe("fio processes on a client, each on its own part of the test file. Default: 1."),
    size: bytes.describe("Of the test file on each client."),
    runtime: seconds.describe("Measured time of a run."),
    rampTime: seconds.prefault("0 s").describe("Time before it that doesn't count. Default: 0 s."),
    sync: z
      .enum(["none", "fdatasync"])
      .default("none")
      .describe("fdatasync: after each write. Default: none."),
    readShare: z
      .int()
      .min(1)
      .max(99)
      .optional()
      .describe("Percent of reads of rw and randrw; only of those."),
    rateIops: positive
      .optional()
      .describe("I/Os a second at most, over all jobs of a client. Default: no limit."),
    arc: arcState.default("left").describe("State of the storage host's ARC before each run. Default: left."),
    backstore: backstore.default("volume").describe("What the LUN is on. Default: volume."),
  })
  .describe("fio on the test file (kind fio, which may be left out):");

const filesTest = z
  .strictObject({
    kind: z.literal("files").describe("This kind."),
    about: z.string().optional().describe("For whoever reads the file."),
    files: positive.describe("How many files."),
    fileSize: bytes.describe("Of each."),
    folders: positive.default(1).describe("Directories that the files go round. Default: 1."),
  })
  .describe("Many files, written by one thread, then read in the same order (kind files):");

const io500Test = z
  .strictObject({
    kind: z.literal("io500").describe("This kind."),
    about: z.string().optional().describe("For whoever reads the file."),
    seconds: seconds.describe("Of each writing phase."),
    size: bytes.describe("Of the easy file at most."),
    files: positive.describe("Of the metadata phases at most."),
  })
  .describe("The io500 program, or phases of its shape (kind io500):");

/** For the reference: what each kind of test holds. */
export const testKinds = [fioTest, filesTest, io500Test] as const;

const aTest = z.preprocess(
  // Most are fio's, so their kind may be left out.
  (value) =>
    typeof value === "object" && value !== null && !("kind" in value) ? { kind: "fio", ...value } : value,
  z.discriminatedUnion("kind", [fioTest, filesTest, io500Test]),
);

const name = /^[a-z0-9][a-z0-9-]*$/;

/** What a workload file holds. */
export const workloadFile = z.strictObject({
  title: z.string().min(1).describe("In a few words, for tables."),
  about: z.string().min(1).describe("What it is for, and what its figures say."),
  source: z
    .string()
    .min(1)
    .describe("Where its figures are from: a publication, a reference lab, or this project."),
  tests: z
    .record(z.string(), aTest)
    .refine((tests) => Object.keys(tests).length > 0, "at least one test")
    .refine((tests) => Object.keys(tests).every((test) => name.test(test)), {
      error: "a test's name is lower-case letters, digits and dashes",
    }),
});
export type Workload = z.infer<typeof workloadFile> & { readonly name: string };

const folder = join(import.meta.dirname, "workloads");

export const workloadNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();

/**
 * A workload by its name, or by the path of its file (with a slash or .yaml in it), from the current directory. One
 * that isn't there, or isn't right, is a RangeError that says what is.
 */
export function readWorkload(nameOrPath: string): Workload {
  const byName = name.test(nameOrPath);
  const file = byName ? join(folder, `${nameOrPath}.yaml`) : resolve(nameOrPath);
  if (!existsSync(file)) {
    throw new RangeError(
      byName
        ? `no workload ${nameOrPath}: there are ${workloadNames().join(", ")}; one of your own is named by its path, such as ./${nameOrPath}.yaml`
        : `no workload file ${file}`,
    );
  }
  const own = basename(file).replace(/\.ya?ml$/, "");
  if (!name.test(own))
    throw new RangeError(
      `${file}: a workload's file is named in lower-case letters, digits and dashes, such as my-load.yaml`,
    );
  return { name: own, ...parseWorkload(readFileSync(file, "utf8"), byName ? `workload ${own}` : file) };
}

/** `from`: what to call it in an error. */
export function parseWorkload(text: string, from: string): z.infer<typeof workloadFile> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    if (!(cause instanceof YAMLParseError)) throw cause;
    throw new RangeError(`${from} is no YAML: ${cause.message.split("\n")[0]}`, { cause });
  }
  const parsed = workloadFile.safeParse(value);
  if (!parsed.success) throw new RangeError(`${from} is not right: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

/** What a stack file says in place of the workload's own. Bytes and seconds. */
export type Overrides = {
  /** fio: of the test file. files: of all files together at most. io500: of the easy file at most. */
  readonly size?: number | undefined;
  /** fio: of each run. io500: of each writing phase. */
  readonly runtime?: number | undefined;
  readonly rampTime?: number | undefined;
  readonly blockSize?: readonly number[] | undefined;
  readonly depth?: readonly number[] | undefined;
  readonly jobs?: readonly number[] | undefined;
  /** Only tests of these; kinds with phases have both. */
  readonly directions?: readonly Direction[] | undefined;
  readonly arc?: ArcState | undefined;
};

/** Its tests with everything resolved, the matrix multiplied out, in the file's order. */
export const testsOf = (workload: Workload, overrides: Overrides = {}): Test[] =>
  Object.entries(workload.tests).flatMap(([test, fields]) =>
    resolved({ workload: workload.name, test }, fields, overrides),
  );

type Fields = Workload["tests"][string];
type Named = { readonly workload: string; readonly test: string };

function resolved(named: Named, fields: Fields, overrides: Overrides): Test[] {
  switch (fields.kind) {
    case "fio":
      return matrix(named, fields, overrides);
    case "files": {
      const { size = fields.files * fields.fileSize } = overrides;
      const fileSize = Math.min(fields.fileSize, size);
      const files = Math.min(fields.files, Math.floor(size / fileSize));
      return [{ kind: "files", ...named, files, fileSize, folders: Math.min(fields.folders, files) }];
    }
    case "io500": {
      const { size = fields.size, runtime = fields.seconds } = overrides;
      return [
        { kind: "io500", ...named, seconds: runtime, size: Math.min(fields.size, size), files: fields.files },
      ];
    }
  }
}

function matrix(named: Named, fields: z.infer<typeof fioTest>, o: Overrides): Test[] {
  const operations = fields.operation.filter((one) => o.directions?.includes(directionOf(one)) ?? true);
  return operations.flatMap((one) =>
    (o.blockSize ?? fields.blockSize).flatMap((blockSize) =>
      (o.depth ?? fields.depth).flatMap((depth) =>
        (o.jobs ?? fields.jobs).map(
          (jobs): Test => ({
            kind: "fio",
            workload: named.workload,
            test: fields.operation.length > 1 ? `${named.test}-${one}` : named.test,
            operation: one,
            ...{ blockSize, depth, jobs, size: o.size ?? fields.size },
            ...{ runtime: o.runtime ?? fields.runtime, rampTime: o.rampTime ?? fields.rampTime },
            ...{ sync: fields.sync, readShare: fields.readShare ?? null, rateIops: fields.rateIops ?? null },
            // A LUN in memory has no ARC before it.
            ...{
              arc: fields.backstore === "ramdisk" ? "left" : (o.arc ?? fields.arc),
              backstore: fields.backstore,
            },
          }),
        ),
      ),
    ),
  );
}
