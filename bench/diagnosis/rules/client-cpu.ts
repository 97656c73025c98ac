import { again, bounded, hardware, noHelp } from "../bounds.ts";
import { fullCpu, overIser, quietHost } from "../host-cpu.ts";
import type { Rule } from "../rule.ts";

/** The client's CPU as a whole: fio, the file system, the initiator, TCP. */
export const clientCpu: Rule = {
  name: "client-cpu",
  rank: "element",
  find: (situation) => fullCpu(situation, "client"),
  advise: (situation) => {
    const { host } = situation.evidence.client;
    return [
      ...overIser(situation),
      quietHost(host),
      again(
        "Several clients at once show what the storage host can do beyond one client.",
        "benchmark.targets",
      ),
      bounded(situation, hardware(`More or faster cores in ${host}.`), ["client core", "client cpu"]),
      noHelp("Nothing on the storage host helps while the client is full."),
    ];
  },
};
