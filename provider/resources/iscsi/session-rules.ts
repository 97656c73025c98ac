import { iqnProblem } from "../lio/iqn.ts";
import { normalPortal, portalProblem } from "../net/address.ts";
import { chapRules } from "./chap.ts";
import { auth, difference, ifaces } from "./record.ts";
import type { SessionInputs, SessionObserved } from "./session.ts";
import { sessionText } from "./sessions.ts";

/** What forbids a session's plan, what is to be known before it, and what is wrong with its inputs. */

export function refusals(
  desired: SessionInputs | undefined,
  observed: SessionObserved,
  { host, target, portal, transport }: SessionInputs,
): string[] {
  const sentences: string[] = [];
  const { session, foreign, holders, record } = observed;
  if (!observed.installed) {
    sentences.push(
      `${host.name} has no iscsiadm: apt-get install open-iscsi, or dnf install iscsi-initiator-utils`,
    );
  }
  if (desired !== undefined && foreign !== undefined) {
    const by =
      Object.entries(ifaces).find(([, iface]) => iface === foreign.iface)?.[0] ?? `iface ${foreign.iface}`;
    sentences.push(
      `${host.name} is logged in to ${sessionText(foreign)} by ${by}, not ${transport}: give each transport its own ` +
        `portal, or log out: iscsiadm -m session -r ${foreign.id} --logout`,
    );
  }
  if (session === undefined || holders.length === 0) return sentences;
  const held = `the disks of ${target} at ${portal} on ${host.name} are in use: ${holders.join(", ")}`;
  const maps = multipathMaps(observed);
  const free =
    maps.length === 0
      ? "Unmount or stop that first"
      : `Unmount that and flush the map (multipath -f ${maps.join(" ")}) first`;
  if (desired === undefined) {
    sentences.push(`${held}. ${free}, then log out`);
  } else if (difference(desired, record) === "login") {
    sentences.push(`${held}. Other settings need a new login: ${free[0]?.toLowerCase()}${free.slice(1)}`);
  }
  return sentences;
}

const multipathMaps = ({ holders }: SessionObserved): string[] =>
  holders.flatMap((holder) => /^mpath (.+)$/.exec(holder)?.[1] ?? []);

export function hints({ host }: SessionInputs, observed: SessionObserved): string[] {
  const { session, versions } = observed;
  const sentences = multipathMaps(observed).map(
    (map) =>
      `multipathd has taken the disk as /dev/mapper/${map}: declare that as the file system's device, or blacklist ` +
      "the disk in /etc/multipath.conf (blacklist { device { vendor LIO-ORG } }) and restart multipathd",
  );
  if (session !== undefined && session.state !== "LOGGED_IN") {
    sentences.push(
      `its session is ${session.state}. If it comes and goes every few seconds, another host has the name ` +
        `${session.initiator} as well: give each host a name of its own (iscsi:Initiator)`,
    );
  }
  if (versions.iscsid !== undefined && versions.iscsid !== versions.iscsiadm) {
    sentences.push(
      `iscsiadm on ${host.name} is ${versions.iscsiadm ?? "not there"}, the iscsid that runs is ${versions.iscsid}: a ` +
        "login would wait for it for ever. Restart it, sessions stay: systemctl restart iscsid",
    );
  }
  return sentences;
}

export function rules({
  target,
  portal,
  luns = [],
  sizes,
  settings = {},
  chap,
}: SessionInputs): [string, string][] {
  const found: [string, string][] = [];
  const add = (key: string, problem: string | undefined): void => {
    if (problem !== undefined) found.push([key, problem]);
  };
  add("target", iqnProblem(target));
  add("portal", portalProblem(portal));
  if (/^(0\.0\.0\.0|\[::\]):/.test(normalPortal(portal))) {
    add("portal", `${portal} is no place to log in to: write one of the target's addresses`);
  }
  if (new Set(luns).size !== luns.length) add("luns", `a LUN is declared twice: ${luns.join(", ")}`);
  const count = Math.max(luns.length, 1);
  if (sizes !== undefined && sizes.length !== count) {
    add(
      "sizes",
      `there are ${count} LUNs and ${sizes.length} sizes: one size for each of luns, in their order`,
    );
  }
  for (const name of Object.keys(settings)) {
    if (name === "node.startup") add("settings", "node.startup: use startup");
    else if (name.startsWith(auth)) add("settings", `${name}: use chap, which keeps secrets out of sight`);
    else if (!/^(node|iface)\.[A-Za-z0-9_.[\]]+$/.test(name)) {
      add("settings", `${name} is no value of a node record, such as node.session.queue_depth`);
    }
  }
  return [...found, ...chapRules(chap)];
}
