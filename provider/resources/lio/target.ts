import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { normalPortal, parsePortal, portalProblem } from "../net/address.ts";
import { freeIndex } from "./backstore.ts";
import {
  type Chap,
  core,
  iscsi,
  type Lio,
  observeAttributes,
  observeLio,
  type Tpg,
  tpgPath,
} from "./configfs.ts";
import { type Connections, observeConnections } from "./connections.ts";
import { iqnProblem } from "./iqn.ts";
import { missingPackage, observeRestore, prepareSteps, type Restore, saveSteps } from "./saved.ts";

/**
 * An iSCSI target of LIO: its TPG 1 with portals, LUNs and ACLs, by configfs, saved where targetctl(8) and
 * targetcli(8) find it. The target is wholly as declared: portals, LUNs and ACLs that are not declared go.
 */
const secret = z.string().min(1).max(255).meta({ secret: true });

export const targetInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  iqn: z
    .string()
    .meta({ change: "replace" })
    .describe("The target's name: iqn.2026-09.com.example.lab:tank."),
  portals: z
    .array(
      z.strictObject({
        address: z.string().describe("IP address and port: 10.10.10.1:3260, [fd00::1]:3260."),
        protocol: z
          .enum(["iscsi", "iser"])
          .describe("iser adds RDMA to the portal; LIO goes on answering TCP there too."),
      }),
    )
    .min(1, "a target without a portal can't be reached: declare one, or leave the target out")
    .describe("Where the target listens. There is no automatic portal."),
  luns: z
    .array(
      z.strictObject({
        lun: z.int().min(0).max(255).describe("The LUN's number."),
        backstore: z.string().describe("The backstore's name: lun0."),
      }),
    )
    .describe("The LUNs."),
  acls: z
    .array(
      z.strictObject({
        initiator: z.string().describe("The initiator's name."),
        luns: z.array(z.int().min(0).max(255)).optional().describe("The LUNs that it sees; default all."),
      }),
    )
    .describe("Who may log in. Nobody else can: generate_node_acls is 0."),
  attributes: z
    .record(z.string(), z.union([z.string(), z.int()]))
    .optional()
    .describe("Attributes of the TPG: default_cmdsn_depth. Those left out stay as they are."),
  chap: z
    .strictObject({
      user: z.string().min(1).max(255).describe("The name that the initiator gives."),
      password: secret.describe("Its secret, 12 to 16 characters for every initiator's sake; LIO takes 255."),
      mutualUser: z.string().min(1).max(255).optional().describe("The name that the target gives in turn."),
      mutualPassword: secret.optional().describe("The target's secret; has to differ from the initiator's."),
    })
    .optional()
    .describe("CHAP, the same for each ACL. Default: none."),
});
export type TargetInputs = z.infer<typeof targetInputs>;

type TargetObserved = {
  lio: Lio;
  tpg: Tpg | undefined;
  attributes: Map<string, string>;
  connections: Connections;
  restore: Restore;
};

async function observe(host: Questions, { iqn, attributes = {} }: TargetInputs): Promise<TargetObserved> {
  const folder = `${tpgPath(iqn)}/attrib`;
  const [lio, restore, connections, values] = await Promise.all([
    observeLio(host),
    observeRestore(host),
    observeConnections(host),
    observeAttributes(host, folder, Object.keys(attributes)),
  ]);
  return {
    lio,
    tpg: lio.targets.get(iqn),
    attributes: new Map([...values].map(([path, text]) => [path.slice(folder.length + 1), text])),
    connections,
    restore,
  };
}

/** What is declared, in the form in which it is observed. */
function wanted({ portals, luns, acls, attributes = {}, chap }: TargetInputs) {
  const all = luns.map(({ lun }) => lun);
  return {
    portals: new Map(portals.map(({ address, protocol }) => [normalPortal(address), protocol === "iser"])),
    luns: new Map(luns.map(({ lun, backstore }) => [lun, backstore])),
    acls: new Map(acls.map(({ initiator, luns }) => [initiator, new Set(luns ?? all)])),
    attributes: new Map([
      ["authentication", chap === undefined ? "0" : "1"],
      ["generate_node_acls", "0"],
      ...Object.entries(attributes).map(([name, value]): [string, string] => [name, String(value)]),
    ]),
    chap: {
      user: chap?.user ?? "",
      password: chap?.password ?? "",
      mutualUser: chap?.mutualUser ?? "",
      mutualPassword: chap?.mutualPassword ?? "",
    } satisfies Chap,
  };
}

const chapFiles: [key: keyof Chap, file: string, secret: boolean][] = [
  ["user", "userid", false],
  ["password", "password", true],
  ["mutualUser", "userid_mutual", false],
  ["mutualPassword", "password_mutual", true],
];

