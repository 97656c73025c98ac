import { expect } from "../../provider/resource.ts";
import { linkSpeed, parseActiveMtu, parseInterface, parseRdmaLink, parseRoute } from "../parse/link.ts";
import type { HostState } from "../schema/result.ts";
import type { BenchHost } from "../unit.ts";

/** The interface that a host's storage traffic takes, and the RDMA device over it: ip(8), rdma(8), sysfs. */

type Link = HostState["link"];

/** The address of a portal without its port. */
export const portalAddress = (portal: string): string =>
  portal.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");

export async function readLink(
  host: BenchHost,
  portal: string,
  role: "storage" | "client",
  rdma: boolean,
): Promise<Link> {
  const ip = async (...argv: string[]) =>
    expect(host, await host.ask(["ip", "-j", ...argv]), `the way to ${portal}`);
  const found =
    role === "storage"
      ? parseInterface(await ip("address", "show", "to", portal))
      : parseInterface(await ip("address", "show", "dev", parseRoute(await ip("route", "get", portal))));
  const sysfs = `/sys/class/net/${found.name}`;
  const [speed, type, mode, links] = await Promise.all([
    // Reading it is an error (EINVAL) where the driver knows no speed.
    host.ask(["cat", `${sysfs}/speed`]),
    host.ask(["cat", `${sysfs}/type`]),
    host.ask(["cat", `${sysfs}/mode`]),
    rdma ? host.ask(["rdma", "-j", "link", "show"]) : undefined,
  ]);
  const device = links && parseRdmaLink(expect(host, links, "its RDMA links"), found.name);
  const port = device && (await readPort(host, device.device));
  const kind = kindOf(expect(host, type, `the type of ${found.name}`));
  return {
    interface: found.name,
    mtu: found.mtu,
    speed: linkSpeed(port, speed.status === 0 ? speed.stdout : "") ?? null,
    kind,
    // Only IPoIB has the file.
    mode: kind === "infiniband" && mode.status === 0 ? ipoibMode(mode.stdout) : null,
    rdma: device && port ? { ...device, activeMtu: port.activeMtu } : null,
  };
}

/** ARPHRD_ETHER and ARPHRD_INFINIBAND (linux/if_arp.h). */
const kindOf = (type: string): Link["kind"] =>
  (({ "1": "ethernet", "32": "infiniband" }) as const)[type.trim()] ?? "unknown";

const ipoibMode = (text: string): Link["mode"] => (text.trim() === "connected" ? "connected" : "datagram");

async function readPort(host: BenchHost, device: string) {
  const [info, rate, layer] = await Promise.all([
    host.ask(["ibv_devinfo", "-d", device]),
    host.ask(["cat", `/sys/class/infiniband/${device}/ports/1/rate`]),
    host.ask(["cat", `/sys/class/infiniband/${device}/ports/1/link_layer`]),
  ]);
  return {
    activeMtu: parseActiveMtu(expect(host, info, `the active MTU of ${device} (package ibverbs-utils)`)),
    rate: expect(host, rate, `the rate of ${device}`),
    layer: expect(host, layer, `the link layer of ${device}`),
  };
}
