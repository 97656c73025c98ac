import { z } from "zod";
import { ParseError, RefusedError } from "../../provider/errors.ts";

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

export type Core = {
  readonly core: number;
  /** Not idle and not waiting for I/O. */
  readonly busy: number;
  readonly system: number;
  readonly softirq: number;
};
/** All cores in one interval, and their average as mpstat itself gives it. */
export type CpuSample = {
  readonly time: string;
  readonly cores: readonly Core[];
  readonly all: Omit<Core, "core">;
};

const core = (r: z.infer<typeof row>) => ({
  busy: Math.min(100, Math.max(0, 100 - r.idle - r.iowait)),
  system: r.sys,
  softirq: r.soft,
});

export function parseMpstat(text: string): CpuSample[] {
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
export function liveCore(line: string): Core | undefined {
  if (!/^\s*\{"cpu": "\d+"/.test(line)) return undefined;
  const parsed = row.safeParse(JSON.parse(line.trim().replace(/,$/, "")));
  return parsed.success ? { core: Number(parsed.data.cpu), ...core(parsed.data) } : undefined;
}

/** Does this line of a report that is still being printed begin a sample? */
export const beginsSample = (line: string): boolean => /^\s*"timestamp":/.test(line);

/** sysstat's version out of `mpstat -V`; refused below 12.2, whose JSON is broken. */
export function sysstatVersion(text: string, host: string): string {
  const version = /^sysstat version (\d+)\.(\d+)(?:\.\d+)*$/m.exec(text);
  if (!version)
    throw new ParseError(`mpstat -V on ${host}: no version in ${JSON.stringify(text.slice(0, 120))}`);
  const [line, major, minor] = version;
  if (Number(major) < 12 || (Number(major) === 12 && Number(minor) < 2)) {
    throw new RefusedError(
      `${host}: ${line} prints broken JSON (mpstat -o JSON); the benchmark needs 12.2 or newer. Update the package sysstat.`,
    );
  }
  return line.replace("sysstat version ", "");
}
