import { both, formatSize, parseSize } from "../../size.ts";
import type { FilesystemInputs, FilesystemObserved } from "./filesystem.ts";
import { halfMade, made, type Superblock } from "./superblock.ts";

/** What forbids a file system's plan: anything on its device that is not this file system. */

/** Smallest device that mkfs.xfs takes. */
const smallest = 300n * 1024n * 1024n;

export function refusals(
  desired: FilesystemInputs | undefined,
  observed: FilesystemObserved,
  _inputs: FilesystemInputs,
  owner: string,
): string[] {
  if (desired === undefined) return [];
  const { device, node, taken } = observed;
  if (node === undefined) return [];
  const have = made(observed, owner);
  const wrongSize = sizeRefusals(desired, observed, have);
  if (have !== undefined) return wrongSize;
  if (taken !== undefined) {
    const there = observed.superblock?.uuid;
    return [
      `${device} holds ${there === undefined ? "no XFS" : `an XFS of UUID ${there}`}, declared is one of UUID ${taken} that is there already: nothing is made. ` +
        "Declare the UUID that is there, or leave uuid out where one is to be made.",
    ];
  }
  if (!halfMade(observed, owner)) {
    const holds = [...describeSuperblock(observed.superblock), ...findings(observed)];
    if (holds.length > 0) {
      return [
        `${device} is not blank: ${holds.join("; ")}. Nothing was touched. If all of that may be destroyed, do it by hand (wipefs -a ${device}); otherwise declare another device.`,
      ];
    }
    if (BigInt(node.size) < smallest && (parseSize(desired.size ?? "") ?? 0n) < smallest) {
      return [
        `${device} has ${both(BigInt(node.size))}; an XFS has at least 300 MiB. Declare a larger volume.`,
      ];
    }
  }
  return observed.programs ? wrongSize : [...wrongSize, noPrograms(desired.host.name)];
}

function sizeRefusals(
  { size }: FilesystemInputs,
  { device, node }: FilesystemObserved,
  have: Superblock | undefined,
): string[] {
  const declared = parseSize(size ?? "");
  if (declared === undefined || node === undefined || BigInt(node.size) <= declared) return [];
  if (have !== undefined && have.bytes > declared) {
    return [
      `the XFS on ${device} has ${both(have.bytes)} and can't shrink to ${both(declared)}: an XFS never shrinks. ` +
        `Declare at least ${formatSize(have.bytes)}, or copy its files to a smaller volume.`,
    ];
  }
  return [
    `${device} has ${both(BigInt(node.size))}, more than the ${both(declared)} that are declared as its size, and an XFS takes all of its device. ` +
      `Declare size: ${formatSize(BigInt(node.size))}, or leave size out.`,
  ];
}

function describeSuperblock(superblock: Superblock | undefined): string[] {
  if (superblock === undefined) return [];
  const { uuid, label, inProgress } = superblock;
  const name = `UUID ${uuid}${label === "" ? "" : `, label ${label}`}`;
  return inProgress
    ? [`an XFS that mkfs.xfs has not finished (${name})`]
    : [
        `an XFS that this stack did not make for it (${name}; to keep it, import it and declare uuid: ${uuid})`,
      ];
}

function findings({ node, signatures, superblock }: FilesystemObserved): string[] {
  const others = signatures.filter((type) => superblock === undefined || !type.startsWith("xfs"));
  const users = (node?.children ?? []).map(({ name, type }) =>
    type === "mpath"
      ? `multipath map ${name} has taken it (declare the map as the device, or blacklist the disk in multipath.conf)`
      : `${name} (${type}) is on it`,
  );
  const mounted = node?.mountpoint == null ? [] : [`it is mounted on ${node.mountpoint}`];
  return [...new Set(others), ...users, ...mounted, ...(node?.ro ? ["it is read-only"] : [])];
}

const noPrograms = (host: string): string =>
  `${host} has no mkfs.xfs. Install it: apt-get install xfsprogs, or dnf install xfsprogs.`;
