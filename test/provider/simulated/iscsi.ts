import type { ChapInputs } from "../../../provider/resources/iscsi/chap.ts";
import { lsblk, lunPath } from "../../../provider/resources/iscsi/luns.ts";
import { askVersions } from "../../../provider/resources/iscsi/versions.ts";
import { commandLine } from "../../../provider/shell.ts";
import type { Step } from "../../../provider/step.ts";
import { Refused, type Result, SimulatedHost } from "./tree.ts";

/**
 * A host with Open-iSCSI, and the target that it logs in to. What is easily forgotten of the real ones: iscsid reads the
 * initiator's name when it starts; it uses a record's credentials whatever authmethod says; a record that a session
 * uses can't be deleted; a disk keeps its size, and a session its LUNs, until it is rescanned.
 */

type Session = {
  id: number;
  portal: string;
  iface: string;
  state: string;
  initiator: string;
  disks: Map<number, { name: string; bytes: bigint }>;
};

const nodes = "/var/lib/iscsi/nodes";
const nameFile = "/etc/iscsi/initiatorname.iscsi";
const auth = "node.session.auth";
const service = "open-iscsi.service";
const listing =
  "find /sys/class/iscsi_session /sys/class/iscsi_connection -mindepth 1 -maxdepth 1 -exec grep -raHZ " +
  "--include=targetname --include=state --include=ifacename --include=initiatorname --include=persistent_address " +
  "--include=persistent_port '' '{}' +";

export class SimulatedInitiator extends SimulatedHost {
  readonly target: string;
  /** What the target shows and wants. */
  readonly luns = new Map<number, bigint>();
  chap: ChapInputs | undefined;
  /** The name that the running iscsid has; none where it does not run. */
  daemon: string | undefined;
  readonly sessions = new Map<number, Session>();
  /** Mount points by kernel name. */
  readonly mounts = new Map<string, string>();
  #module = false;
  #count = 0;
  #stdin: string | undefined;

  constructor(target: string) {
    super();
    this.target = target;
    this.write(`/usr/lib/systemd/system/${service}`, "[Unit]\n");
  }

  override apply(steps: readonly Step[], count = steps.length): void {
    for (const step of steps.slice(0, count)) {
      this.#stdin = "argv" in step ? step.stdin : undefined;
      super.apply([step]);
    }
  }

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    if (line === listing) return this.#sessions();
    if (line === commandLine(lsblk))
      return { status: 0, stdout: JSON.stringify({ blockdevices: this.#disks() }) };
    if (line === commandLine(askVersions)) {
      const daemon = this.daemon === undefined ? "" : "iscsid version 2.1.11\n";
      return { status: 0, stdout: `iscsiadm version 2.1.11\n${daemon}` };
    }
    if (argv[0] === "grep" && argv[1] === "-aHZ") return this.grepFiles(argv.slice(3));
    if (line.startsWith("grep -raHZ '--include=*' '' ")) return this.#records(argv.slice(4));
    if (argv[0] === "find" && argv[1] === "/dev/disk/by-path") return this.#links(argv[12] ?? "");
    throw new Error(`the simulated host was not told of: ${line}`);
  }

  #sessions(): Result {
    if (!this.#module)
      return { status: 1, stderr: "find: '/sys/class/iscsi_session': No such file or directory\n" };
    const lines = [...this.sessions.values()].flatMap(({ id, portal, iface, state, initiator }) => {
      const [address = "", port = ""] = portal.split(":");
      const of = (path: string, values: Record<string, string>): string[] =>
        Object.entries(values).map(([name, value]) => `${path}/${name}\0${value}\n`);
      return [
        ...of(`/sys/class/iscsi_session/session${id}`, {
          ...{ ifacename: iface, initiatorname: initiator, targetname: this.target, state },
        }),
        ...of(`/sys/class/iscsi_connection/connection${id}:0`, {
          ...{ persistent_address: address, persistent_port: port, state: "up" },
        }),
      ];
    });
    return { status: 0, stdout: lines.join("") };
  }

  #records(folders: readonly string[]): Result {
    const stdout = folders
      .flatMap((folder) => this.below(folder))
      .map((path) => this.grepFiles([path]).stdout);
    const missing = folders.filter((folder) => this.below(folder).length === 0);
    const stderr = missing.map((folder) => `grep: ${folder}: No such file or directory\n`);
    return { status: stderr.length > 0 ? 2 : 0, stdout: stdout.join(""), stderr: stderr.join("") };
  }

  #links(pattern: string): Result {
    const shown = this.#paths().filter(([path]) => path.includes(`/${pattern.slice(0, -1)}`));
    const lines = shown.map(([path, name]) => `${path}\t../../${name}\n`);
    const stdout = `${lines.join("")}/usr/sbin/iscsiadm\t\n`;
    if (this.#paths().length > 0) return { status: 0, stdout };
    return { status: 1, stdout, stderr: "find: '/dev/disk/by-path': No such file or directory\n" };
  }

  #paths(): [path: string, name: string][] {
    return [...this.sessions.values()].flatMap(({ portal, disks }) =>
      [...disks].map(([lun, { name }]): [string, string] => [
        lunPath({ target: this.target, portal }, lun),
        name,
      ]),
    );
  }

