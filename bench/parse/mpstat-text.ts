import { ParseError } from "../../provider/errors.ts";
import { type Column, type CoreShares, type CpuShares, columns as known, shares } from "./cores.ts";

/**
 * What mpstat(1) prints with `-P ALL 1` as text, for sysstat before 12.2, whose JSON is broken: at each interval a
 * heading with the columns' names, a row for all CPUs and one for each; at the end averages, which are left out.
 */

type Columns = readonly string[];
/** sysstat has %gnice since 10.1.6. */
const needed = ["CPU", ...known.filter((column) => column !== "gnice").map((column) => `%${column}`)];

export function parseMpstatText(text: string): CpuShares[] {
  const samples: { time: string; all?: CpuShares["all"]; cores: CoreShares[] }[] = [];
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
    const { cpu, ...of } = row(line, columns, fields);
    if (cpu === "all") sample.all = of;
    else sample.cores.push({ core: Number(cpu), ...of });
  }
  // The sample that was being printed when mpstat was ended may lack its rows.
  return samples.flatMap(({ time, all, cores }) =>
    all === undefined || cores.length === 0 ? [] : [{ time, all, cores }],
  );
}

function row(line: string, columns: Columns, fields: readonly string[]) {
  const [cpu = ""] = fields;
  if (fields.length !== columns.length || !/^(all|\d+)$/.test(cpu)) throw unknown(line);
  return {
    cpu,
    ...shares((column: Column): number => {
      const at = columns.indexOf(`%${column}`);
      if (at < 0) return 0;
      const value = fields[at] ?? "";
      if (!/^\d+\.\d+$/.test(value)) throw unknown(line, `${JSON.stringify(value)} is no share`);
      return Number(value);
    }),
  };
}

const unknown = (line: string, why = "time, CPU and shares expected"): ParseError =>
  new ParseError(`mpstat: unknown line ${JSON.stringify(line)} (${why})`);
