import { bounded, configuration, hardware, noHelp } from "../bounds.ts";
import { fullCores, hidden } from "../cores.ts";
import type { Rule } from "../rule.ts";
import { hostOf } from "../rule.ts";
import { largerBlocks } from "../storage-work.ts";
import { percent } from "../words.ts";

/**
 * One core full of system time: one kernel thread. LIO has one receiving and one sending thread a connection
 * (iscsi_trx, iscsi_ttx), the initiator one work queue a session: one session can't use more.
 */
export const coreSystem: Rule = {
  name: "core-system",
  rank: "element",
  find: (situation) =>
    fullCores(situation, "system", (side, core, limits) => {
      const host = hostOf(situation, side);
      const thread = side === "storage" ? "the target's or ZFS's" : "the initiator's or the file system's";
      const where = `core ${core.core} of ${host.host} spends ${percent(core.system)} in the kernel${hidden(host)}`;
      return limits
        ? `One kernel thread is the limit, ${thread}: ${where}.`
        : `Not far from full is a core with one kernel thread, ${thread}: ${where}.`;
    }),
  advise: (situation, { element }) => {
    const side = element === "client core" ? "client" : "storage";
    const host = hostOf(situation, side);
    const { names } = situation;
    return [
      bounded(
        situation,
        configuration(
          "Spread the load over several sessions: more targets, each with LUNs of its own. Each connection has its own threads.",
          "targets",
        ),
        [`${side} core`],
      ),
      ...(side === "storage"
        ? [
            ...largerBlocks(situation),
            configuration(
              "Let zvols take requests on several queues: write 1 to /sys/module/zfs/parameters/zvol_use_blk_mq before the pool is imported (ZFS 2.2 and later).",
            ),
            ...(situation.evidence.pool.layout?.compression === "off"
              ? []
              : [
                  configuration(
                    "Without compression the thread has less to do, where data doesn't compress anyway.",
                    `volumes.${names.volume}.compression: off`,
                  ),
                ]),
          ]
        : []),
      hardware(`A CPU with faster single cores in ${host.host}.`),
      noHelp(`More cores in ${host.host}, a faster link or more disks don't help a single thread.`),
    ];
  },
};
