import type { LabConfig } from "../config.ts";
import type { ChapInputs } from "../provider/resources/iscsi/chap.ts";

/** From the stack file's words to the inputs of the iSCSI types. Pure. */

type TargetConfig = LabConfig["targets"][string];

/** The host that a target's first LUN is on. */
export const serverOf = (lab: LabConfig, { luns }: TargetConfig): string | undefined =>
  lab.pools[luns[0]?.split("/")[0] ?? ""]?.host;

/** targetcli takes no slash in a backstore's name. */
export const backstoreName = (lun: string): string => lun.replaceAll("/", "-");

/** The LUNs' sizes as declared; undefined where one is a clone, whose size its origin has. */
export function sizesOf({ volumes }: LabConfig, { luns }: TargetConfig): string[] | undefined {
  const sizes = luns.flatMap((lun) => volumes[lun]?.size ?? []);
  return sizes.length === luns.length ? sizes : undefined;
}

/** The target's CHAP, which is its sessions' as well. */
export const chapOf = ({ chap }: TargetConfig): ChapInputs | undefined =>
  chap && {
    user: chap.user,
    password: chap.password,
    ...(chap.mutual && { mutualUser: chap.mutual.user, mutualPassword: chap.mutual.password }),
  };
