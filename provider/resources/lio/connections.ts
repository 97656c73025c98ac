import { ParseError } from "../../errors.ts";
import { readFiles } from "../../files.ts";
import type { Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import { covers, normalPortal, parsePortal, portalText } from "../net/address.ts";
import { parseCmIds } from "../net/rdma-link.ts";

/**
 * Who is connected to which portal. LIO's `info` names one session an initiator and not its portal, so this asks the
 * kernel's TCP table (proc_net(5), LIO's own sockets are in it) and the RDMA connections (rdma-resource(8)).
 */

/** Peers by portal: `10.10.10.1:3260` → 10.10.10.2. */
export type Connections = Map<string, string[]>;

export async function observeConnections(host: Questions): Promise<Connections> {
  const [tcp, rdma] = await Promise.all([
    readFiles(host, ["/proc/net/tcp", "/proc/net/tcp6"]),
    host.ask(["rdma", "-j", "resource", "show", "cm_id"]),
  ]);
  const pairs = [...tcp.values()].flatMap((text) => parseTcp(text));
  // No rdma(8), no RDMA.
  if (rdma.status !== 127) {
    for (const id of parseCmIds(expect(host, rdma, "the RDMA connections"))) {
      if (id.program === "ib_isert" && id.state !== "LISTEN")
        pairs.push([normalPortal(id.from), normalPortal(id.to)]);
    }
  }
  const found: Connections = new Map();
  for (const [portal, peer] of pairs) {
    const address = peer.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
    found.set(portal, [...(found.get(portal) ?? []), address]);
  }
  return found;
}

/** Who is connected to a portal. One with all addresses (0.0.0.0, [::]) has the connections to each of them. */
export function peersOf(connections: Connections, portal: string): string[] {
  const own = parsePortal(portal);
  return [...connections].flatMap(([local, peers]) => {
    const there = parsePortal(local);
    if (local === portal) return peers;
    if (own === undefined || there === undefined || own.port !== there.port) return [];
    return covers(own.address, there.address) ? peers : [];
  });
}

/** Reads /proc/net/tcp or tcp6: the established connections, each as local and remote portal. */
export function parseTcp(text: string): [local: string, remote: string][] {
  return text.split("\n").flatMap((line): [string, string][] => {
    const [number, local = "", remote = "", state] = line.trim().split(/\s+/);
    if (number === "sl" || number === "") return [];
    if (!/^\d+:$/.test(number ?? "") || state === undefined) {
      throw new ParseError(`/proc/net/tcp: not of the known form: ${line}`);
    }
    return state === "01" ? [[endpoint(local), endpoint(remote)]] : [];
  });
}

/** `0A0A0A0A:0CBC`: the address in 32-bit words of the host's order (little-endian), the port in network order. */
function endpoint(hex: string): string {
  const [words = "", port = ""] = hex.split(":");
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex")].reverse());
  const mapped = bytes.length === 16 && bytes.slice(0, 12).join() === "0,0,0,0,0,0,0,0,0,0,255,255";
  const four = bytes.length === 4 || mapped;
  const address = four
    ? bytes.slice(-4).join(".")
    : Array.from({ length: 8 }, (_, n) =>
        (((bytes[2 * n] ?? 0) << 8) | (bytes[2 * n + 1] ?? 0)).toString(16),
      ).join(":");
  return normalPortal(portalText({ address, port: Number.parseInt(port, 16) }));
}
