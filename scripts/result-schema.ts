import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { recording } from "../bench/schema/recording.ts";
import { result } from "../bench/schema/result.ts";
import { project } from "./environment.ts";

/**
 * Writes docs/result.schema.json and docs/recording.schema.json, the JSON Schemas of what a benchmark stores, from the
 * schemas in bench/schema. With --check it writes nothing and exits with 1 when a file is not what it would write.
 */

const documents = [
  { file: "docs/result.schema.json", title: "A benchmark's result, version 2", schema: result },
  { file: "docs/recording.schema.json", title: "A run's recording, version 2", schema: recording },
];

export const jsonSchema = (title: string, schema: z.ZodType): string =>
  `${JSON.stringify({ title, ...z.toJSONSchema(schema, { io: "output" }) }, null, 2)}\n`;

if (import.meta.main) {
  for (const { file, title, schema } of documents) {
    const path = join(project, file);
    const wanted = jsonSchema(title, schema);
    if (!process.argv.includes("--check")) writeFileSync(path, wanted);
    else if (readFileSync(path, "utf8") !== wanted) {
      console.error(`${file} is not what bench/schema says: run node scripts/result-schema.ts`);
      process.exitCode = 1;
    }
  }
}
