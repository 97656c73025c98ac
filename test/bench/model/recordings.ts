import { readdirSync } from "node:fs";
import { join } from "node:path";
import { dataVdevs, type Load, logCost, logVdevs, writeCost } from "../../../bench/model/layout.ts";
import { poolSpace, volumeSpace } from "../../../bench/model/space.ts";
import { type Layout, layout } from "../../../bench/schema/evidence.ts";
import { recorded } from "../../recorded.ts";

/** What pools really took and wrote (virtual/record-layouts), beside what the model says of their layouts. */

const gib = 2 ** 30;
const large = 1e12;

type Shape = { kind: string; disks: number; role?: string; count?: number; data?: number; spares?: number };
const pool = (vdevs: Shape[], { disk = 2 * gib, ashift = 12 } = {}): Layout =>
  layout.parse({
    vdevs: vdevs.map((shape) => ({ role: "data", diskSize: disk, ...shape })),
    ...{ ashift, volblocksize: 16384, compression: "off", sync: "standard", logbias: "latency" },
  });

/** The layouts that virtual/record-layouts makes, by the same names. */
const layouts: Record<string, Layout> = {
  "stripe-1": pool([{ kind: "disk", disks: 1 }]),
  "mirror-3-twice-log": pool([
    { kind: "mirror", disks: 3, count: 2 },
    { kind: "mirror", disks: 2, role: "log" },
  ]),
  "raidz1-3": pool([{ kind: "raidz1", disks: 3 }]),
  "raidz1-4": pool([{ kind: "raidz1", disks: 4 }]),
  "raidz1-4-twice": pool([{ kind: "raidz1", disks: 4, count: 2 }]),
  "raidz1-4-special": pool([
    { kind: "raidz1", disks: 4 },
    { kind: "mirror", disks: 2, role: "special" },
  ]),
  "raidz2-6": pool([{ kind: "raidz2", disks: 6 }]),
  "raidz2-6-ashift-9": pool([{ kind: "raidz2", disks: 6 }], { ashift: 9 }),
  "raidz2-8": pool([{ kind: "raidz2", disks: 8 }]),
  "raidz3-8": pool([{ kind: "raidz3", disks: 8 }]),
  "raidz3-11": pool([{ kind: "raidz3", disks: 11 }]),
  "draid2-8": pool([{ kind: "draid2", disks: 8, data: 4, spares: 1 }]),
  "draid1-12": pool([{ kind: "draid1", disks: 12, data: 4, spares: 2 }]),
  "mirror-2-of-1-tb": pool([{ kind: "mirror", disks: 2, count: 2 }], { disk: large }),
  "raidz1-4-of-1-tb": pool([{ kind: "raidz1", disks: 4 }], { disk: large }),
  "draid1-4-of-1-tb": pool([{ kind: "draid1", disks: 4, data: 2, spares: 1 }], { disk: large }),
  "sync-mirror-2": pool([{ kind: "mirror", disks: 2 }]),
  "sync-mirror-2-log": pool([
    { kind: "mirror", disks: 2 },
    { kind: "mirror", disks: 2, role: "log" },
  ]),
  "sync-raidz2-6": pool([{ kind: "raidz2", disks: 6 }]),
};

/** Where D1 to D8 of the guest stand in a line of counters; log disks of these pools are D7 and D8. */
const logDisks = [6, 7];

type Said = { command: string; lines: string[] };

/** A transcript: each command after `$ `, then what it printed. */
export function commandsOf(transcript: string): Said[] {
  const said: Said[] = [];
  for (const line of transcript.trimEnd().split("\n")) {
    const last = said.at(-1);
    if (line.startsWith("$ ")) said.push({ command: line.slice(2), lines: [] });
    else if (last === undefined) throw new Error(`before the first command: ${JSON.stringify(line)}`);
    else last.lines.push(line);
  }
  return said;
}

const number = (text: string | undefined): number => {
  if (text === undefined || !/^\d+$/.test(text)) throw new Error(`no number: ${JSON.stringify(text)}`);
  return Number(text);
};
const properties = ({ lines }: Said): Map<string, string> =>
  new Map(lines.map((line) => [line.split("\t")[0] ?? "", line.split("\t")[1] ?? ""]));

/** Bytes that each disk was told to write: field 7 of /sys/block/DISK/stat counts sectors of 512 bytes. */
const written = ({ lines }: Said): number[] => lines.map((line) => number(line.trim().split(/\s+/)[6]) * 512);

