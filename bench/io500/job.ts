import { join } from "node:path";
import { perl } from "../files/job.ts";
import type { Client } from "../schema/request.ts";
import type { Io500Test } from "../schema/test.ts";
import { phases } from "./score.ts";

/**
 * What runs on the client for kind `io500`, where the file system is mounted already (bench/fio/mounted.ts): the io500
 * program, or phases of its shape by a program of ours in perl. Both drop the client's caches before each phase:
 * io500 by drop_caches, as its rules ask of a single node; ours by unmounting and mounting.
 */

export const io500Folder = ({ mount }: Pick<Client, "mount">): string => `${mount}/storage-lab-bench.io500`;

/** The easy and the hard file, the empty and the 3,901-byte files with their inodes and names; 16 MiB for trees. */
export const spaceOf = ({ size, files }: Io500Test): number =>
  2 * size + files * (1024 + 4096 + 1024) + 16 * 1048576;

/** What an interruption left is removed first. A program's status 255 would be ssh's for a host that is away. */
const begin = `
set -e
folder=$1 space=$2 files=$3
shift 3
rm -rf -- "$folder"
sync -f "$(dirname -- "$folder")"
free=$(stat -f -c '%a * %S' -- "$(dirname -- "$folder")")
free=$(($free))
if [ "$free" -lt "$space" ]; then
  echo "two files and $files small ones of each kind need $space bytes and the file system has $free free: make the volume larger or the test smaller" >&2
  exit 28
fi
mkdir -- "$folder"
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 143' HUP INT PIPE TERM`;

const shaped = `${begin}
program=$1 block=$2 mount=$3 type=$4
shift 4
command -v perl >/dev/null || { echo "the program that writes the files is in perl: install the package perl" >&2; exit 127; }
for phase in ${phases.join(" ")}; do
  umount -- "$mount"
  blockdev --flushbufs "$block"
  mount -t "$type" -- "$block" "$mount"
  perl -e "$program" "$phase" "$folder" "$@" || exit 1
done`;

const common = (client: Pick<Client, "mount">, test: Io500Test): string[] => [
  ...["sh", io500Folder(client), String(spaceOf(test)), String(test.files)],
];

/** The phases of the IO500's shape, one after the other. Exit status 28: not enough space, with both numbers. */
export const shapedArgv = (
  block: string,
  client: Pick<Client, "mount" | "filesystem">,
  test: Io500Test,
): string[] => [
  ...["sh", "-c", shaped, ...common(client, test)],
  ...[perl(join(import.meta.dirname, "shaped.pl")), block, client.mount, client.filesystem.type],
  ...[test.seconds, test.size, test.files].map(String),
];

/** IOR's transfer of the easy phase; a file is whole transfers. */
const transfer = 2097152;

/**
 * io500's own ini file (its README, config-sample-all.ini). What is not named here is as its rules have it; the
 * sizes are limits for a LUN that 300 s of writing would fill, and io500 marks a run that reaches them as invalid.
 */
export const ini = (client: Pick<Client, "mount">, results: string, test: Io500Test): string =>
  [
    "[global]",
    `datadir = ${io500Folder(client)}`,
    "timestamp-datadir = FALSE",
    `resultdir = ${results}`,
    "timestamp-resultdir = FALSE",
    "drop-caches = TRUE",
    "drop-caches-cmd = sh -c 'echo 3 > /proc/sys/vm/drop_caches'",
    "[debug]",
    `stonewall-time = ${test.seconds}`,
    "[ior-easy]",
    `blockSize = ${Math.max(1, Math.floor(test.size / transfer)) * transfer}`,
    "[ior-hard]",
    `segmentCount = ${Math.max(1, Math.floor(test.size / 47008))}`,
    "[mdtest-easy]",
    `n = ${test.files}`,
    "[mdtest-hard]",
    `n = ${test.files}`,
    "",
  ].join("\n");

/** It prints as it goes; what it wrote is framed and printed at the end, since its folder goes. */
const program = `${begin}
results=$(mktemp -d /run/storage-lab-io500.XXXXXX)
trap 'rm -rf -- "$folder" "$results"' EXIT
printf '%s' "$1" | sed "s|@RESULTS@|$results|" >"$results.ini"
mv -- "$results.ini" "$results/asked.ini"
stdbuf -oL io500 "$results/asked.ini" || { echo "io500 ended with status $?" >&2; exit 1; }
for file in result_summary.txt result.txt config.ini; do
  printf '==> %s <==\\n' "$file"
  cat -- "$results/$file"
done`;

export const io500Argv = (client: Pick<Client, "mount">, test: Io500Test): string[] => [
  ...["sh", "-c", program, ...common(client, test), ini(client, "@RESULTS@", test)],
];

/** Remove what a run that was ended has left. */
export const removeArgv = (client: Pick<Client, "mount">): string[] => [
  ...["rm", "-rf", "--", io500Folder(client)],
];
