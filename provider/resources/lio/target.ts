import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { chapInputs, chapInputsOf, chapRules } from "../iscsi/chap.ts";
import { normalPortal, parsePortal, portalProblem } from "../net/address.ts";
import { type Lio, observeAttributes, observeLio, type Tpg, tpgPath } from "./configfs.ts";
import { type Connections, observeConnections } from "./connections.ts";
import { iqnProblem } from "./iqn.ts";
import { missingPackage, observeRestore, prepareSteps, type Restore, saveSteps } from "./saved.ts";
import { changeSteps, isMapped, isSaved, removeSteps, wanted } from "./tpg.ts";

/**
 * An iSCSI target of LIO: its TPG 1 with portals, LUNs and ACLs, by configfs, saved where targetctl(8) and
 * targetcli(8) find it. The target is wholly as declared: portals, LUNs and ACLs that are not declared go.
 */
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
  chap: chapInputs.optional().describe("CHAP, the same for each ACL. Default: none."),
});
export type TargetInputs = z.infer<typeof targetInputs>;

export type TargetObserved = {
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

function plan(desired: TargetInputs | undefined, observed: TargetObserved, { iqn }: TargetInputs): Step[] {
  const { lio, restore } = observed;
  const saved = restore.targets.get(iqn);
  if (desired === undefined) {
    if (observed.tpg === undefined && saved === undefined) return [];
    return [...removeSteps(iqn, observed.tpg, lio), ...saveSteps(lio, restore, iqn)];
  }
  const want = wanted(desired);
  const steps = [...changeSteps(iqn, want, observed)];
  const iser = [...want.portals.values()].includes(true);
  const save = steps.length > 0 || !isSaved(want, saved) ? saveSteps(lio, restore, iqn) : [];
  return [...prepareSteps(lio, restore, iser), ...steps, ...save];
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
  return [...found, ...chapRules(chap)];
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
  const { chap: declared, ...plain } = inputs;
  const want = wanted(inputs);
  const differing = [...tpg.acls.values()].find(({ chap }) => !isDeepStrictEqual(chap, want.chap))?.chap;
  const chap = differing === undefined ? declared : chapInputsOf(differing);
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
    ...(chap === undefined ? {} : { chap }),
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
