import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mountColumns } from "../parse/mounts.ts";
import type { Client } from "../schema/request.ts";
import type { FilesTest } from "../schema/test.ts";

/**
 * What runs on the client for kind `files`: a program of ours in perl, which every Debian has (perl-base). fio's file
 * engines keep all files of a job in one directory and filecreate writes nothing into them, so lab C's load is none
 * of theirs. It runs where the file system is mounted already (bench/fio/mounted.ts). Between write and read the file
 * system is unmounted and mounted again, which drops all that the client's caches hold of it, data and metadata.
 */

/** A program of ours in perl, as an argument of perl -e; its beginning is common to all. */
export const perl = (file: string): string =>
  [join(import.meta.dirname, "common.pl"), file].map((path) => readFileSync(path, "utf8")).join("");

const program = perl(join(import.meta.dirname, "files.pl"));

/** Where the files are: removed before and after. */
export const filesFolder = ({ mount }: Pick<Client, "mount">): string => `${mount}/storage-lab-bench.files`;

/** Bytes on XFS: each file's blocks, inode (512 bytes) and name; 16 MiB for the growth of its trees. */
export const spaceOf = ({ files, fileSize }: FilesTest): number =>
  files * (Math.ceil(fileSize / 4096) * 4096 + 1024) + 16 * 1048576;

/** What an interruption left is removed first, so that it takes no space from this run. */
const script = `
set -e
program=$1 block=$2 mount=$3 type=$4 folder=$5 space=$6
shift 6
command -v perl >/dev/null || { echo "the program that writes the files is in perl: install the package perl" >&2; exit 127; }
rm -rf -- "$folder"
sync -f "$mount"
free=$(stat -f -c '%a * %S' -- "$mount")
free=$(($free))
inodes=$(stat -f -c %d -- "$mount")
if [ "$free" -lt "$space" ]; then
  echo "$1 files of $2 bytes need $space bytes and the file system has $free free: make the volume larger or the files fewer" >&2
  exit 28
fi
if [ "$inodes" -lt "$1" ]; then
  echo "$1 files need as many inodes and the file system has $inodes free: make the volume larger or the files fewer" >&2
  exit 28
fi
trap 'rm -rf -- "$folder"' EXIT
trap 'exit 143' HUP INT PIPE TERM
# Status 255, which perl has for an error of its own, is ssh's for a host that does not answer.
program() {
  phase=$1
  shift
  perl -e "$program" "$phase" "$folder" "$@" || exit 1
}
program write "$@"
umount -- "$mount"
blockdev --flushbufs "$block"
mount -t "$type" -- "$block" "$mount"
findmnt --json --list --output ${mountColumns} --mountpoint "$mount"
program cached "$@"
program read "$@"`;

/** Write, drop the caches, read, remove. Exit status 28: not enough space, with both numbers. */
export const filesArgv = (
  block: string,
  client: Pick<Client, "mount" | "filesystem">,
  test: FilesTest,
): string[] => [
  ...["sh", "-c", script, "sh", program, block, client.mount, client.filesystem.type],
  ...[filesFolder(client), spaceOf(test), test.files, test.fileSize, test.folders].map(String),
];

/** Remove what a run that was ended has left. */
export const removeArgv = (client: Pick<Client, "mount">): string[] => [
  ...["rm", "-rf", "--", filesFolder(client)],
];
