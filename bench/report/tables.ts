import type { HostState, Result, Run, Side, ValidRun } from "../schema/result.ts";
import type { Table } from "../table.ts";
import { publishedCell, publishedOf } from "./published.ts";
import {
  count,
  elementNames,
  figure,
  given,
  labName,
  orDash,
  percent,
  protocolNames,
  size,
  titlesOf,
} from "./words.ts";

/** The tables that all reports share, rounded for people. A run without figures has a row that says so. */

export const validRuns = (runs: readonly Run[]): ValidRun[] => runs.filter((run) => run.valid);

/** What was read and written, each with its direction. */
export function sidesOf(run: ValidRun): { direction: "read" | "write"; side: Side }[] {
  return (["write", "read"] as const).flatMap((direction) => {
    const side = run[direction];
    return side === null ? [] : [{ direction, side }];
  });
}

/** fio's figures, beside what the reference lab published for the same kind of work. */
export function figuresTable({ runs, reference }: Result): Table {
  const titles = titlesOf(runs);
  const lab = labName(reference.name);
  // Only where writes were each followed by one.
  const hasSync = validRuns(runs).some((run) => sidesOf(run).some(({ side }) => side.sync !== undefined));
  const rows = runs
    .filter(({ spec }) => spec.test.kind === "fio")
    .flatMap((run) => {
      const title = titles.get(run.spec.id) ?? run.spec.id;
      const theirs = (direction: "read" | "write" | undefined, metric: string, unit: string): string =>
        publishedCell(publishedOf(reference.figures, run.spec, { direction, metric }), unit);
      const row = (
        name: string,
        direction: "read" | "write" | undefined,
        side: Side | undefined,
      ): string[] => [
        name,
        side === undefined ? "invalid" : figure(side.bandwidth),
        theirs(direction, "bandwidth", "MB/s"),
        side === undefined ? "" : figure(side.iops),
        theirs(direction, "IOPS", "IOPS"),
        side === undefined ? "" : orDash(side.clat?.median),
        theirs(direction, "clat median", "ms"),
        side === undefined ? "" : orDash(side.clat?.p99),
        side === undefined ? "" : orDash(side.clat?.p999),
        theirs(direction, "clat p99.9", "ms"),
        ...(hasSync ? [orDash(side?.sync?.median), orDash(side?.sync?.p99)] : []),
      ];
      if (!run.valid) return [row(title, directionOfTest(run), undefined)];
      const sides = sidesOf(run);
      return sides.map(({ direction, side }) =>
        row(sides.length > 1 ? `${title}, ${direction}` : title, direction, side),
      );
    });
  return {
    head: [
      "",
      "MB/s",
      lab,
      "IOPS",
      lab,
      "clat median ms",
      lab,
      "p99 ms",
      "p99.9 ms",
      lab,
      ...(hasSync ? ["fdatasync median ms", "fdatasync p99 ms"] : []),
    ],
    rows,
  };
}

const directionOfTest = ({ spec: { test } }: Run): "read" | "write" | undefined =>
  test.kind !== "fio" || test.readShare !== null
    ? undefined
    : test.operation.endsWith("read")
      ? "read"
      : "write";

/** A score is official only where the io500 program made it; nobody is to take another for one. */
export const scoreWords = ({ official }: ValidRun): string =>
  official ? "score, by the io500 program" : "score of an IO500-shaped profile, not official";

/** Phases of the kinds files and io500, with the score. */
export function phasesTable({ runs, reference }: Result): Table {
  const titles = titlesOf(runs);
  return {
    head: ["", "phase", "value", "unit", "seconds", labName(reference.name)],
    words: true,
    rows: runs
      .filter(({ spec }) => spec.test.kind !== "fio")
      .flatMap((run) => {
        const title = titles.get(run.spec.id) ?? run.spec.id;
        if (!run.valid) return [[title, "", "invalid", "", "", ""]];
        const phases = run.phases.map(({ phase, value, unit, seconds }) => {
          const direction = phase === "read" || phase === "write" ? phase : undefined;
          const found =
            direction === undefined
              ? []
              : publishedOf(reference.figures, run.spec, { direction, metric: "bandwidth" });
          const theirs = publishedCell(unit === "MiB/s" ? found : [], "MiB/s");
          return [title, phase, figure(value), unit, figure(seconds), theirs];
        });
        if (run.score === null) return phases;
        const theirs = publishedOf(reference.figures, run.spec, { direction: undefined, metric: "score" });
        return [
          ...phases,
          [title, scoreWords(run), figure(run.score), "", "", publishedCell(theirs, "score")],
        ];
      }),
  };
}

/** The busiest core of each host beside the average, which would hide it. */
export function coresTable(result: Pick<Result, "runs">): Table {
  const titles = titlesOf(result.runs);
  return {
    head: ["", "busiest core", "busy", "softirq", "system", "all cores busy", "system"],
    rows: validRuns(result.runs).flatMap((run) =>
      run.cpus.map((cpu) => [
        `${titles.get(run.spec.id)}, ${cpu.host}`,
        `${cpu.busiestCore} of ${cpu.cores}`,
        ...[cpu.busy, cpu.softirq, cpu.system, cpu.averageBusy, cpu.averageSystem].map(percent),
      ]),
    ),
  };
}

