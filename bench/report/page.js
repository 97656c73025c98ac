// The report's interaction: charts drawn again where they come into view, a reading under each heat map, and all of
// it opened for paper. Without it, or where something of it fails, the page has its charts as they stand.
(() => {
  const stored = (id) => JSON.parse(document.getElementById(id).textContent);
  const words = (value) =>
    value === null || value === undefined || Number.isNaN(value)
      ? "–"
      : value.toLocaleString("en-US", { maximumSignificantDigits: 4 });

  let library;
  /** ECharts, inflated once; a browser that can't inflate keeps the drawn charts. */
  const echarts = () => {
    library ??= (async () => {
      const bytes = Uint8Array.from(atob(document.getElementById("library").textContent), (c) =>
        c.charCodeAt(0),
      );
      const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      const script = document.createElement("script");
      script.textContent = await new Response(inflated).text();
      document.head.append(script);
      return globalThis.echarts;
    })();
    return library;
  };

  const drawings = stored("charts");
  const draw = async (figure) => {
    const { option, unit } = drawings[figure.id];
    const live = figure.querySelector(".live");
    const { init } = await echarts();
    option.tooltip.valueFormatter = (value) => `${words(value)} ${unit}`;
    for (const line of option.series) line.silent = false;
    figure.classList.add("is-live");
    const chart = init(live, null, { renderer: "svg" });
    chart.setOption(option);
    new ResizeObserver(() => live.clientWidth > 0 && chart.resize()).observe(live);
  };
  if ("DecompressionStream" in globalThis && "IntersectionObserver" in globalThis) {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          seen.unobserve(target);
          draw(target);
        }
      },
      { rootMargin: "200px" },
    );
    for (const figure of document.querySelectorAll("figure.chart")) seen.observe(figure);
  }

  const heats = stored("heats");
  for (const figure of document.querySelectorAll("figure.heat")) {
    const { rows, what, seconds, values } = heats[figure.id];
    const svg = figure.querySelector("svg");
    const readout = figure.querySelector(".readout");
    svg.addEventListener("pointermove", ({ clientX, clientY }) => {
      const { left, top, width, height } = svg.getBoundingClientRect();
      const y = Math.min(rows.length - 1, Math.max(0, Math.floor(((clientY - top) / height) * rows.length)));
      const x = Math.floor(((clientX - left) / width) * values[y].length);
      const value = values[y][x];
      if (value === undefined) return;
      const span = `${words(x * seconds)}–${words((x + 1) * seconds)} s`;
      readout.textContent = `${rows[y]}, ${span}: ${value < 0 ? "no sample" : `${value} % ${what}`}`;
    });
    svg.addEventListener("pointerleave", () => {
      readout.textContent = "";
    });
  }

  // A link to a run that is folded opens it; paper has all of them open.
  const unfold = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll(".run, .test > details")) one.open = true;
  });
})();
