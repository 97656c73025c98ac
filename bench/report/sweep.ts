import type { ValidRun } from "../schema/result.ts";
import type { FioTest } from "../schema/test.ts";
import { meanOf } from "../series.ts";
import { byDepth, type Line } from "./charts.ts";
import type { Chart } from "./figure.ts";
import { byTest } from "./test-section.ts";
import { figure, orDash, protocolNames, size } from "./words.ts";

/** Runs that differ by their queue depth, in one chart: where more depth gives no more, something else limits. */

type Swept = ValidRun & { spec: { test: FioTest } };
const isFio = (run: ValidRun): run is Swept => run.spec.test.kind === "fio";

export function sweepsOf(runs: readonly ValidRun[]): Chart[] {
  const alike = byTest(runs.filter(isFio), ({ spec }) => JSON.stringify({ ...spec.test, depth: 0, jobs: 0 }));
  return alike
    .filter((group) => new Set(group.map(({ spec }) => spec.test.depth)).size > 1)
    .map((group, n) => sweep(`sweep-${n + 1}`, group));
}

function sweep(id: string, runs: readonly Swept[]): Chart {
  const [first] = runs;
  const isSmall = first !== undefined && first.spec.test.blockSize < 65536;
  const unit = isSmall ? "IOPS" : "MB/s";
  const moved = ({ read, write }: ValidRun): number =>
    [read, write].reduce((sum, side) => sum + (side === null ? 0 : isSmall ? side.iops : side.bandwidth), 0);
  const depths = [...new Set(runs.map(({ spec }) => spec.test.depth))].sort((a, b) => a - b);
  const jobs = [...new Set(runs.map(({ spec }) => spec.test.jobs))].sort((a, b) => a - b);
  const lines: Line[] = byTest(runs, ({ spec }) => `${spec.protocol} ${spec.test.jobs}`).map((group) => {
    const protocol = group[0]?.spec.protocol ?? "iscsi";
    const many = group[0]?.spec.test.jobs ?? 1;
    const isFirst = many === jobs[0];
    return {
      name:
        jobs.length === 1
          ? protocolNames[protocol]
          : `${protocolNames[protocol]}, ${many} ${many === 1 ? "job" : "jobs"}`,
      colour: `var(--${protocol}${isFirst ? "" : "-more"})`,
      dashed: !isFirst,
      points: depths.map((depth, x) => [
        x,
        meanOf(group.filter(({ spec }) => spec.test.depth === depth).map(moved)),
      ]),
    };
  });
  const test = first?.spec.test;
  const sentences = lines.map(({ name, points }) => {
    const best = points.reduce(
      (most, point) => ((point[1] ?? 0) > (most[1] ?? 0) ? point : most),
      points[0] ?? [0, null],
    );
    return `${name}: most at depth ${depths[best[0]]}, ${orDash(best[1])} ${unit}.`;
  });
  return {
    id,
    heading: `${test?.workload} ${test?.test}, ${size(test?.blockSize ?? 0)}: ${unit} by queue depth`,
    sentence: `${sentences.join(" ")} Means where a test was repeated.`,
    drawing: byDepth(lines, depths, unit),
    table: {
      head: [`${unit} at depth`, ...depths.map(String)],
      rows: lines.map(({ name, points }) => [
        name,
        ...points.map(([, value]) => (value === null ? "–" : figure(value))),
      ]),
    },
  };
}
