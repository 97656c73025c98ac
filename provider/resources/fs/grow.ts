import { formatSize } from "../../size.ts";
import type { Step } from "../../step.ts";

/** An XFS grows with its device, while it is mounted, and never shrinks: xfs_growfs(8). */

/** mkfs.xfs leaves out a last allocation group that would be smaller; the kernel, growing, one that is smaller still. */
const unused = 16n * 1024n * 1024n;

/** Is there so much more on a device of that size that the file system is to grow? */
export const isSmaller = (bytes: bigint, size: bigint): boolean => size - bytes >= unused;

export function growSteps(
  device: string,
  mountpoint: string | undefined,
  bytes: bigint,
  size: bigint,
): Step[] {
  const say = `grow the XFS on ${device} from ${formatSize(bytes)} to ${formatSize(size)}`;
  const effect = "cannot be undone";
  if (mountpoint !== undefined) return [{ say, argv: ["xfs_growfs", "-d", mountpoint], effect }];
  const argv = ["unshare", "--mount", "sh", "-c", unmounted, "sh", device];
  return [{ say: `${say}, mounted for that alone`, argv, effect }];
}

/**
 * Mounted where no other process sees it, so that whatever ends this ends the mount too. While anybody has the
 * device open, its page cache may hold what stood there before: flushbufs drops it.
 */
const unmounted = `set -e
blockdev --flushbufs "$1"
mount -t xfs -- "$1" /mnt
xfs_growfs -d /mnt
umount /mnt
blockdev --flushbufs "$1"`;
