import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";

/** The network interface and the RDMA device between the two hosts: ip(8), rdma(8), ibv_devinfo(1), sysfs. */

/** `ip -j route get ADDRESS`: the interface towards it. */
export const parseRoute = (text: string): string =>
  first(text, z.object({ dev: z.string() }), "ip route get").dev;

/** `ip -j address show to ADDRESS`: the interface that has it (others are empty objects), and its MTU. */
export const parseInterface = (text: string): { name: string; mtu: number } => {
  const { ifname, mtu } = first(text, z.object({ ifname: z.string(), mtu: z.int() }), "ip address show");
  return { name: ifname, mtu };
};

/** `rdma -j link show`: the RDMA device over a network interface, if there is one. */
export function parseRdmaLink(text: string, netdev: string): { device: string; state: string } | undefined {
  const link = z.object({ ifname: z.string(), state: z.string(), netdev: z.string().optional() });
  const links = json(text, z.array(link), "rdma link show");
  const found = links.find((l) => l.netdev === netdev);
  return found && { device: found.ifname, state: found.state };
}

/** `ibv_devinfo -d DEVICE`: the active MTU of its port. */
export function parseActiveMtu(text: string): number {
  const match = /^\s*active_mtu:\s+(\d+) \(\d\)$/m.exec(text);
  if (match) return Number(match[1]);
  throw new ParseError(`ibv_devinfo: no active_mtu in ${JSON.stringify(text.slice(0, 120))}`);
}

/**
 * What a link carries in Mb/s of data: an InfiniBand port's rate (sysfs `rate`: "40 Gb/sec (4X QDR)") less its
 * coding, 8b/10b up to QDR and 64b/66b after; else the interface's `speed`. Undefined where neither says (virtio).
 */
export function linkSpeed(
  port: { rate: string; layer: string } | undefined,
  speed: string,
): number | undefined {
  if (port?.layer.trim() === "InfiniBand") {
    const match = /^([\d.]+) Gb\/sec \(\d+X (\w+)\)$/.exec(port.rate.trim());
    if (!match) throw new ParseError(`InfiniBand port: unknown rate ${JSON.stringify(port.rate)}`);
    const coding = ["SDR", "DDR", "QDR"].includes(match[2] ?? "") ? 8 / 10 : 64 / 66;
    return Number(match[1]) * 1000 * coding;
  }
  const megabits = Number(speed.trim());
  return speed.trim() !== "" && megabits > 0 ? megabits : undefined;
}

function json<T>(text: string, schema: z.ZodType<T>, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ParseError(`${what}: not JSON: ${JSON.stringify(text.slice(0, 120))}`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ParseError(`${what}: not of the form known here: ${z.prettifyError(parsed.error)}`);
}

/** ip prints empty objects for what a filter left out. */
function first<T>(text: string, schema: z.ZodType<T>, what: string): T {
  const found = json(text, z.array(z.unknown()), what).find((v) => Object.keys(v as object).length > 0);
  if (found === undefined) throw new ParseError(`${what}: nothing found`);
  return json(JSON.stringify(found), schema, what);
}
