import { again, configuration } from "../bounds.ts";
import type { Found, Rule } from "../rule.ts";
import { ms, percent, plural, rounded } from "../words.ts";

/** Share of its time that each of fio's jobs spends handing I/Os to the kernel: above this it does nothing else. */
export const FULL = 85;

/**
 * fio's jobs wait in io_submit(2): the kernel takes no more. It blocks there where the disk's queue is full, which
 * for an iSCSI disk are the session's commands (node.session.queue_depth 32, cmds_max 128 by default).
 */
export const submission: Rule = {
  name: "submission",
  rank: "last",
  find: ({ evidence }, full): Found[] => {
    const { iops, slat, jobs, clients } = evidence;
    if (iops === null || slat === null) return [];
    const share = ((iops / (jobs * clients)) * slat) / 10;
    if (share < FULL) return [];
    return [
      {
        ...{ element: null, limits: !full, confidence: "medium", share: Math.min(100, share) },
        sentence: `fio's jobs spend ${percent(share)} of their time in handing I/Os over: the kernel takes them no faster, as its queue for the disk is full or one CPU prepares them all.`,
        evidence: [
          `${rounded(iops)} IOPS of ${plural(jobs * clients, "job")} × ${ms(slat)} submission latency: ${percent(share)} of each job's time (full from ${FULL} %)`,
        ],
      },
    ];
  },
  advise: ({ evidence }) => [
    again(
      "More jobs hand over side by side; a depth above the session's queue (32 commands a disk by default) only waits here.",
      `benchmark.jobs: ${evidence.jobs * 2}`,
    ),
    configuration(
      "On the client, a deeper queue of the session: node.session.queue_depth and node.session.cmds_max (iscsiadm(8)), taken at the next login.",
    ),
  ],
};
