import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { CommandError } from "../../errors.ts";
import { readFiles, withoutAbsent } from "../../files.ts";
import { type HostAddress, hostAddress, type Questions } from "../../host.ts";
import { expect, type ResourceType } from "../../resource.ts";
import { formatSize, parseSize } from "../../size.ts";
import type { Step } from "../../step.ts";
import { normalPortal } from "../net/address.ts";
import { chapInputs, chapInputsOf, chapOf } from "./chap.ts";
import { byPath, lsblk, lunOf, lunPath, parseDisks, parseLinks } from "./luns.ts";
import { difference, ifaces, type NodeRecord, observeRecords, recordedChap, recordSteps } from "./record.ts";
import { hints, refusals, rules } from "./session-rules.ts";
import { type KernelSession, observeSessions } from "./sessions.ts";
import { askVersions, parseVersions, type Versions } from "./versions.ts";

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
  sizes: z
    .array(
      z.string().refine((text) => parseSize(text) !== undefined, {
        error: "a size is a number with a unit in zfs notation or IEC (200G, 200 GiB, 1.5T), in whole bytes",
      }),
    )
    .optional()
    .describe(
      "The size of each of `luns`, in their order, as its volume declares it. A disk that shows another one is " +
        "looked at again, so that it grows with its volume. Left out: left alone.",
    ),
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

export type SessionObserved = {
  /** Is iscsiadm installed? */
  installed: boolean;
  versions: Versions;
  session: KernelSession | undefined;
  /** A session to the same portal of the same target by another transport. */
  foreign: KernelSession | undefined;
  record: NodeRecord | undefined;
  /** The LUNs' disks by path: kernel name, and the size that they show. */
  disks: Map<string, { name: string; bytes: bigint | undefined }>;
  /** What stands on those disks. */
  holders: string[];
  /** Where the kernel shows that one is mounted, although in no mount namespace that we see: by a benchmark. */
  hidden: string[];
  /** The service that logs in at boot, if it has to be enabled first. */
  loginService: string | undefined;
};

const program = "/usr/sbin/iscsiadm";
/** A folder for each mounted device, in whatever mount namespace it is. */
const mountedDevices = ["/sys/fs/xfs", "/sys/fs/ext4"];
const mountOf = (path: string, disk: string): boolean => new RegExp(`^/sys/fs/\\w+/${disk}\\d*$`).test(path);
const units = "/usr/lib/systemd/system";
const loginServices = [
  { unit: "open-iscsi.service", link: "/etc/systemd/system/sysinit.target.wants/open-iscsi.service" },
  { unit: "iscsi.service", link: "/etc/systemd/system/remote-fs.target.wants/iscsi.service" },
];

const lunsOf = ({ luns }: SessionInputs): number[] => luns ?? [0];

