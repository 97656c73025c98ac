import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** The published reference labs, one file a lab in bench/reference/: figures as data, units as published. */

export const figure = z.strictObject({
  system: z.string().optional().describe("Which of the lab's systems, where it compares several."),
  protocol: z.enum(["iscsi", "iser", "srp", "smb"]).optional(),
  workload: z.string().describe("What ran: sequential, 4 KiB random, long files."),
  direction: z.enum(["write", "read"]).optional(),
  metric: z.string().describe("What was measured: bandwidth, IOPS, clat median."),
  value: z.number(),
  unit: z.string(),
  about: z.literal(true).optional().describe("Published as “about”."),
  note: z.string().optional(),
});
export type Figure = z.infer<typeof figure>;

export const reference = z.strictObject({
  name: z.string().regex(/^lab-[a-z]$/),
  title: z.string(),
  published: z.string().optional(),
  setup: z.array(z.strictObject({ part: z.string(), what: z.string() })),
  method: z.string(),
  figures: z.array(figure).min(1),
  seen: z.array(z.string()).describe("What was observed beside the figures, in the lab's words."),
});
export type Reference = z.infer<typeof reference>;

const folder = join(import.meta.dirname, "reference");

export const referenceNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .map((file) => file.slice(0, -".json".length))
    .sort();

/** One lab's file, checked. */
export function readReference(name: string): Reference {
  if (!referenceNames().includes(name)) {
    throw new TypeError(`reference ${name}: no such lab; there are ${referenceNames().join(", ")}`);
  }
  const found = reference.parse(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")));
  if (found.name !== name) throw new TypeError(`bench/reference/${name}.json calls itself ${found.name}`);
  return found;
}
