import { again, bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { fullCpu } from "../host-cpu.ts";
import type { Rule } from "../rule.ts";

/** The client's CPU as a whole: fio, the file system, the initiator, TCP. */
export const clientCpu: Rule = {
  name: "client-cpu",
  rank: "element",
  find: (situation) => fullCpu(situation, "client"),
  advise: (situation) => {
    const { evidence, names } = situation;
    const { host } = evidence.client;
    return [
      ...(evidence.protocol === "iscsi"
        ? [
            configuration(
              "Use the LUN by iSER: the network card places the data, TCP and its copies go. (soft-RoCE does that work in the CPU again.)",
              `targets.${names.target}.portals.iser`,
            ),
          ]
        : []),
      configuration(
        `Look that nothing else runs on ${host}, and that its CPU frequency governor is performance (/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor).`,
      ),
      again(
        "Several clients at once show what the storage host can do beyond one client.",
        "benchmark.targets",
      ),
      bounded(situation, hardware(`More or faster cores in ${host}.`), ["client core", "client cpu"]),
      noHelp("Nothing on the storage host helps while the client is full."),
    ];
  },
};
