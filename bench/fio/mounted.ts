import { mountColumns } from "../parse/mounts.ts";
import type { Client } from "../schema/request.ts";

/**
 * A program on the client with the LUN mounted, in a mount namespace of its own. The file system is mounted by that
 * process alone (unshare(1)), so it is unmounted by the kernel when the process ends, however it ends, and two paths
 * to one LUN are never mounted at once.
 */

const mountedScript = `
set -e
mkdir -p -- "$2"
blockdev --flushbufs "$1"
mount -t "$3" -- "$1" "$2"
findmnt --json --list --output ${mountColumns} --mountpoint "$2"
shift 3
exec "$@"`;

/**
 * Mount the LUN's block device, print what is mounted, then become `argv`. While anybody has the device open, its
 * page cache may hold what stood there before the other path wrote: flushbufs drops it.
 */
export const mounted = (
  block: string,
  client: Pick<Client, "mount" | "filesystem">,
  argv: readonly string[],
): string[] => [
  ...["unshare", "--mount", "sh", "-c", mountedScript, "sh", block, client.mount, client.filesystem.type],
  ...argv,
];