async function observe(host: Questions, inputs: SessionInputs): Promise<SessionObserved> {
  const pattern = lunPath(inputs, 0).slice(byPath.length + 1, -1);
  const [sessions, records, paths, blocks, files, versions] = await Promise.all([
    observeSessions(host),
    observeRecords(host, inputs.target),
    host.ask([
      ...["find", byPath, program, ...mountedDevices, "-maxdepth", "1"],
      ...["(", "-name", "iscsiadm", "-o", "-name", `${pattern}*`, "-o", "-path", "/sys/fs/*/*", ")"],
      ...["-printf", "%p\\t%l\\n"],
    ]),
    host.ask(lsblk),
    readFiles(
      host,
      loginServices.flatMap(({ unit, link }) => [`${units}/${unit}`, link]),
    ),
    host.ask(askVersions),
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
  const there = parseDisks(expect(host, blocks, "the block devices"));
  const links = [...found].filter(([path]) => path.startsWith(byPath) && !path.includes("-part"));
  const holders = links.flatMap(([, name]) => there.get(name)?.holders ?? []);
  const portal = normalPortal(inputs.portal);
  const here = sessions.filter((session) => session.target === inputs.target && session.portal === portal);
  const iface = ifaces[inputs.transport];
  return {
    installed: found.has(program),
    versions: parseVersions(versions),
    session: here.find((session) => session.iface === iface),
    foreign: here.find((session) => session.iface !== iface),
    record: records.find((record) => record.portal === portal && record.iface === iface),
    disks: new Map(links.map(([path, name]) => [path, { name, bytes: there.get(name)?.bytes }])),
    holders,
    hidden: holders.some((holder) => holder.includes(" mounted on "))
      ? []
      : links.flatMap(([, name]) => [...found.keys()].filter((path) => mountOf(path, name))),
    loginService: loginServices.some(({ link }) => files.has(link))
      ? undefined
      : loginServices.find(({ unit }) => files.has(`${units}/${unit}`))?.unit,
  };
}

/** iscsid tries a portal that does not answer for two minutes; longer, it is iscsid that does not answer. */
const answersWithin = ["timeout", "180"];

function plan(desired: SessionInputs | undefined, observed: SessionObserved, inputs: SessionInputs): Step[] {
  const { session, record } = observed;
  const node = ["iscsiadm", "-m", "node", "-T", inputs.target, "-p", normalPortal(inputs.portal)];
  const on = [...node, "-I", ifaces[inputs.transport]];
  const place = `${inputs.target} at ${normalPortal(inputs.portal)}`;
  const logout: Step[] =
    session === undefined
      ? []
      : [
          ...observed.hidden.map((path) => ({
            say: `wait until ${path.replace(/^.*\//, "")}, which a benchmark or a container has mounted, is unmounted`,
            until: ["test", "!", "-e", path],
            deadlineSeconds: 120,
          })),
          {
            say: `log out of ${place}`,
            argv: [...answersWithin, "iscsiadm", "-m", "session", "-r", `${session.id}`, "--logout"],
            effect: "sessions drop",
          },
        ];
  if (desired === undefined) {
    return [
      ...logout,
      ...(record === undefined ? [] : [{ say: `forget ${place}`, argv: [...on, "-o", "delete"] }]),
      ...[...observed.disks.keys()].map((path) => ({
        say: `wait until ${path} is gone`,
        // A link whose disk has just gone is still listed: it is there until udev removes it.
        until: ["test", "!", "-L", path],
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
  if (again)
    steps.push({ say: `log in to ${place}`, argv: [...answersWithin, ...on, "--login"], accept: [0, 15] });
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
  const resized = again ? [] : wrongSizes(desired, observed);
  if (!again && session !== undefined && missing.length + resized.length > 0) {
    const argv = ["iscsiadm", "-m", "session", "-r", `${session.id}`, "--rescan"];
    const what = missing.length > 0 ? "LUNs" : "the sizes of LUNs";
    steps.push({ say: `look for ${what} of ${place}`, argv });
  }
  const waits = missing.map((path) => ({
    say: `wait for ${path}`,
    until: ["test", "-b", path],
    deadlineSeconds: 60,
  }));
  return [
    ...steps,
    ...waits,
    ...resized.map(({ lun, name, bytes, declared }) => waitForSize(place, lun, name, bytes, declared)),
  ];
}

/** The disks that show another size than the declared one. */
function wrongSizes(desired: SessionInputs, { disks }: SessionObserved) {
  return lunsOf(desired).flatMap((lun, n) => {
    const declared = parseSize(desired.sizes?.[n] ?? "");
    const { name, bytes } = disks.get(lunPath(desired, lun)) ?? {};
    if (declared === undefined || name === undefined || bytes === undefined || bytes === declared) return [];
    return [{ lun, name, bytes, declared }];
  });
}

const waitForSize = (place: string, lun: number, name: string, bytes: bigint, declared: bigint): Step => ({
  say: `wait until LUN ${lun} of ${place} (${name}) shows ${formatSize(declared)}; it shows ${formatSize(bytes)}`,
  // In sysfs a sector has 512 bytes, whatever the disk's is.
  until: ["grep", "-qx", `${declared / 512n}`, `/sys/class/block/${name}/size`],
  deadlineSeconds: 60,
});

/** What holds on the host in place of what is declared, where they differ. */
function current(observed: SessionObserved, inputs: SessionInputs): SessionInputs {
  const { record, disks } = observed;
  const { chap: declared, ...plain } = inputs;
  const luns = inputs.luns?.filter((lun) => disks.has(lunPath(inputs, lun)));
  const wrong = wrongSizes(inputs, observed);
  const there = {
    ...plain,
    ...(luns !== undefined && observed.session !== undefined && { luns }),
    ...(inputs.sizes !== undefined && {
      sizes: inputs.sizes.map((size, n) => {
        const shown = wrong.find(({ lun }) => lun === lunsOf(inputs)[n]);
        return shown === undefined ? size : formatSize(shown.bytes);
      }),
    }),
  };
  if (record === undefined) return { ...there, ...(declared && { chap: declared }) };
  const startup = startupOf(record);
  const recorded = recordedChap(record);
  const chap = isDeepStrictEqual(recorded, chapOf(declared)) ? declared : chapInputsOf(recorded);
  return {
    ...there,
    ...(inputs.startup !== undefined && startup !== undefined && { startup }),
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

function startupOf({ values }: NodeRecord): SessionInputs["startup"] {
  const startup = values.get("node.startup");
  return startup === "automatic" || startup === "manual" ? startup : undefined;
}

const identity = ({ target, portal, transport }: SessionInputs): string =>
  `${target}/${normalPortal(portal)}/${transport}`;

function named(host: HostAddress, name: string): SessionInputs | undefined {
  const [, target = "", portal = "", transport = ""] = /^([^/]+)\/([^/]+)\/([^/]+)$/.exec(name) ?? [];
  if (transport !== "tcp" && transport !== "iser") return undefined;
  const inputs = { host, target, portal, transport } as const;
  return rules(inputs).length === 0 && identity(inputs) === name ? inputs : undefined;
}

/** The record's other values are iscsid.conf's or somebody's: they can't be told apart, and stay. */
function found({ record, disks }: SessionObserved, inputs: SessionInputs): SessionInputs {
  const there = [...disks]
    .flatMap(([path, { bytes }]) => {
      const lun = lunOf(path);
      return lun === undefined || lun > 255 || bytes === undefined ? [] : [{ lun, bytes }];
    })
    .sort((a, b) => a.lun - b.lun);
  const startup = record && startupOf(record);
  const chap = record && chapInputsOf(recordedChap(record));
  return {
    ...inputs,
    ...(there.length > 0 && {
      luns: there.map(({ lun }) => lun),
      sizes: there.map(({ bytes }) => formatSize(bytes)),
    }),
    ...(startup && { startup }),
    ...(chap && { chap }),
  };
}

export const session: ResourceType<SessionInputs, SessionObserved> = {
  type: "iscsi:Session",
  inputs: sessionInputs,
  identity,
  observe,
  exists: ({ session, record }) => session !== undefined || record !== undefined,
  current,
  plan,
  refusals,
  hints,
  rules,
  named,
  found,
  gone: (observed) => ({
    ...observed,
    session: undefined,
    record: undefined,
    disks: new Map(),
    holders: [],
    hidden: [],
  }),
  outputs: (inputs) => ({
    device: lunPath(inputs, lunsOf(inputs)[0] ?? 0),
    devices: Object.fromEntries(lunsOf(inputs).map((lun) => [lun, lunPath(inputs, lun)])),
  }),
};
