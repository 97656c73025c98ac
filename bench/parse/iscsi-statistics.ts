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

/** Counters that stay where they are while nothing goes wrong (RFC 5427's error counts, iscsiadm's extended ones). */
const faults = ["digest_err", "timeout_err", "tmfcmd_pdus", "rjt_pdus", "snack_pdus", "eh_abort_cnt"];

/** What went wrong in the sessions between two looks, in words. A session that is new, or gone, is said as well. */
export function sessionFaults(before: string, after: string): string[] {
  const [earlier, later] = [before, after].map(
    (text) => new Map(parseSessionStatistics(text).map((session) => [session.session, session])),
  );
  const ids = new Set([...(earlier?.keys() ?? []), ...(later?.keys() ?? [])]);
  return [...ids].flatMap((id) => {
    const [then, now] = [earlier?.get(id), later?.get(id)];
    const name = `iSCSI session ${id} at ${(now ?? then)?.portal}`;
    if (then === undefined) return [`${name} was logged in meanwhile`];
    if (now === undefined) return [`${name} ended meanwhile`];
    const grown = faults.flatMap((counter) => {
      const by = (now.counters.get(counter) ?? 0) - (then.counters.get(counter) ?? 0);
      return by > 0 ? [`${counter} +${by}`] : [];
    });
    return grown.length === 0 ? [] : [`${name}: ${grown.join(", ")}`];
  });
}
