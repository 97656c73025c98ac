import type { LabConfig } from "../config.ts";
import type { ChapInputs } from "../provider/resources/iscsi/chap.ts";

/** From the stack file's words to the inputs of the iSCSI types. Pure. */

type TargetConfig = LabConfig["targets"][string];

/** The host that a target's first LUN is on. */
export const serverOf = (lab: LabConfig, { luns }: TargetConfig): string | undefined =>
  lab.pools[luns[0]?.split("/")[0] ?? ""]?.host;

/** targetcli takes no slash in a backstore's name. */
export const backstoreName = (lun: string): string => lun.replaceAll("/", "-");

/** The RAM disk's LUN: the last there may be, so that a further volume never takes its number. */
export const ramdiskLun = 255;

/** A volume is one target's, so its first names the target's RAM disk. */
export const ramdiskName = ({ luns }: Pick<TargetConfig, "luns">): string =>
  `${backstoreName(luns[0] ?? "")}-ramdisk`;

/** The numbers of a target's LUNs: its volumes' from 0, then its RAM disk's. */
export const lunsOf = ({ luns, ramdisk }: TargetConfig): number[] => [
  ...luns.keys(),
  ...(ramdisk === undefined ? [] : [ramdiskLun]),
];

/** The LUNs' sizes as declared; undefined where one is a clone, whose size its origin has. */
export function sizesOf({ volumes }: LabConfig, { luns, ramdisk }: TargetConfig): string[] | undefined {
  const sizes = luns.flatMap((lun) => volumes[lun]?.size ?? []);
  return sizes.length === luns.length ? [...sizes, ...(ramdisk === undefined ? [] : [ramdisk])] : undefined;
}

/** The target's CHAP, which is its sessions' as well. */
export const chapOf = ({ chap }: TargetConfig): ChapInputs | undefined =>
  chap && {
    user: chap.user,
    password: chap.password,
    ...(chap.mutual && { mutualUser: chap.mutual.user, mutualPassword: chap.mutual.password }),
  };
