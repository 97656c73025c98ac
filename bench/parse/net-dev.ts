import { ParseError } from "../../provider/errors.ts";

/** /proc/net/dev (proc_pid_net(5)): what each interface has received and sent since it was made. */

export type InterfaceCounters = {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
};
export type Interface = { readonly received: InterfaceCounters; readonly sent: InterfaceCounters };

const columns =
  "face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed";

/** By the interface's name. */
export function parseNetDev(text: string): Map<string, Interface> {
  const [, heading, ...lines] = text.trimEnd().split("\n");
  if (heading?.trim().split(/\s+/).join(" ") !== columns) {
    throw new ParseError(`/proc/net/dev: unknown columns in ${JSON.stringify(text.slice(0, 240))}`);
  }
  const interfaces = new Map<string, Interface>();
  for (const line of lines) {
    // Before Linux 6 nothing stood between the colon and a long number; a name may hold colons (eth0:1).
    const [, name, rest] = /^\s*(\S+):\s*((?:\d+\s*){16})$/.exec(line) ?? [];
    const values = rest?.trim().split(/\s+/).map(Number) ?? [];
    if (name === undefined || values.length !== 16) {
      throw new ParseError(`/proc/net/dev: unknown line ${JSON.stringify(line)}`);
    }
    const counters = (from: number): InterfaceCounters => ({
      bytes: values[from] ?? 0,
      packets: values[from + 1] ?? 0,
      errors: values[from + 2] ?? 0,
      dropped: values[from + 3] ?? 0,
    });
    interfaces.set(name, { received: counters(0), sent: counters(8) });
  }
  return interfaces;
}
