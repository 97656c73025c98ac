import { createHash } from "node:crypto";
import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import type { Questions } from "../../host.ts";
import type { Step } from "../../step.ts";
import type { Chap } from "../iscsi/chap.ts";
import { normalPortal } from "../net/address.ts";
import { configfs, type Lio } from "./configfs.ts";

/**
 * What brings LIO's configuration back at boot: rtslib's saveconfig.json, and the unit that restores it, which has
 * to wait for the pools. See targetctl(8). Debian and Enterprise Linux have other names for both.
 */

const distributions = [
  { unit: "rtslib-fb-targetctl.service", folder: "/etc/rtslib-fb-target" },
  { unit: "target.service", folder: "/etc/target" },
] as const;
const system = "/etc/systemd/system";
const modules = ["target_core_mod", "target_core_iblock", "iscsi_target_mod"];
/** Two files, so that a backstore's plan and a target's with iSER agree on each. */
const moduleFiles = {
  lio: { file: "/etc/modules-load.d/storage-lab-lio.conf", text: moduleText("LIO", modules) },
  iser: {
    file: "/etc/modules-load.d/storage-lab-lio-iser.conf",
    text: moduleText("iSER for LIO", ["ib_isert"]),
  },
};
function moduleText(what: string, names: readonly string[]): string {
  return ["# Written by storage-lab: " + what + ".", ...names].join("\n");
}
const dropInText = `# Written by storage-lab. LUNs stand on zvols: restored before their pools are imported, LIO comes up empty,
# and the next save would keep it so.
[Unit]
After=zfs-import.target zfs-volumes.target`;

export type SavedBlock = { device: string; serial: string; attributes: Map<string, string> };
export type SavedRamdisk = { bytes: number; serial: string };
export type SavedTarget = {
  enabled: boolean;
  attributes: Map<string, string>;
  portals: Map<string, boolean>;
  luns: Map<number, string>;
  acls: Map<string, { luns: Map<number, number>; chap: Chap }>;
};

export type Restore = {
  /** The unit that restores at boot; undefined where rtslib is not installed. */
  unit: string | undefined;
  enabled: boolean;
  /** Does it wait for the pools? */
  ordered: boolean;
  folder: string;
  /** A short name for the save file's content; undefined where there is no file. */
  fingerprint: string | undefined;
  /** Has storage-lab prepared this host for LIO? At least one file of ours is there. */
  ours: boolean;
  /** Which modules are loaded at boot. */
  modules: { lio: boolean; iser: boolean };
  blocks: Map<string, SavedBlock>;
  ramdisks: Map<string, SavedRamdisk>;
  targets: Map<string, SavedTarget>;
};

export async function observeRestore(host: Questions): Promise<Restore> {
  const paths = distributions.flatMap(({ unit, folder }) => [
    `/usr/lib/systemd/system/${unit}`,
    `${system}/multi-user.target.wants/${unit}`,
    `${system}/${unit}.d/storage-lab.conf`,
    `${folder}/saveconfig.json`,
  ]);
  const files = await readFiles(host, [moduleFiles.lio.file, moduleFiles.iser.file, ...paths]);
  const { unit, folder } =
    distributions.find(({ unit }) => files.has(`/usr/lib/systemd/system/${unit}`)) ?? distributions[0];
  const text = files.get(`${folder}/saveconfig.json`);
  return {
    unit: files.has(`/usr/lib/systemd/system/${unit}`) ? unit : undefined,
    enabled: files.has(`${system}/multi-user.target.wants/${unit}`),
    ordered: files.get(`${system}/${unit}.d/storage-lab.conf`) === dropInText,
    folder,
    fingerprint:
      text === undefined ? undefined : createHash("sha256").update(text).digest("hex").slice(0, 12),
    ours: [moduleFiles.lio.file, moduleFiles.iser.file, `${system}/${unit}.d/storage-lab.conf`].some((file) =>
      files.has(file),
    ),
    modules: {
      lio: files.get(moduleFiles.lio.file) === moduleFiles.lio.text,
      iser: files.get(moduleFiles.iser.file) === moduleFiles.iser.text,
    },
    ...parseSaved(text),
  };
}

