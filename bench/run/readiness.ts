import { expect } from "../../provider/resource.ts";
import { parsePoolStatus } from "../../provider/resources/zfs/status.ts";
import { parseRdmaLink } from "../parse/link.ts";
import type { HostState, PathState, Precondition } from "../schema/result.ts";
import type { Protocol } from "../schema/words.ts";
import type { States } from "../telemetry/telemetry.ts";
import type { BenchHost } from "../unit.ts";
import type { TestFile } from "./start.ts";

/** What has to hold on the hosts for a figure to mean what it says, read back before or after each run. */

/** The pool is whole and does nothing by itself: a resilver or scrub takes the disks' time. */
export async function poolPrecondition(storage: BenchHost, pool: string): Promise<Precondition> {
  const text = expect(
    storage,
    await storage.ask(["zpool", "status", "-P", pool]),
    `the state of pool ${pool}`,
  );
  const status = parsePoolStatus(text).find(({ name }) => name === pool);
  const scrub = /^ +scan: (scrub in progress.*)$/m.exec(text)?.[1];
  const busy = [
    ...Object.entries(status?.busy ?? {}).map((pair) => pair.join(" ")),
    ...(scrub ? [scrub] : []),
  ];
  return {
    name: `pool ${pool} whole and quiet`,
    wanted: "ONLINE, nothing under way",
    found: [status?.state ?? "not there", ...busy].join(", "),
    holds: status?.state === "ONLINE" && busy.length === 0,
  };
}

/** The interface has a carrier and the MTU that it had at the start; for iSER its RDMA device is active. */
export async function linkPrecondition(
  host: BenchHost,
  { link }: HostState,
  protocol: Protocol,
): Promise<Precondition> {
  const files = ["carrier", "mtu"].map((name) => `/sys/class/net/${link.interface}/${name}`);
  const iser = protocol === "iser";
  const [answer, rdma] = await Promise.all([
    host.ask(["cat", ...files]),
    iser ? host.ask(["rdma", "-j", "link", "show"]) : undefined,
  ]);
  // The carrier of an interface that is down can't be read (EINVAL).
  const [carrier = "", mtu = ""] = answer.status === 0 ? answer.stdout.trim().split("\n") : ["no carrier"];
  const device = rdma && parseRdmaLink(expect(host, rdma, "its RDMA links"), link.interface);
  const active = !iser || device?.state === "ACTIVE";
  return {
    name: `${host.name} link up`,
    wanted: `${link.interface} with a carrier, MTU ${link.mtu}${iser ? ", an RDMA device over it ACTIVE" : ""}`,
    found: [
      carrier === "1" ? `carrier, MTU ${mtu}` : "no carrier",
      ...(iser ? [device ? `${device.device} ${device.state}` : "no RDMA device"] : []),
    ].join(", "),
    holds: carrier === "1" && Number(mtu) === link.mtu && active,
  };
}

/** MTUs of both ends; a smaller one on the way is found by neither, but by the figures. */
export function mtuPrecondition(states: States): Precondition {
  const mtus = [states.storage, ...states.clients].map(({ name, link }) => `${name} ${link.mtu}`);
  const values = new Set([states.storage, ...states.clients].map(({ link }) => link.mtu));
  return {
    name: "one MTU",
    wanted: "the same MTU on all hosts",
    found: mtus.join(", "),
    // Different ones work, at the smaller one's price: the diagnosis says so.
    holds: values.size === 1 ? true : null,
  };
}

/** readPath refuses what is not so; this keeps what it found. */
export const sessionPrecondition = (client: string, path: PathState): Precondition => ({
  name: `${client} session`,
  wanted: `a session by ${path.protocol} to ${path.portal}, logged in, with the declared file system`,
  found: `${path.session} by ${path.transport} to ${path.portal}, ${path.negotiated.state ?? ""}, ${path.block}`,
  holds: true,
});

/** Asked of the mounted file system right before fio began. */
export function testFilePrecondition(
  client: string,
  size: number,
  found: TestFile | undefined,
): Precondition {
  return {
    name: `${client} test file written whole`,
    wanted: `at least ${size} bytes, all of them allocated`,
    found: found ? `${found.size} bytes, ${found.allocated} allocated` : "fio did not get so far",
    holds: found !== undefined && found.size >= size && found.allocated >= size,
  };
}

/** Bytes that a block device has moved: fields 3 and 7 of /sys/block/NAME/stat, in sectors of 512 bytes. */
export function movedBytes(stat: string): { read: number; written: number } {
  const fields = stat.trim().split(/\s+/).map(Number);
  return { read: (fields[2] ?? 0) * 512, written: (fields[6] ?? 0) * 512 };
}

/** The LUN moved what fio says it moved: no byte of it came from the client's page cache. */
export function clientCachePrecondition(
  client: string,
  fio: { readonly read: number; readonly written: number },
  lun: { readonly read: number; readonly written: number },
): Precondition {
  const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  return {
    name: `${client} page cache out of the way`,
    wanted: "direct=1: the LUN's block device moves at least what fio moves",
    found: `fio read ${mb(fio.read)} and wrote ${mb(fio.written)}, the LUN ${mb(lun.read)} and ${mb(lun.written)}`,
    holds: lun.read >= fio.read && lun.written >= fio.written,
  };
}

/** More than this, and lz4 has made the writes of the disks smaller than those of the client. */
const mostRatio = 1.05;

export async function compressPrecondition(storage: BenchHost, volume: string): Promise<Precondition> {
  const asked = ["zfs", "get", "-Hpo", "value", "compression,compressratio,logicalused,used", volume];
  const text = expect(storage, await storage.ask(asked), `how well ${volume} compresses`);
  const [compression = "", ratio = "", logical = "", used = ""] = text.trimEnd().split("\n");
  return {
    name: `${volume} not compressible`,
    wanted: `compressratio at most ${mostRatio} after the run`,
    found: `compression ${compression}, compressratio ${ratio}, logicalused ${logical}, used ${used}`,
    holds: Number(ratio) <= mostRatio,
  };
}
