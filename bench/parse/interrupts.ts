import { ParseError } from "../../provider/errors.ts";

/**
 * /proc/interrupts (proc(5)): a heading with the processors that are online, then for each source how often
 * each of them took it since boot, the controller and the devices.
 */

export type InterruptSource = {
  /** The number or the short name: 36, LOC. */
  readonly name: string;
  /** What stands after the counts, blanks made one: "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0"; or nothing. */
  readonly device: string;
  /** By processor number. */
  readonly counts: ReadonlyMap<number, number>;
};

/** Errors of the interrupt controller, which no processor is counted for. */
const whole = ["ERR", "MIS"];

export function parseInterrupts(text: string): InterruptSource[] {
  const [heading = "", ...lines] = text.trimEnd().split("\n");
  const cores = heading
    .trim()
    .split(/\s+/)
    .map((name) => /^CPU(\d+)$/.exec(name)?.[1]);
  const unknown = (line: string): ParseError =>
    new ParseError(`/proc/interrupts: unknown line ${JSON.stringify(line.slice(0, 120))}`);
  return lines.flatMap((line) => {
    const [, name, rest] = /^\s*(\S+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || rest === undefined) throw unknown(line);
    if (whole.includes(name) && /^\d+$/.test(rest)) return [];
    const fields = rest.trim().split(/\s+/);
    const counts = new Map<number, number>();
    for (const [at, core] of cores.entries()) {
      const count = fields[at] ?? "";
      if (core === undefined) throw unknown(heading);
      if (!/^\d+$/.test(count)) throw unknown(line);
      counts.set(Number(core), Number(count));
    }
    return [{ name, device: fields.slice(cores.length).join(" "), counts }];
  });
}
