import { isDeepStrictEqual } from "node:util";
import type { Effect, Step } from "../../step.ts";
import { type Chap, chapOf } from "../iscsi/chap.ts";
import { normalPortal, portalsOverlap } from "../net/address.ts";
import { attributeTexts } from "./attributes.ts";
import { freeIndex } from "./backstore.ts";
import { backstoreOf, core, iscsi, type Lio, type Tpg, tpgPath } from "./configfs.ts";
import type { SavedTarget } from "./saved.ts";
import { sessionsAt, sessionsOf } from "./sessions.ts";
import type { TargetInputs, TargetObserved } from "./target.ts";

/** The steps that make, change and remove a target's TPG in configfs, from what is declared and what is there. */

/** What is declared, in the form in which it is observed. */
export function wanted({ portals, luns, acls, attributes, chap }: TargetInputs) {
  const all = luns.map(({ lun }) => lun);
  return {
    portals: new Map(portals.map(({ address, protocol }) => [normalPortal(address), protocol === "iser"])),
    luns: new Map(luns.map(({ lun, backstore, ramdisk = false }) => [lun, { name: backstore, ramdisk }])),
    acls: new Map(acls.map(({ initiator, luns }) => [initiator, new Set(luns ?? all)])),
    attributes: new Map([
      ["authentication", chap === undefined ? "0" : "1"],
      ["generate_node_acls", "0"],
      ...attributeTexts(attributes),
    ]),
    chap: chapOf(chap),
  };
}

export type Wanted = ReturnType<typeof wanted>;
type Seen = Pick<TargetObserved, "tpg" | "attributes" | "connections">;

const chapFiles: [key: keyof Chap, file: string, secret: boolean][] = [
  ["user", "userid", false],
  ["password", "password", true],
  ["mutualUser", "userid_mutual", false],
  ["mutualPassword", "password_mutual", true],
];

/** Only what somebody uses has an effect. */
const drops = (isUsed: boolean): { effect?: Effect } => (isUsed ? { effect: "sessions drop" } : {});

export function changeSteps(iqn: string, want: Wanted, observed: Seen & { lio: Lio }): Step[] {
  const { lio } = observed;
  const path = tpgPath(iqn);
  const there: Tpg = observed.tpg ?? { ...nothing, portals: new Map(), luns: new Map(), acls: new Map() };
  const steps: Step[] = [];
  if (observed.tpg === undefined) {
    steps.push(
      { say: "make room for iSCSI targets", argv: ["mkdir", "-p", iscsi] },
      { say: `make target ${iqn}`, argv: ["mkdir", "-p", path], undo: ["rmdir", path, `${iscsi}/${iqn}`] },
    );
  }
  const values = new Map(observed.attributes);
  if (there.authentication !== undefined) values.set("authentication", there.authentication);
  if (there.generateNodeAcls !== undefined) values.set("generate_node_acls", there.generateNodeAcls);
  for (const [attribute, value] of want.attributes) {
    if (values.get(attribute) === value) continue;
    steps.push({ say: `set ${attribute} to ${value}`, attribute: `${path}/attrib/${attribute}`, value });
  }
  steps.push(...portalSteps(path, want, there, observed));
  steps.push(...lunSteps(path, want, there, lio), ...aclSteps(path, want, there));
  if (!there.enabled) steps.push({ say: `enable ${iqn}`, attribute: `${path}/enable`, value: "1" });
  return steps;
}

