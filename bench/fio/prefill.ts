import type { Client } from "../schema/request.ts";
import type { Test } from "../schema/test.ts";
import { reporting, testFile } from "./argv.ts";

/**
 * The test file of a client is written whole before anything is measured: a read must find what was written, and
 * each write the same allocated blocks, whichever protocol goes first. One file serves all tests of a benchmark.
 */

const MiB = 1024 ** 2;

/**
 * Bytes of the test file that these tests share on each client: the largest of their sizes, in whole MiB. Direct I/O
 * leaves out a tail that is no whole block, so a file of the very size could end before a test does. 0: none needs it.
 */
export const prefillSize = (tests: readonly Test[]): number =>
  Math.max(
    0,
    ...tests.map((test) =>
      test.kind === "fio" && test.backstore === "volume" ? Math.ceil(test.size / MiB) * MiB : 0,
    ),
  );

const prefillScript = `
if [ "$(stat -c %s -- "$0" 2>/dev/null || echo 0)" -ge "$1" ]; then exit 0; fi
rm -f -- "$0" "$0.part"
free=$(stat -f -c '%a * %S' -- "$(dirname -- "$0")")
free=$(($free))
if [ "$free" -lt "$1" ]; then
  echo "it needs $1 bytes and the file system has $free free: make the volume larger or the benchmark smaller" >&2
  exit 28
fi
shift
"$@" && mv -- "$0.part" "$0" || { s=$?; rm -f -- "$0.part"; exit $s; }`;

/**
 * Write the test file of `size` bytes (prefillSize) unless a whole one of at least that size is there. It has its
 * name only once it is whole. `every`: seconds between fio's reports. Exit status 28: not enough space.
 */
export function prefillArgv(client: Pick<Client, "mount">, size: number, every: number): string[] {
  const file = testFile(client);
  return [
    ...["sh", "-c", prefillScript, file, String(size)],
    ...["fio", "--name=prefill", `--filename=${file}.part`, `--size=${size}`, `--bs=${MiB}`],
    ...["--iodepth=16", "--ioengine=libaio", "--direct=1", "--rw=write", "--refill_buffers=1"],
    ...["--buffer_compress_percentage=0", "--randrepeat=0", ...reporting(every)],
  ];
}
