import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { readWorkload, testKinds, testsOf, workloadFile, workloadNames } from "../bench/workload.ts";
import { stackFile } from "../config.ts";
import { project } from "./environment.ts";

/**
 * Writes docs/stack-file.md, the reference of every key, from the descriptions in the schema (config.ts), and of
 * workload files, which a stack file names, from theirs (bench/workload.ts).
 * With --check it writes nothing and exits with 1 when the file is not what it would write.
 */

const file = join(project, "docs/stack-file.md");

const before = `# The stack file

Written by \`node scripts/stack-file-reference.ts\` from the schema in \`config.ts\`; change it there.

A lab is \`Pulumi.STACK.yaml\`: the keys below, each with \`storage-lab:\` before it, under \`config\`. \`Pulumi.lab.yaml\` is a whole one, \`Pulumi.lab-raidz2.yaml\` one over a base, \`Pulumi.r710.yaml\` one for real hosts. A mistake is refused with the key, the rule and the value before anything is touched.

- **Sizes** are IEC (\`200 GiB\`, \`16 KiB\`), zfs notation (\`200G\` = 200 GiB) or bytes. \`GB\` is refused: some tools read it as 10^9, some as 2^30.
- **Disks** are names under \`/dev/disk\` (\`by-id/…\`) or whole paths; \`{01..24}\` and \`{a,b}\` stand for many.
- **What is left out** is left alone on the hosts, unless a default is given here.
- **Order**: Pulumi sorts the keys of a map by name; a list keeps its order.
- **Passwords and keys** are Pulumi secrets. Where a key holds dots or colons it stands in brackets:

  \`\`\`
  pulumi config set --secret --path 'storage-lab:targets["iqn.2026-09.com.example.lab:tank"].chap.password'
  \`\`\`

- **A base**: with \`storage-lab:base: lab\`, every key that the file leaves out is taken from \`Pulumi.lab.yaml\`. Keys are taken whole and never merged inside: a file that has \`storage-lab:pools\` has all of its pools. \`{}\`, and \`none\` for filesystem and benchmark, leave out what the base has. A base has no base itself, and gives no secrets: these open with its own stack's key alone.

The provider's own settings, beside these: \`storagelab:showCommands\`, \`storagelab:readOnly\`, \`storagelab:destroyProtection\`, \`storagelab:forget\` (README.md).
`;

type Schema = z.core.$ZodType;
type Row = { key: string; value: string; fallback: string; description: string };

/** What an operator writes, without what the schema makes of it. */
type Written = { schema: Schema; optional: boolean; fallback: unknown; description: string | undefined };

function written(schema: Schema): Written {
  let description: string | undefined;
  let fallback: unknown;
  let optional = false;
  let inner = schema as z.core.$ZodTypes;
  for (;;) {
    description ??= (inner as unknown as z.ZodType).description;
    const { def } = inner._zod;
    if (def.type === "optional" || def.type === "default" || def.type === "prefault") {
      optional = true;
      if (def.type !== "optional") fallback = def.defaultValue;
      inner = def.innerType as z.core.$ZodTypes;
    } else if (def.type === "pipe") {
      const { type } = (def.in as z.core.$ZodTypes)._zod.def;
      // A preprocess stands before what is written, a transform behind it.
      inner = (type === "transform" ? def.out : def.in) as z.core.$ZodTypes;
    } else return { schema: inner, optional, fallback, description };
  }
}

/** A value's form in a word or two. */
function form(schema: Schema): string {
  const { def } = (written(schema).schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return "map";
    case "record":
      return "map";
    case "array":
      return "list";
    case "boolean":
      return "true or false";
    case "number":
      return "number";
    case "string":
      return "text";
    case "enum":
      return Object.values(def.entries).map(String).join(", ");
    case "literal":
      return def.values.map(String).join(", ");
    case "union":
      return [...new Set(def.options.map(form))].join(" or ");
    default:
      throw new Error(
        `the reference knows no word for ${def.type}; add one in scripts/stack-file-reference.ts`,
      );
  }
}

/** Maps that stand in several places (vdevs) are listed at their first. */
const listed = new Map<Schema, string>();

/** The keys of a map, those inside maps after it; `NAME` stands for a name of the operator's. */
function rows(schema: Schema, prefix: string): Row[] {
  const { def } = (written(schema).schema as z.core.$ZodTypes)._zod;
  if (def.type === "union") return def.options.slice(0, 1).flatMap((option) => rows(option, prefix));
  if (def.type === "array") return rows(def.element, prefix);
  if (def.type === "record") return rows(def.valueType, `${prefix}${prefix === "" ? "" : "."}NAME`);
  if (def.type !== "object") return [];
  const first = listed.get(written(schema).schema) ?? prefix;
  if (first !== prefix)
    return [{ key: `${prefix}.…`, value: "", fallback: "", description: `As in \`${first}\`.` }];
  listed.set(written(schema).schema, prefix);
  return Object.entries(def.shape).flatMap(([name, value]) => {
    const { optional, fallback, description } = written(value);
    if (description === undefined) throw new Error(`${prefix}.${name} has no description in the schema`);
    const key = prefix === "" ? name : `${prefix}.${name}`;
    const plain = fallback === undefined || typeof fallback === "object" ? "" : String(fallback);
    return [
      { key, value: form(value), fallback: optional ? plain : "required", description },
      ...rows(value, key),
    ];
  });
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const line = ({ key, value, fallback, description }: Row): string =>
  `| \`${key}\` | ${cell(value)} | ${cell(fallback)} | ${cell(description)} |`;

export function reference(): string {
  const sections = Object.entries(stackFile.shape).map(([name, schema]) => {
    const { description = "" } = written(schema);
    const inside = rows(schema, name);
    return [`## ${name}`, description, ...(inside.length === 0 ? [] : [table(inside)])].join("\n\n");
  });
  return `${[before.trimEnd(), ...sections, workloads()].join("\n\n")}\n`;
}

const table = (of: readonly Row[]): string =>
  ["| key | value | default | |", "| --- | --- | --- | --- |", ...of.map(line)].join("\n");

/** What a workload file holds, and those that come with the project. */
function workloads(): string {
  const { tests: _tests, ...head } = workloadFile.shape;
  const kinds = testKinds.map((kind) => {
    const { description = "" } = written(kind);
    return `${description}\n\n${table(rows(kind, "tests.NAME"))}`;
  });
  const shipped = workloadNames().map((name) => {
    const workload = readWorkload(name);
    const tests = testsOf(workload).length;
    return `- **${name}** (${tests === 1 ? "1 test" : `${tests} tests`}): ${workload.about} Source: ${workload.source}`;
  });
  return [
    "## Workload files",
    "What `benchmark.workload` names: a file in `bench/workloads`, by its name, or any other by its path. A file of your own needs no code: write one beside the stack file and name it, `workload: ./my-load.yaml`. Where a key takes a list, each combination of values is a test.",
    shipped.join("\n"),
    table([
      ...Object.entries(head).map(([key, value]) => {
        const { description = "" } = written(value);
        return { key, value: form(value), fallback: "required", description };
      }),
      { key: "tests", value: "map", fallback: "required", description: "The tests by name, of these kinds:" },
    ]),
    ...kinds,
  ].join("\n\n");
}

if (import.meta.main) {
  if (!process.argv.includes("--check")) writeFileSync(file, reference());
  else if (readFileSync(file, "utf8") !== reference()) {
    console.error("docs/stack-file.md is not what the schema says: run node scripts/stack-file-reference.ts");
    process.exitCode = 1;
  }
}
