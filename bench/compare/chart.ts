import type { Drawing } from "../report/charts.ts";
import type { Chart } from "../report/figure.ts";
import { figure, protocolNames } from "../report/words.ts";
import type { Cell, Comparison, Series } from "./comparison.ts";
import { differenceWords } from "./tables.ts";

/** A figure of one test in all columns: a bar is the median, the line on it reaches from the least repeat to the most. */

type Bar = { readonly name: string; readonly colour: string; readonly cell: Cell };

export function chartsOf({ columns, series }: Comparison): Chart[] {
  const tests = [...new Set(series.map(({ test }) => JSON.stringify(test)))];
  return tests.flatMap((key, t) => {
    const alike = series.filter(({ test }) => JSON.stringify(test) === key);
    const metrics = [...new Set(alike.flatMap(({ rows }) => rows.map(({ metric }) => metric)))];
    return (
      metrics
        // Of latencies the middle and the tail are drawn.
        .filter((metric) => !metric.endsWith("p99"))
        .flatMap((metric, m) => chart(`compare-${t + 1}-${m + 1}`, metric, alike, columns) ?? [])
    );
  });
}

function chart(
  id: string,
  metric: string,
  alike: readonly Series[],
  columns: Comparison["columns"],
): Chart | undefined {
  const bars = columns.flatMap(({ name, protocol: own }, n): Bar[] =>
    alike.flatMap((series): Bar[] => {
      const cell = series.rows.find((row) => row.metric === metric)?.cells[n];
      if (!cell) return [];
      const protocol = own ?? series.protocol ?? "iscsi";
      const label = series.protocol === null ? name : `${name} ${protocolNames[protocol]}`;
      return [{ name: label, colour: `var(--${protocol})`, cell }];
    }),
  );
  const row = alike.flatMap(({ rows }) => rows).find((one) => one.metric === metric);
  if (bars.length < 2 || row === undefined) return undefined;
  const { unit, better } = row;
  const sign = better === "higher" ? 1 : -1;
  const best = bars.reduce((most, bar) => (sign * bar.cell.median > sign * most.cell.median ? bar : most));
  const known = bars.filter(({ cell }) => cell.difference?.moreThanNoise === true).length;
  const judged =
    known === 0
      ? "No difference is known to be more than noise."
      : known === 1
        ? "One difference is more than noise."
        : `${known} of the differences are more than noise.`;
  const name = (alike[0]?.title ?? "").replace(/^(iSCSI|iSER) /, "");
  return {
    id,
    heading: `${name}: ${metric}${unit === "" || unit === metric ? "" : `, ${unit}`}`,
    sentence: `${better === "higher" ? "Most" : "Least"}: ${best.name}, ${figure(best.cell.median)}${unit === "" ? "" : ` ${unit}`}. ${judged}`,
    drawing: drawing(bars, unit),
    table: {
      head: ["", "median", "least", "most", "repeats", "difference"],
      rows: bars.map(({ name: label, cell }) => [
        label,
        ...[cell.median, cell.minimum, cell.maximum].map(figure),
        String(cell.values.length),
        cell.difference === null ? "–" : differenceWords(cell.difference),
      ]),
    },
  };
}

const ink = "var(--soft)";
const rounded = (value: number): number => Number(value.toPrecision(6));

function drawing(bars: readonly Bar[], unit: string): Drawing {
  const names = bars.map(({ name }) => name);
  return {
    unit,
    width: 540,
    height: 70 + 34 * bars.length,
    option: {
      animation: false,
      textStyle: { fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif", color: ink },
      grid: { left: 8, right: 72, top: 8, bottom: 36, containLabel: true },
      xAxis: {
        ...{ type: "value", min: 0, name: unit, nameLocation: "middle", nameGap: 26 },
        nameTextStyle: { color: ink, fontSize: 12 },
        axisLabel: { color: ink, fontSize: 12, hideOverlap: true },
        splitLine: { lineStyle: { color: "var(--grid)" } },
      },
      yAxis: {
        ...{ type: "category", data: names, inverse: true, axisTick: { show: false } },
        axisLine: { lineStyle: { color: "var(--line)" } },
        axisLabel: { color: "var(--ink)", fontSize: 13, interval: 0 },
      },
      series: [
        {
          ...{ type: "bar", barWidth: 18, silent: true },
          data: bars.map(({ colour, cell }) => ({
            value: rounded(cell.median),
            itemStyle: { color: colour },
          })),
          markLine: {
            ...{ silent: true, symbol: ["none", "none"], label: { show: false } },
            lineStyle: { color: "var(--ink)", width: 2, type: "solid" },
            data: bars.flatMap(({ cell }, n) =>
              cell.values.length < 2
                ? []
                : [[{ coord: [rounded(cell.minimum), n] }, { coord: [rounded(cell.maximum), n] }]],
            ),
          },
        },
        {
          // Nothing to see but the median in words, beyond the line's end; and the axis reaches as far.
          ...{ type: "scatter", symbolSize: 0, silent: true },
          data: bars.map(({ name, cell }) => ({
            value: [rounded(cell.maximum), name],
            label: {
              ...{ show: true, position: "right", distance: 8, color: "var(--ink)", fontSize: 12 },
              formatter: figure(cell.median),
            },
          })),
        },
      ],
    },
  };
}
