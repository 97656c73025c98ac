import type { EChartsOption, init } from "echarts";
// One file of it, the same that a report carries for its interaction: a tenth of the time of importing its parts.
import echarts from "echarts/dist/echarts.common.min.js";
import type { Series } from "../series.ts";

/**
 * Charts as ECharts options without functions: drawn here as SVG for a reader without JavaScript and for paper, and put
 * into the report as JSON to be drawn again where JavaScript is on. Colours are the page's own CSS variables, so that
 * light, dark and printed pages each have theirs.
 */

export const chartWidth = 720;
export const chartHeight = 300;

/** One line of a chart; null has a gap there. */
export type Line = {
  readonly name: string;
  readonly colour: string;
  readonly dashed?: boolean;
  readonly points: readonly (readonly [x: number, y: number | null])[];
};

export type Drawing = {
  readonly option: EChartsOption;
  readonly unit: string;
  /** Left out: as wide and as high as all charts. */
  readonly width?: number;
  readonly height?: number;
};

const ink = "var(--soft)";
const font = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

function frame(lines: readonly Line[], smooth: boolean): EChartsOption {
  return {
    animation: false,
    textStyle: { fontFamily: font, color: ink },
    color: lines.map(({ colour }) => colour),
    legend: {
      ...{ top: 0, left: 0, icon: "roundRect", itemWidth: 18, itemHeight: 4, itemGap: 18 },
      ...{ inactiveColor: "var(--line)", textStyle: { color: "var(--ink)", fontSize: 13 } },
    },
    grid: { left: 8, right: 24, top: 52, bottom: 28, containLabel: true },
    series: lines.map(({ name, colour, dashed, points }) => ({
      ...{ type: "line" as const, name, data: points.map((point) => [...point]) },
      ...{ showSymbol: !smooth, symbol: "circle", symbolSize: 7, smooth: false, silent: true },
      itemStyle: { color: colour },
      lineStyle: { color: colour, width: 2, type: dashed ? ("dashed" as const) : ("solid" as const) },
      emphasis: { disabled: true },
    })),
    tooltip: {
      ...{
        trigger: "axis" as const,
        confine: true,
        backgroundColor: "var(--card)",
        borderColor: "var(--line)",
      },
      textStyle: { color: "var(--ink)", fontSize: 13 },
      axisPointer: { type: "line" as const, lineStyle: { color: "var(--soft)" } },
    },
  };
}

const axis = (name: string) => ({
  name,
  nameTextStyle: { color: ink, fontSize: 12 },
  axisLabel: { color: ink, fontSize: 12, hideOverlap: true },
  axisLine: { show: true, lineStyle: { color: "var(--line)" } },
  axisTick: { show: false },
  splitLine: { lineStyle: { color: "var(--grid)" } },
  minorTick: { show: false },
});
const upright = (name: string) => ({
  ...axis(name),
  axisLine: { show: false },
  nameGap: 12,
  nameTextStyle: { color: ink, fontSize: 12, align: "left" as const, padding: [0, 0, 0, -24] },
});
const beneath = (name: string) => ({ ...axis(name), nameLocation: "middle" as const, nameGap: 26 });

/** Over the run's seconds, from zero up. */
export function overTime(lines: readonly Line[], unit: string): Drawing {
  const last = Math.max(1, ...lines.flatMap(({ points }) => points.map(([x]) => x)));
  return {
    unit,
    option: {
      // A sample alone between gaps has no line: where there are few, each has a dot.
      ...frame(
        lines,
        lines.some(({ points }) => points.length > 40),
      ),
      xAxis: { type: "value", min: 0, max: last, ...beneath("seconds"), splitLine: { show: false } },
      yAxis: { type: "value", min: 0, ...upright(unit) },
    },
  };
}

export const shares = [50, 90, 99, 99.9, 99.99] as const;

/** Percentiles side by side, each further one a nine more; x is the place in `shares`. */
export function byPercentile(lines: readonly Line[]): Drawing {
  return {
    unit: "ms",
    option: {
      ...frame(lines, false),
      xAxis: {
        type: "category",
        data: shares.map(String),
        ...beneath("percent of I/Os took at most"),
        axisLabel: { color: ink, fontSize: 12, interval: 0 },
        splitLine: { show: false },
      },
      yAxis: { type: "log", ...upright("ms, log") },
    },
  };
}

/** What each queue depth gave; x is the place in `depths`. */
export function byDepth(lines: readonly Line[], depths: readonly number[], unit: string): Drawing {
  return {
    unit,
    option: {
      ...frame(lines, false),
      xAxis: {
        type: "category",
        data: depths.map(String),
        ...beneath("I/Os in flight a job"),
        splitLine: { show: false },
      },
      yAxis: { type: "value", min: 0, ...upright(unit) },
    },
  };
}

/** What share of I/Os took at most so long. */
export function byLatency(lines: readonly Line[]): Drawing {
  return {
    unit: "%",
    option: {
      ...frame(lines, true),
      xAxis: { type: "log", ...beneath("ms, log"), splitLine: { show: false } },
      yAxis: { type: "value", min: 0, max: 100, ...upright("% of I/Os") },
    },
  };
}

/** Points of a series whose samples are so many seconds apart; a sample stands at its end. */
export const timed = (series: Series, interval: number): [number, number | null][] =>
  series.map((value, n) => [(n + 1) * interval, value === null ? null : Number(value.toPrecision(4))]);

/** The chart as SVG without a size of its own: the page gives it one. Ids and classes carry the chart's name. */
export function svgOf({ option, width = chartWidth, height = chartHeight }: Drawing, name: string): string {
  const chart = (echarts as { init: typeof init }).init(null, null, {
    ...{ renderer: "svg", ssr: true, width, height },
  });
  try {
    chart.setOption(option);
    return chart
      .renderToSVGString()
      .replace(/<style\s*>.*?<\/style>/s, "")
      .replace(/ class="zr\d+-cls-\d+"/g, "")
      .replace(/ ecmeta_\w+="[^"]*"/g, "")
      .replaceAll(/zr\d+-/g, `${name}-`)
      .replace(/^<svg width="\d+" height="\d+"/, '<svg aria-hidden="true"')
      .replaceAll("\n", "");
  } finally {
    // A chart that is not disposed of keeps the process alive.
    chart.dispose();
  }
}
