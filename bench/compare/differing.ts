import { seriesOf } from "../metrics.ts";
import { validRuns } from "../report/tables.ts";
import { protocolNames, size } from "../report/words.ts";
import type { Layout, VdevShape } from "../schema/evidence.ts";
import type { HostState, ValidRun } from "../schema/result.ts";
import type { Subject } from "./compare.ts";
import type { Differing } from "./comparison.ts";

/** What is not alike between columns, beside their figures: hosts by their part, whatever their names are. */

export function differing(subjects: readonly Subject[]): Differing[] {
  const settings = subjects.map(settingsOf);
  const things = [...new Set(settings.flatMap((one) => [...one.keys()]))];
  return things.flatMap((thing) => {
    const its = settings.map((one) => one.get(thing));
    // A second pool that only one has is one difference, not one for each of its properties.
    if (its.includes(undefined)) return [{ what: thing, values: its.map((one) => (one ? "there" : null)) }];
    const names = [...new Set(its.flatMap((one) => [...(one?.keys() ?? [])]))];
    return names.flatMap((name) => {
      const values = its.map((one) => one?.get(name) ?? null);
      // A test that not all have is told by its figures.
      const alike = thing === hitsOf ? values.filter((value) => value !== null) : values;
      return new Set(alike).size > 1 ? [{ what: `${thing} ${name}`.trim(), values }] : [];
    });
  });
}

/** Names, and what is a consequence of others or changes by itself. */
const ofNoMatter = new Set([
  ...["comment", "compressratio", "used", "logicalused", "refreservation"],
  ...["fragmentation", "capacity", "dedupratio", "param/TargetAlias"],
  ...["targetname", "state", "ifacename", "persistent_address", "persistent_port"],
]);

const hitsOf = "ARC hits of";

/** Each thing with its settings: "storage host" → "kernel" → "6.12.0". */
type Settings = Map<string, Map<string, string>>;

function settingsOf({ column, result, runs }: Subject): Settings {
  const { environment, virtual } = result;
  const found: Settings = new Map();
  const put = (thing: string, values: Readonly<Record<string, string>>): void => {
    const its = found.get(thing) ?? new Map<string, string>();
    found.set(thing, its);
    for (const [name, value] of Object.entries(values))
      if (!ofNoMatter.has(name)) its.set(name, value.trim());
  };
  const numbered = (what: string, n: number): string => (n === 0 ? what : `${what} ${n + 1}`);
  put("hosts", { "": virtual ? "emulated guests" : "hardware" });
  for (const [n, { layout, properties }] of environment.pools.entries())
    put(numbered("pool", n), {
      layout: layout === null ? "not known" : layoutWords(layout),
      ...properties,
    });
  for (const [n, { properties }] of environment.volumes.entries()) put(numbered("volume", n), properties);
  put("storage host", hostWords(environment.storage));
  for (const [n, host] of environment.clients.entries()) put(numbered("client", n), hostWords(host));
  put("clients at once", {
    "": String(Math.max(0, ...validRuns(runs).map(({ clients }) => clients.length))),
  });
  for (const [n, { attributes }] of environment.targets.entries()) put(numbered("target", n), attributes);
  for (const [n, { type, options }] of environment.filesystems.entries())
    put(numbered("file system", n), { "": `${type} ${options}` });
  const protocols = new Set(runs.map(({ spec }) => spec.protocol));
  for (const { protocol, transport, negotiated } of environment.paths)
    if (protocols.has(protocol))
      put(column.protocol === null ? `${protocolNames[protocol]} session` : "session", {
        transport,
        ...negotiated,
      });
  put("ZFS", { ...environment.zfsParameters, "ARC at most": about(environment.arcMaximum) });
  put(hitsOf, arcHits(validRuns(runs), column.protocol !== null));
  put("precondition", Object.fromEntries(unread(runs).map((name) => [name, "could not be read"])));
  return found;
}

function hostWords(host: HostState): Record<string, string> {
  const { kernel, cpus, cpuModel, memory, governor, versions, link } = host;
  const mode = link.mode === null ? "" : `, ${link.mode}`;
  const speed = link.speed === null ? "" : `, ${link.speed} Mb/s`;
  return {
    kernel,
    CPUs: `${cpus} × ${cpuModel}`,
    memory: about(memory),
    governor: governor ?? "none",
    link: `${link.kind}${mode}, MTU ${link.mtu}${speed}`,
    RDMA: link.rdma === null ? "none" : `active MTU ${link.rdma.activeMtu ?? "not known"}`,
    ...versions,
  };
}

/** From boot to boot the kernel keeps some pages more or less for itself. */
const about = (bytes: number): string => `about ${size(Math.round(bytes / 2 ** 26) * 2 ** 26)}`;

/** 2 × mirror of 3; log: mirror of 2. */
export function layoutWords({ vdevs, ashift }: Layout): string {
  const shape = ({ kind, disks, count }: VdevShape): string => {
    const one = kind === "disk" ? (disks === 1 ? "disk" : `${disks} disks`) : `${kind} of ${disks}`;
    return count === 1 ? one : `${count} × ${one}`;
  };
  const roles = [...new Set(vdevs.map(({ role }) => role))];
  const words = roles.map((role) => {
    const its = vdevs.filter((vdev) => vdev.role === role).map(shape);
    return `${role === "data" ? "" : `${role}: `}${its.join(" + ")}`;
  });
  return `${words.join("; ")}; ashift ${ashift}`;
}

/** Of reads: whether the ARC or the disks served them. In tenths, as it is never the same twice. */
const arcHits = (runs: readonly ValidRun[], protocols: boolean): Record<string, string> =>
  Object.fromEntries(
    runs.flatMap((run) =>
      run.read === null || run.arc.hitRatio === null || run.spec.repeat > 1
        ? []
        : [
            [
              seriesOf(run).slice(protocols ? run.spec.protocol.length + 1 : 0),
              `about ${Math.round(run.arc.hitRatio * 10) * 10} %`,
            ],
          ],
    ),
  );

/** A client's name is no part of a precondition's. */
const unread = (runs: Subject["runs"]): string[] => [
  ...new Set(
    validRuns(runs).flatMap(({ preconditions, clients }) =>
      preconditions.flatMap(({ name, holds }) => {
        const client = clients.find((one) => name.startsWith(`${one.client} `));
        return holds === null ? [client === undefined ? name : name.slice(client.client.length + 1)] : [];
      }),
    ),
  ),
];
