import type { Client, Request } from "../schema/request.ts";
import type { startTelemetry } from "../telemetry/telemetry.ts";
import type { BenchHost, RunName } from "../unit.ts";

/** What all parts of one benchmark share. */

export type BenchClient = {
  /** As asked for; of two clients on one host that name one mount point, the second has one of its own. */
  readonly client: Client;
  readonly host: BenchHost;
  /** The mount point is not there yet, so it goes when we go. */
  readonly ownsMountPoint: boolean;
};

export type Bench = {
  readonly request: Request;
  readonly run: RunName;
  readonly storage: BenchHost;
  readonly clients: readonly BenchClient[];
  /** Aborting ends what is under way. */
  readonly signal: AbortSignal;
  /** What records the hosts during a run; default: their collectors. */
  readonly telemetry?: typeof startTelemetry | undefined;
};

/** The hosts that clients run on, each once. */
export const clientHosts = ({ clients }: Pick<Bench, "clients">): BenchHost[] => [
  ...new Set(clients.map(({ host }) => host)),
];

/** Every host of the benchmark, each once: the storage host first. */
export const hostsOf = (bench: Pick<Bench, "storage" | "clients">): BenchHost[] => [
  ...new Set([bench.storage, ...clientHosts(bench)]),
];

/**
 * Clients of one host in mount points of their own. Each mounts in a namespace of its own, but removing a mount
 * point on the host unmounts it in every other namespace (rmdir(2) since Linux 3.19), under the client that still runs.
 */
export function distinctMounts(clients: readonly Client[]): Client[] {
  const taken = new Set<string>();
  return clients.map((client) => {
    let { mount } = client;
    for (let n = 2; taken.has(`${client.host.name} ${mount}`); n += 1) mount = `${client.mount}-${n}`;
    taken.add(`${client.host.name} ${mount}`);
    return { ...client, mount };
  });
}

/** Why these clients can't be measured at once; undefined when they can. */
export function whyNotAtOnce(clients: readonly Client[]): string | undefined {
  for (const [n, one] of clients.entries()) {
    const other = clients.slice(0, n).find(({ filesystem }) => filesystem.uuid === one.filesystem.uuid);
    if (other === undefined) continue;
    return (
      `clients ${other.name} and ${one.name} have one file system (xfs ${one.filesystem.uuid}), and XFS is destroyed by ` +
      `two hosts that write to it. Give each client a LUN of its own.`
    );
  }
  return undefined;
}

/** Guests are slow to start programs, arrays slow to stop. */
export const spareSeconds = 120;