export function poolTable({ runs }: Pick<Result, "runs">): Table {
  const titles = titlesOf(runs);
  return {
    head: ["", "ARC", "hits", "misses", "hit ratio", "pool read MB/s", "pool written MB/s"],
    rows: validRuns(runs).map((run) => [
      titles.get(run.spec.id) ?? "",
      run.arc.state,
      count(run.arc.hits),
      count(run.arc.misses),
      orDash(run.arc.hitRatio, (ratio) => `${(ratio * 100).toFixed(1)} %`),
      orDash(run.pool?.read),
      orDash(run.pool?.write),
    ]),
  };
}

/** Why a run has no diagnosis. */
export const undiagnosed = ({ spec }: ValidRun): string =>
  spec.test.kind === "fio"
    ? "not diagnosed: there is no evidence of what the hosts did"
    : "not diagnosed: a run of several phases";

/** What each run is limited by, in a word and a sentence. */
export function limitsTable({ runs }: Pick<Result, "runs">): Table {
  const titles = titlesOf(runs);
  return {
    head: ["", "limited by", "confidence", "why"],
    words: true,
    rows: runs.map((run) => {
      const title = titles.get(run.spec.id) ?? "";
      if (!run.valid) return [title, "invalid", "", run.invalid];
      if (run.diagnosis === null) return [title, "–", "", undiagnosed(run)];
      const { limit } = run.diagnosis;
      if (limit === null)
        return [title, "nothing found", "", "nothing that was measured is near its capacity"];
      return [
        title,
        limit.element === null ? limit.rule : elementNames[limit.element],
        limit.confidence,
        limit.sentence,
      ];
    }),
  };
}

export const metWords = (met: boolean | null): string =>
  met === null ? "not measured" : met ? "met" : "not met";

/** A margin with its sign: +20 %, −73 %. */
export const marginWords = (margin: number | null): string =>
  orDash(margin, (value) => {
    const whole = Math.round(Math.abs(value));
    return `${whole === 0 ? "" : value < 0 ? "−" : "+"}${whole} %`;
  });

export function verdictsTable({ verdicts }: Pick<Result, "verdicts">): Table {
  return {
    head: ["need", "wanted", "found", "unit", "", "margin"],
    words: true,
    rows: verdicts.map(({ need, wanted, found, unit, met, margin }) => [
      need,
      unit === "bytes" ? size(wanted) : given(wanted),
      orDash(
        found,
        unit === "bytes" ? size : (value) => (Number.isInteger(value) ? given(value) : figure(value)),
      ),
      unit === "bytes" ? "" : unit,
      metWords(met),
      marginWords(margin),
    ]),
  };
}

export function preconditionsTable({ preconditions }: Pick<Run, "preconditions">): Table {
  return {
    head: ["precondition", "wanted", "found", "holds"],
    words: true,
    rows: preconditions.map(({ name, wanted, found, holds }) => [
      name,
      wanted,
      found,
      holds === null ? "could not be read" : holds ? "yes" : "no",
    ]),
  };
}

function hostRow(host: HostState): string[] {
  const { link, governor, temperatures } = host;
  const rdma = link.rdma
    ? `${link.rdma.device} ${link.rdma.state}, active MTU ${link.rdma.activeMtu ?? "not known"}`
    : "none";
  const speed = link.speed === null ? "rate not known" : `${figure(link.speed / 1000)} Gbit/s`;
  const mode = link.mode === null ? "" : `, ${link.mode}`;
  return [
    host.name,
    `${host.cpus} × ${host.cpuModel}`,
    size(host.memory),
    governor ?? "none",
    temperatures.map(({ sensor, celsius }) => `${sensor} ${figure(celsius)} °C`).join(", ") || "none",
    [`kernel ${host.kernel}`, ...Object.entries(host.versions).map((pair) => pair.join(" "))].join(", "),
    `${link.interface} (${link.kind}${mode}), MTU ${link.mtu}, ${speed}`,
    rdma,
    host.pcie
      .map((one) => `${one.device} x${one.width} of x${one.maximumWidth} at ${one.speed} GT/s`)
      .join(", ") || "none",
  ];
}

export function hostsTable({ environment }: Pick<Result, "environment">): Table {
  return {
    head: ["host", "CPUs", "memory", "governor", "temperatures", "versions", "interface", "RDMA", "PCIe"],
    words: true,
    rows: [environment.storage, ...environment.clients].map(hostRow),
  };
}

export function pathsTable({ environment }: Pick<Result, "environment">): Table {
  return {
    head: ["client", "path", "portal", "device", "session", "transport", "negotiated"],
    words: true,
    rows: environment.paths.map((path) => [
      path.client,
      protocolNames[path.protocol],
      ...[path.portal, `${path.device} (${path.block})`, path.session, path.transport],
      settings(path.negotiated),
    ]),
  };
}

const settings = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** Volumes, pools, targets, file systems and module parameters, each in a row. */
export function settingsTable({ environment }: Pick<Result, "environment">): Table {
  const { pools, volumes, targets, filesystems, zfsParameters, arcMaximum } = environment;
  return {
    head: ["what", "name", "settings"],
    words: true,
    rows: [
      ...pools.map(({ name, properties }) => ["pool", name, settings(properties)]),
      ...volumes.map(({ name, properties }) => ["volume", name, settings(properties)]),
      ...targets.map(({ iqn, attributes }) => ["target", iqn, settings(attributes)]),
      ...filesystems.map(({ client, type, uuid, options }) => [
        "file system",
        `${type} ${uuid} on ${client}`,
        options,
      ]),
      ["ARC", "at most", size(arcMaximum)],
      ["ZFS module", "parameters", settings(zfsParameters)],
    ],
  };
}
