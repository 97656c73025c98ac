import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createConnection } from "node:net";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { execa } from "execa";
import type { MachineSpec } from "../provider/resources/vm/machine.ts";
import { runningPid } from "../provider/resources/vm/running.ts";
import { parseSize } from "../provider/size.ts";
import { cacheRoot } from "../scripts/environment.ts";

/**
 * Starts and stops one guest of the virtual lab: `guest.ts start|shutdown|stop FOLDER`.
 * All that the guest is stands in FOLDER: machine.json (what it should be), uuid, keys, the overlay of the system
 * disk, the data disks, qemu.pid, ssh_config. Every file is made beside its place and renamed, so that an
 * interrupted start is taken up again by the next.
 */

const qemuFolder = join(cacheRoot(), "qemu/current");
const shutdownSeconds = 120;

const [verb, folderArgument] = process.argv.slice(2);
const folder = resolve(folderArgument ?? "");
const inFolder = (name: string): string => join(folder, name);
const text = (name: string): string => readFileSync(inFolder(name), "utf8").trim();

/** Make a file beside its place, then rename it. */
async function once(name: string, make: (part: string) => unknown): Promise<void> {
  if (existsSync(inFolder(name))) return;
  const part = inFolder(`${name}.part`);
  rmSync(part, { force: true });
  await make(part);
  renameSync(part, inFolder(name));
}

const key = (name: string) =>
  once(name, async (part) => {
    rmSync(`${part}.pub`, { force: true });
    await execa("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "storage-lab", "-f", part]);
    renameSync(`${part}.pub`, inFolder(`${name}.pub`));
  });

/** The image that this guest is made from and stays with: a newer one would not fit its overlay. */
function currentImage(): string {
  const current = join(cacheRoot(), "image/current");
  if (!existsSync(current)) throw new Error(`there is no guest image in ${current}: npm run setup`);
  return realpathSync(current);
}

/** What the guest lays over its root at its first boot: names, keys, nothing that resources manage. */
async function seed(part: string, spec: MachineSpec): Promise<void> {
  const root = mkdtempSync(inFolder("seed-"));
  const put = (path: string, content: string, mode: number): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content, { mode });
  };
  put("etc/hostname", `${spec.name}\n`, 0o644);
  put("etc/hosts", `127.0.0.1 localhost\n127.0.1.1 ${spec.name}\n`, 0o644);
  put("etc/machine-id", `${text("uuid").replaceAll("-", "")}\n`, 0o444);
  put("etc/ssh/ssh_host_ed25519_key", `${text("host_key")}\n`, 0o600);
  put("etc/ssh/ssh_host_ed25519_key.pub", `${text("host_key.pub")}\n`, 0o644);
  put("root/.ssh/authorized_keys", `${text("key.pub")}\n`, 0o600);
  await execa("tar", ["-C", root, "--owner=0", "--group=0", "--numeric-owner", "-cf", part, "etc", "root"]);
  rmSync(root, { recursive: true });
}

function qemuArguments(spec: MachineSpec, accel: { accel: string; smp: number }): string[] {
  const socket = relative(folder, resolve(spec.link.socket));
  const tcg = ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", "Nehalem"];
  const disk = (id: string, file: string, format: string, serial: string): string[] => [
    ...["-drive", `if=none,id=${id},file=${file},format=${format},cache=unsafe,discard=unmap`],
    ...["-device", `virtio-blk-pci,drive=${id},serial=${serial}`],
  ];
  const link = spec.link.listen ? "server=on" : "server=off,reconnect-ms=500";
  return [
    ...["-name", spec.name, "-uuid", text("uuid"), "-machine", "q35,usb=off"],
    ...(accel.accel === "kvm" ? ["-accel", "kvm", "-cpu", "host"] : tcg),
    ...["-smp", String(accel.smp), "-m", `${(parseSize(spec.memory) ?? 0n) / 1048576n}M`],
    ...["-nodefaults", "-no-user-config", "-display", "none", "-pidfile", "qemu.pid"],
    ...[
      "-kernel",
      join(text("image"), "vmlinuz"),
      "-initrd",
      join(text("image"), "initrd"),
      "-append",
      kernelLine(),
    ],
    ...["-fw_cfg", "name=opt/org.storage-lab.seed,file=seed.tar"],
    ...[
      "-serial",
      "file:serial.log",
      "-qmp",
      "unix:qmp.sock,server=on,wait=off",
      "-device",
      "virtio-rng-pci",
    ],
    ...disk("root", "root.qcow2", "qcow2", "ROOT"),
    ...[
      "-netdev",
      "user,id=ssh,restrict=on,hostfwd=tcp:127.0.0.1:0-:22",
      "-device",
      "virtio-net-pci,netdev=ssh,romfile=",
    ],
    ...["-netdev", `stream,id=link,addr.type=unix,addr.path=${socket},${link}`],
    ...["-device", `virtio-net-pci,netdev=link,mac=${spec.link.mac},romfile=`],
    ...spec.disks.flatMap(({ serial }) => disk(`disk-${serial}`, `disk-${serial}.raw`, "raw", serial)),
  ];
}

/** The kernel's command line that this image wants. */
function kernelLine(): string {
  const { commandLine } = JSON.parse(readFileSync(join(text("image"), "manifest.json"), "utf8"));
  return commandLine;
}

