import type { Element } from "../schema/diagnosis.ts";
import type { CoreLoad, Evidence, HostLoad } from "../schema/evidence.ts";
import type { Hardware } from "../schema/needs.ts";
import { directionOf } from "../schema/words.ts";
import { elementOf, figure, mbps } from "./element.ts";
import { efficiency } from "./link.ts";
import { pcieName, pcieRate } from "./pcie.ts";
import { storageElements } from "./storage.ts";

/**
 * The path of a run from the client's cores to the disks, each element with its use, its capacity and what the client
 * could at most see if that element alone limited. What isn't known stays null; what is assumed says so. Elements that
 * a run doesn't pass are left out: the ARC when writing, pool and disks over a ramdisk. Pure. Throws nothing.
 */
export function elementsOf(evidence: Evidence, hardware: Hardware = {}): Element[] {
  const { client, storage, bandwidth } = evidence;
  return [
    core("client core", client, bandwidth),
    cpu("client cpu", client, bandwidth),
    link(evidence, hardware),
    core("storage core", storage, bandwidth),
    cpu("storage cpu", storage, bandwidth),
    ...(evidence.pool.backstore === "ramdisk" ? [] : storageElements(evidence, hardware)),
  ];
}

export const busyOf = ({ user, system, softirq }: CoreLoad): number => user + system + softirq;

/** The busiest core; waiting for I/O is idle. */
function core(element: "client core" | "storage core", host: HostLoad, bandwidth: number | null): Element {
  const [first, ...others] = host.cores;
  if (first === undefined)
    return elementOf(element, `${host.host} core`, bandwidth, {
      ...{ used: null, capacity: 100, unit: "%" },
      how: `no core of ${host.host} was measured`,
    });
  const busiest = others.reduce((a, b) => (busyOf(b) > busyOf(a) ? b : a), first);
  const parts = (["softirq", "system", "user"] as const)
    .filter((part) => busiest[part] > 0)
    .map((part) => `${figure(busiest[part])} % ${part}`);
  return elementOf(element, `${host.host} core ${busiest.core}`, bandwidth, {
    used: Math.min(100, busyOf(busiest)),
    ...{ capacity: 100, unit: "%" },
    how: `busiest of ${host.cpus} cores: ${parts.join(" + ") || "idle"}`,
  });
}

function cpu(element: "client cpu" | "storage cpu", host: HostLoad, bandwidth: number | null): Element {
  const { averageBusy, averageSystem } = host;
  const used = averageBusy ?? averageSystem;
  const how =
    averageBusy !== null
      ? `mean of ${host.cpus} cores`
      : averageSystem !== null
        ? `system time alone, mean of ${host.cpus} cores; with the rest it is at least that`
        : `the mean over all cores of ${host.host} was not measured`;
  return elementOf(element, `${host.host} CPU`, bandwidth, { used, capacity: 100, unit: "%", how });
}

/** Counters of an interface that saw less than this part of the payload did not see RDMA. */
const counted = 0.9;

/** The link is full when one of its directions is; it carries as much the other way. */
function link(evidence: Evidence, hardware: Hardware): Element {
  const { protocol, bandwidth, blockSize, operation, storage } = evidence;
  const left = efficiency(protocol, evidence.link, blockSize);
  const { capacity, from, name, how } = linkCapacity(evidence, hardware);
  const mixed = directionOf(operation) === "mixed";
  const { received, sent } = storage.network ?? { received: 0, sent: 0 };
  const seen =
    storage.network !== null && bandwidth !== null && received + sent >= counted * bandwidth
      ? Math.max(received, sent)
      : null;
  // The part of the payload that goes the busier way; of a mixed load only the counters say it.
  const part = !mixed ? 1 : seen && seen / (received + sent);
  const used = seen ?? (part === null || bandwidth === null ? null : (part * bandwidth) / (left ?? 1));
  const counters = seen === null ? "used as the payload says" : "used as the interface's counters say";
  const headers =
    left === null
      ? "headers are not counted, as an MTU isn't known"
      : `${figure(left * 100)} % of it is payload at ${mtuWords(evidence)}`;
  return elementOf("link", name, bandwidth, {
    ...{ used, capacity, from },
    bound: capacity === null || part === null ? null : (capacity * (left ?? 1)) / part,
    how: [...(used === null ? [] : [counters]), how, headers].join("; "),
  });
}

const mtuWords = ({ protocol, link }: Evidence): string =>
  protocol === "iser" ? `RDMA MTU ${link.rdmaMtu}` : `MTU ${link.mtu}`;

/** The least of the link's rate and the PCIe slots of the adapters at its ends. */
function linkCapacity(
  { link, client, storage }: Evidence,
  hardware: Hardware,
): { capacity: number | null; from: Element["from"]; name: string; how: string } {
  // Where a host has several adapters, nothing says which of them is at this link's end.
  const slots = [client, storage].flatMap(({ host, pcie }) => {
    const [slot, ...others] = pcie.filter(({ kind }) => kind === "nic");
    if (slot === undefined || others.some(({ device }) => device !== slot.device)) return [];
    return [{ rate: pcieRate(slot), what: `${slot.device} of ${host} in ${pcieName(slot)}` }];
  });
  const stated = hardware.link?.bandwidth;
  const rate = stated ?? link.rate;
  const name = link.kind === "unknown" ? "link" : link.kind === "infiniband" ? "InfiniBand" : "Ethernet";
  const from = stated === undefined ? ("read" as const) : ("stated" as const);
  if (rate === null) return { capacity: null, from: "unknown", name, how: "the link doesn't say its rate" };
  const narrow = stated === undefined ? slots.filter((slot) => slot.rate < rate) : [];
  const [slot] = narrow.sort((a, b) => a.rate - b.rate);
  return slot === undefined
    ? { capacity: rate, from, name, how: `the link carries ${mbps(rate)} of data` }
    : {
        ...{ capacity: slot.rate, from: "read", name: `${name}, ${slot.what}` },
        how: `the slot carries ${mbps(slot.rate)}, less than the link's ${mbps(rate)}`,
      };
}
