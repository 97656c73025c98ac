import type { Client, Request } from "../bench/schema/request.ts";
import type { Protocol } from "../bench/schema/words.ts";
import type { LabConfig } from "../config.ts";
import type { HostAddress } from "../provider/host.ts";
import { parseSize } from "../provider/size.ts";
import { hardwareOf, measuredTargets, needsOf, testsOfStack } from "../stack-file/benchmark.ts";
import { serverOf } from "./iscsi-inputs.ts";

/** From the stack file and what stands to what the benchmark is asked. Pure. */

/** What is known of a measured target once its first initiator is logged in to it. */
export type Standing = {
  readonly iqn: string;
  readonly host: HostAddress;
  /** Of the file system on LUN 0. */
  readonly uuid: string;
  /** LUN 0 by each session. */
  readonly devices: Readonly<Record<Protocol, string>>;
  /** The target's RAM disk, where it has one. */
  readonly ramdisk?:
    | { readonly serial: string; readonly devices: Readonly<Record<Protocol, string>> }
    | undefined;
};

/** A host that is a client of several targets goes by host/IQN. */
export function clientName(lab: LabConfig, host: string, iqn: string): string {
  const at = measuredTargets(lab).filter(([, { initiators }]) => initiators[0] === host);
  return at.length > 1 ? `${host}/${iqn}` : host;
}

export function benchmarkRequest(
  stack: string,
  lab: LabConfig,
  storage: HostAddress,
  standing: readonly Standing[],
): Request {
  const { benchmark, filesystem } = lab;
  if (benchmark === undefined || filesystem === undefined)
    throw new TypeError("a lab without benchmark or filesystem is not measured");
  const needs = needsOf(benchmark);
  const hardware = hardwareOf(benchmark);
  return {
    stack,
    folder: `results/${stack}`,
    virtual: [storage, ...standing.map(({ host }) => host)].some(
      ({ name }) => lab.hosts[name]?.virtual !== undefined,
    ),
    storage,
    clients: standing.flatMap(({ iqn, host, uuid, devices, ramdisk }): Client[] => {
      const target = lab.targets[iqn];
      if (target === undefined) return [];
      const [volume = ""] = target.luns;
      return [
        {
          ...{ name: clientName(lab, host.name, iqn), host, target: iqn },
          ...{ pool: volume.split("/")[0] ?? "", volume, mount: filesystem.mount },
          filesystem: { type: filesystem.type, uuid },
          paths: benchmark.protocols.map((protocol) => ({
            ...{ protocol, portal: target.portals[protocol], device: devices[protocol] },
            ...(ramdisk && {
              ramdisk: {
                device: ramdisk.devices[protocol],
                serial: ramdisk.serial,
                size: Number(parseSize(target.ramdisk ?? "") ?? 0n),
              },
            }),
          })),
        },
      ];
    }),
    protocols: benchmark.protocols,
    repeats: benchmark.repeats,
    tests: testsOfStack(benchmark),
    interval: benchmark.interval,
    reference: benchmark.reference,
    ...(needs && { needs }),
    ...(hardware && { hardware }),
  };
}

/**
 * Everything of a stack file that a figure depends on, for a fingerprint. Secrets are no part of it: CHAP and a key
 * make no difference to a figure by what they are. Nor are needs and hardware, which only judge it.
 */
export function figureSettings(lab: LabConfig): object {
  const { benchmark, pools, datasets, volumes, clones, fabric, hosts } = lab;
  const targets = measuredTargets(lab).map(([iqn, { luns, portals, initiators, ramdisk }]) => ({
    ...{ iqn, luns, portals, initiators, ramdisk },
  }));
  const servers = new Set(measuredTargets(lab).map(([, target]) => serverOf(lab, target)));
  const used = [...servers, ...targets.map(({ initiators }) => initiators[0])];
  return {
    hosts: Object.entries(hosts).filter(([name]) => used.includes(name)),
    pools,
    datasets: withoutKeys(datasets),
    volumes: withoutKeys(volumes),
    clones,
    fabric,
    targets,
    ...(benchmark && {
      tests: testsOfStack(benchmark),
      protocols: benchmark.protocols,
      repeats: benchmark.repeats,
      interval: benchmark.interval,
    }),
  };
}

const withoutKeys = (named: Readonly<Record<string, { key?: unknown }>>): object[] =>
  Object.entries(named).map(([name, { key: _key, ...fields }]) => [name, fields]);
