import { commandLine } from "../../../provider/shell.ts";
import { Refused, type Result, SimulatedHost } from "./tree.ts";

/**
 * The network of a host, as ip(8) and rdma(8) know it. Two rules of the kernel that are easily forgotten: an IPv6
 * address keeps its prefix length when it is given again with another; and with an IPv4 address go those which were
 * given later in the same network, unless promote_secondaries is 1.
 */

type Device = {
  up: boolean;
  mtu: number;
  addresses: string[];
  kind: "ethernet" | "infiniband";
  promote: boolean;
};

const systemd = "/etc/systemd/system";

export class SimulatedNetwork extends SimulatedHost {
  readonly devices = new Map<string, Device>();
  readonly links = new Map<string, { device: string; soft: boolean }>();
  readonly modules = new Set<string>();

  addDevice(name: string, kind: Device["kind"] = "ethernet"): void {
    this.devices.set(name, { up: false, mtu: 1500, addresses: [], kind, promote: false });
    if (kind === "infiniband") this.write(`/sys/class/net/${name}/mode`, "datagram\n");
  }

  addLink(name: string, device: string, soft: boolean): void {
    this.links.set(name, { device, soft });
    const layer = this.devices.get(device)?.kind === "infiniband" ? "InfiniBand" : "Ethernet";
    if (soft) this.write(`/sys/class/infiniband/${name}/parent`, `${device}\n`);
    this.write(`/sys/class/infiniband/${name}/ports/1/link_layer`, `${layer}\n`);
  }

  removeLink(name: string): void {
    this.links.delete(name);
    for (const path of this.below(`/sys/class/infiniband/${name}`)) this.remove(path);
  }

  /** What was set by hand is lost; enabled units run, each once its device is there. */
  reboot(): void {
    this.modules.clear();
    for (const [name, { soft }] of this.links) if (soft) this.removeLink(name);
    for (const device of this.devices.values())
      Object.assign(device, { up: false, mtu: 1500, addresses: [], promote: false });
    for (const [path, node] of this.tree) {
      if (!path.startsWith("/etc/modules-load.d/") || node.kind !== "file") continue;
      for (const line of node.text.split("\n")) if (/^[a-z]/.test(line)) this.modules.add(line);
    }
    const enabled = this.below(`${systemd}/multi-user.target.wants`).map((path) => this.text(path) ?? "");
    // An interface's unit comes before those of the links over it.
    enabled.sort((a, b) => Number(/RDMA link/.test(a)) - Number(/RDMA link/.test(b)));
    for (const text of enabled) {
      for (const [, line = ""] of text.matchAll(/^ExecStart=(.*)$/gm)) this.#atBoot(line);
    }
  }

