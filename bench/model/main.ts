import { parseArgs } from "node:util";
import { parseSize } from "../../provider/size.ts";
import { bandwidth } from "../../stack-file/measure.ts";
import { inProject } from "../folder.ts";
import type { Hardware } from "../schema/needs.ts";
import { readStack } from "./stack.ts";
import { inMarkdown, inTerminal } from "./tables.ts";
import { type Assumed, whatIf } from "./what-if.ts";

/** `bench model STACK…`: what layouts give and cost, before they are built; several stacks side by side. */

export const usage = `usage: bench model STACK... [--json | --markdown]
                   [--disk-size 1TB] [--disk "180 MB/s"] [--disk-iops 150] [--log "1.9 GB/s"]
                   [--hba "3.2 GB/s"] [--link "32 Gbit/s"]
  Computes from Pulumi.STACK.yaml, with nothing built or asked: usable capacity, failures tolerated, write
  amplification, upper bounds for throughput by element, and about how long the benchmark takes.
  The options say what the stack file doesn't say of real hosts (docs/model.md); they go before
  benchmark.hardware of the stack file. --disk-size: of each disk, 1TB = 10^12 bytes, 1TiB = 2^40.`;

const options = {
  json: { type: "boolean" },
  markdown: { type: "boolean" },
  help: { type: "boolean" },
  "disk-size": { type: "string" },
  disk: { type: "string" },
  "disk-iops": { type: "string" },
  log: { type: "string" },
  hba: { type: "string" },
  link: { type: "string" },
} as const;

/** The exit status; what went wrong is thrown, in words. */
export async function main(args: string[], print = toStdout): Promise<number> {
  const { values, positionals } = parsed(args);
  if (values.help) {
    print(usage);
    return 0;
  }
  if (positionals.length === 0) throw new TypeError(`which stack? ${usage}`);
  if (values.json && values.markdown) throw new TypeError(`--json or --markdown, not both\n${usage}`);
  const assumed = assumedBy(values);
  const models = (
    await Promise.all(
      positionals.map(async (stack) => whatIf(stack, await readStack(stack, inProject(".")), assumed)),
    )
  ).flat();
  if (models.length === 0)
    throw new RangeError(`${positionals.join(", ")}: no pools in the stack file; there is nothing to reckon`);
  const text = values.json
    ? JSON.stringify(models, undefined, 2)
    : values.markdown
      ? inMarkdown(models)
      : inTerminal(models);
  print(text);
  return 0;
}

function toStdout(text: string): void {
  process.stdout.write(`${text}\n`);
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (cause) {
    throw new TypeError(`${(cause as Error).message}\n${usage}`, { cause });
  }
}

/** Options as numbers of the model's units. */
export function assumedBy(values: Partial<Record<keyof typeof options, string | boolean>>): Assumed {
  const text = (option: keyof typeof options): string | undefined => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  const rate = (option: keyof typeof options): number | undefined => {
    const given = text(option);
    if (given === undefined) return undefined;
    const read = bandwidth.safeParse(given);
    if (!read.success) throw new TypeError(`--${option}: ${read.error.issues[0]?.message}`);
    return read.data;
  };
  const size = text("disk-size");
  const iops = text("disk-iops");
  if (iops !== undefined && !/^[1-9]\d*$/.test(iops))
    throw new TypeError(`--disk-iops: ${JSON.stringify(iops)} is no number of I/Os a second, such as 150`);
  const [disk, log, hba, link] = [rate("disk"), rate("log"), rate("hba"), rate("link")];
  const hardware: Hardware = {
    ...((disk !== undefined || iops !== undefined) && {
      disk: {
        ...(disk !== undefined && { sequential: disk }),
        ...(iops !== undefined && { iops: Number(iops) }),
      },
    }),
    ...(log !== undefined && { log: { sequential: log } }),
    ...(hba !== undefined && { hba: { bandwidth: hba } }),
    ...(link !== undefined && { link: { bandwidth: link } }),
  };
  return { hardware, ...(size !== undefined && { diskSize: diskBytes(size) }) };
}

const decimal: Record<string, number> = { MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 };
const smallestDisk = 64 * 2 ** 20;

/** Disks are sold in powers of 1000: here, and only here, TB is 10^12 bytes. */
function diskBytes(text: string): number {
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([MGTP]B)$/.exec(text.trim()) ?? [];
  const size = unit === "" ? Number(parseSize(text) ?? 0n) : Number(number) * (decimal[unit] ?? 0);
  if (size >= smallestDisk) return Math.round(size);
  throw new TypeError(
    `--disk-size: ${JSON.stringify(text)} is no size of a disk of 64 MiB or more: write 1TB (10^12 bytes) or 1TiB (2^40)`,
  );
}
