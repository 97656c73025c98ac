import { formatSize } from "../../size.ts";
import { type BlockDevice, diskOf, diskPath, findDevice } from "./disks.ts";
import type { TopLevelVdev } from "./status.ts";
import { type DeclaredVdev, describeVdev, type Resolve, sameDisk, type VdevChanges } from "./vdevs.ts";

/** Whether the disks of a vdev fit together: the same disk twice, sizes, sector sizes. */

/** zpool takes disks of one vdev whose sizes differ by less for equal (ZPOOL_FUZZ). */
const equalWithin = 16 * 1024 ** 2;
/** ZFS takes no smaller device (SPA_MINDEVSIZE). */
const leastBytes = 64 * 1024 ** 2;

type Known = { devices: readonly BlockDevice[]; resolve: Resolve };

const size = ({ size: bytes }: BlockDevice): string => `${formatSize(BigInt(bytes))}, ${bytes} bytes`;

/** The device of a path that a stack file names or that a pool shows; a whole disk for the partition on it. */
function deviceOf(path: string, { devices, resolve }: Known): BlockDevice | undefined {
  const kname = resolve(diskPath(path)) ?? diskPath(path);
  return findDevice(devices, kname);
}

/** Declared disks that are one device, or a disk and a partition of it. */
export function refuseTwice(vdevs: readonly DeclaredVdev[], known: Known): string[] {
  const seen: { path: string; device: BlockDevice }[] = [];
  const refusals: string[] = [];
  for (const path of vdevs.flatMap(({ disks }) => disks.map(diskPath))) {
    const device = deviceOf(path, known);
    if (device === undefined) continue;
    const other = seen.find(
      (earlier) =>
        findDevice([earlier.device], device.kname) !== undefined ||
        findDevice([device], earlier.device.kname) !== undefined,
    );
    if (other !== undefined) {
      refusals.push(
        `${other.path} (${other.device.kname}) and ${path} (${device.kname}) are the same disk. Declare each disk once.`,
      );
    }
    seen.push({ path, device });
  }
  return refusals;
}

/** Why these disks don't make these vdevs. `ashift` is the declared one; left out, ZFS takes what the disks report. */
export function refuseUnfit(
  changes: Pick<VdevChanges, "add" | "attach" | "replace">,
  there: readonly TopLevelVdev[],
  ashift: number | undefined,
  expandable: boolean,
  known: Known,
): string[] {
  return [
    ...changes.add.flatMap((vdev) => refuseNew(vdev, ashift, known)),
    ...[...changes.attach, ...changes.replace].flatMap(({ vdev, disk }) => {
      const members = there.find(({ name }) => name === vdev)?.disks ?? [];
      return [
        ...(expandable ? [] : refuseSmall(disk, members, known)),
        ...refuseSectors(disk, ashift, known),
      ];
    }),
  ];
}

function refuseNew(vdev: DeclaredVdev, ashift: number | undefined, known: Known): string[] {
  const disks = vdev.disks.flatMap((path) => {
    const device = deviceOf(path, known);
    return device === undefined ? [] : [{ path: diskPath(path), device }];
  });
  const list = (say: (device: BlockDevice) => string): string =>
    disks.map(({ path, device }) => `\n    ${path}: ${say(device)}`).join("");
  const refusals = disks
    .filter(({ device }) => device.size < leastBytes)
    .map(
      ({ path, device }) =>
        `${path} has ${size(device)}; ZFS takes no device below ${formatSize(BigInt(leastBytes))}, ${leastBytes} bytes.`,
    );
  const sizes = disks.map(({ device }) => device.size);
  if (vdev.type !== "stripe" && Math.max(...sizes) - Math.min(...sizes) > equalWithin) {
    refusals.push(
      `The disks of ${describeVdev(vdev)} have different sizes, and the vdev would use each as far as the smallest only:` +
        `${list(size)}\n  Declare disks whose sizes differ by ${formatSize(BigInt(equalWithin))} at most, or partitions of that size.`,
    );
  }
  const sectors = disks.map(({ device }) => device["phy-sec"] ?? 0);
  if (ashift === undefined && Math.max(...sectors) !== Math.min(...sectors)) {
    const largest = Math.log2(Math.max(...sectors));
    refusals.push(
      `The disks of ${describeVdev(vdev)} have different sector sizes:` +
        `${list((device) => `${device["phy-sec"]} bytes physical, ${device["log-sec"]} bytes logical`)}\n` +
        `  Say which the vdev is to use (ashift: ${largest}), or declare disks of one sector size.`,
    );
  }
  return [...refusals, ...vdev.disks.flatMap((path) => refuseSectors(path, ashift, known))];
}

/** ZFS writes no less than a disk's logical sector. */
function refuseSectors(disk: string, ashift: number | undefined, known: Known): string[] {
  const logical = deviceOf(disk, known)?.["log-sec"] ?? 0;
  if (ashift === undefined || 2 ** ashift >= logical) return [];
  return [
    `${diskPath(disk)} has sectors of ${logical} bytes, ashift ${ashift} means ${2 ** ashift}. Declare ashift: ${Math.log2(logical)}, or another disk.`,
  ];
}

/** A disk that joins a vdev holds at least what each of its disks holds. */
function refuseSmall(disk: string, members: readonly string[], known: Known): string[] {
  const device = deviceOf(disk, known);
  const others = members.flatMap((shown) => {
    const member = diskOf(known.devices, known.resolve(shown) ?? shown);
    return member === undefined || sameDisk(disk, shown, known.resolve) ? [] : [{ shown, member }];
  });
  const [smallest] = others.sort((a, b) => a.member.size - b.member.size);
  if (device === undefined || smallest === undefined || device.size >= smallest.member.size) return [];
  return [
    `${diskPath(disk)} has ${size(device)}, less than the smallest disk beside which it is to stand ` +
      `(${smallest.shown}: ${size(smallest.member)}). Declare a disk of at least that size.`,
  ];
}

/** Disks whose physical sectors are larger than what the vdevs use: each write reads the sector first. */
export const hintSectors = (disks: readonly string[], ashift: number | undefined, known: Known): string[] =>
  disks.flatMap((path) => {
    const physical = deviceOf(path, known)?.["phy-sec"] ?? 0;
    if (ashift === undefined || 2 ** ashift >= physical) return [];
    return [
      `${diskPath(path)} has physical sectors of ${physical} bytes, and ashift ${ashift} writes ${2 ** ashift}: the disk reads before each smaller write.`,
    ];
  });
