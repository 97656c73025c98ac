import * as pulumi from "@pulumi/pulumi";
import { Benchmark } from "./components/benchmark.ts";
import { Fabric } from "./components/fabric.ts";
import { Hosts } from "./components/hosts.ts";
import { IscsiInitiator } from "./components/iscsi-initiator.ts";
import { IscsiTarget } from "./components/iscsi-target.ts";
import { Initiator } from "./components/resources.ts";
import { Storage } from "./components/storage.ts";
import { type LabConfig, parseConfig } from "./config.ts";
import { parseSize } from "./provider/size.ts";

/** The lab that the stack file describes, and its results. */

const stack = pulumi.getStack();

function settings(): LabConfig {
  try {
    return parseConfig(pulumi.runtime.allConfig(), stack);
  } catch (error) {
    if (error instanceof RangeError) throw new pulumi.RunError(error.message);
    throw error;
  }
}

const lab = settings();
const hosts = new Hosts("hosts", { stack, hosts: lab.hosts }).addresses;
const hostOf = (name: string) => {
  const host = hosts[name];
  if (host === undefined) throw new pulumi.RunError(`no host ${name}`);
  return host;
};

const fabric = Object.entries(lab.fabric).map(([name, link]) => new Fabric(name, { link, addresses: hosts }));

const volumes = Object.assign(
  {},
  ...Object.entries(lab.pools).map(([name, pool]) => {
    const own = Object.entries(lab.volumes).filter(([volume]) => volume.startsWith(`${name}/`));
    return new Storage(name, { host: hostOf(pool.host), pool, volumes: Object.fromEntries(own) }).volumes;
  }),
);

/** A host has one name as an initiator, at however many targets. */
const initiators = Object.fromEntries(
  [...new Set(Object.values(lab.targets).flatMap((target) => target.initiators))].map((name) => [
    name,
    new Initiator(name, { host: hostOf(name), name: lab.hosts[name]?.iqn ?? "" }, {}),
  ]),
);

const targets = Object.entries(lab.targets).map(([iqn, target]) => {
  const server = lab.pools[target.luns[0]?.split("/")[0] ?? ""]?.host ?? "";
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
  const clients = target.initiators.flatMap((name) => {
    const initiator = initiators[name];
    if (initiator === undefined) return [];
    const { portals } = target;
    const luns = target.luns.map((_, lun) => lun);
    const args = {
      host: hostOf(name),
      initiator,
      target: served.target,
      portals,
      luns,
      filesystem: lab.filesystem,
    };
    return [new IscsiInitiator(`${name}/${iqn}`, args, { dependsOn: [...fabric, served] })];
  });
  return { iqn, target, server, served, clients };
});

const [first] = targets;
const [client] = first?.clients ?? [];
const [clientHost] = first?.target.initiators ?? [];

const measured =
  lab.benchmark && first && client && clientHost
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
              mount: lab.filesystem.mount,
              filesystem: { type: lab.filesystem.type, uuid },
              paths: [
                { protocol: "iscsi" as const, portal: first.target.portals.iscsi, device: iscsi },
                { protocol: "iser" as const, portal: first.target.portals.iser, device: iser },
              ],
              workload: {
                name: lab.benchmark?.workload ?? "sequential",
                size: bytes(lab.benchmark?.size),
                runtime: lab.benchmark?.runtime ?? 0,
                blockSize: bytes(lab.benchmark?.blockSize),
                depth: lab.benchmark?.depth ?? 0,
                directions: ["write" as const, "read" as const],
              },
              reference: "lab-a",
            })),
          settings: { pools: lab.pools, volumes: lab.volumes, fabric: lab.fabric, target: first.target },
        },
        { dependsOn: [client] },
      )
    : undefined;

function bytes(size: string | undefined): number {
  return Number(parseSize(size ?? "0") ?? 0n);
}

/** The stack's outputs; a lab without a benchmark has no results. */
export default {
  targetIqn: first?.served.target.iqn,
  portals: first?.target.portals,
  devices: client && { iscsi: client.sessions.iscsi.device, iser: client.sessions.iser.device },
  ...(measured && {
    results: measured.results.runs,
    rawFolder: measured.results.folder,
    summary: measured.results.summary.markdown,
    summaryJson: measured.results.summary.json,
  }),
};
