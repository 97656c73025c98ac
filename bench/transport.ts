import { ParseError, RefusedError } from "../provider/errors.ts";
import type { Answer } from "../provider/host.ts";
import { expect } from "../provider/resource.ts";
import { mountColumns, parseMounts } from "./parse/mounts.ts";
import { type Bench, type BenchClient, spareSeconds } from "./run/bench.ts";
import { parseProbe, parseSysfsPath } from "./run/path.ts";
import type { Path } from "./schema/request.ts";
import type { PathState } from "./schema/result.ts";
import type { FioTest } from "./schema/test.ts";
import { asUnit, type BenchHost, type Unit, unitName } from "./unit.ts";

/**
 * Tests with backstore `ramdisk`: fio on the target's RAM disk (LIO's rd_mcp), which measures the fabric without pool
 * and disks. fio writes to the whole block device, without a file system, so it is only ever started on a disk that
 * says by vendor, model and serial that it is that RAM disk; asked before the run and once more as fio starts.
 */

/** What LIO says of a RAM disk in its standard INQUIRY data (target_core_rd.c). */
const inquiry = { vendor: "LIO-ORG", model: "RAMDISK-MCP" };

/** VPD page 0x80 of a disk (SPC): four bytes, then the serial. */
const serialPage = (block: string): string =>
  `/sys/class/block/${block.slice("/dev/".length)}/device/vpd_pg80`;

/**
 * The RAM disk as the session of `state` brings it; `state` is what readPath found of this path right before, so that
 * transport, portal and target are looked at. Refused by name where it is another disk, in use, or too small.
 */
export async function readRamdisk(
  host: BenchHost,
  path: Path,
  state: PathState,
  test: Pick<FioTest, "size">,
): Promise<PathState> {
  const wanted = path.ramdisk;
  if (wanted === undefined) {
    throw new RefusedError(
      `${host.name}: the target has no RAM disk, which a test with backstore ramdisk runs on. ` +
        "Declare one: storage-lab:targets.IQN.ramdisk: 256 MiB",
    );
  }
  const link = await host.ask(["udevadm", "info", "--query=path", `--name=${wanted.device}`]);
  if (link.status !== 0 && /Unknown device|No such device/.test(link.stderr)) {
    throw new RefusedError(
      `${host.name}: ${wanted.device} is not there: the ${path.protocol} session brings no RAM disk. Run pulumi up.`,
    );
  }
  const where = parseSysfsPath(expect(host, link, `what ${wanted.device} is`));
  const block = `/dev/${where.name}`;
  const sysfs = `/sys/class/block/${where.name}`;
  const [vendor, model, serial, sectors, probe, mounts, holders] = await Promise.all([
    host.ask(["cat", `${sysfs}/device/vendor`]),
    host.ask(["cat", `${sysfs}/device/model`]),
    host.ask(["tail", "-c", "+5", serialPage(block)]),
    host.ask(["cat", `${sysfs}/size`]),
    host.ask(["blkid", "--probe", "--output", "export", block]),
    host.ask(["findmnt", "--json", "--list", "--output", mountColumns]),
    host.ask(["ls", `${sysfs}/holders`]),
  ]);
  const text = (answer: Answer, what: string): string =>
    expect(host, answer, `${what} of ${block}`).replaceAll("\0", "").trim();
  const found = {
    ...{ vendor: text(vendor, "the vendor"), model: text(model, "the model") },
    ...{ serial: text(serial, "the serial"), session: `session${where.session}` },
    bytes: 512 * Number(text(sectors, "the size")),
  };
  if (!Number.isInteger(found.bytes)) throw new ParseError(`${host.name}: ${sysfs}/size is no number`);
  const used = parseMounts(JSON.parse(expect(host, mounts, "what is mounted"))).find(
    ({ source }) => source === block,
  );
  const wrong =
    otherDisk(found, { serial: wanted.serial, session: state.session }) ??
    inUse(text(holders, "the holders"), used?.target, parseProbe(probe.stdout).get("TYPE")) ??
    tooSmall(found.bytes, test.size);
  if (wrong !== undefined) throw new RefusedError(`${host.name}: ${wanted.device} (${block}): ${wrong}`);
  return { ...state, device: wanted.device, block };
}

function otherDisk(
  found: { vendor: string; model: string; serial: string; session: string },
  wanted: { serial: string; session: string },
): string | undefined {
  const of = (key: string, is: string, expected: string): string | undefined =>
    is === expected
      ? undefined
      : `its ${key} is ${is}, the RAM disk's is ${expected}. It is not written to; run pulumi refresh.`;
  return (
    of("vendor", found.vendor, inquiry.vendor) ??
    of("model", found.model, inquiry.model) ??
    of("serial", found.serial.toLowerCase(), wanted.serial.toLowerCase()) ??
    of("session", found.session, wanted.session)
  );
}

function inUse(holders: string, mount: string | undefined, content: string | undefined): string | undefined {
  if (holders !== "") return `${holders.split("\n").join(", ")} holds it. It is not written to.`;
  if (mount !== undefined) return `it is mounted on ${mount}. It is not written to; umount ${mount}`;
  if (content !== undefined)
    return `it holds ${content}. It is not written to; if nobody needs that: wipefs --all, then run again.`;
  return undefined;
}

const tooSmall = (bytes: number, size: number): string | undefined =>
  size <= bytes
    ? undefined
    : `it has ${bytes} bytes and the test is of ${size}: make targets.IQN.ramdisk larger or the test smaller.`;

// No braces after a dollar: systemd would take them for a variable of its own (systemd.service(5), COMMAND LINES).
const script = `
disk=$1 page=$2 serial=$3
shift 3
found=$(tail -c +5 "$page" | tr -d '\\0 ')
if [ "$found" != "$serial" ]; then
  echo "$disk has become another disk: its serial is $found, the RAM disk's is $serial; nothing was written" >&2
  exit 1
fi
blockdev --flushbufs "$disk"
exec "$@"`;

/** Become `argv` where `block` is still the RAM disk: a name such as sdc may go to another disk at any time. */
export const onRamdiskArgv = (block: string, serial: string, argv: readonly string[]): string[] => [
  ...["sh", "-c", script, "sh", block, serialPage(block), serial.toLowerCase(), ...argv],
];

/**
 * A program in a unit of its own on the RAM disk: what runMounted is for a file system. `path` is what readRamdisk
 * found right before. How the program ended is the caller's to look at (`unitFailure(answer)`).
 */
export async function runOnRamdisk(
  bench: Bench,
  { host }: BenchClient,
  path: PathState,
  serial: string,
  job: string,
  seconds: number,
  argv: readonly string[],
  options: { readonly onLine?: (line: string) => void; readonly unit?: Partial<Unit> } = {},
): Promise<Answer> {
  const unit: Unit = {
    name: unitName(bench.run, job),
    description: `storage-lab benchmark of stack ${bench.request.stack}: ${job}`,
    seconds: seconds + spareSeconds,
    ...options.unit,
  };
  return await host.stream(asUnit(unit, onRamdiskArgv(path.block, serial, argv)), {
    deadlineSeconds: unit.seconds + spareSeconds,
    signal: bench.signal,
    ...(options.onLine && { onLine: options.onLine }),
  });
}
