import { CommandError, ParseError } from "../../errors.ts";
import { parseGrep, withoutAbsent } from "../../files.ts";
import type { Questions } from "../../host.ts";
import { normalPortal, portalText } from "../net/address.ts";

/** The iSCSI sessions of a host as the kernel holds them, in sysfs: quicker than `iscsiadm -m session -P 3`. */

export type KernelSession = {
  readonly id: number;
  readonly target: string;
  readonly portal: string;
  /** The iface record that it was logged in by: `default` is TCP, `iser` is iSER. */
  readonly iface: string;
  /** LOGGED_IN, FAILED (being recovered), FREE. */
  readonly state: string;
  readonly initiator: string;
};

const classes = ["/sys/class/iscsi_session", "/sys/class/iscsi_connection"];
const attributes = [
  "targetname",
  "state",
  "ifacename",
  "initiatorname",
  "persistent_address",
  "persistent_port",
];
// A class holds links; grep follows those that it is given, and none below.
const listing = [
  ...["find", ...classes, "-mindepth", "1", "-maxdepth", "1", "-exec"],
  ...["grep", "-raHZ", ...attributes.map((name) => `--include=${name}`), "", "{}", "+"],
];

export async function observeSessions(host: Questions): Promise<KernelSession[]> {
  const answer = await host.ask(listing);
  // Without the module there is no class; a session that ends while it is read is gone.
  const complaints = withoutAbsent(answer.stderr, /^(find|grep): .*: No such file or directory$/);
  if (answer.status > 2 || complaints.length > 0) {
    const said = complaints.join("; ") || "nothing";
    throw new CommandError(
      host.name,
      answer.status,
      `${host.name}: could not read the iSCSI sessions: find said: ${said}`,
    );
  }
  return parseSessions(parseGrep(answer.stdout));
}

/** Reads the attributes of sessionN and connectionN:0 by path. */
export function parseSessions(files: ReadonlyMap<string, string>): KernelSession[] {
  const sessions: KernelSession[] = [];
  for (const [path, target] of files) {
    const id = /\/iscsi_session\/session(\d+)\/targetname$/.exec(path)?.[1];
    if (id === undefined) continue;
    const session = (name: string): string | undefined => files.get(`${classes[0]}/session${id}/${name}`);
    const connection = (name: string): string | undefined =>
      files.get(`${classes[1]}/connection${id}:0/${name}`);
    const state = session("state");
    if (state === undefined) throw new ParseError(`iSCSI session ${id} to ${target} has no state in sysfs`);
    const address = connection("persistent_address") ?? "";
    const port = Number(connection("persistent_port") ?? "0");
    sessions.push({
      id: Number(id),
      target,
      portal: normalPortal(portalText({ address, port })),
      iface: session("ifacename") ?? "",
      state,
      initiator: session("initiatorname") ?? "",
    });
  }
  return sessions;
}

/** A session in one line, for messages. */
export const sessionText = ({ id, target, portal }: KernelSession): string =>
  `${target} at ${portal} (session ${id})`;
