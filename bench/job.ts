import { mountColumns } from "./parse/mounts.ts";
import type { Direction, Request } from "./request.ts";

/**
 * What runs on the initiator: fio with the options of lab A, on one test file, in a mount namespace of its own.
 * The file system is mounted by that process alone (unshare(1)), so it is unmounted by the kernel when the process
 * ends, however it ends, and two paths to one LUN are never mounted at once.
 */

export const testFile = (request: Request): string => `${request.mount}/storage-lab-bench.data`;

/** What fio has to say back that it was asked for (its `job options`). Sizes in plain bytes: fio's KiB is 1000. */
export const expectedOptions = (request: Request, direction: Direction): Record<string, string> => ({
  filename: testFile(request),
  size: String(request.workload.size),
  bs: String(request.workload.blockSize),
  iodepth: String(request.workload.depth),
  ioengine: "libaio",
  direct: "1",
  rw: direction,
  runtime: String(request.workload.runtime),
});

/** One measured run. `every`: seconds between the reports that fio prints while it runs. */
export function fioArgv(request: Request, direction: Direction, every: number): string[] {
  const { name, rampTime } = request.workload;
  return [
    ...["fio", `--name=${name}`],
    ...Object.entries(expectedOptions(request, direction)).map(([option, value]) => `--${option}=${value}`),
    ...["--time_based", "--refill_buffers"],
    ...(rampTime === undefined ? [] : [`--ramp_time=${rampTime}`]),
    ...reporting(every),
  ];
}

const prefillScript = `
if [ "$(stat -c %s -- "$0" 2>/dev/null)" = "$1" ]; then exit 0; fi
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
 * Write the whole test file once before anything is measured: a read must find what was written, and each write
 * the same allocated blocks, whichever protocol goes first. The file has its name only once it is whole.
 */
export function prefillArgv(request: Request, every: number): string[] {
  const { size, blockSize, depth } = request.workload;
  const file = testFile(request);
  return [
    ...["sh", "-c", prefillScript, file, String(size)],
    ...["fio", "--name=prefill", `--filename=${file}.part`, `--size=${size}`, `--bs=${blockSize}`],
    ...[`--iodepth=${depth}`, "--ioengine=libaio", "--direct=1", "--rw=write", "--refill_buffers"],
    ...reporting(every),
  ];
}

/** json+ has the latency histogram's bins, which can be merged where percentiles can't. */
const reporting = (every: number): string[] => [
  ...[`--status-interval=${every}`, "--eta=never", "--output-format=json+"],
];

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
export const mounted = (block: string, request: Request, argv: readonly string[]): string[] => [
  ...["unshare", "--mount", "sh", "-c", mountedScript, "sh", block, request.mount, request.filesystem.type],
  ...argv,
];
