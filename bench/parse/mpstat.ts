import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";
import { type Core, type CpuShares, shares } from "./cores.ts";
import { parseMpstatText } from "./mpstat-text.ts";
import { atLeast } from "./version.ts";

/**
 * What mpstat(1) of sysstat reports with `-o JSON -P ALL 1`: each sample is the share of the last second, in
 * percent. With an interval mpstat has no sample since boot.
 */

const percent = z.number().min(0).max(100.5);

const row = z.object({
  cpu: z.string().regex(/^(all|\d+)$/),
  usr: percent,
  nice: percent,
  sys: percent,
  iowait: percent,
  irq: percent,
  soft: percent,
  steal: percent,
  guest: percent,
  gnice: percent,
  idle: percent,
});

const output = z.object({
  sysstat: z.object({
    hosts: z
      .array(
        z.object({
          "number-of-cpus": z.int().positive(),
          statistics: z.array(z.object({ timestamp: z.string(), "cpu-load": z.array(row).min(1) })),
        }),
      )
      .length(1),
  }),
});

export type { Core, CoreShares, CpuShares } from "./cores.ts";

/** The few figures of each core that a summary needs. */
export type CpuSample = {
  readonly time: string;
  readonly cores: readonly Core[];
  readonly all: Omit<Core, "core">;
};

const core = (r: z.infer<typeof row>) => shares((column) => r[column]);

export function parseMpstat(text: string): CpuShares[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const end = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
    throw new ParseError(`mpstat's output is not whole JSON; its last line: ${JSON.stringify(end)}`, {
      cause,
    });
  }
  const parsed = output.safeParse(value);
  if (!parsed.success) {
    throw new ParseError(`mpstat's output is not of the form known here: ${z.prettifyError(parsed.error)}`);
  }
  const samples = parsed.data.sysstat.hosts[0]?.statistics ?? [];
  return samples.map((sample) => {
    const all = sample["cpu-load"].find((r) => r.cpu === "all");
    if (all === undefined)
      throw new ParseError(`mpstat's sample of ${sample.timestamp} has no row for all CPUs`);
    const cores = sample["cpu-load"].filter((r) => r.cpu !== "all");
    return {
      time: sample.timestamp,
      all: core(all),
      cores: cores.map((r) => ({ core: Number(r.cpu), ...core(r) })),
    };
  });
}

/** One row of a report that is still being printed, for the display of progress; undefined for other lines. */
function liveCore(line: string): Core | undefined {
  if (!/^\s*\{"cpu": "\d+"/.test(line)) return undefined;
  const parsed = row.safeParse(JSON.parse(line.trim().replace(/,$/, "")));
  return parsed.success ? { core: Number(parsed.data.cpu), ...core(parsed.data) } : undefined;
}

function liveTextCore(line: string): Core | undefined {
  const columns = "CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle";
  if (!/^\d\d:\d\d:\d\d\s+\d+(\s+\d+\.\d+){10}$/.test(line)) return undefined;
  return parseMpstatText(`00:00:00 ${columns}\n00:00:00 all${" 0.00".repeat(10)}\n${line}`)[0]?.cores[0];
}

/** How a version of mpstat is asked for a sample a second, and how its answer is read, whole and while it comes. */
export type Mpstat = {
  readonly argv: readonly string[];
  readonly extension: "json" | "txt";
  parse(text: string): CpuShares[];
  beginsSample(line: string): boolean;
  liveCore(line: string): Core | undefined;
};

const json: Mpstat = {
  argv: ["mpstat", "-P", "ALL", "-o", "JSON", "1"],
  extension: "json",
  parse: parseMpstat,
  beginsSample: (line) => /^\s*"timestamp":/.test(line),
  liveCore,
};
const text: Mpstat = {
  argv: ["mpstat", "-P", "ALL", "1"],
  extension: "txt",
  parse: parseMpstatText,
  beginsSample: (line) => /^\d\d:\d\d:\d\d\s+CPU\s/.test(line),
  liveCore: liveTextCore,
};

/** JSON from sysstat 12.2 on; before, its JSON is broken and the text is read. */
export const mpstatOf = (version: string): Mpstat => (atLeast(version, [12, 2]) ? json : text);

/** sysstat's version out of `mpstat -V`. */
export function sysstatVersion(text: string, host: string): string {
  const version = /^sysstat version (\d+\.\d+(?:\.\d+)*)$/m.exec(text)?.[1];
  if (version !== undefined) return version;
  throw new ParseError(`mpstat -V on ${host}: no version in ${JSON.stringify(text.slice(0, 120))}`);
}