const attributes = z.record(z.string(), z.union([z.string(), z.number()])).optional();
const optionalText = z.string().nullish();
const saved = z.looseObject({
  storage_objects: z
    .array(
      z.looseObject({
        name: z.string(),
        plugin: z.string(),
        dev: optionalText,
        size: z.number().nullish(),
        wwn: optionalText,
        attributes,
      }),
    )
    .default([]),
  targets: z
    .array(
      z.looseObject({
        wwn: z.string(),
        fabric: z.string(),
        tpgs: z
          .array(
            z.looseObject({
              tag: z.number(),
              enable: z.boolean().optional(),
              attributes,
              portals: z
                .array(
                  z.looseObject({ ip_address: z.string(), port: z.number(), iser: z.boolean().optional() }),
                )
                .default([]),
              luns: z.array(z.looseObject({ index: z.number(), storage_object: z.string() })).default([]),
              node_acls: z
                .array(
                  z.looseObject({
                    node_wwn: z.string(),
                    mapped_luns: z
                      .array(z.looseObject({ index: z.number(), tpg_lun: z.number() }))
                      .default([]),
                    chap_userid: optionalText,
                    chap_password: optionalText,
                    chap_mutual_userid: optionalText,
                    chap_mutual_password: optionalText,
                  }),
                )
                .default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

/** Reads saveconfig.json. It holds secrets: messages quote nothing of it. */
export function parseSaved(text: string | undefined): Pick<Restore, "blocks" | "ramdisks" | "targets"> {
  const found: ReturnType<typeof parseSaved> = { blocks: new Map(), ramdisks: new Map(), targets: new Map() };
  if (text === undefined) return found;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ParseError("LIO's saveconfig.json is not JSON: repair it, or move it away");
  }
  const parsed = saved.safeParse(value);
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".") ?? "";
    throw new ParseError(`LIO's saveconfig.json is not of the known form at ${where}`);
  }
  for (const object of parsed.data.storage_objects) {
    if (object.plugin === "ramdisk") {
      found.ramdisks.set(object.name, { bytes: object.size ?? 0, serial: object.wwn ?? "" });
    }
    if (object.plugin !== "block") continue;
    const block = {
      device: object.dev ?? "",
      serial: object.wwn ?? "",
      attributes: strings(object.attributes),
    };
    found.blocks.set(object.name, block);
  }
  for (const { wwn, fabric, tpgs } of parsed.data.targets) {
    const tpg = tpgs.find(({ tag }) => tag === 1);
    if (fabric !== "iscsi" || tpg === undefined) continue;
    found.targets.set(wwn, {
      enabled: tpg.enable ?? true,
      attributes: strings(tpg.attributes),
      portals: new Map(tpg.portals.map((p) => [normalPortal(`${p.ip_address}:${p.port}`), p.iser ?? false])),
      luns: new Map(
        tpg.luns.map((l) => [l.index, l.storage_object.replace(/^\/backstores\/(block|ramdisk)\//, "")]),
      ),
      acls: new Map(
        tpg.node_acls.map((acl) => {
          const chap = {
            user: acl.chap_userid ?? "",
            password: acl.chap_password ?? "",
            mutualUser: acl.chap_mutual_userid ?? "",
            mutualPassword: acl.chap_mutual_password ?? "",
          };
          return [acl.node_wwn, { luns: new Map(acl.mapped_luns.map((m) => [m.index, m.tpg_lun])), chap }];
        }),
      ),
    });
  }
  return found;
}

const strings = (values: Record<string, string | number> = {}): Map<string, string> =>
  new Map(Object.entries(values).map(([name, value]) => [name, String(value)]));

/** Steps that bring LIO up, now and at boot. */
function prepareSteps(lio: Lio, restore: Restore, iser: boolean): Step[] {
  const steps: Step[] = [];
  if (!lio.loaded) {
    steps.push(
      { say: "mount configfs", argv: ["systemctl", "start", "sys-kernel-config.mount"] },
      { say: "load LIO", argv: ["modprobe", "-a", ...modules] },
      // Where reservations are kept. The kernel takes it only while it has no backstore, and rtslib warns when it
      // is elsewhere; neither is a reason to stop.
      {
        say: `keep LIO's reservations in ${restore.folder}`,
        argv: [
          "sh",
          "-c",
          'mkdir -p "$1/pr" "$1/alua" && { printf %s "$1" >"$2" || true; } 2>/dev/null',
          "sh",
          restore.folder,
          `${configfs}/dbroot`,
        ],
      },
    );
  }
  const load = [
    ...(restore.modules.lio ? [] : [moduleFiles.lio]),
    ...(restore.modules.iser || !iser ? [] : [moduleFiles.iser]),
  ];
  for (const { file, text } of load)
    steps.push({ say: `write ${file}, for the next boot`, file, text: `${text}\n` });
  if (!restore.ordered) {
    const file = `${system}/${restore.unit}.d/storage-lab.conf`;
    steps.push({ say: "let LIO's restore wait for the pools", file, text: `${dropInText}\n` });
  }
  if (!restore.enabled && restore.unit !== undefined) {
    const link = `${system}/multi-user.target.wants/${restore.unit}`;
    const file = `/usr/lib/systemd/system/${restore.unit}`;
    steps.push({ say: `let ${restore.unit} run at boot`, argv: ["ln", "-sfn", file, link] });
  }
  return steps;
}

/**
 * All steps of one object: what brings LIO up, the object's own, and what saves them. An object that needs nothing
 * on a host that others have prepared was imported: their way of bringing LIO back at boot is left alone.
 */
export function wholePlan(
  steps: readonly Step[],
  isSaved: boolean,
  { lio, restore }: { lio: Lio; restore: Restore },
  object: { name: string; iser: boolean },
): Step[] {
  if (steps.length === 0 && isSaved && !restore.ours) return [];
  const save = steps.length > 0 || !isSaved ? saveSteps(lio, restore, object.name) : [];
  return [...prepareSteps(lio, restore, object.iser), ...steps, ...save];
}

/** What an operator should know of a host whose LIO others have set up. */
export const preparedByOthers = (lio: Lio, restore: Restore, host: string): string[] =>
  restore.ours || lio.blocks.size + lio.ramdisks.size + lio.targets.size === 0
    ? []
    : [
        `LIO on ${host} was set up by others: with this change, ${restore.unit} brings it back at boot, after the pools`,
      ];

/**
 * Steps that save what runs. What is saved but does not run (a restore that failed) would be lost by that, so the
 * file is kept beside under its fingerprint then. `own` is the object whose plan this is.
 */
export function saveSteps(lio: Lio, restore: Restore, own: string): Step[] {
  const lost = [
    ...[...restore.blocks.keys()].filter((name) => !lio.blocks.has(name)),
    ...[...restore.ramdisks.keys()].filter((name) => !lio.ramdisks.has(name)),
    ...[...restore.targets.keys()].filter((name) => !lio.targets.has(name)),
  ].filter((name) => name !== own);
  const file = `${restore.folder}/saveconfig.json`;
  const copy = `${restore.folder}/saveconfig-${restore.fingerprint}.json`;
  return [
    ...(lost.length === 0
      ? []
      : [
          {
            say: `keep a copy of ${file}, which holds ${lost.join(", ")}, not running now`,
            argv: ["cp", "-p", file, copy],
          },
        ]),
    // rtslib writes the file anew without waiting for the disk: after a power failure what was removed would be back.
    {
      say: "save LIO's configuration",
      argv: ["sh", "-c", 'targetctl save && sync "$0" "$1"', file, restore.folder],
      onceAtEnd: true,
    },
  ];
}

export const missingPackage = (host: string): string =>
  `${host} has no targetctl, which brings LIO's configuration back at boot: ` +
  "apt-get install targetcli-fb python3-rtslib-fb, or dnf install targetcli";
