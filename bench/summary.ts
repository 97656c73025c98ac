import { published } from "./reference.ts";
import type { Direction, Protocol } from "./request.ts";
import type { Cpu, HostState, Result, Run, ValidRun } from "./result.ts";
import { markdownTable, type Table, textTable } from "./table.ts";

/** A result in words and tables, rounded for people: summary.md, and what the terminal shows at the end. */

export const protocolNames: Record<Protocol, string> = { iscsi: "iSCSI", iser: "iSER" };

export const virtualNote =
  "These hosts are guests under software emulation. Their figures show that everything functions and how the tool measures; they do not show that RDMA is faster, or how fast any hardware is.";

/** Three digits that count: 2,729 · 431 · 21.3 · 0.42 */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
const percent = (value: number): string => `${value.toFixed(0)} %`;

/** In the binary unit that leaves a figure of at least one. */
export function size(bytes: number): string {
  const [power, unit] = bytes >= 2 ** 30 ? [30, "GiB"] : bytes >= 2 ** 20 ? [20, "MiB"] : [10, "KiB"];
  const value = bytes / 2 ** power;
  return `${Number.isInteger(value) ? value.toLocaleString("en-US") : figure(value)} ${unit}`;
}

const name = (run: { protocol: Protocol; direction: Direction }): string =>
  `${protocolNames[run.protocol]} ${run.direction}`;

/** What fio measured, beside what the reference lab published for the same protocol and direction. */
export function figuresTable({ runs, reference }: Result): Table {
  const lab = (run: Run, metric: string): string => {
    const found = published(reference.figures, { ...run, metric });
    return found === undefined ? "–" : found.value.toLocaleString("en-US");
  };
  const label = reference.name.replace("lab-", "lab ").replace(/ (\w)$/, (letter) => letter.toUpperCase());
  return {
    head: ["", "MB/s", label, "IOPS", "clat median ms", label, "p99 ms", "p99.9 ms", label],
    rows: runs.map((run) => {
      const theirs = ["bandwidth", "clat median", "clat p99.9"].map((metric) => lab(run, metric));
      const [bandwidth = "", median = "", tail = ""] = theirs;
      if (!run.valid) return [name(run), "invalid", bandwidth, "", "", median, "", "", tail];
      const { clat } = run;
      const [p50, p99, p999] = clat ? [clat.median, clat.p99, clat.p999].map(figure) : ["–", "–", "–"];
      return [
        name(run),
        ...[figure(run.bandwidth), bandwidth, figure(run.iops)],
        ...[p50 ?? "", median, p99 ?? "", p999 ?? "", tail],
      ];
    }),
  };
}

/** The busiest core of both hosts beside the average, which would hide it. */
export function coresTable({ runs }: Result): Table {
  const cells = (cpu: Cpu): string[] => [
    `${cpu.busiestCore} of ${cpu.cores}`,
    ...[cpu.busy, cpu.softirq, cpu.system, cpu.averageBusy, cpu.averageSystem].map(percent),
  ];
  return {
    head: ["", "busiest core", "busy", "softirq", "system", "all cores busy", "system"],
    rows: valid(runs).flatMap((run) => [
      [`${name(run)}, storage`, ...cells(run.storage)],
      [`${name(run)}, initiator`, ...cells(run.initiator)],
    ]),
  };
}

const valid = (runs: readonly Run[]): ValidRun[] => runs.filter((run) => run.valid);

function poolTable({ runs }: Result): Table {
  return {
    head: ["", "ARC hits", "ARC misses", "hit ratio", "pool read MB/s", "pool written MB/s"],
    rows: valid(runs).map((run) => [
      name(run),
      ...[run.arc.hits, run.arc.misses].map((count) => count.toLocaleString("en-US")),
      run.arc.hitRatio === null ? "–" : `${(run.arc.hitRatio * 100).toFixed(1)} %`,
      ...[run.pool.read, run.pool.write].map(figure),
    ]),
  };
}

