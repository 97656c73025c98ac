import { bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { fullCpu, overIser, quietHost } from "../host-cpu.ts";
import type { Rule } from "../rule.ts";
import { largerBlocks } from "../storage-work.ts";

/** The storage host's CPU as a whole: checksums, parity, block handling, the target. */
export const storageCpu: Rule = {
  name: "storage-cpu",
  rank: "element",
  find: (situation) => fullCpu(situation, "storage"),
  advise: (situation) => {
    const { evidence, direction, names } = situation;
    const { layout, backstore } = evidence.pool;
    const host = evidence.storage.host;
    const onPool = backstore === "volume";
    const parity = layout?.vdevs.some(({ kind, role }) => role === "data" && /raid/.test(kind)) ?? false;
    return [
      ...overIser(situation),
      ...(onPool ? largerBlocks(situation) : []),
      ...(onPool && direction !== "read" && layout !== null && layout.compression !== "off"
        ? [
            configuration(
              "Without compression the CPU has less to do, where data doesn't compress anyway.",
              `volumes.${names.volume}.compression: off`,
            ),
          ]
        : []),
      ...(onPool && direction !== "read" && parity
        ? [
            configuration(
              "Mirrors need no parity to be computed, for more capacity and more writes over the HBA. Compare it as a stack of its own.",
              `pools.${names.pool}.data.mirror`,
            ),
          ]
        : []),
      quietHost(host),
      bounded(situation, hardware(`More or faster cores in ${host}.`), ["storage core", "storage cpu"]),
      noHelp("A faster link or more disks don't help while the CPU is full."),
    ];
  },
};
