import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { hostAddress, type Questions } from "../../host.ts";
import type { ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { chapInputs, chapInputsOf } from "../iscsi/chap.ts";
import { normalPortal } from "../net/address.ts";
import { currentAttributes } from "./attributes.ts";
import { type Lio, observeAttributes, observeLio, type Tpg, tpgPath } from "./configfs.ts";
import { type Connections, observeConnections } from "./connections.ts";
import { observeRestore, type Restore, saveSteps, wholePlan } from "./saved.ts";
import { foundTarget, namedTarget } from "./target-found.ts";
import { targetRefusals } from "./target-refusals.ts";
import { targetHints, targetRules } from "./target-rules.ts";
import { changeSteps, isSaved, lunInputs, mappedLuns, removeSteps, wanted } from "./tpg.ts";

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
        ramdisk: z.boolean().optional().describe("It is a lio:Ramdisk. Default: a lio:Backstore."),
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
  dropSessions: z
    .boolean()
    .optional()
    .meta({ unseen: true })
    .describe("Portals, LUNs, ACLs and the target itself may go while sessions use them. Default: refused."),
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
    return [...removeSteps(iqn, observed), ...saveSteps(lio, restore, iqn)];
  }
  const want = wanted(desired);
  const iser = [...want.portals.values()].includes(true);
  return wholePlan(changeSteps(iqn, want, observed), isSaved(want, saved), observed, { name: iqn, iser });
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
  // Where authentication is off, credentials are not asked for.
  const isOff = declared !== undefined && tpg.authentication !== "1";
  const differing = [...tpg.acls.values()].find(({ chap }) => !isDeepStrictEqual(chap, want.chap))?.chap;
  const chap = isOff ? undefined : differing === undefined ? declared : chapInputsOf(differing);
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
      (lun) => lunInputs(lun, tpg.luns.get(lun)?.backstore),
    ),
    acls: sorted(
      inputs.acls,
      ({ initiator }) => initiator,
      tpg.acls.keys(),
      (initiator) => {
        const luns = mappedLuns(tpg, initiator);
        const given = inputs.acls.find((acl) => acl.initiator === initiator);
        const same = isDeepStrictEqual(new Set(luns), want.acls.get(initiator));
        return same && given !== undefined ? given : { initiator, luns };
      },
    ),
    ...(inputs.attributes === undefined
      ? {}
      : { attributes: currentAttributes(attributes, inputs.attributes) }),
    ...(chap === undefined ? {} : { chap }),
  };
}

/** Deleted, it is neither in configfs nor in the save file. */
function gone(observed: TargetObserved, { iqn }: TargetInputs): TargetObserved {
  const without = <T>(map: ReadonlyMap<string, T>): Map<string, T> =>
    new Map([...map].filter(([key]) => key !== iqn));
  return {
    ...observed,
    lio: { ...observed.lio, targets: without(observed.lio.targets) },
    tpg: undefined,
    attributes: new Map(),
    restore: { ...observed.restore, targets: without(observed.restore.targets) },
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
  refusals: targetRefusals,
  hints: targetHints,
  named: namedTarget,
  found: foundTarget,
  gone,
  rules: targetRules,
  outputs: ({ iqn, portals }) => ({ iqn, portals }),
};
