import * as pulumi from "@pulumi/pulumi";
import { Benchmark } from "./components/benchmark.ts";
import { benchmarkRequest, figureSettings } from "./components/benchmark-request.ts";
import { Fabric } from "./components/fabric.ts";
import { Hosts } from "./components/hosts.ts";
import { IscsiInitiator } from "./components/iscsi-initiator.ts";
import { chapOf, lunsOf, ramdiskLun, serverOf, sizesOf } from "./components/iscsi-inputs.ts";
import { IscsiTarget } from "./components/iscsi-target.ts";
import { Initiator, type Session } from "./components/resources.ts";
import { Storage } from "./components/storage.ts";
import { poolTolerates } from "./components/zfs-inputs.ts";
import { type LabConfig, parseConfig } from "./config.ts";
import { baseOf, readBase } from "./stack-file/base.ts";
import { measuredTargets } from "./stack-file/benchmark.ts";
import { experimentAsked, withExperiment } from "./stack-file/experiment.ts";

/** The lab that the stack file describes, and its results. */

const stack = pulumi.getStack();

async function settings(): Promise<LabConfig> {
  const own = pulumi.runtime.allConfig();
  const name = baseOf(own);
  // Which settings hold a secret: Pulumi tells its programs in this variable.
  const secretKeys = JSON.parse(process.env.PULUMI_CONFIG_SECRET_KEYS ?? "null") as string[] | null;
  try {
    const base = name === undefined ? undefined : await readBase(name, process.cwd());
    const asked = withExperiment(own, base, experimentAsked(process.env));
    return parseConfig(asked, stack, { base, secretKeys: secretKeys ?? undefined });
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

/** Targets in the order of the file, and of the stack's outputs the first by name, as the benchmark takes it. */
const [first] = targets.toSorted((a, b) => (a.iqn < b.iqn ? -1 : 1));
const [client] = first?.clients ?? [];

const measured = lab.benchmark && lab.filesystem ? measure(lab) : undefined;

/** The targets that are measured, each from its first initiator, which made the file system on LUN 0. */
function measure(of: LabConfig): Benchmark | undefined {
  const standing = measuredTargets(of).flatMap(([iqn, target]) => {
    const { served, clients } = targets.find((other) => other.iqn === iqn) ?? {};
    const [one] = clients ?? [];
    const [host] = target.initiators;
    if (one?.filesystem === undefined || host === undefined) return [];
    const { iscsi, iser } = one.sessions;
    const ramdisk = served?.ramdisk && {
      serial: served.ramdisk.serial,
      devices: { iscsi: deviceOf(iscsi, ramdiskLun), iser: deviceOf(iser, ramdiskLun) },
    };
    const devices = { iscsi: iscsi.device, iser: iser.device };
    return [{ client: one, facts: { iqn, host: hostOf(host), uuid: one.filesystem.uuid, devices, ramdisk } }];
  });
  const server = measuredTargets(of).flatMap(([, target]) => serverOf(of, target) ?? [])[0];
  if (standing.length === 0 || server === undefined) return undefined;
  return new Benchmark(
    "benchmark",
    {
      request: pulumi
        .all([hostOf(server), pulumi.all(standing.map(({ facts }) => pulumi.output(facts)))])
        .apply(([storage, facts]) => benchmarkRequest(stack, of, storage, facts)),
      // An experiment measures anew what has been measured before it.
      settings: { ...figureSettings(of), occasion: experimentAsked(process.env)?.occasion },
    },
    { dependsOn: standing.map(({ client: one }) => one) },
  );
}

/** The stable path of one LUN. */
function deviceOf(session: Session, lun: number): pulumi.Output<string> {
  return session.devices.apply((devices) => devices[lun] ?? "");
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
    report: measured.results.reports.html,
    summary: measured.results.reports.markdown,
    summaryJson: measured.results.reports.json,
    ...(lab.benchmark?.needs && { needs: measured.results.verdicts }),
  }),
};