  #disks(): unknown[] {
    return [...this.sessions.values()].flatMap(({ disks }) =>
      [...disks.values()].map(({ name, bytes }) => ({
        ...{
          name,
          kname: name,
          type: "disk",
          size: Number(bytes),
          mountpoint: this.mounts.get(name) ?? null,
        },
      })),
    );
  }

  run(argv: readonly string[]): void {
    const [program, ...rest] = argv[0] === "timeout" ? argv.slice(2) : argv;
    const line = commandLine([program ?? "", ...rest]);
    if (program === "iscsiadm" && rest[1] === "node") this.#node(rest);
    else if (program === "iscsiadm") this.#session(rest);
    else if (program === "sh" && rest[0] === "-c") this.#append(rest.slice(3));
    else if (line === `systemctl enable --quiet ${service}`)
      this.write(`/etc/systemd/system/sysinit.target.wants/${service}`, "[Unit]\n");
    else if (line === "systemctl stop iscsid.service") this.daemon = undefined;
    else if (line === `rm -f ${nameFile}`) this.remove(nameFile);
    else if (line === `mv -f ${nameFile}.before-storage-lab ${nameFile}`) {
      this.write(nameFile, this.text(`${nameFile}.before-storage-lab`) ?? "");
      this.remove(`${nameFile}.before-storage-lab`);
    } else throw new Error(`the simulated host was not told of: ${line}`);
  }

  #node(words: readonly string[]): void {
    const match = /^-m node -T (\S+) -p (\S+) -I (default|iser) (--login|-o (?:new|delete|update .*))$/.exec(
      words.join(" "),
    );
    const [, target, portal = "", iface = "", action = ""] = match ?? [];
    if (target !== this.target) throw new Error(`no such node: ${words.join(" ")}`);
    const path = `${nodes}/${target}/${portal.replace(":", ",")}`;
    const used = [...this.sessions.values()].some((session) => session.portal === portal);
    if (action === "-o new") {
      if (this.tree.has(path)) throw new Error(`${path} is there already`);
      this.write(path, record(target, portal, iface));
      return;
    }
    const text = this.text(path);
    if (text === undefined) throw new Refused("iscsiadm: No records found");
    if (action === "-o delete") {
      if (used) throw new Refused("iscsiadm: a session is using it. Logout session then rerun the command");
      this.remove(path);
    } else if (action === "--login") {
      if (!used) this.login(portal, iface);
    } else {
      const values = [...action.matchAll(/ -n (\S+) -v (\S+)/g)];
      if (values.length === 0) throw new Error(`nothing to update: ${action}`);
      this.write(
        path,
        values.reduce((all, [, name = "", value = ""]) => withValue(all, name, value), text),
      );
    }
  }

  /** By whomever. */
  login(portal: string, iface: string): void {
    const values = this.text(`${nodes}/${this.target}/${portal.replace(":", ",")}`) ?? "";
    const value = (name: string): string =>
      [...values.matchAll(new RegExp(`^${auth}\\.${name} = (.*)$`, "gm"))]
        .at(-1)?.[1]
        ?.replace("<empty>", "") ?? "";
    const given = ["username", "password", "username_in", "password_in"].map(value);
    const { user, password, mutualUser, mutualPassword } = this.chap ?? {};
    const wanted = [user, password, mutualUser, mutualPassword].map((text) => text ?? "");
    if (given.join("\n") !== wanted.join("\n"))
      throw new Refused(
        "iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)",
      );
    const named = /^InitiatorName=(\S+)$/m.exec(this.text(nameFile) ?? "")?.[1];
    this.daemon ??= named;
    if (this.daemon === undefined) throw new Refused("iscsid: can't start without an initiator's name");
    this.#module = true;
    this.#count += 1;
    const session = { id: this.#count, portal, iface, state: "LOGGED_IN", initiator: this.daemon };
    this.sessions.set(session.id, { ...session, disks: new Map() });
    this.rescan(session.id);
  }

  rescan(id: number): void {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Refused("iscsiadm: No session found.");
    if (session.state !== "LOGGED_IN") throw new Error("a session in recovery was rescanned");
    for (const [lun, bytes] of this.luns) {
      const name = session.disks.get(lun)?.name ?? `sd${String.fromCharCode(97 + ((id * 4 + lun) % 26))}`;
      session.disks.set(lun, { name, bytes });
    }
  }

  logout(id: number): void {
    const session = this.sessions.get(id);
    if (session === undefined) throw new Refused("iscsiadm: No session found.");
    for (const { name } of session.disks.values())
      if (this.mounts.has(name))
        throw new Error(`logged out under what is mounted on ${this.mounts.get(name)}`);
    this.sessions.delete(id);
  }

  #session(words: readonly string[]): void {
    const [, id, action] = /^-m session -r (\d+) --(logout|rescan)$/.exec(words.join(" ")) ?? [];
    if (action === "logout") this.logout(Number(id));
    else if (action === "rescan") this.rescan(Number(id));
    else throw new Error(`the simulated iscsiadm was not told of: ${words.join(" ")}`);
  }

  /** The script that appends what it reads to the one record that there is. */
  #append([, ...files]: readonly string[]): void {
    const path = files.find((file) => this.tree.has(file));
    if (path === undefined) throw new Refused("there is nothing to append to");
    this.write(path, `${this.text(path)}${this.#stdin}\n`);
  }

  override holds(argv: readonly string[]): boolean {
    const line = argv.join(" ");
    const state = /^grep -qx LOGGED_IN \/sys\/class\/iscsi_session\/session(\d+)\/state$/.exec(line)?.[1];
    if (state !== undefined) {
      // The target is back by then.
      const session = this.sessions.get(Number(state));
      if (session) session.state = "LOGGED_IN";
      return session !== undefined;
    }
    const [, sectors, name] = /^grep -qx (\d+) \/sys\/class\/block\/(\w+)\/size$/.exec(line) ?? [];
    if (sectors !== undefined) {
      const disks = [...this.sessions.values()].flatMap(({ disks }) => [...disks.values()]);
      return disks.some((disk) => disk.name === name && disk.bytes === BigInt(sectors) * 512n);
    }
    const there = (path: string): boolean => this.#paths().some(([known]) => known === path);
    if (line.startsWith("test -b ")) return there(line.slice(8));
    if (/^test ! -[eL] /.test(line)) return !there(line.slice(10));
    return super.holds(argv);
  }

  set(attribute: string): void {
    throw new Error(`nothing of iSCSI is set by ${attribute}`);
  }
}

/** A record as `iscsiadm -o new` makes it from iscsid.conf, shortened to what is read of it. */
function record(target: string, portal: string, iface: string): string {
  const [address, port] = portal.split(":");
  return [
    "# BEGIN RECORD 2.1.11",
    ...[
      `node.name = ${target}`,
      "node.tpgt = -1",
      "node.startup = manual",
      `iface.iscsi_ifacename = ${iface}`,
    ],
    ...[`${auth}.authmethod = None`, `${auth}.username = <empty>`, `${auth}.password = <empty>`],
    ...["node.session.queue_depth = 32", `node.conn[0].address = ${address}`, `node.conn[0].port = ${port}`],
    "# END RECORD",
    "",
  ].join("\n");
}

/** A record with another value of one name, which iscsiadm writes once. */
export function withValue(text: string, name: string, value: string): string {
  const lines = text.split("\n").filter((line) => !line.startsWith(`${name} = `));
  return [...lines.slice(0, -2), `${name} = ${value}`, ...lines.slice(-2)].join("\n");
}
