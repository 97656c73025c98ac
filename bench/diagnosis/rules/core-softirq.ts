import { fullCores, hidden } from "../cores.ts";
import { easeReceivePath } from "../receive-path.ts";
import type { Rule } from "../rule.ts";
import { hostOf, receives } from "../rule.ts";
import { percent } from "../words.ts";

/**
 * One core full of softirqs: the network's receive path. The kernel handles a flow's packets on the core that the
 * interrupt of its queue comes to (kernel: Documentation/networking/scaling.rst), and a session is one TCP connection.
 */
export const coreSoftirq: Rule = {
  name: "core-softirq",
  rank: "element",
  find: (situation) =>
    fullCores(situation, "softirq", (side, core, limits) => {
      const host = hostOf(situation, side);
      const tcp = situation.evidence.protocol === "iscsi";
      const path = tcp ? "the TCP/IP receive path of one core" : "packet handling (softirq) on one core";
      const where = `core ${core.core} of ${host.host} is ${percent(core.softirq)} in softirq${hidden(host)}`;
      const role = receives(situation.direction, side)
        ? ""
        : ` ${host.host} sends the data here: these are acknowledgements and requests.`;
      return limits
        ? `${path[0]?.toUpperCase()}${path.slice(1)} is the limit: ${where}.${role}`
        : `Not far from full is ${path}: ${where}.${role}`;
    }),
  advise: (situation, { element }) =>
    easeReceivePath(situation, element === "client core" ? "client" : "storage"),
};
