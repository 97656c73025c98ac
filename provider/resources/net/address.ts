import { isIPv4, isIPv6 } from "node:net";

/** One normal form of addresses: IPv6 compressed and in lower case (RFC 5952), in brackets where a port follows. */

export type Portal = { readonly address: string; readonly port: number };

/** `10.10.10.1:3260` or `[fd00::1]:3260`; undefined when it is neither. */
export function parsePortal(text: string): Portal | undefined {
  const match = /^(?:\[([^[\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const address = normalAddress(match?.[1] ?? match?.[2] ?? "");
  const port = Number(match?.[3]);
  if (address === undefined || port < 1 || port > 65535) return undefined;
  // Brackets and only they hold an IPv6 address.
  return (match?.[1] !== undefined) === address.includes(":") ? { address, port } : undefined;
}

export const portalText = ({ address, port }: Portal): string =>
  `${address.includes(":") ? `[${address}]` : address}:${port}`;

/** The portal's normal form, or the text itself if it is no portal. */
export function normalPortal(text: string): string {
  const portal = parsePortal(text);
  return portal === undefined ? text : portalText(portal);
}

/** Does listening at `wildcard` (0.0.0.0, ::) take connections to `address`, too? */
export const covers = (wildcard: string, address: string): boolean =>
  wildcard === "::" || (wildcard === "0.0.0.0" && !address.includes(":"));

/** Portals of the same port of which one has all addresses: the kernel gives the port to one of them only. */
export function portalsOverlap(one: string, other: string): boolean {
  const [a, b] = [parsePortal(one), parsePortal(other)];
  if (a === undefined || b === undefined || a.port !== b.port || a.address === b.address) return false;
  return covers(a.address, b.address) || covers(b.address, a.address);
}

/** Why this is no portal, as a sentence; undefined when it is one. */
export function portalProblem(text: string): string | undefined {
  if (parsePortal(text) !== undefined) return undefined;
  const bare = normalAddress(text);
  const hint =
    bare === undefined ? "10.10.10.1:3260 or [fd00::1]:3260" : portalText({ address: bare, port: 3260 });
  return `${JSON.stringify(text)} is no portal: a portal is an IP address with its port, such as ${hint}`;
}

/** `10.10.10.1/24`, `fd00::1/64`; undefined when it is no address with a prefix length. */
export function normalInterfaceAddress(text: string): string | undefined {
  const [, host = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = host.includes("%") ? undefined : normalAddress(host);
  if (address === undefined || length === "") return undefined;
  return Number(length) <= (address.includes(":") ? 128 : 32) ? `${address}/${Number(length)}` : undefined;
}

/** An IP address alone. A zone (`fe80::1%eth1`) stays as it is. */
export function normalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [address = "", ...zone] = text.split("%");
  if (!isIPv6(text) || zone.length > 1) return undefined;
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
  return zone[0] === undefined ? normal : `${normal}%${zone[0]}`;
}

/** A network device's name: of what the kernel allows (dev_valid_name) that which is safe in a systemd unit, too. */
export function deviceProblem(name: string): string | undefined {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$/.test(name)) return undefined;
  return `${JSON.stringify(name)} is no name of a network device: 1 to 15 letters, digits, "_", "." or "-"`;
}