  #atBoot(line: string): void {
    const mode = /^\/bin\/sh -c 'echo (\S+) >(\S+)'$/.exec(line);
    const link = /^\/bin\/sh -c '\[ -e (\S+) \] \|\| exec (.*)'$/.exec(line);
    if (mode) this.set(mode[2] ?? "", mode[1] ?? "");
    else if (link) {
      if (this.below(link[1] ?? "").length === 0) this.run((link[2] ?? "").split(" "));
    } else this.run(line.split(" "));
  }

  answer(argv: readonly string[]): Result {
    const line = commandLine(argv);
    if (argv[0] === "grep" && argv[1] === "-aHZ") return this.grepFiles(argv.slice(3));
    if (line === "ip -json address") return { status: 0, stdout: `${JSON.stringify(this.#addresses())}\n` };
    if (line === "rdma -j link") {
      const links = [...this.links].map(([ifname, { device }], ifindex) => {
        const up = this.devices.get(device)?.up;
        return { ifindex, ifname, port: 1, state: up ? "ACTIVE" : "DOWN", netdev: device };
      });
      return { status: 0, stdout: `${JSON.stringify(links)}\n` };
    }
    if (line === "rdma -j resource show cm_id") return { status: 0, stdout: "[]\n" };
    if (argv[0] === "ibv_devinfo" && argv[1] === "-v" && argv[2] === "-d") {
      const name = argv[3] ?? "";
      if (!this.links.has(name)) return { status: 255, stderr: `IB device '${name}' wasn't found\n` };
      return { status: 0, stdout: "\t\t\tactive_mtu:\t\t4096 (5)\n\t\t\tGID[  0]:\t\tfe80::1, RoCE v2\n" };
    }
    throw new Error(`the simulated host was not told of: ${line}`);
  }

  #addresses(): unknown[] {
    return [...this.devices].map(([ifname, { up, mtu, addresses }], ifindex) => ({
      ...{ ifindex, ifname, flags: ["BROADCAST", ...(up ? ["UP", "LOWER_UP"] : [])], mtu },
      addr_info: addresses.map((address) => {
        const [local = "", length] = address.split("/");
        return { family: local.includes(":") ? "inet6" : "inet", local, prefixlen: Number(length) };
      }),
    }));
  }

  run(argv: readonly string[]): void {
    const line = commandLine(argv);
    const [program, object] = argv;
    const set = /^ip link set dev (\S+)(?: mtu (\d+))? up$/.exec(line);
    const address = /^ip address (replace|del) (\S+) dev (\S+)$/.exec(line);
    const add = /^rdma link add (\S+) type rxe netdev (\S+)$/.exec(line);
    const remove = /^rdma link delete (\S+)$/.exec(line);
    if (program === "sync" && object === "/etc/systemd/system") return;
    if (program === "rm" && object === "-f") this.remove(...argv.slice(2));
    else if (program === "ln" && object === "-sfn") this.link(argv[3] ?? "", argv[2] ?? "");
    else if (program === "modprobe" && argv.length === 2) this.modules.add(object ?? "");
    else if (set) setLink(this.#device(set[1]), set[2]);
    else if (address?.[1] === "replace") give(this.#device(address[3]), address[2] ?? "");
    else if (address) take(this.#device(address[3]), address[2] ?? "");
    else if (add) this.#addSoft(add[1] ?? "", add[2] ?? "");
    else if (remove) {
      if (!this.links.get(remove[1] ?? "")?.soft) throw new Refused("error: Operation not supported");
      this.removeLink(remove[1] ?? "");
    } else throw new Error(`the simulated host was not told of: ${line}`);
  }

  #device(name = ""): Device {
    const device = this.devices.get(name);
    if (device === undefined) throw new Refused(`Cannot find device "${name}"`);
    return device;
  }

  #addSoft(name: string, device: string): void {
    this.#device(device);
    if (!this.modules.has("rdma_rxe")) throw new Refused("error: Invalid argument");
    if (this.links.has(name)) throw new Refused("error: File exists");
    if ([...this.links.values()].some((link) => link.soft && link.device === device))
      throw new Refused("error: File exists");
    this.addLink(name, device, true);
  }

  set(attribute: string, value: string): void {
    const promote = /^\/proc\/sys\/net\/ipv4\/conf\/([^/]+)\/promote_secondaries$/.exec(attribute);
    if (promote) {
      this.#device(promote[1]).promote = value === "1";
      return;
    }
    if (this.text(attribute) === undefined)
      throw new Refused(`cannot create ${attribute}: Permission denied`);
    if (!/^(datagram|connected)$/.test(value)) throw new Refused("Invalid argument");
    this.write(attribute, `${value}\n`);
  }
}

function setLink(device: Device, mtu: string | undefined): void {
  device.up = true;
  if (mtu === undefined) return;
  device.mtu = Number(mtu);
  if (device.mtu < 1280) device.addresses = device.addresses.filter((address) => !address.includes(":"));
}

function give(device: Device, address: string): void {
  const host = hostOf(address);
  if (address.includes(":")) {
    if (device.mtu < 1280) throw new Refused("RTNETLINK answers: Invalid argument");
    if (device.addresses.some((there) => hostOf(there) === host)) return;
  } else if (device.addresses.includes(address)) return;
  device.addresses.push(address);
}

function take(device: Device, address: string): void {
  const at = device.addresses.indexOf(address);
  if (at < 0) throw new Refused("RTNETLINK answers: Cannot assign requested address");
  const primary =
    !device.promote && device.addresses.findIndex((there) => sameNetwork(there, address)) === at;
  device.addresses = device.addresses.filter(
    (there, index) => index !== at && !(primary && sameNetwork(there, address)),
  );
}

const hostOf = (address: string): string => address.replace(/\/.*/, "");

/** IPv4 addresses of one network with one prefix length, which the kernel keeps as primary and secondaries. */
function sameNetwork(one: string, other: string): boolean {
  if (one.includes(":") || other.includes(":")) return false;
  const [a, b] = [one, other].map((address) => {
    const [host = "", length = "32"] = address.split("/");
    const number = host.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
    return `${Math.floor(number / 2 ** (32 - Number(length)))}/${length}`;
  });
  return a === b;
}