function plan(desired: TargetInputs | undefined, observed: TargetObserved, { iqn }: TargetInputs): Step[] {
  const { lio, restore } = observed;
  const saved = restore.targets.get(iqn);
  if (desired === undefined) {
    if (observed.tpg === undefined && saved === undefined) return [];
    return [...removeSteps(iqn, observed.tpg), ...saveSteps(lio, restore, iqn)];
  }
  const want = wanted(desired);
  const steps = [...changeSteps(iqn, want, observed)];
  const iser = [...want.portals.values()].includes(true);
  const save = steps.length > 0 || !isSaved(want, saved) ? saveSteps(lio, restore, iqn) : [];
  return [...prepareSteps(lio, restore, iser), ...steps, ...save];
}

function changeSteps(iqn: string, want: ReturnType<typeof wanted>, observed: TargetObserved): Step[] {
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
  // Portals come before they go, so that the target is never without.
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
    steps.push({ say, attribute: `${folder}/iser`, value: iser ? "1" : "0" });
  }
  for (const [portal, now] of there.portals) {
    if (!want.portals.has(portal)) steps.push(...closePortal(path, portal, now));
  }
  steps.push(...lunSteps(path, want, there, lio), ...aclSteps(path, want, there));
  if (!there.enabled) steps.push({ say: `enable ${iqn}`, attribute: `${path}/enable`, value: "1" });
  return steps;
}

const nothing = { enabled: false, authentication: undefined, generateNodeAcls: undefined };

function closePortal(
  path: string,
  portal: string,
  { folder, iser }: { folder: string; iser: boolean },
): Step[] {
  return [
    ...(iser
      ? [{ say: `switch iSER off at ${portal}`, attribute: `${path}/np/${folder}/iser`, value: "0" }]
      : []),
    { say: `close portal ${portal}`, argv: ["rmdir", `${path}/np/${folder}`] },
  ];
}

/** Is this mapped LUN of an ACL as declared? A LUN whose backstore changes is mapped anew. */
const isMapped = (want: ReturnType<typeof wanted>, there: Tpg, initiator: string, lun: number): boolean =>
  want.acls.get(initiator)?.has(lun) === true &&
  there.acls.get(initiator)?.luns.get(lun)?.lun === lun &&
  isLun(want, there, lun);

