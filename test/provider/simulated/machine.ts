import { posix } from "node:path";
import type { MachineSpec } from "../../../provider/resources/vm/machine.ts";
import { askRunning } from "../../../provider/resources/vm/running.ts";
import { commandLine } from "../../../provider/shell.ts";
import { parseSize } from "../../../provider/size.ts";
import { Refused, type Result, SimulatedHost } from "./tree.ts";

/**
 * A machine's folder and its guest, as virtual/guest.ts starts and stops it: what it makes it makes once, a disk's file
 * only ever grows, and the port for SSH is another one at every start.
 */
export class SimulatedMachine extends SimulatedHost {
  readonly folder: string;
  /** What runs: QEMU's pid, and the machine that it was started as. */
  qemu: { pid: number; spec: MachineSpec } | undefined;
  booted = false;
  readonly disks = new Map<string, bigint>();
  #pid = 100;

  constructor(folder: string) {
    super();
    this.folder = folder;
  }

  #path(name: string): string {
    return posix.join(this.folder, name);
  }

  get spec(): MachineSpec | undefined {
    const text = this.text(this.#path("machine.json"));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** QEMU ends, however; its pid file stays, and another process may get the number. */
  kill(): void {
    this.qemu = undefined;
    this.booted = false;
  }

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    const absent = (name: string): Result => ({
      status: 1,
      stderr: `cat: ${name}: No such file or directory\n`,
    });
    if (line === commandLine(["cat", this.#path("machine.json")])) {
      const text = this.text(this.#path("machine.json"));
      return text === undefined ? absent("machine.json") : { status: 0, stdout: text };
    }
    if (line === commandLine(["test", "-e", this.#path("booted")]))
      return { status: this.tree.has(this.#path("booted")) ? 0 : 1 };
    if (line !== commandLine(askRunning(this.folder)))
      throw new Error(`the simulated host was not told of: ${line}`);
    const uuid = this.text(this.#path("uuid"));
    const pid = this.text(this.#path("qemu.pid"));
    if (uuid === undefined || pid === undefined) return absent("uuid");
    if (Number(pid) === this.qemu?.pid)
      return { status: 0, stdout: `${uuid}\nqemu-system-x86_64\n-uuid\n${uuid}\n` };
    return Number(pid) % 2 === 0
      ? { status: 0, stdout: `${uuid}\nbash\n` }
      : { status: 2, stdout: `${uuid}\n`, stderr: `sh: 1: cannot open /proc/${pid}/cmdline: No such file\n` };
  }

  run(argv: readonly string[]): void {
    const line = commandLine(argv);
    const verb = /^\S+ virtual\/guest\.ts (start|stop|shutdown) (\S+)$/.exec(line);
    if (verb?.[2] === this.folder) this.#guest(verb[1] ?? "");
    else if (line === commandLine(["rm", "-rf", "--", this.folder])) {
      if (this.qemu !== undefined) throw new Error("a guest's disks were removed under it");
      this.remove(...this.below(this.folder));
      this.disks.clear();
    } else throw new Error(`the simulated host was not told of: ${line}`);
  }

  #guest(verb: string): void {
    const { spec } = this;
    if (verb !== "start") {
      if (this.qemu === undefined && verb === "shutdown") return;
      if (spec === undefined) throw new Refused("ENOENT: machine.json");
      this.kill();
      return;
    }
    if (spec === undefined) throw new Refused("ENOENT: machine.json");
    if (!this.tree.has(this.#path("uuid")))
      this.write(this.#path("uuid"), "0b6c6f0e-5d1c-4c0a-9f53-2f6a0c1f3c11");
    if (this.qemu === undefined) {
      for (const { serial, size } of spec.disks) {
        const bytes = parseSize(size) ?? 0n;
        if ((this.disks.get(serial) ?? 0n) < bytes) this.disks.set(serial, bytes);
      }
      this.remove(this.#path("booted"), this.#path("ssh_config"));
      this.#pid += 1;
      this.qemu = { pid: this.#pid, spec };
      this.write(this.#path("qemu.pid"), `${this.#pid}\n`);
    }
    this.write(this.#path("ssh_config"), `Port ${20000 + this.qemu.pid}\n`);
  }

  override holds(argv: readonly string[]): boolean {
    if (argv[0] !== "ssh" || argv[2] !== this.#path("ssh_config")) return super.holds(argv);
    this.booted = this.qemu !== undefined && this.text(argv[2])?.trim() === `Port ${20000 + this.qemu.pid}`;
    return this.booted;
  }

  set(attribute: string): void {
    throw new Error(`nothing of a machine is set by ${attribute}`);
  }
}
