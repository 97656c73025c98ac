import * as pulumi from "@pulumi/pulumi";
import { Benchmark } from "./components/benchmark.ts";
import { Fabric } from "./components/fabric.ts";
import { Hosts } from "./components/hosts.ts";
import { IscsiInitiator } from "./components/iscsi-initiator.ts";
import { chapOf, lunsOf, serverOf, sizesOf } from "./components/iscsi-inputs.ts";
import { IscsiTarget } from "./components/iscsi-target.ts";
import { Initiator } from "./components/resources.ts";
import { Storage } from "./components/storage.ts";
import { poolTolerates } from "./components/zfs-inputs.ts";
import { type LabConfig, parseConfig } from "./config.ts";
import { parseSize } from "./provider/size.ts";
import { baseOf, readBase } from "./stack-file/base.ts";

/** The lab that the stack file describes, and its results. */

const stack = pulumi.getStack();

async function settings(): Promise<LabConfig> {
  const own = pulumi.runtime.allConfig();
  const name = baseOf(own);
  // Which settings hold a secret: Pulumi tells its programs in this variable.
  const secretKeys = JSON.parse(process.env.PULUMI_CONFIG_SECRET_KEYS ?? "null") as string[] | null;
  try {
    const base = name === undefined ? undefined : await readBase(name, process.cwd());
    return parseConfig(own, stack, { base, secretKeys: secretKeys ?? undefined });
  } catch (error) {
    if (error instanceof RangeError) throw new pulumi.RunError(error.message);
    throw error;
  }
}

const lab = await settings();
const hosts = new Hosts("hosts", { stack, hosts: lab.hosts }).addresses;
const hostOf = (name: string) => {
  const host = hosts[name];
  if (host === undefined) throw new pulumi.RunError(`no host ${name}`);
  return host;
};

const fabric = Object.entries(lab.fabric).map(([name, link]) => new Fabric(name, { link, addresses: hosts }));

const volumes = Object.assign(
  {},
  ...Object.entries(lab.pools).map(
    ([name, pool]) => new Storage(name, { host: hostOf(pool.host), lab, pool }).volumes,
  ),
);

/** A host has one name as an initiator, at however many targets. */
const initiators = Object.fromEntries(
  [...new Set(Object.values(lab.targets).flatMap((target) => target.initiators))].map((name) => [
    name,
    new Initiator(name, { host: hostOf(name), name: lab.hosts[name]?.iqn ?? "" }, {}),
  ]),
);

const targets = Object.entries(lab.targets).map(([iqn, target]) => {
  const server = serverOf(lab, target) ?? "";
  const served = new IscsiTarget(
    iqn,
    {
      host: hostOf(server),
      target,
      volumes,
      initiators: target.initiators.map((name) => lab.hosts[name]?.iqn ?? ""),
    },
    // A portal's address must be there before LIO can listen on it.
    { dependsOn: fabric },
  );
  const clients = target.initiators.flatMap((name, position) => {
    const initiator = initiators[name];
    if (initiator === undefined) return [];
    const { portals } = target;
    const luns = lunsOf(target);
    const args = {
      host: hostOf(name),
      initiator,
      target: served.target,
      portals,
      luns,
      sizes: sizesOf(lab, target),
      chap: chapOf(target),
      // XFS belongs to one host: where several see the LUN, the first makes it.
      filesystem: position === 0 ? lab.filesystem : undefined,
    };
    return [new IscsiInitiator(`${name}/${iqn}`, args, { dependsOn: [...fabric, served] })];
  });
  return { iqn, target, server, served, clients };
});

const [first] = targets;
const [client] = first?.clients ?? [];
const [clientHost] = first?.target.initiators ?? [];

const { benchmark, filesystem } = lab;

const measured =
  benchmark && filesystem && first && client?.filesystem && clientHost
    ? new Benchmark(
        "benchmark",
        {
          request: pulumi
            .all([
              hostOf(first.server),
              hostOf(clientHost),
              client.filesystem.uuid,
              client.sessions.iscsi.device,
              client.sessions.iser.device,
            ])
            .apply(([storage, initiator, uuid, iscsi, iser]) => ({
              stack,
              folder: `results/${stack}`,
              virtual: lab.hosts[first.server]?.virtual !== undefined,
              hosts: { storage, initiator },
              pool: first.target.luns[0]?.split("/")[0] ?? "",
              volume: first.target.luns[0] ?? "",
              target: { iqn: first.iqn },
              mount: filesystem.mount,
              filesystem: { type: filesystem.type, uuid },
              paths: [
                { protocol: "iscsi" as const, portal: first.target.portals.iscsi, device: iscsi },
                { protocol: "iser" as const, portal: first.target.portals.iser, device: iser },
              ],
              workload: {
                name: benchmark.workload,
                size: bytes(benchmark.size),
                runtime: benchmark.runtime,
                blockSize: bytes(benchmark.blockSize),
                depth: benchmark.depth,
                directions: ["write" as const, "read" as const],
              },
              reference: "lab-a",
            })),
          settings: {
            pools: lab.pools,
            volumes: withoutKeys(lab.volumes),
            fabric: lab.fabric,
            target: measuredTarget(first.target),
          },
        },
        { dependsOn: [client] },
      )
    : undefined;

/** Secrets are no part of a fingerprint; CHAP and a key make no difference to a figure by what they are. */
function withoutKeys(volumes: LabConfig["volumes"]) {
  return Object.entries(volumes).map(([name, { key: _key, ...fields }]) => [name, fields]);
}
function measuredTarget({ luns, portals, initiators }: LabConfig["targets"][string]) {
  return { luns, portals, initiators };
}

function bytes(size: string): number {
  return Number(parseSize(size) ?? 0n);
}

/** The stack's outputs; a lab without a target or without a benchmark has less of them. */
export default {
  /** Which failures each pool survives. */
  tolerates: Object.fromEntries(Object.entries(lab.pools).map(([name, pool]) => [name, poolTolerates(pool)])),
  ...(first && { targetIqn: first.served.target.iqn, portals: first.target.portals }),
  ...(client && { devices: { iscsi: client.sessions.iscsi.device, iser: client.sessions.iser.device } }),
  ...(measured && {
    results: measured.results.runs,
    rawFolder: measured.results.folder,
    summary: measured.results.summary.markdown,
    summaryJson: measured.results.summary.json,
  }),
};