export type Row = {
  layout: string;
  what: "size" | "usable" | "reservation" | "written" | "data writes" | "log writes";
  volblocksize: number | null;
  logbias: string | null;
  /** Synchronous writes, one at a time, each of a block. */
  sync: boolean;
  /** Bytes, or bytes for a byte of payload. */
  model: number;
  most: number;
  found: number;
};

const payload = (command: string): number =>
  command.includes("count=")
    ? number(/count=(\d+)/.exec(command)?.[1]) * 1024 * number(/bs=(\d+)K/.exec(command)?.[1])
    : 48 * 2 ** 20;

/** Model beside recording, for one layout. */
function rowsOf(name: string, declared: Layout, said: readonly Said[]): Row[] {
  const rows: Row[] = [];
  let [block, logbias]: [number, string] = [16384, "latency"];
  let before: number[] | undefined;
  let wrote: { bytes: number; sync: boolean } | undefined;
  const row = (what: Row["what"], model: number, found: number, more: Partial<Row> = {}): void => {
    rows.push({
      ...{ layout: name, what, volblocksize: null, logbias: null, sync: false, model, most: model, found },
      ...more,
    });
  };
  for (const one of said) {
    const { command, lines } = one;
    const fields = lines[0]?.split("\t") ?? [];
    const space = poolSpace(declared);
    if (space === null) throw new Error(`${name}: disks without a size`);
    if (command.startsWith("zpool list")) row("size", space.size, number(fields[1]));
    if (command.startsWith("zfs list")) row("usable", space.usable, number(fields[1]) + number(fields[2]));
    if (command.startsWith("zfs create")) {
      block = 1024 * number(/volblocksize=(\d+)K/.exec(command)?.[1]);
      before = wrote = undefined;
    }
    if (command.startsWith("zfs get")) {
      const found = properties(one);
      logbias = found.get("logbias") ?? logbias;
      if (found.has("referenced")) {
        const size = number(found.get("volsize"));
        const model = volumeSpace(declared, { size, block });
        row("reservation", model.reservation, number(found.get("refreservation")), { volblocksize: block });
        if (wrote !== undefined) {
          const part = volumeSpace(declared, { size: wrote.bytes, block });
          row("written", part.written, number(found.get("referenced")), { volblocksize: block });
        }
      }
    }
    if (command.startsWith("dd "))
      wrote = { bytes: payload(command), sync: command.includes("oflag=direct,sync") };
    if (command.startsWith("cat ") && wrote === undefined) before = written(one);
    else if (command.startsWith("cat ") && before !== undefined && wrote !== undefined) {
      const { bytes, sync } = wrote;
      const begun = before;
      const each = written(one).map((after, disk) => after - (begun[disk] ?? 0));
      const hasLog = logVdevs(declared).length > 0;
      const sum = (log: boolean): number =>
        each.filter((_, disk) => (hasLog && logDisks.includes(disk)) === log).reduce((a, b) => a + b, 0) /
        bytes;
      const load: Load = { blockSize: sync ? block : 2 ** 20, random: false, sync };
      const set: Layout = { ...declared, volblocksize: block, logbias };
      const more = { volblocksize: block, logbias: sync ? logbias : null, sync };
      const cost = writeCost(set, load);
      if (cost === null) throw new Error(`${name}: no write cost`);
      row("data writes", cost.least, sum(false), { ...more, most: cost.most });
      const log = logCost(set, load);
      if (hasLog && sync) row("log writes", log?.least ?? 0, sum(true), { ...more, most: log?.most ?? 0 });
    }
  }
  return rows;
}

const prefix = "layout--";
const folder = join(import.meta.dirname, "../../recorded");

/** Every recording of a layout; one that isn't declared here is an error. */
export function checkedRows(): Row[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(prefix));
  return files.sort().flatMap((file) => {
    const name = file.slice(prefix.length).replace(/--zfs-.*$/, "");
    const declared = layouts[name];
    if (declared === undefined) throw new Error(`${file}: ${name} is no layout of this test`);
    if (dataVdevs(declared).length === 0) throw new Error(`${name} has no data vdevs`);
    return rowsOf(name, declared, commandsOf(recorded(file.replace(/\.out$/, ""))));
  });
}

/** How much the model is above what was found, in percent. */
export const off = ({ model, found }: Row): number => (model / found - 1) * 100;
