import { z } from "zod";
import { hostAddress } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import { current, found, gone } from "./pool-found.ts";
import { hints } from "./pool-hints.ts";
import { observe, type PoolObserved } from "./pool-observe.ts";
import { plan } from "./pool-plan.ts";
import { refusals, refuseDestroy } from "./pool-refusals.ts";
import { nameRules, poolRules } from "./pool-rules.ts";
import { local, ownerProperty, property } from "./properties.ts";
import { layouts, roles } from "./status.ts";
import { keptFromReplace } from "./steps.ts";

/**
 * zfs:Pool: a ZFS pool: zpoolconcepts(7), zpoolprops(7), zpool-create(8), zpool-attach(8), zpool-remove(8),
 * zpool-replace(8).
 * Made on blank disks only; what a disk holds is found before anything is written, and refused unless the stack
 * file names that disk under `wipe`. Marked by the root dataset's user property and by the pool's `comment`,
 * which stands in the labels too, so that the pool is known again when it is exported or destroyed.
 */

const disk = z
  .string()
  .regex(/^(\/dev\/|by-id\/)[^\s,]+$/, "a disk is /dev/… or by-id/…, short for /dev/disk/by-id/…");
const settings = z.record(z.string().regex(/^[a-z0-9@_:.-]+$/), z.string().regex(/^[^\n\t]*$/));

export const poolInputs = z.strictObject({
  host: hostAddress,
  name: z.string().meta({ change: "replace" }).describe("Name of the pool, by the rules of zpool-create(8)."),
  vdevs: z
    .array(
      z.strictObject({
        role: z.enum(roles).describe("What the vdev is for; zpoolconcepts(7)."),
        type: z.enum(layouts).describe("How its disks are joined; a stripe's disks each stand alone."),
        disks: z
          .array(disk)
          .min(1)
          .describe("Whole disks or partitions by stable names; ZFS labels whole disks itself."),
        data: z
          .int()
          .min(1)
          .optional()
          .describe("dRAID: data disks of a redundancy group. Left out: ZFS's 8, or as many as there are."),
        spares: z.int().min(0).optional().describe("dRAID: distributed spares. Left out: ZFS's 0."),
      }),
    )
    .describe(
      "All vdevs. Changed in place: vdevs added; log, cache and spare removed; data vdevs removed where no RAID-Z is; " +
        "sides of mirrors attached and detached; disks replaced; RAID-Z widened.",
    ),
  ashift: z
    .int()
    .min(9)
    .max(16)
    .optional()
    .meta({ change: "replace" })
    .describe("Sector size as a power of two: 9 = 512 B, 12 = 4 KiB. Left out: what the disks report."),
  properties: settings
    .optional()
    .describe(
      "Properties of the pool, zpoolprops(7), compatibility and feature@… among them. Left out: left alone; the pool is " +
        "never upgraded by itself.",
    ),
  filesystemProperties: settings
    .optional()
    .describe(
      "Properties of the root dataset, zfsprops(7), inherited by what is in the pool. Left out: left alone.",
    ),
  offline: z
    .array(disk)
    .optional()
    .describe(
      "The disks that are taken offline, zpool-offline(8); all others are brought online. Left out: left alone.",
    ),
  expand: z
    .boolean()
    .optional()
    .describe("Use all of disks that became larger, for good, zpool-online(8) -e. Left out: left alone."),
  waitForResilver: z
    .boolean()
    .optional()
    .meta({ unseen: true })
    .describe(
      "Wait until a resilver or a RAID-Z expansion has ended, 25 minutes an up. Left out: ZFS goes on by itself.",
    ),
  wipe: z
    .array(disk)
    .optional()
    .meta({ unseen: true })
    .describe("Disks whose content may be destroyed when this pool takes them."),
  onDelete: z
    .enum(["export", "destroy"])
    .meta({ unseen: true })
    .describe(
      "export leaves all data on the disks, for a later import; destroy destroys it and clears the labels.",
    ),
});
export type PoolInputs = z.infer<typeof poolInputs>;

export const pool: ResourceType<PoolInputs, PoolObserved> = {
  type: "zfs:Pool",
  inputs: poolInputs,
  identity: (inputs) => inputs.name,
  observe,
  exists: (observed) => observed.pool !== undefined,
  owner: (observed) => (observed.pool === undefined ? undefined : local(observed.pool.root, ownerProperty)),
  current,
  plan,
  refusals,
  hints,
  refusesReplace: (inputs, observed) =>
    keptFromReplace("pool", inputs) ?? refuseDestroy(observed, inputs.name)[0],
  gone,
  rules: poolRules,
  named: (host, name) =>
    nameRules({ name }).length > 0 ? undefined : { host, name, vdevs: [], onDelete: "export" },
  found,
  outputs: ({ name }, observed) => ({
    name,
    ...(observed?.pool && {
      guid: property(observed.pool.properties, "guid"),
      size: Number(property(observed.pool.properties, "size")),
      health: property(observed.pool.properties, "health"),
      ...(observed.pool.busy && { busy: observed.pool.busy }),
    }),
  }),
};