/** Everything that has to be known before a figure is believed. */
function notes({ runs, virtual, workload, environment }: Result): string[] {
  const served = valid(runs).filter(({ direction }) => direction === "read");
  return [
    ...(virtual ? [`**${virtualNote}**`] : []),
    ...runs.flatMap((run) => (run.valid ? [] : [`${name(run)} has no figures: ${run.invalid}`])),
    ...valid(runs).flatMap((run) => run.warnings.map((warning) => `${name(run)}: ${warning}`)),
    ...tails(runs, workload.blockSize),
    ...valid(runs).flatMap((run) =>
      run.aboveLink ? [`${name(run)} is above what the link carries: a cache served it, not the path.`] : [],
    ),
    `direct=1 goes round the initiator's page cache. The storage host's ARC stays on (at most ${size(environment.arcMaximum)}; the test file has ${size(workload.size)}), so reads come mostly from ARC, not from disks:`,
    ...served.map((run) => {
      const fromDisks = Math.min(100, (run.pool.read / run.bandwidth) * 100);
      return `${name(run)}: the pool read ${figure(run.pool.read)} MB/s from its vdevs for ${figure(run.bandwidth)} MB/s to the initiator (${fromDisks.toFixed(0)} %).`;
    }),
    `The test file was written whole before the first run, and each write run overwrites it; zpool sync comes before each run. Compression ratio of the volume afterwards: ${environment.volume.properties.compressratio ?? "not known"}.`,
  ];
}

/** A percentile needs samples beyond it. */
function tails(runs: readonly Run[], blockSize: number): string[] {
  const few = valid(runs)
    .map((run) => ({ run, ios: Math.round(run.bytes / blockSize) }))
    .filter(({ ios }) => ios < 1000);
  if (few.length === 0) return [];
  const names = few.map(({ run, ios }) => `${name(run)} (${ios})`).join(", ");
  return [`p99.9 of fewer than 1,000 I/Os is little more than the slowest of them: ${names}.`];
}

function hostRow(host: HostState): string[] {
  const { link } = host;
  const rdma = link.rdma ? `${link.rdma.device}, active MTU ${link.rdma.activeMtu ?? "not known"}` : "none";
  const speed = link.speed === null ? "rate not known" : `${figure(link.speed / 1000)} Gbit/s`;
  return [
    host.name,
    `${host.cpus} × ${host.cpuModel}`,
    size(host.memory),
    [`kernel ${host.kernel}`, ...Object.entries(host.versions).map((pair) => pair.join(" "))].join(", "),
    `${link.interface}, MTU ${link.mtu}, ${speed}`,
    rdma,
  ];
}

export function summary(found: Result): string {
  const { environment, workload, reference } = found;
  const { properties } = environment.volume;
  return [
    `# Benchmark of stack ${found.stack}, ${found.started.slice(0, 16).replace("T", " ")} UTC`,
    `Workload ${workload.name}: ${size(workload.blockSize)} blocks, depth ${workload.depth}, direct, file of ${size(workload.size)}, ${workload.runtime} s a run. ${found.runs.length} runs, ${Math.round(found.seconds)} s in all. Beside our figures: ${reference.title} (${reference.name}), as published.`,
    "## Figures",
    markdownTable(figuresTable(found)),
    "MB/s = 10^6 bytes a second; clat = completion latency.",
    notes(found)
      .map((note) => `- ${note}`)
      .join("\n"),
    "## Where the CPU time went",
    markdownTable(coresTable(found)),
    "## ARC and pool during the runs",
    markdownTable(poolTable(found)),
    "Hits and misses are demand accesses; what prefetch brought in time counts as a hit, so look at the pool's reads too.",
    "## What was measured on what",
    markdownTable({
      head: ["host", "CPUs", "memory", "versions", "interface", "RDMA"],
      words: true,
      rows: [hostRow(environment.storage), hostRow(environment.initiator)],
    }),
    markdownTable({
      head: ["path", "portal", "device", "session", "transport"],
      words: true,
      rows: environment.paths.map((path) => [
        protocolNames[path.protocol],
        ...[path.portal, `${path.device} (${path.block})`, path.session, path.transport],
      ]),
    }),
    `Target ${environment.target}; volume ${environment.volume.name}: ${Object.entries(properties)
      .map(([property, value]) => `${property} ${value}`)
      .join(
        ", ",
      )}. ${environment.filesystem.type} ${environment.filesystem.uuid}, mounted ${environment.filesystem.options}.`,
    `\`\`\`\n${environment.pool.layout.trimEnd()}\n\`\`\``,
    `Raw outputs of fio, mpstat, zpool iostat and the ARC's counters, the request and the environment: ${found.folder}`,
    "",
  ].join("\n\n");
}

/** For the terminal: the two tables, what has to be known, and where the rest is. */
export function terminal(found: Result): string {
  return [
    textTable(figuresTable(found)),
    textTable(coresTable(found)),
    ...(found.virtual ? [virtualNote] : []),
    `Summary: ${found.summary.markdown}`,
  ].join("\n\n");
}
