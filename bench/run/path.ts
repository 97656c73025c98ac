import { ParseError, RefusedError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { type Mount, mountColumns, parseMounts } from "../parse/mounts.ts";
import type { Client, Path } from "../schema/request.ts";
import type { PathState } from "../schema/result.ts";
import type { BenchHost } from "../unit.ts";

/**
 * Which session and transport a path to the LUN really is, by sysfs, and whether the LUN may be mounted through
 * it: the declared file system is on it, nobody holds it. Read right before each run.
 */

const drivers = { iscsi: "iscsi_tcp", iser: "iscsi_iser" } as const;

const sessionAttributes = ["targetname", "state", "ifacename", "first_burst_len", "max_burst_len"]
  .concat(["immediate_data", "initial_r2t", "max_outstanding_r2t"])
  .map((name) => `session/${name}`);
const connectionAttributes = ["persistent_address", "persistent_port", "max_recv_dlength", "max_xmit_dlength"]
  .concat(["header_digest", "data_digest"])
  .map((name) => `connection/${name}`);

/** Read one path back from the initiator. Refused by name when it is not what the request says. */
export async function readPath(host: BenchHost, client: Client, path: Path): Promise<PathState> {
  const link = await host.ask(["udevadm", "info", "--query=path", `--name=${path.device}`]);
  if (link.status !== 0 && /Unknown device|No such device/.test(link.stderr)) {
    throw new RefusedError(
      `${host.name}: ${path.device} is not there: no ${path.protocol} session brings this LUN. ` +
        `Log in to ${path.portal} (pulumi up does), then run again.`,
    );
  }
  const where = parseSysfsPath(expect(host, link, `what ${path.device} is`));
  const block = `/dev/${where.name}`;
  const folders = {
    session: `/sys/class/iscsi_session/session${where.session}`,
    connection: `/sys/class/iscsi_connection/connection${where.session}:0`,
  };
  const files = [
    `/sys/class/scsi_host/host${where.host}/proc_name`,
    ...sessionAttributes.map((name) => name.replace("session", folders.session)),
    ...connectionAttributes.map((name) => name.replace("connection", folders.connection)),
  ];
  const [attributes, probe, mounts, holders] = await Promise.all([
    host.ask(["grep", "-H", "", ...files]),
    host.ask(["blkid", "--probe", "--output", "export", block]),
    host.ask(["findmnt", "--json", "--list", "--output", mountColumns]),
    host.ask(["ls", `/sys/class/block/${where.name}/holders`]),
  ]);
  const values = parseAttributes(expect(host, attributes, `the session of ${path.device}`));
  const state: PathState = {
    ...{ client: client.name, protocol: path.protocol, portal: path.portal, device: path.device, block },
    session: `session${where.session}`,
    transport: values.get("proc_name") ?? "",
    negotiated: Object.fromEntries([...values].filter(([name]) => name !== "proc_name")),
  };
  const wrong =
    wrongSession(state, client, path) ??
    wrongFilesystem(parseProbe(probe.stdout), client) ??
    wrongMounts(parseMounts(JSON.parse(expect(host, mounts, "what is mounted"))), block, client) ??
    wrongHolders(expect(host, holders, `who holds ${block}`));
  if (wrong !== undefined) throw new RefusedError(`${host.name}: ${path.device} (${block}): ${wrong}`);
  return state;
}

/** SCSI host, session and name of the disk, from its place in sysfs. */
export function parseSysfsPath(text: string): { host: string; session: string; name: string } {
  const match = /\/host(\d+)\/session(\d+)\/.*\/block\/(\w+)$/.exec(text.trim());
  const [, host, session, name] = match ?? [];
  if (host === undefined || session === undefined || name === undefined) {
    throw new ParseError(`not a disk of an iSCSI session: ${JSON.stringify(text.trim())}`);
  }
  return { host, session, name };
}

/** `grep -H "" FILES`: file:value, by the file's own name. */
export function parseAttributes(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.trimEnd().split("\n")) {
    const match = /^\/sys\/class\/\w+\/[^/]+\/(\w+):(.*)$/.exec(line);
    if (match?.[1] === undefined) throw new ParseError(`sysfs: unknown line ${JSON.stringify(line)}`);
    values.set(match[1], match[2] ?? "");
  }
  return values;
}

/** `blkid -o export`: NAME=value; nothing where it found nothing. */
export const parseProbe = (text: string): Map<string, string> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );

function wrongSession(state: PathState, client: Client, path: Path): string | undefined {
  const { targetname, persistent_address, persistent_port, state: at } = state.negotiated;
  if (state.transport !== drivers[path.protocol]) {
    return `its session is by ${state.transport}, not ${drivers[path.protocol]}: the ${path.protocol} figures would be another transport's. Check the session's iface.`;
  }
  if (targetname !== client.target) {
    return `its target is ${targetname}, the stack's is ${client.target}. Run pulumi up.`;
  }
  const portal = persistent_address?.includes(":")
    ? `[${persistent_address}]:${persistent_port}`
    : `${persistent_address}:${persistent_port}`;
  if (portal !== path.portal) return `its portal is ${portal}, the stack's is ${path.portal}. Run pulumi up.`;
  if (at !== "LOGGED_IN")
    return `its session is ${at}, not LOGGED_IN. Look at the target and the network, run again.`;
  return undefined;
}

function wrongFilesystem(probe: ReadonlyMap<string, string>, client: Client): string | undefined {
  const { type, uuid } = client.filesystem;
  if (probe.get("TYPE") === type && probe.get("UUID") === uuid) return undefined;
  const found = probe.has("TYPE") ? `${probe.get("TYPE")} ${probe.get("UUID")}` : "nothing known";
  return `${type} ${uuid} is expected on it, ${found} found. It is not written to; check the LUN, or run pulumi refresh.`;
}

function wrongMounts(mounts: readonly Mount[], block: string, client: Client): string | undefined {
  const used = mounts.find(({ source, uuid }) => source === block || uuid === client.filesystem.uuid);
  if (used !== undefined) {
    return `its file system is mounted on ${used.target} (from ${used.source}); the benchmark mounts it by itself. Unmount it: umount ${used.target}`;
  }
  const there = mounts.find(({ target }) => target === client.mount);
  if (there === undefined) return undefined;
  return `${there.source} (${there.fstype}) is mounted on ${client.mount} and is not the benchmark's. Unmount it, or name another mount point.`;
}

function wrongHolders(text: string): string | undefined {
  const holders = text.split("\n").filter((line) => line !== "");
  return holders.length === 0
    ? undefined
    : `${holders.join(", ")} holds it (multipathd takes single paths too; blacklist this LUN in multipath.conf).`;
}
