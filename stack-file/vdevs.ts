import { z } from "zod";
import { enclosures, expandBraces, layoutKinds, type VdevLayout, vdevsOf } from "../components/layout.ts";
import { diskPath, patterns } from "./words.ts";

/** Vdevs in the stack file: disks by patterns, a layout and its width, and the rule that spreads them. */

const width = z.number().int().positive();

export const vdevs = z
  .strictObject({
    disks: patterns.describe(
      "Names under /dev/disk (by-id/…), with {01..24} and {a,b} for many; one, or a list.",
    ),
    stripe: width.optional().describe("Disks that stand alone: 1."),
    mirror: width.optional().describe("Sides of each mirror."),
    raidz1: width.optional().describe("Disks of each RAID-Z1 vdev, parity included."),
    raidz2: width.optional().describe("Disks of each RAID-Z2 vdev, parity included."),
    raidz3: width.optional().describe("Disks of each RAID-Z3 vdev, parity included."),
    draid1: width.optional().describe("Disks of each dRAID1 vdev, parity and spares included."),
    draid2: width.optional().describe("Disks of each dRAID2 vdev, parity and spares included."),
    draid3: width.optional().describe("Disks of each dRAID3 vdev, parity and spares included."),
    data: width
      .optional()
      .describe("dRAID: data disks of a redundancy group. ZFS's default: 8, or as many as there are."),
    spares: z.number().int().min(0).optional().describe("dRAID: distributed spares. ZFS's default: 0."),
    spread: z
      .literal("enclosure")
      .optional()
      .describe(
        "Deal each vdev's disks over the enclosures: one for each value of a single pattern's first brace, or for each pattern of a list.",
      ),
  })
  .transform((layout, context) => {
    const wrong = (message: string, ...path: string[]) => {
      context.addIssue({ code: "custom", path, message });
      return z.NEVER;
    };
    const kinds = layoutKinds.filter((kind) => layout[kind] !== undefined);
    const [kind] = kinds;
    if (kinds.length !== 1 || kind === undefined) {
      const found = kinds.length === 0 ? "none" : kinds.join(" and ");
      return wrong(`one of ${layoutKinds.join(", ")} says the layout; found ${found}`);
    }
    const { data, spares, spread, disks } = layout;
    const draidOnly = data !== undefined ? "data" : spares !== undefined ? "spares" : undefined;
    if (draidOnly !== undefined && !kind.startsWith("draid"))
      return wrong(`${draidOnly} is for dRAID; this is ${kind}`, draidOnly);
    try {
      const groups = vdevsOf(disks, kind === "stripe" ? 1 : (layout[kind] ?? 1), spread !== undefined);
      const draid = { ...(data !== undefined && { data }), ...(spares !== undefined && { spares }) };
      return {
        vdevs: groups.map((names): VdevLayout => ({ type: kind, disks: names.map(diskPath), ...draid })),
        enclosures: spread === undefined ? [] : enclosures(disks).map((names) => names.map(diskPath)),
      };
    } catch (error) {
      return wrong((error as Error).message, "disks");
    }
  });

/** A list of disks by patterns. */
export function disksOf(description: string) {
  return patterns
    .transform((list, context) => {
      try {
        return list.flatMap(expandBraces).map(diskPath);
      } catch (error) {
        context.addIssue({ code: "custom", message: (error as Error).message });
        return z.NEVER;
      }
    })
    .optional()
    .describe(description);
}
