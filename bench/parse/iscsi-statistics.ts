import { ParseError } from "../../provider/errors.ts";

/**
 * `iscsiadm -m session -s` (iscsiadm(8)): the counters of each session of this initiator since its login. The
 * transport keeps them: iser counts its PDUs, and no octets of what RDMA moved.
 */

export type SessionStatistics = {
  readonly session: number;
  readonly target: string;
  /** As iscsiadm has it: 10.10.10.1,3260. */
  readonly portal: string;
  /** By its name: txdata_octets (from here), rxdata_octets, scsicmd_pdus, digest_err, timeout_err, … */
  readonly counters: ReadonlyMap<string, number>;
};

export function parseSessionStatistics(text: string): SessionStatistics[] {
  const sessions: (SessionStatistics & { counters: Map<string, number> })[] = [];
  for (const line of text.split("\n")) {
    const [, session, target, portal] =
      /^Stats for session \[sid: (\d+), target: (\S+), portal: (\S+)\]$/.exec(line) ?? [];
    if (session !== undefined && target !== undefined && portal !== undefined) {
      sessions.push({ session: Number(session), target, portal, counters: new Map() });
      continue;
    }
    if (line.trim() === "" || /^iSCSI (SNMP|Extended):$/.test(line)) continue;
    const [, name, value] = /^\t(\w+): (\d+)$/.exec(line) ?? [];
    const last = sessions.at(-1);
    if (last === undefined || name === undefined) {
      throw new ParseError(`iscsiadm -m session -s: unknown line ${JSON.stringify(line)}`);
    }
    last.counters.set(name, Number(value));
  }
  return sessions;
}