const isLun = (want: ReturnType<typeof wanted>, there: Tpg, lun: number): boolean =>
  want.luns.get(lun) !== undefined &&
  there.luns.get(lun)?.backstore?.replace(/^iblock_\d+\//, "") === want.luns.get(lun);

function lunSteps(path: string, want: ReturnType<typeof wanted>, there: Tpg, lio: Lio): Step[] {
  const links: string[] = [];
  const folders: string[] = [];
  for (const [initiator, acl] of there.acls) {
    for (const [number, { link }] of acl.luns) {
      if (isMapped(want, there, initiator, number)) continue;
      if (link !== "") links.push(link);
      folders.push(`${path}/acls/${initiator}/lun_${number}`);
    }
    if (!want.acls.has(initiator)) folders.push(`${path}/acls/${initiator}`);
  }
  const steps: Step[] = [];
  if (links.length > 0) steps.push({ say: "unmap LUNs", argv: ["rm", ...links] });
  if (folders.length > 0) steps.push({ say: "remove what is no longer mapped", argv: ["rmdir", ...folders] });
  for (const [lun, { link }] of there.luns) {
    if (isLun(want, there, lun)) continue;
    if (link !== undefined) steps.push({ say: `take LUN ${lun} off its backstore`, argv: ["rm", link] });
    steps.push({ say: `remove LUN ${lun}`, argv: ["rmdir", `${path}/lun/lun_${lun}`] });
  }
  for (const [lun, backstore] of want.luns) {
    if (isLun(want, there, lun)) continue;
    const folder = `${path}/lun/lun_${lun}`;
    const block =
      lio.blocks.get(backstore)?.path ?? `${core}/iblock_${freeIndex(backstore, lio.indexes)}/${backstore}`;
    steps.push(
      { say: `make LUN ${lun}`, argv: ["mkdir", folder], undo: ["rmdir", folder] },
      {
        say: `put backstore ${backstore} behind LUN ${lun}`,
        argv: ["ln", "-s", block, `${folder}/backstore`],
      },
    );
  }
  return steps;
}

function aclSteps(path: string, want: ReturnType<typeof wanted>, there: Tpg): Step[] {
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
      steps.push({ say: `let ${initiator} in`, argv: ["mkdir", ...folders] });
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

function removeSteps(iqn: string, tpg: Tpg | undefined): Step[] {
  if (tpg === undefined) return [];
  const path = tpgPath(iqn);
  const steps: Step[] = [];
  if (tpg.enabled) steps.push({ say: `disable ${iqn}`, attribute: `${path}/enable`, value: "0" });
  for (const [portal, now] of tpg.portals) steps.push(...closePortal(path, portal, now));
  const none = { ...wanted({ portals: [], luns: [], acls: [] } as unknown as TargetInputs) };
  const lio: Lio = {
    loaded: true,
    blocks: new Map(),
    indexes: new Set(),
    targets: new Map(),
    otherPortals: [],
  };
  return [
    ...steps,
    ...lunSteps(path, none, tpg, lio),
    { say: `remove target ${iqn}`, argv: ["rmdir", path, `${iscsi}/${iqn}`] },
  ];
}

function isSaved(
  want: ReturnType<typeof wanted>,
  saved: Restore["targets"] extends Map<string, infer T> ? T | undefined : never,
): boolean {
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
    isDeepStrictEqual(saved.luns, want.luns) &&
    isDeepStrictEqual(saved.acls, acls) &&
    [...want.attributes].every(([name, value]) => saved.attributes.get(name) === value)
  );
}

function refusals(
  desired: TargetInputs | undefined,
  observed: TargetObserved,
  { iqn, host }: TargetInputs,
): string[] {
  const { lio, tpg, restore } = observed;
  const sentences: string[] = [];
  if (restore.unit === undefined) sentences.push(missingPackage(host.name));
  const sessions = [...(tpg?.acls ?? [])].filter(([, { session }]) => session !== undefined);
  const named = (which: typeof sessions): string =>
    which.map(([initiator, { session }]) => `${initiator} (from ${session})`).join(", ");
  const logout = `log out there first: iscsiadm -m node -T ${iqn} --logout`;
  if (desired === undefined) {
    if (sessions.length > 0)
      sentences.push(`target ${iqn} on ${host.name} is in use by ${named(sessions)}: ${logout}`);
    return sentences;
  }
  const want = wanted(desired);
  for (const [portal, { iser }] of tpg?.portals ?? []) {
    const stays = want.portals.get(portal) === iser || (want.portals.has(portal) && !iser);
    const peers = observed.connections.get(portal) ?? [];
    const users = sessions.filter(([, { session }]) => peers.includes(session ?? ""));
    if (stays || users.length === 0) continue;
    sentences.push(
      `portal ${portal} of ${iqn} on ${host.name} is in use by ${named(users)}: ${logout} -p ${portal}`,
    );
  }
  for (const [initiator, acl] of sessions) {
    const gone = [...acl.luns.keys()].filter(
      (lun) => tpg !== undefined && !isMapped(want, tpg, initiator, lun),
    );
    if (gone.length === 0 && want.acls.has(initiator)) continue;
    const what = want.acls.has(initiator) ? `LUN ${gone.join(", ")}` : "its ACL";
    sentences.push(
      `${what} would be taken from ${initiator} (from ${acl.session}), logged in to ${iqn} on ${host.name}: ${logout}`,
    );
  }
  const others = [...lio.targets].flatMap(([target, { portals }]) =>
    target === iqn ? [] : [...portals.keys()].map((portal) => ({ target, portal })),
  );
  for (const { target, portal } of [...others, ...lio.otherPortals]) {
    for (const own of want.portals.keys()) {
      if (tpg?.portals.has(own) || portal === own || !overlap(portal, own)) continue;
      sentences.push(
        `portal ${own} on ${host.name} overlaps with ${portal} of target ${target}: one of them has all addresses, ` +
          "and the kernel gives the port to one only; name the address in both",
      );
    }
  }
  return sentences;
}

/** Two targets may share a portal; a wildcard and an address of the same port can't be there together. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [parsePortal(one), parsePortal(other)];
  if (a === undefined || b === undefined || a.port !== b.port || a.address === b.address) return false;
  const covers = (wildcard: string, address: string): boolean =>
    wildcard === "::" || (wildcard === "0.0.0.0" && !address.includes(":"));
  return covers(a.address, b.address) || covers(b.address, a.address);
}

function rules(inputs: TargetInputs): [string, string][] {
  const found: [string, string][] = [];
  const add = (key: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push([key, problem]);
  };
  const twice = (key: string, values: readonly (string | number)[], what: string): void => {
    for (const value of new Set(values.filter((value, index) => values.indexOf(value) !== index))) {
      add(key, `${what} ${value} is declared twice`);
    }
  };
  const { iqn, portals, luns, acls, attributes = {}, chap } = inputs;
  add("iqn", iqnProblem(iqn));
  const addresses = portals.map(({ address }) => normalPortal(address));
  for (const { address } of portals) add("portals", portalProblem(address));
  twice("portals", addresses, "portal");
  for (const [index, one] of addresses.entries()) {
    const other = addresses.slice(index + 1).find((other) => overlap(one, other));
    if (other !== undefined)
      add("portals", `portals ${one} and ${other} overlap: one of them has all addresses`);
  }
  const numbers = luns.map(({ lun }) => lun);
  twice("luns", numbers, "LUN");
  twice(
    "luns",
    luns.map(({ backstore }) => backstore),
    "backstore",
  );
  twice(
    "acls",
    acls.map(({ initiator }) => initiator),
    "initiator",
  );
  for (const { initiator, luns: own = [] } of acls) {
    add("acls", iqnProblem(initiator));
    for (const lun of own) {
      if (!numbers.includes(lun))
        add("acls", `${initiator} is to see LUN ${lun}, which is not among the LUNs`);
    }
  }
  for (const name of ["authentication", "generate_node_acls"]) {
    if (name in attributes) add("attributes", `${name} follows from chap and acls: leave it out`);
  }
  for (const [key, value] of Object.entries(chap ?? {})) {
    if (value === undefined) continue;
    // Values are secret: none is shown.
    if (/^\s|\s$|[^\x20-\x7e]/.test(value)) {
      add(`chap.${key}`, `chap.${key} may hold printable ASCII only, without a blank at either end`);
    }
    if (value.startsWith("NULL"))
      add(`chap.${key}`, `chap.${key} may not begin with NULL: the kernel takes that for none`);
  }
  if ((chap?.mutualUser === undefined) !== (chap?.mutualPassword === undefined)) {
    add("chap", "mutual CHAP needs both mutualUser and mutualPassword");
  }
  if (chap?.mutualPassword !== undefined && chap.mutualPassword === chap.password) {
    add(
      "chap.mutualPassword",
      "the target's secret has to differ from the initiator's (RFC 7143, section 12.1.3)",
    );
  }
  return found;
}

/** What is there, in the order and spelling of the inputs; what is there beside follows. */
function current({ tpg, attributes }: TargetObserved, inputs: TargetInputs): TargetInputs {
  if (tpg === undefined) return inputs;
  const sorted = <T, K>(
    given: readonly T[],
    key: (item: T) => K,
    there: Iterable<K>,
    make: (key: K) => T,
  ): T[] => {
    const keys = new Set(there);
    const known = given.filter((item) => keys.has(key(item)));
    const rest = [...keys].filter((k) => !known.some((item) => key(item) === k));
    return [...known, ...rest.map(make)].map((item) => ({ ...item, ...make(key(item)) }) as T);
  };
  const { chap: _, ...plain } = inputs;
  const want = wanted(inputs);
  const differing = [...tpg.acls.values()].find(({ chap }) => !isDeepStrictEqual(chap, want.chap))?.chap;
  return {
    ...plain,
    portals: sorted(
      inputs.portals,
      ({ address }) => normalPortal(address),
      tpg.portals.keys(),
      (portal) => ({
        address: inputs.portals.find(({ address }) => normalPortal(address) === portal)?.address ?? portal,
        protocol: tpg.portals.get(portal)?.iser ? "iser" : "iscsi",
      }),
    ),
    luns: sorted(
      inputs.luns,
      ({ lun }) => lun,
      tpg.luns.keys(),
      (lun) => ({ lun, backstore: tpg.luns.get(lun)?.backstore?.replace(/^iblock_\d+\//, "") ?? "" }),
    ),
    acls: sorted(
      inputs.acls,
      ({ initiator }) => initiator,
      tpg.acls.keys(),
      (initiator) => {
        const luns = [...(tpg.acls.get(initiator)?.luns.keys() ?? [])].sort((a, b) => a - b);
        const given = inputs.acls.find((acl) => acl.initiator === initiator);
        const same = isDeepStrictEqual(new Set(luns), want.acls.get(initiator));
        return same && given !== undefined ? given : { initiator, luns };
      },
    ),
    ...(inputs.attributes === undefined
      ? {}
      : {
          attributes: Object.fromEntries(
            Object.entries(inputs.attributes).map(([name, value]) => {
              const there = attributes.get(name);
              return [name, there === undefined || there === String(value) ? value : there];
            }),
          ),
        }),
    ...(differing === undefined
      ? inputs.chap === undefined || tpg.authentication === "0"
        ? {}
        : { chap: inputs.chap }
      : differing.user === ""
        ? {}
        : { chap: { user: differing.user, password: differing.password } }),
  };
}

export const target: ResourceType<TargetInputs, TargetObserved> = {
  type: "lio:Target",
  inputs: targetInputs,
  identity: ({ iqn }) => iqn,
  observe,
  exists: ({ tpg }) => tpg !== undefined,
  current,
  plan,
  refusals,
  rules,
  outputs: ({ iqn, portals }) => ({ iqn, portals }),
};
