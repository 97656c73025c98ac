import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { CommandError, ParseError } from "../../errors.ts";
import { readFiles, withoutAbsent } from "../../files.ts";
import { hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import type { Step } from "../../step.ts";
import { iqnProblem } from "../lio/iqn.ts";
import { normalPortal, parsePortal, portalProblem } from "../net/address.ts";
import { type Chap, chapInputs, chapInputsOf, chapOf, chapRules } from "./chap.ts";
import { lsblk, parseHolders } from "./holders.ts";
import { type NodeRecord, nodeFolders, observeRecords } from "./record.ts";
import { type KernelSession, observeSessions, sessionText } from "./sessions.ts";

/**
 * A login of this host to one portal of a target. See iscsiadm(8), iscsid.conf(5).
 * There is no discovery: a node record for the wanted portal alone, so that no other portal is ever tried.
 */
export const sessionInputs = z.strictObject({
  host: hostAddress.meta({ change: "replace" }),
  target: z.string().meta({ change: "replace" }).describe("The target's name."),
  portal: z.string().meta({ change: "replace" }).describe("Its portal, address and port: 10.10.10.1:3260."),
  transport: z
    .enum(["tcp", "iser"])
    .meta({ change: "replace" })
    .describe("iSCSI over TCP, or iSER over RDMA."),
  luns: z
    .array(z.int().min(0).max(255))
    .min(1)
    .optional()
    .describe("The LUNs to wait for after the login. Default: LUN 0."),
  startup: z
    .enum(["automatic", "manual"])
    .optional()
    .describe("automatic = log in at boot. Default: as iscsid.conf says."),
  settings: z
    .record(z.string(), z.string())
    .optional()
    .describe("Values of the node record: node.session.queue_depth. Those left out are iscsid.conf's."),
  chap: chapInputs.optional().describe("CHAP. Default: none; what the record holds of it is cleared."),
});
export type SessionInputs = z.infer<typeof sessionInputs>;

type SessionObserved = {
  /** Is iscsiadm installed? */
  installed: boolean;
  session: KernelSession | undefined;
  /** A session to the same portal of the same target by another transport. */
  foreign: KernelSession | undefined;
  record: NodeRecord | undefined;
  /** Kernel names of the LUNs' disks, by path. */
  disks: Map<string, string>;
  /** What stands on those disks. */
  holders: string[];
  /** The service that logs in at boot, if it has to be enabled first. */
  loginService: string | undefined;
};

const ifaces = { tcp: "default", iser: "iser" } as const;
const byPath = "/dev/disk/by-path";
const program = "/usr/sbin/iscsiadm";
const units = "/usr/lib/systemd/system";
const loginServices = [
  { unit: "open-iscsi.service", link: "/etc/systemd/system/sysinit.target.wants/open-iscsi.service" },
  { unit: "iscsi.service", link: "/etc/systemd/system/remote-fs.target.wants/iscsi.service" },
];

/** The stable path that udev gives to a LUN behind a portal. */
export function lunPath({ target, portal }: SessionInputs, lun: number): string {
  const { address, port } = parsePortal(portal) ?? { address: portal, port: 0 };
  return `${byPath}/ip-${address}:${port}-iscsi-${target}-lun-${lun}`;
}

const lunsOf = ({ luns }: SessionInputs): number[] => luns ?? [0];

async function observe(host: Questions, inputs: SessionInputs): Promise<SessionObserved> {
  const pattern = lunPath(inputs, 0).slice(byPath.length + 1, -1);
  const [sessions, records, paths, blocks, files] = await Promise.all([
    observeSessions(host),
    observeRecords(host, inputs.target),
    host.ask([
      ...["find", byPath, program, "(", "-name", "iscsiadm", "-o", "-name", `${pattern}*`, ")"],
      ...["-printf", "%p\\t%l\\n"],
    ]),
    host.ask(lsblk),
    readFiles(
      host,
      loginServices.flatMap(({ unit, link }) => [`${units}/${unit}`, link]),
    ),
  ]);
  const complaints = withoutAbsent(paths.stderr, /^find: .*: No such file or directory$/);
  if (complaints.length > 0) {
    throw new CommandError(
      host.name,
      paths.status,
      `${host.name}: could not list disks: ${complaints.join("; ")}`,
    );
  }
  const found = parseLinks(paths.stdout);
  const disks = new Map([...found].filter(([path]) => path !== program && !path.includes("-part")));
  const holders = parseHolders(expect(host, blocks, "the block devices"));
  const portal = normalPortal(inputs.portal);
  const here = sessions.filter((session) => session.target === inputs.target && session.portal === portal);
  const iface = ifaces[inputs.transport];
  return {
    installed: found.has(program),
    session: here.find((session) => session.iface === iface),
    foreign: here.find((session) => session.iface !== iface),
    record: records.find((record) => record.portal === portal && record.iface === iface),
    disks,
    holders: [...disks.values()].flatMap((disk) => holders.get(disk) ?? []),
    loginService: loginServices.some(({ link }) => files.has(link))
      ? undefined
      : loginServices.find(({ unit }) => files.has(`${units}/${unit}`))?.unit,
  };
}

/** Reads `find -printf '%p\t%l\n'`: kernel names by path. */
export function parseLinks(stdout: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of stdout.split("\n")) {
    if (line === "") continue;
    const [path, link] = line.split("\t");
    if (path === undefined || link === undefined)
      throw new ParseError(`find: not of the form path, link: ${line}`);
    found.set(path, link.replace(/^.*\//, ""));
  }
  return found;
}

const auth = "node.session.auth";

/** What the record has to hold, secrets apart. */
function wantedValues({ startup, settings = {}, chap }: SessionInputs): Map<string, string> {
  return new Map([
    ...(startup === undefined ? [] : [["node.startup", startup] as const]),
    ...Object.entries(settings),
    [`${auth}.authmethod`, chap === undefined ? "None" : "CHAP"],
  ]);
}

/** The record's name for each of CHAP's values. */
const chapNames: [key: keyof Chap, name: string][] = [
  ["user", `${auth}.username`],
  ["password", `${auth}.password`],
  ["mutualUser", `${auth}.username_in`],
  ["mutualPassword", `${auth}.password_in`],
];

const recordedChap = ({ values }: NodeRecord): Chap =>
  Object.fromEntries(chapNames.map(([key, name]) => [key, values.get(name) ?? ""])) as Chap;

/** How the record differs: not at all, in its startup alone, or in what a session takes over at its login. */
function difference(desired: SessionInputs, record: NodeRecord | undefined): "none" | "startup" | "login" {
  if (record === undefined) return "login";
  const differs = [...wantedValues(desired)].filter(([name, value]) => record.values.get(name) !== value);
  if (!isDeepStrictEqual(recordedChap(record), chapOf(desired.chap))) return "login";
  if (differs.some(([name]) => name !== "node.startup")) return "login";
  return differs.length > 0 ? "startup" : "none";
}

function plan(desired: SessionInputs | undefined, observed: SessionObserved, inputs: SessionInputs): Step[] {
  const { session, record } = observed;
  const node = ["iscsiadm", "-m", "node", "-T", inputs.target, "-p", normalPortal(inputs.portal)];
  const on = [...node, "-I", ifaces[inputs.transport]];
  const place = `${inputs.target} at ${normalPortal(inputs.portal)}`;
  const logout: Step[] =
    session === undefined
      ? []
      : [
          {
            say: `log out of ${place}`,
            argv: ["iscsiadm", "-m", "session", "-r", `${session.id}`, "--logout"],
          },
        ];
  if (desired === undefined) {
    return [
      ...logout,
      ...(record === undefined ? [] : [{ say: `forget ${place}`, argv: [...on, "-o", "delete"] }]),
      ...[...observed.disks.keys()].map((path) => ({
        say: `wait until ${path} is gone`,
        until: ["test", "!", "-e", path],
        deadlineSeconds: 30,
      })),
    ];
  }
  const steps: Step[] = [];
  const differs = difference(desired, record);
  const startup = desired.startup;
  // A session that is not logged in is in recovery. Unless something stands on its disks, a new login is the
  // quicker way, and it says what is wrong where there is something wrong.
  const isLost = session !== undefined && session.state !== "LOGGED_IN" && observed.holders.length === 0;
  const again = session === undefined || isLost || differs === "login";
  if (again) steps.push(...logout);
  if (differs === "login") steps.push(...recordSteps(desired, record, on, place));
  if (differs === "startup" && startup !== undefined) {
    const argv = [...on, "-o", "update", "-n", "node.startup", "-v", startup];
    steps.push({ say: `set node.startup of ${place} to ${startup}`, argv });
  }
  if (startup === "automatic" && observed.loginService !== undefined) {
    const argv = ["systemctl", "enable", "--quiet", observed.loginService];
    steps.push({ say: "log in at boot", argv });
  }
  // 15 = a session exists: another login came first, and the next look shows it.
  if (again) steps.push({ say: `log in to ${place}`, argv: [...on, "--login"], accept: [0, 15] });
  else if (session !== undefined && session.state !== "LOGGED_IN") {
    steps.push({
      say: `wait until ${place} is logged in again; it is ${session.state}`,
      until: ["grep", "-qx", "LOGGED_IN", `/sys/class/iscsi_session/session${session.id}/state`],
      deadlineSeconds: 120,
    });
  }
  const missing = lunsOf(desired)
    .map((lun) => lunPath(desired, lun))
    .filter((path) => again || !observed.disks.has(path));
  if (!again && session !== undefined && missing.length > 0) {
    const argv = ["iscsiadm", "-m", "session", "-r", `${session.id}`, "--rescan"];
    steps.push({ say: `look for LUNs of ${place}`, argv });
  }
  const waits = missing.map((path) => ({
    say: `wait for ${path}`,
    until: ["test", "-b", path],
    deadlineSeconds: 60,
  }));
  return [...steps, ...waits];
}

/** A record made anew from iscsid.conf holds nothing of before, credentials above all. */
function recordSteps(
  desired: SessionInputs,
  record: NodeRecord | undefined,
  on: string[],
  place: string,
): Step[] {
  const values = [...wantedValues(desired)].flatMap(([name, value]) => ["-n", name, "-v", value]);
  const chap = chapOf(desired.chap);
  const secrets = chapNames
    .filter(([key]) => chap[key] !== "")
    .map(([key, name]) => `${name} = ${chap[key]}`);
  const { address, port } = parsePortal(desired.portal) ?? { address: desired.portal, port: 0 };
  const steps: Step[] = [];
  if (record !== undefined) steps.push({ say: `forget ${place}`, argv: [...on, "-o", "delete"] });
  steps.push(
    { say: `note ${place}`, argv: [...on, "-o", "new"] },
    { say: `set how to log in to ${place}`, argv: [...on, "-o", "update", ...values] },
  );
  if (secrets.length > 0) {
    // iscsiadm takes values from its arguments only, which every user of the host can see.
    const files = nodeFolders.map((folder) => `${folder}/${desired.target}/${address},${port}`);
    const argv = ["sh", "-c", append, "sh", ifaces[desired.transport], ...files];
    steps.push({ say: `set the CHAP secrets of ${place}`, argv, stdin: secrets.join("\n"), secret: true });
  }
  return steps;
}

/** Appends stdin to the one record there is, in either of its layouts: PORTAL, or PORTAL,TPGT/IFACE. */
const append = `iface=$1; shift; for f do
  for record in "$f" "$f",*/"$iface"; do [ -f "$record" ] && { cat >>"$record"; exit; }; done
done; echo "no node record" >&2; exit 1`;

function refusals(
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
  if (desired === undefined) {
    sentences.push(`${held}. Unmount or stop that first, then log out`);
  } else if (difference(desired, record) === "login") {
    sentences.push(`${held}. Other settings need a new login: unmount or stop that first`);
  }
  return sentences;
}

function rules({ target, portal, luns = [], settings = {}, chap }: SessionInputs): [string, string][] {
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
  for (const name of Object.keys(settings)) {
    if (name === "node.startup") add("settings", "node.startup: use startup");
    else if (name.startsWith(auth)) add("settings", `${name}: use chap, which keeps secrets out of sight`);
    else if (!/^(node|iface)\.[A-Za-z0-9_.[\]]+$/.test(name)) {
      add("settings", `${name} is no value of a node record, such as node.session.queue_depth`);
    }
  }
  return [...found, ...chapRules(chap)];
}

/** The record's values in place of the declared ones, where they differ. */
function current({ record }: SessionObserved, inputs: SessionInputs): SessionInputs {
  if (record === undefined) return inputs;
  const { chap: declared, ...plain } = inputs;
  const startup = record.values.get("node.startup");
  const there = recordedChap(record);
  const chap = isDeepStrictEqual(there, chapOf(declared)) ? declared : chapInputsOf(there);
  return {
    ...plain,
    ...(inputs.startup !== undefined && (startup === "automatic" || startup === "manual") ? { startup } : {}),
    ...(inputs.settings === undefined
      ? {}
      : {
          settings: Object.fromEntries(
            Object.entries(inputs.settings).map(([name, value]) => [name, record.values.get(name) ?? value]),
          ),
        }),
    ...(chap === undefined ? {} : { chap }),
  };
}

export const session: ResourceType<SessionInputs, SessionObserved> = {
  type: "iscsi:Session",
  inputs: sessionInputs,
  identity: ({ target, portal, transport }) => `${target}/${normalPortal(portal)}/${transport}`,
  observe,
  exists: ({ session, record }) => session !== undefined || record !== undefined,
  current,
  plan,
  refusals,
  rules,
  outputs: (inputs) => ({
    device: lunPath(inputs, lunsOf(inputs)[0] ?? 0),
    devices: Object.fromEntries(lunsOf(inputs).map((lun) => [lun, lunPath(inputs, lun)])),
  }),
};
