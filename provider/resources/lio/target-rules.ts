import { chapOf, chapRules } from "../iscsi/chap.ts";
import { normalPortal, portalProblem, portalsOverlap } from "../net/address.ts";
import { attributeProblem } from "./attributes.ts";
import { backstoreProblem } from "./backstore-rules.ts";
import { iqnProblem } from "./iqn.ts";
import { preparedByOthers } from "./saved.ts";
import type { TargetInputs, TargetObserved } from "./target.ts";

/** What a target's inputs have to obey among themselves. No host is asked. */
export function targetRules(inputs: TargetInputs): [key: string, sentence: string][] {
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
    const other = addresses.slice(index + 1).find((other) => portalsOverlap(one, other));
    if (other !== undefined)
      add("portals", `portals ${one} and ${other} overlap: one of them has all addresses`);
  }
  const numbers = luns.map(({ lun }) => lun);
  const backstores = luns.map(({ backstore }) => backstore);
  for (const backstore of backstores) add("luns", backstoreProblem(backstore));
  twice("luns", numbers, "LUN");
  twice("luns", backstores, "backstore");
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
  for (const name of Object.keys(attributes)) {
    const follows = name === "authentication" || name === "generate_node_acls";
    add("attributes", follows ? `${name} follows from chap and acls: leave it out` : attributeProblem(name));
  }
  return [...found, ...chapRules(chap)];
}

/** What an operator should know of a target that nothing forbids. */
export function targetHints(desired: TargetInputs, { lio, tpg, restore }: TargetObserved): string[] {
  const { password, mutualPassword } = chapOf(desired.chap);
  const secrets = Object.entries({ password, mutualPassword });
  return [
    ...secrets
      .filter(([, secret]) => secret !== "" && (secret.length < 12 || secret.length > 16))
      .map(
        ([key, { length }]) =>
          `chap.${key} has ${length < 12 ? "fewer than 12" : "more than 16"} characters: ` +
          "some initiators take 12 to 16 only",
      ),
    ...desired.portals
      .filter(
        ({ address, protocol }) => protocol === "iser" && !tpg?.portals.get(normalPortal(address))?.iser,
      )
      .map(
        ({ address }) =>
          `portal ${address} answers TCP, too: LIO adds iSER to a portal, it does not replace TCP`,
      ),
    ...preparedByOthers(lio, restore, desired.host.name),
  ];
}
