import { ParseError } from "../../provider/errors.ts";
import type { CpuSample } from "./mpstat.ts";

/**
 * What mpstat(1) prints with `-P ALL 1` as text, for sysstat before 12.2, whose JSON is broken: at each interval a
 * heading with the columns' names, a row for all CPUs and one for each; at the end averages, which are left out.
 */

type Columns = readonly string[];
const needed = ["CPU", "%sys", "%iowait", "%soft", "%idle"];

export function parseMpstatText(text: string): CpuSample[] {
  const samples: { time: string; all?: CpuSample["all"]; cores: CpuSample["cores"][number][] }[] = [];
  let columns: Columns = [];
  for (const line of text.split("\n")) {
    const [time = "", ...fields] = line.trim().split(/\s+/);
    if (time === "" || time === "Linux" || time === "Average:") continue;
    if (!/^\d\d:\d\d:\d\d$/.test(time)) throw unknown(line);
    if (fields[0] === "CPU") {
      columns = fields;
      const missing = needed.find((name) => !columns.includes(name));
      if (missing !== undefined) throw unknown(line, `no column ${missing}`);
      samples.push({ time, cores: [] });
      continue;
    }
    const sample = samples.at(-1);
    if (sample === undefined) throw unknown(line, "before any heading");
    const { cpu, ...shares } = row(line, columns, fields);
    if (cpu === "all") sample.all = shares;
    else sample.cores.push({ core: Number(cpu), ...shares });
  }
  // The sample that was being printed when mpstat was ended may lack its rows.
  return samples.flatMap(({ time, all, cores }) =>
    all === undefined || cores.length === 0 ? [] : [{ time, all, cores }],
  );
}

function row(line: string, columns: Columns, fields: readonly string[]) {
  const [cpu = ""] = fields;
  if (fields.length !== columns.length || !/^(all|\d+)$/.test(cpu)) throw unknown(line);
  const of = (name: string): number => {
    const value = fields[columns.indexOf(name)] ?? "";
    if (!/^\d+\.\d+$/.test(value)) throw unknown(line, `${JSON.stringify(value)} is no share`);
    return Number(value);
  };
  const busy = Math.min(100, Math.max(0, 100 - of("%idle") - of("%iowait")));
  return { cpu, busy, system: of("%sys"), softirq: of("%soft") };
}

const unknown = (line: string, why = "time, CPU and shares expected"): ParseError =>
  new ParseError(`mpstat: unknown line ${JSON.stringify(line)} (${why})`);
