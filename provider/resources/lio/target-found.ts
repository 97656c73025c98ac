import { isDeepStrictEqual } from "node:util";
import { RefusedError } from "../../errors.ts";
import type { HostAddress } from "../../host.ts";
import { chapInputsOf } from "../iscsi/chap.ts";
import { setAttributes } from "./attributes.ts";
import { backstoreOf, type Tpg } from "./configfs.ts";
import { iqnProblem } from "./iqn.ts";
import { type TargetInputs, type TargetObserved, targetInputs } from "./target.ts";
import { targetRules } from "./target-rules.ts";
import { lunInputs, mappedLuns } from "./tpg.ts";

/** A target that is there, as inputs: for an import. CHAP's secrets are among them, LIO lets root read them. */

/** What the kernel gives a new TPG; authentication and generate_node_acls follow from other inputs. */
const kernelDefaults = {
  ...{ cache_dynamic_acls: 0, default_cmdsn_depth: 64, default_erl: 0, demo_mode_discovery: 1 },
  ...{ demo_mode_write_protect: 1, fabric_prot_type: 0, login_keys_workaround: 1, login_timeout: 15 },
  ...{ prod_mode_write_protect: 0, t10_pi: 0, tpg_enabled_sendtargets: 1 },
};

export const namedTarget = (host: HostAddress, iqn: string): TargetInputs | undefined =>
  iqnProblem(iqn) === undefined
    ? { host, iqn, portals: [], luns: [], acls: [], attributes: kernelDefaults }
    : undefined;

export function foundTarget({ tpg, attributes }: TargetObserved, { host, iqn }: TargetInputs): TargetInputs {
  if (tpg === undefined) throw new RefusedError(`target ${iqn} on ${host.name} has no TPG 1`);
  const set = setAttributes(attributes, kernelDefaults);
  const [first] = tpg.acls.values();
  const chap = tpg.authentication === "1" && first !== undefined ? chapInputsOf(first.chap) : undefined;
  const luns = [...tpg.luns].sort(([a], [b]) => a - b);
  const inputs: TargetInputs = {
    host,
    iqn,
    portals: [...tpg.portals].map(([address, { iser }]) => ({ address, protocol: iser ? "iser" : "iscsi" })),
    luns: luns.map(([lun, { backstore }]) => lunInputs(lun, backstore)),
    acls: [...tpg.acls.keys()].map((initiator) => {
      const mapped = mappedLuns(tpg, initiator);
      return isDeepStrictEqual(
        mapped,
        luns.map(([lun]) => lun),
      )
        ? { initiator }
        : { initiator, luns: mapped };
    }),
    ...(Object.keys(set).length === 0 ? {} : { attributes: set }),
    ...(chap === undefined ? {} : { chap }),
  };
  const problems = [...undeclarable(tpg, chap !== undefined), ...broken(inputs)];
  if (problems.length === 0) return inputs;
  throw new RefusedError(
    `target ${iqn} on ${host.name} can't be taken over as it is: ${problems.join("; ")}. ` +
      "Change that first (targetcli), or leave the target to who made it.",
  );
}

/** What a target may be that no inputs say. */
function undeclarable(tpg: Tpg, hasChap: boolean): string[] {
  const acls = [...tpg.acls];
  const [first] = tpg.acls.values();
  return [
    ...(tpg.enabled ? [] : ["its TPG is not enabled"]),
    ...(tpg.generateNodeAcls === "1" ? ["it lets every initiator in (generate_node_acls is 1)"] : []),
    ...(tpg.authentication === "1" && !hasChap
      ? ["authentication is 1, and its first ACL has no CHAP secret"]
      : []),
    ...(tpg.authentication !== "1" && acls.some(([, { chap }]) => chapInputsOf(chap) !== undefined)
      ? ["authentication is 0, and an ACL has a CHAP secret"]
      : []),
    ...(acls.some(([, { chap }]) => !isDeepStrictEqual(chap, first?.chap))
      ? ["its ACLs have different CHAP secrets"]
      : []),
    ...[...tpg.luns].flatMap(([lun, { backstore = "nothing" }]) =>
      backstoreOf(backstore) ? [] : [`LUN ${lun} is ${backstore}, no block backstore and no RAM disk`],
    ),
    ...acls.flatMap(([initiator, { luns }]) =>
      [...luns]
        .filter(([number, { lun }]) => number !== lun)
        .map(([number, { lun }]) =>
          lun < 0
            ? `LUN ${number} of ${initiator} is mapped to nothing`
            : `LUN ${lun} is LUN ${number} for ${initiator}`,
        ),
    ),
  ];
}

/** Rules that it does not keep. Messages show no secret. */
function broken(inputs: TargetInputs): string[] {
  const parsed = targetInputs.safeParse(inputs);
  const issues = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return [...issues, ...targetRules(inputs).map(([, sentence]) => sentence)];
}
