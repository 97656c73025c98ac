import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { execa } from "execa";
import type { HostAddress } from "../../provider/host.ts";
import type { MachineSpec } from "../../provider/resources/vm/machine.ts";
import { factLines } from "./facts.ts";
import { ballast } from "./fault.ts";
import type { HostName } from "./scenario.ts";

/** A guest that faults strike: started and stopped by virtual/guest.ts, and asked over a connection of its own. */

const facts = readFileSync(join(import.meta.dirname, "facts.sh"), "utf8");
const guestProgram = resolve(import.meta.dirname, "../../virtual/guest.ts");

/** A crowded machine boots a guest in several minutes. */
const bootDeadline = 10 * 60_000;

export class Guest {
  readonly name: HostName;
  readonly folder: string;
  readonly #lane: string;
  #boot = "";
  #gone = false;

  constructor(name: HostName, lane: string) {
    this.name = name;
    this.#lane = lane;
    this.folder = join(lane, "guests", name);
  }

  get address(): HostAddress {
    return { name: this.name, ssh: this.name, config: join(this.folder, "ssh_config") };
  }

  async start(): Promise<void> {
    const storage = this.name === "storage";
    const spec: MachineSpec = {
      name: this.name,
      memory: storage ? "1024 MiB" : "512 MiB",
      disks: storage ? [1, 2, 3, 4].map((n) => ({ serial: `DISK0${n}`, size: "512 MiB" })) : [],
      link: {
        socket: join(this.#lane, "guests/link.sock"),
        listen: storage,
        mac: `52:54:00:00:01:0${storage ? 1 : 2}`,
      },
      owner: "storage-lab-faults",
    };
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, "machine.json"), JSON.stringify(spec));
    await execa(process.execPath, [guestProgram, "start", this.folder]);
    await this.booted();
  }

  /** Pull the plug and remove what it was. */
  async remove(): Promise<void> {
    this.#gone = true;
    await this.forget();
    await execa(process.execPath, [guestProgram, "stop", this.folder], { reject: false });
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Waits for a boot that is not the one known so far, until its services have started. */
  async booted(): Promise<void> {
    const deadline = Date.now() + bootDeadline;
    await this.forget();
    for (;;) {
      if (this.#gone) throw new Error(`${this.name} was removed while it booted`);
      const line = "cat /proc/sys/kernel/random/boot_id; systemctl is-system-running --wait";
      const { stdout } = await execa(
        "ssh",
        ["-F", join(this.folder, "ssh_config"), "-o", "ConnectTimeout=5", this.name, line],
        { reject: false, stdin: "ignore", timeout: 120_000 },
      );
      const [boot = "", state = ""] = stdout.split("\n");
      if (boot !== "" && boot !== this.#boot && /^(running|degraded)$/.test(state)) {
        this.#boot = boot;
        return;
      }
      if (Date.now() > deadline) throw new Error(`${this.name} did not boot: ${stdout || "no answer"}`);
      await pause(500);
    }
  }

  /**
   * Ends the provider's connection from here. A guest that booted anew resets it by itself, but only when it hears
   * of it again, up to a minute later.
   */
  async reset(): Promise<void> {
    const shared = join(process.env.XDG_RUNTIME_DIR ?? tmpdir(), `storage-lab-${userInfo().uid}`, "%C");
    const config = ["-F", join(this.folder, "ssh_config"), "-o", `ControlPath=${shared}`];
    await execa("ssh", [...config, "-O", "exit", this.name], { reject: false, stdin: "ignore" });
  }

  async facts(): Promise<string[]> {
    return factLines(await this.run(facts));
  }

  /** Takes the ballast away; resolves to whether there was any. */
  async free(): Promise<boolean> {
    return (await this.run(`ls ${ballast}* 2>/dev/null; rm -f ${ballast}*`)) !== "";
  }

  /** Run a shell script by plain ssh: the second channel, not our provider. */
  async run(script: string, timeout = 120_000): Promise<string> {
    const { stdout } = await execa("ssh", [...this.#options(), this.name, "sh -s"], {
      input: script,
      timeout,
    });
    return stdout.trim();
  }

  /** Ends the own connection, which does not notice by itself that its guest lost power. */
  async forget(): Promise<void> {
    await execa("ssh", [...this.#options(), "-O", "exit", this.name], { reject: false, stdin: "ignore" });
  }

  #options(): string[] {
    return [
      ...["-F", join(this.folder, "ssh_config"), "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"],
      ...["-o", "ControlMaster=auto", "-o", "ControlPersist=900"],
      ...["-o", `ControlPath=${join(this.#lane, `ssh-${this.name}`)}`],
    ];
  }
}