/** Portals come before others go, so that the target is never without: but for those whose port is to be taken. */
function portalSteps(path: string, want: Wanted, there: Tpg, observed: Seen): Step[] {
  const closed = [...there.portals].filter(([portal]) => !want.portals.has(portal));
  const fresh = [...want.portals.keys()].filter((portal) => !there.portals.has(portal));
  const inTheWay = closed.filter(([portal]) => fresh.some((other) => portalsOverlap(portal, other)));
  const close = ([portal, now]: (typeof closed)[number]): Step[] => closePortal(path, portal, now, observed);
  const steps: Step[] = inTheWay.flatMap(close);
  for (const [portal, iser] of want.portals) {
    const now = there.portals.get(portal);
    const folder = `${path}/np/${now?.folder ?? portal}`;
    if (now === undefined) {
      steps.push({ say: `open portal ${portal}`, argv: ["mkdir", folder], undo: ["rmdir", folder] });
    }
    if ((now?.iser ?? false) === iser) continue;
    // Without the module the kernel would only warn, in its log.
    if (iser) steps.push({ say: "load iSER for targets", argv: ["modprobe", "ib_isert"] });
    const say = `switch iSER ${iser ? "on" : "off"} at ${portal}`;
    const used = !iser && sessionsAt(observed.tpg, observed.connections, portal).length > 0;
    steps.push({ say, attribute: `${folder}/iser`, value: iser ? "1" : "0", ...drops(used) });
  }
  return [...steps, ...closed.filter((portal) => !inTheWay.includes(portal)).flatMap(close)];
}

const nothingWanted: Wanted = {
  portals: new Map(),
  luns: new Map(),
  acls: new Map(),
  attributes: new Map(),
  chap: chapOf(undefined),
};
const nothing = { enabled: false, authentication: undefined, generateNodeAcls: undefined };

function closePortal(
  path: string,
  portal: string,
  { folder, iser }: { folder: string; iser: boolean },
  { tpg, connections }: Seen,
): Step[] {
  const effect = drops(sessionsAt(tpg, connections, portal).length > 0);
  const attribute = `${path}/np/${folder}/iser`;
  return [
    ...(iser ? [{ say: `switch iSER off at ${portal}`, attribute, value: "0", ...effect }] : []),
    { say: `close portal ${portal}`, argv: ["rmdir", `${path}/np/${folder}`], ...effect },
  ];
}

/** The LUNs that an initiator sees under their own numbers, in order. */
export const mappedLuns = (tpg: Tpg, initiator: string): number[] =>
  [...(tpg.acls.get(initiator)?.luns ?? [])]
    .flatMap(([number, { lun }]) => (number === lun ? [number] : []))
    .sort((a, b) => a - b);

/** Is this mapped LUN of an ACL as declared? A LUN whose backstore changes is mapped anew. */
export const isMapped = (want: Wanted, there: Tpg, initiator: string, lun: number): boolean =>
  want.acls.get(initiator)?.has(lun) === true &&
  there.acls.get(initiator)?.luns.get(lun)?.lun === lun &&
  isLun(want, there, lun);

const isLun = (want: Wanted, there: Tpg, lun: number): boolean =>
  want.luns.has(lun) && isDeepStrictEqual(backstoreOf(there.luns.get(lun)?.backstore), want.luns.get(lun));

/** Where a backstore is, or will be: made in one go with the target, a preview does not see it yet. */
function backstorePath(lio: Lio, { name, ramdisk }: { name: string; ramdisk: boolean }): string {
  const there = (ramdisk ? lio.ramdisks : lio.blocks).get(name)?.path;
  return there ?? `${core}/${ramdisk ? "rd_mcp" : "iblock"}_${freeIndex(name, lio.indexes)}/${name}`;
}

/** A LUN that is there, as an input. One of another kind of backstore has that one's whole name. */
export function lunInputs(lun: number, link: string | undefined): TargetInputs["luns"][number] {
  const { name, ramdisk } = backstoreOf(link) ?? { name: link ?? "", ramdisk: false };
  return { lun, backstore: name, ...(ramdisk ? { ramdisk } : {}) };
}