/** Ask QEMU's monitor (QMP) one thing; the answer of a human command is its text. */
async function monitor(execute: string, args?: object): Promise<unknown> {
  const socket = createConnection(relative(process.cwd(), inFolder("qmp.sock")));
  try {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const ask = async (command: object): Promise<unknown> => {
      socket.write(`${JSON.stringify(command)}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done) return undefined;
        const message = JSON.parse(value) as { return?: unknown; error?: { desc: string } };
        if (message.error) throw new Error(`QEMU refused ${execute}: ${message.error.desc}`);
        if (message.return !== undefined) return message.return;
      }
    };
    await ask({ execute: "qmp_capabilities" });
    return await ask({ execute, ...(args && { arguments: args }) });
  } finally {
    socket.destroy();
  }
}

/** The kernel chose a free port for SSH; QEMU knows it. */
async function sshPort(): Promise<string> {
  const table = String(await monitor("human-monitor-command", { "command-line": "info usernet" }));
  const port = /TCP\[HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)/.exec(table)?.[1];
  if (port === undefined) throw new Error(`QEMU names no forwarded port:\n${table}`);
  return port;
}

/**
 * QEMU in a session of its own, so that it outlives this process. Not by -daemonize: that leaves the folder, and
 * the link's path, which is relative since a socket's path has 108 bytes at most, would lead nowhere when QEMU
 * connects again.
 */
async function launch(args: readonly string[]): Promise<void> {
  rmSync(inFolder("qmp.sock"), { force: true });
  const log = openSync(inFolder("qemu.log"), "w");
  const program = join(qemuFolder, "qemu-system-x86_64");
  const qemu = spawn(program, args, { cwd: folder, detached: true, stdio: ["ignore", log, log] });
  const ended = new Promise<string>((done) => {
    qemu.once("error", (error) => done(error.message));
    qemu.once("exit", (status, signal) => done(`it ended with ${status ?? signal}: ${text("qemu.log")}`));
  });
  const answers = async (): Promise<undefined> => {
    while (!(await monitor("query-status").catch(() => undefined))) await pause(100);
  };
  const failed = await Promise.race([ended, answers()]);
  if (failed !== undefined) throw new Error(`QEMU could not start in ${folder}: ${failed}`);
  qemu.removeAllListeners().unref();
}

async function start(): Promise<void> {
  const spec = JSON.parse(text("machine.json")) as MachineSpec;
  await once("uuid", (part) => writeFileSync(part, randomUUID()));
  if ((await runningPid(folder)) === undefined) {
    await once("image", (part) => writeFileSync(part, currentImage()));
    await Promise.all([key("key"), key("host_key")]);
    await once("seed.tar", (part) => seed(part, spec));
    await once("root.qcow2", (part) =>
      execa(join(qemuFolder, "qemu-img"), [
        "create",
        "-q",
        "-f",
        "qcow2",
        "-F",
        "raw",
        "-b",
        join(text("image"), "root.ext4"),
        part,
      ]),
    );
    for (const { serial, size } of spec.disks) {
      const file = `disk-${serial}.raw`;
      await once(file, (part) => writeFileSync(part, ""));
      const bytes = Number(parseSize(size));
      if (statSync(inFolder(file)).size < bytes) truncateSync(inFolder(file), bytes);
    }
    // Until it has booted, and until its port is known, nobody is to take it for the one that ran before.
    for (const before of ["booted", "ssh_config"]) rmSync(inFolder(before), { force: true });
    const accel = JSON.parse(readFileSync(join(cacheRoot(), "qemu/accel.json"), "utf8"));
    await launch(qemuArguments(spec, accel));
  }
  const known = `${spec.name} ${text("host_key.pub")}\n`;
  writeFileSync(inFolder("known_hosts"), known);
  writeFileSync(
    inFolder("ssh_config.part"),
    [
      `Host ${spec.name}`,
      "  HostName 127.0.0.1",
      `  Port ${await sshPort()}`,
      "  User root",
      `  IdentityFile "${inFolder("key")}"`,
      "  IdentitiesOnly yes",
      `  UserKnownHostsFile "${inFolder("known_hosts")}"`,
      `  HostKeyAlias ${spec.name}`,
      "  StrictHostKeyChecking yes",
      "",
    ].join("\n"),
  );
  renameSync(inFolder("ssh_config.part"), inFolder("ssh_config"));
}

async function ended(pid: number, seconds: number): Promise<boolean> {
  const deadline = Date.now() + seconds * 1000;
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) return false;
    await pause(100);
  }
  return true;
}

/** End QEMU at once, as pulling the plug does. */
async function stop(): Promise<void> {
  const pid = await runningPid(folder);
  if (pid !== undefined) {
    await monitor("quit").catch(() => process.kill(pid, "SIGTERM"));
    if (!(await ended(pid, 30))) process.kill(pid, "SIGKILL");
  }
  const spec = JSON.parse(text("machine.json")) as MachineSpec;
  if (spec.link.listen) rmSync(resolve(spec.link.socket), { force: true });
}

/** Let the guest's system end itself; pull the plug where it does not. */
async function shutdown(): Promise<void> {
  const pid = await runningPid(folder);
  if (pid === undefined) return;
  const { name } = JSON.parse(text("machine.json")) as MachineSpec;
  await execa("ssh", ["-F", inFolder("ssh_config"), name, "systemctl poweroff"], { reject: false });
  if (!(await ended(pid, shutdownSeconds))) await stop();
}

const verbs: Record<string, () => Promise<void>> = { start, stop, shutdown };
const run = verbs[verb ?? ""];
if (run === undefined || folderArgument === undefined)
  throw new Error("usage: guest.ts start|shutdown|stop FOLDER");
await run();
// A guest that was started is no reason to stay.
process.exit();
