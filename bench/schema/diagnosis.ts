import { z } from "zod";

/** What limits a run: the path from the client to the disks, element by element, and which one is full. */

export const elementName = z.enum([
  "client core",
  "client cpu",
  "link",
  "storage core",
  "storage cpu",
  "arc",
  "pool",
  "slog",
  "hba",
  "disks",
]);
export type ElementName = z.infer<typeof elementName>;

export const element = z.strictObject({
  element: elementName,
  name: z.string().describe("Which one: initiator core 3, tank, LSI SAS2008."),
  used: z.number().nullable().describe("What the run took of it; null: not measured."),
  capacity: z.number().nullable().describe("What it has; null: not known."),
  unit: z.enum(["%", "MB/s", "IOPS"]),
  share: z.number().nullable().describe("Percent of the capacity; null where either is."),
  bound: z
    .number()
    .nullable()
    .describe("MB/s of payload that the client could at most see if this element alone limited."),
  from: z.enum(["measured", "read", "stated", "assumed", "unknown"]).describe("Where the capacity is from."),
  how: z
    .string()
    .describe("How both were made, in words: 3 copies of 721 MB/s over PCIe 2.0 x8 (4,000 MB/s)."),
});
export type Element = z.infer<typeof element>;

export const confidence = z.enum(["high", "medium", "low"]);

export const finding = z.strictObject({
  rule: z.string().describe("The rule's name, its file's in bench/diagnosis/rules."),
  element: elementName.nullable().describe("Null: the run itself (invalid, throttled, too shallow a queue)."),
  limits: z.boolean().describe("It limits the run; else it is worth knowing."),
  confidence,
  sentence: z.string().describe("For an operator: what limits, and where."),
  evidence: z.array(z.string()).min(1).describe("The figures that say so, each with its bound."),
});
export type Finding = z.infer<typeof finding>;

export const advice = z.strictObject({
  step: z
    .enum(["configuration", "measure again", "hardware", "no help", "nothing to do"])
    .describe(
      "In this order: what costs nothing first; what would not help is said too. Or: the needs are met.",
    ),
  sentence: z.string(),
  key: z.string().nullable().describe("The stack file's key and value, as it would be written there."),
  atMost: z.number().nullable().describe("MB/s that the next limit of the path allows; null: not known."),
});
export type Advice = z.infer<typeof advice>;

export const diagnosis = z.strictObject({
  limit: finding.nullable().describe("Null: nothing measured is near its capacity."),
  others: z.array(finding).describe("Next in line, and what is worth knowing."),
  elements: z.array(element),
  advice: z.array(advice),
});
export type Diagnosis = z.infer<typeof diagnosis>;
