import { readSuperblock } from "../../../provider/resources/fs/superblock.ts";
import { commandLine } from "../../../provider/shell.ts";
import { Refused, type Result, SimulatedHost } from "./tree.ts";

/**
 * A block device, and an XFS on it as xfsprogs and the kernel know it. What is easily forgotten of the real ones: mkfs.xfs
 * marks what it has not finished; a mounted file system grows in memory first, and its superblock on the device says so
 * only once it is unmounted; a device shows its new size some time after it has it; nothing shrinks.
 */

export type Xfs = { uuid: string; label: string; blocks: bigint; inProgress: boolean };

const blockSize = 4096n;

export class SimulatedDevice extends SimulatedHost {
  readonly device: string;
  /** What the device shows, and what it has. */
  shown: bigint;
  bytes: bigint;
  /** On the device, and as the kernel has it while it is mounted. */
  xfs: Xfs | undefined;
  #live: Xfs | undefined;
  /** Another signature. */
  other: string | undefined;
  mountpoint: string | undefined;

  constructor(device: string, bytes: bigint) {
    super();
    this.device = device;
    this.bytes = bytes;
    this.shown = bytes;
  }

  mount(target: string): void {
    if (this.xfs === undefined || this.xfs.inProgress)
      throw new Refused("mount: wrong fs type, bad superblock");
    this.mountpoint = target;
    this.#live = { ...this.xfs };
  }

  unmount(): void {
    if (this.#live === undefined) throw new Refused("umount: not mounted");
    this.xfs = this.#live;
    this.#live = undefined;
    this.mountpoint = undefined;
  }

  make(uuid: string, label = "", finished = true): void {
    this.xfs = { uuid, label, blocks: this.shown / blockSize, inProgress: !finished };
  }

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    const { device } = this;
    if (line.startsWith("lsblk -J -b -p -o ") && argv.at(-1) === device)
      return { status: 0, stdout: this.#lsblk() };
    if (line === `wipefs -J -n ${device}`) return { status: 0, stdout: this.#signatures() };
    if (line === commandLine(readSuperblock(device)) || line === commandLine(readSuperblock("/dev/sda")))
      return { status: 0, stdout: this.#sector() };
    if (line === "cat /proc/self/mountinfo") {
      const mount = `40 22 8:0 / ${this.mountpoint} rw - xfs /dev/sda rw\n`;
      return { status: 0, stdout: `22 1 254:0 / / rw - ext4 /dev/vda rw\n${this.mountpoint ? mount : ""}` };
    }
    if (line === "command -v mkfs.xfs") return { status: 0, stdout: "/usr/sbin/mkfs.xfs\n" };
    if (argv[0] === "xfs_info" && argv[1] === this.mountpoint && this.#live !== undefined)
      return {
        status: 0,
        stdout: `data     =    bsize=${blockSize}   blocks=${this.#live.blocks}, imaxpct=25\n`,
      };
    throw new Error(`the simulated host was not told of: ${line}`);
  }

  #lsblk(): string {
    const node = { kname: "/dev/sda", name: "/dev/sda", type: "disk", size: Number(this.shown), ro: false };
    const none = { fstype: null, label: null, pttype: null, parttype: null };
    return JSON.stringify({ blockdevices: [{ ...node, ...none, mountpoint: this.mountpoint ?? null }] });
  }

  #signatures(): string {
    const types = [
      ...(this.other === undefined ? [] : [this.other]),
      ...(this.xfs === undefined ? [] : ["xfs"]),
    ];
    const signatures = types.map((type) => ({ device: "sda", offset: "0x0", type, uuid: null, label: null }));
    return JSON.stringify({ signatures });
  }

  #sector(): string {
    const sector = Buffer.alloc(512);
    if (this.xfs !== undefined) {
      const { uuid, label, blocks, inProgress } = this.xfs;
      sector.write("XFSB", 0, "latin1");
      sector.writeUInt32BE(Number(blockSize), 4);
      sector.writeBigUInt64BE(blocks, 8);
      sector.write(uuid.replaceAll("-", ""), 32, "hex");
      sector.write(label, 108, "latin1");
      sector[126] = inProgress ? 1 : 0;
    }
    return ` ${sector.toString("hex").replace(/..(?=.)/g, "$& ")}\n`;
  }

  run(argv: readonly string[]): void {
    const line = argv.join(" ");
    const { device } = this;
    const mkfs = /^mkfs\.xfs -q( -f)? -m uuid=(\S+)(?: -L (\S+))? (\S+)$/.exec(line);
    const label = /^xfs_admin -L (\S+) (\S+)$/.exec(line);
    const live = /^xfs_io -c label -s (\S+) (\S+)$/.exec(line);
    if (mkfs?.[4] === device) {
      if (this.mountpoint !== undefined || this.other !== undefined || (this.xfs !== undefined && !mkfs[1]))
        throw new Error("something would be overwritten");
      if (this.xfs !== undefined && !this.xfs.inProgress)
        throw new Error("a finished file system would be lost");
      this.make(mkfs[2] ?? "", mkfs[3] ?? "");
    } else if (label?.[2] === device) {
      if (this.xfs === undefined || this.mountpoint !== undefined)
        throw new Refused("xfs_admin: mounted, or none");
      this.xfs.label = label[1] ?? "";
    } else if (live !== null && live[2] === this.mountpoint && this.#live && this.xfs) {
      // The kernel writes a label out at once.
      this.#live.label = live[1] ?? "";
      this.xfs.label = live[1] ?? "";
    } else if (argv[0] === "unshare" && argv.at(-1) === device) {
      if (this.mountpoint !== undefined) throw new Error("mounted twice");
      this.mount("/mnt");
      this.#grow();
      this.unmount();
    } else if (line === `xfs_growfs -d ${this.mountpoint}` && this.mountpoint) this.#grow();
    else if (argv[0] === "sh" && argv[1] === "-s" && argv.at(-2) === "umount") {
      if (argv.at(-1) !== this.mountpoint) throw new Refused("umount: not mounted");
      this.unmount();
    } else throw new Error(`the simulated host was not told of: ${line}`);
  }

  #grow(): void {
    if (this.#live === undefined) throw new Refused("xfs_growfs: not mounted");
    // The kernel leaves out a last allocation group of fewer than 64 blocks.
    if (this.shown / blockSize - this.#live.blocks >= 64n) this.#live.blocks = this.shown / blockSize;
  }

  override holds(argv: readonly string[]): boolean {
    const line = argv.join(" ");
    const sectors = /^grep -qx (\d+) \/sys\/class\/block\/sda\/size$/.exec(line)?.[1];
    if (sectors === undefined) return line === `test -b ${this.device}` || super.holds(argv);
    this.shown = this.bytes;
    return BigInt(sectors) * 512n === this.shown;
  }

  set(attribute: string): void {
    throw new Error(`nothing of a file system is set by ${attribute}`);
  }
}