function lunSteps(path: string, want: Wanted, there: Tpg, lio: Lio): Step[] {
  const links: string[] = [];
  const folders: string[] = [];
  let used = false;
  for (const [initiator, acl] of there.acls) {
    const before = folders.length;
    for (const [number, { link }] of acl.luns) {
      if (isMapped(want, there, initiator, number)) continue;
      if (link !== "") links.push(link);
      folders.push(`${path}/acls/${initiator}/lun_${number}`);
    }
    if (!want.acls.has(initiator)) folders.push(`${path}/acls/${initiator}`);
    used ||= acl.session !== undefined && folders.length > before;
  }
  const steps: Step[] = [];
  if (links.length > 0) steps.push({ say: "unmap LUNs", argv: ["rm", ...links], ...drops(used) });
  if (folders.length > 0) {
    const say = "remove what is no longer mapped";
    steps.push({ say, argv: ["rmdir", ...folders], ...drops(used) });
  }
  for (const [lun, { link }] of there.luns) {
    if (isLun(want, there, lun)) continue;
    if (link !== undefined) steps.push({ say: `take LUN ${lun} off its backstore`, argv: ["rm", link] });
    steps.push({ say: `remove LUN ${lun}`, argv: ["rmdir", `${path}/lun/lun_${lun}`] });
  }
  for (const [lun, backstore] of want.luns) {
    if (isLun(want, there, lun)) continue;
    const folder = `${path}/lun/lun_${lun}`;
    steps.push(
      { say: `make LUN ${lun}`, argv: ["mkdir", folder], undo: ["rmdir", folder] },
      {
        say: `put backstore ${backstore.name} behind LUN ${lun}`,
        argv: ["ln", "-s", backstorePath(lio, backstore), `${folder}/backstore`],
      },
    );
  }
  return steps;
}

function aclSteps(path: string, want: Wanted, there: Tpg): Step[] {
  const steps: Step[] = [];
  for (const [initiator, luns] of want.acls) {
    const folder = `${path}/acls/${initiator}`;
    const now = there.acls.get(initiator);
    const missing = [...luns].filter((lun) => !isMapped(want, there, initiator, lun));
    if (now === undefined || missing.length > 0) {
      const folders = [
        ...(now === undefined ? [folder] : []),
        ...missing.map((lun) => `${folder}/lun_${lun}`),
      ];
      // A mapped LUN left half made would make every later save fail.
      const undo = ["rmdir", ...folders.toReversed()];
      steps.push({ say: `let ${initiator} in`, argv: ["mkdir", ...folders], undo });
    }
    for (const lun of missing) {
      const argv = ["ln", "-s", `${path}/lun/lun_${lun}`, `${folder}/lun_${lun}/lun`];
      steps.push({ say: `show LUN ${lun} to ${initiator}`, argv });
    }
    for (const [key, file, secret] of chapFiles) {
      if ((now?.chap[key] ?? "") === want.chap[key]) continue;
      // NULL is the kernel's word for none.
      const value = want.chap[key] || "NULL";
      const say = `set ${file} of ${initiator}`;
      steps.push({ say, attribute: `${folder}/auth/${file}`, value, ...(secret ? { secret: true } : {}) });
    }
  }
  return steps;
}

export function removeSteps(iqn: string, observed: Seen & { lio: Lio }): Step[] {
  const { tpg, lio } = observed;
  if (tpg === undefined) return [];
  const path = tpgPath(iqn);
  const used = sessionsOf(tpg).length > 0;
  return [
    ...(tpg.enabled
      ? [{ say: `disable ${iqn}`, attribute: `${path}/enable`, value: "0", ...drops(used) }]
      : []),
    ...[...tpg.portals].flatMap(([portal, now]) => closePortal(path, portal, now, observed)),
    ...lunSteps(path, nothingWanted, tpg, lio),
    { say: `remove target ${iqn}`, argv: ["rmdir", path, `${iscsi}/${iqn}`], ...drops(used) },
  ];
}

/** Does the save file hold the target as it is declared? */
export function isSaved(want: Wanted, saved: SavedTarget | undefined): boolean {
  if (saved === undefined) return false;
  const acls = new Map(
    [...want.acls].map(([initiator, luns]) => [
      initiator,
      { luns: new Map([...luns].map((lun) => [lun, lun])), chap: want.chap },
    ]),
  );
  return (
    saved.enabled &&
    isDeepStrictEqual(saved.portals, want.portals) &&
    isDeepStrictEqual(saved.luns, new Map([...want.luns].map(([lun, { name }]) => [lun, name]))) &&
    isDeepStrictEqual(saved.acls, acls) &&
    [...want.attributes].every(([name, value]) => saved.attributes.get(name) === value)
  );
}
