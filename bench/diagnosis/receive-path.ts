import type { Advice } from "../schema/diagnosis.ts";
import { bounded, configuration, cpuElements, hardware, noHelp } from "./bounds.ts";
import type { Side, Situation } from "./rule.ts";
import { hostOf } from "./rule.ts";
import { percent } from "./words.ts";

/** What eases a network receive path: RDMA instead of TCP, fewer packets, other cores. */

/** IPoIB in connected mode takes 65,520 bytes (kernel: Documentation/infiniband/ipoib.rst); Ethernet's jumbo frames 9,000. */
const largest = { infiniband: 65520, ethernet: 9000, unknown: 9000 } as const;

export function largerMtu({ evidence: { link }, names }: Situation): Advice[] {
  const target = largest[link.kind];
  if (link.mtu === null || link.mtu >= target) return [];
  const fewer = `${Math.floor(target / link.mtu)} times fewer packets for the same data`;
  return [
    link.kind === "infiniband"
      ? configuration(
          `Raise the IPoIB interface's MTU on all hosts: ${fewer}; only connected mode takes it.`,
          `fabric.${names.fabric}: { mode: connected, mtu: ${target} }`,
        )
      : configuration(
          `Raise the MTU on all hosts and on the switch between them: ${fewer}.`,
          `fabric.${names.fabric}.mtu: ${target}`,
        ),
  ];
}

export function easeReceivePath(situation: Situation, side: Side): Advice[] {
  const { evidence, names } = situation;
  const host = hostOf(situation, side);
  const device = host.network?.interface ?? "INTERFACE";
  const mask = (2 ** Math.min(host.cpus, 32) - 1).toString(16);
  const rdma =
    evidence.protocol === "iscsi"
      ? [
          bounded(
            situation,
            configuration(
              "Use the LUN by iSER: RDMA places the data without TCP's receive path, so the work of that core goes.",
              `targets.${names.target}.portals.iser`,
            ),
            cpuElements,
          ),
        ]
      : [];
  return [
    ...rdma,
    ...largerMtu(situation),
    configuration(
      `On ${host.host}, let other cores take packets than the one that has the interrupt: write ${mask} to /sys/class/net/${device}/queues/rx-*/rps_cpus (kernel: networking/scaling.rst). One session is one TCP flow and stays on one core, so several sessions gain most.`,
    ),
    configuration(
      `Have several sessions (more targets, each with LUNs of its own): each is a flow that a core of its own can receive.`,
      "targets",
    ),
    hardware(
      evidence.link.kind === "infiniband"
        ? `For TCP: a CPU with faster single cores in ${host.host}.`
        : `A network card with RDMA (RoCE) in all hosts, so that iSER runs without the CPU; for TCP a CPU with faster single cores in ${host.host}.`,
    ),
    noHelp(
      host.averageBusy === null
        ? `More cores in ${host.host}, a faster link or more disks don't help while one core is full.`
        : `More cores in ${host.host} (all together are busy ${percent(host.averageBusy)}), a faster link or more disks don't help.`,
    ),
  ];
}
