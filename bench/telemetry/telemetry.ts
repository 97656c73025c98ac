import { ParseError } from "../../provider/errors.ts";
import { expect } from "../../provider/resource.ts";
import { sessionFaults } from "../parse/iscsi-statistics.ts";
import type { Live } from "../progress.ts";
import { spareSeconds } from "../run/bench.ts";
import type { HostRecording, Recording } from "../schema/recording.ts";
import type { Request } from "../schema/request.ts";
import type { HostState } from "../schema/result.ts";
import { type BenchHost, type RunName, unitName } from "../unit.ts";
import { clockAhead } from "./clock.ts";
import { startCollector } from "./collector.ts";
import type { Frame } from "./frames.ts";
import { recordHost, type Told } from "./record.ts";
import { diskNames, sourcesOf, type Tools, toolsOf, whyNoPerf } from "./sources.ts";
import { timeLine } from "./time-line.ts";

/** Who is recorded: the storage host, and each host with clients once. */
export type Recorded = {
  readonly request: Request;
  readonly run: RunName;
  readonly storage: BenchHost;
  readonly clients: readonly BenchHost[];
};

/** As they were read back: in the order of `Recorded`. */
export type States = { readonly storage: HostState; readonly clients: readonly HostState[] };

/** When fio measured, in ms of performance.now(). */
export type Window = { readonly start: number; readonly end: number };

/** A recording without what fio adds to it. */
export type HostsRecording = Pick<Recording, "began" | "interval"> & {
  readonly hosts: HostRecording[];
  /** When each sample was taken, in ms of performance.now(): what clients did is put on the same line (onLine). */
  readonly times: readonly number[];
};

export type Telemetry = {
  /** Resolves once every program on every host has given a sample; rejects when one ends before. */
  readonly running: Promise<void>;
  /** Ends the collectors: raw outputs by file name, and what they say of a time. */
  stop(): Promise<{ files: Record<string, string>; record(window: Window): HostsRecording }>;
};

/** Begin to record. `job` names the unit and files; `seconds`: how long fio will run, ramp included. */
export function startTelemetry(
  recorded: Recorded,
  job: string,
  seconds: number,
  states: States,
  live: Pick<Live, "core">,
): Telemetry {
  const { storage, clients } = recorded;
  const known = [states.storage, ...states.clients];
  // A client on the storage host itself is recorded with it.
  const hosts = [storage, ...clients].flatMap((host, n, all) => {
    const state = known[n];
    if (state === undefined) throw new TypeError(`no state of host ${host.name}`);
    return all.indexOf(host) === n ? [{ host, state }] : [];
  });
  const begun = Promise.all(
    hosts.map(({ host, state }, n) =>
      begin(host, n === 0 ? "storage" : "client", state, recorded, job, seconds, live),
    ),
  );
  const running = begun.then(async (all) => {
    await Promise.all(all.map(({ running }) => running));
  });
  running.catch(() => {});
  return {
    running,
    async stop() {
      const all = await begun;
      const told = await Promise.all(all.map(({ stop }) => stop()));
      return {
        files: Object.assign({}, ...told.map(({ files }) => files)),
        record: (window) => record(told, recorded.request.interval, window),
      };
    },
  };
}

type Stopped = Told & {
  readonly files: Record<string, string>;
  /** ms that `ahead` may be wrong by. */
  readonly clockError: number;
};

async function begin(
  host: BenchHost,
  role: "storage" | "client",
  state: HostState,
  { request, run }: Recorded,
  job: string,
  seconds: number,
  live: Pick<Live, "core">,
): Promise<{ running: Promise<void>; stop(): Promise<Stopped> }> {
  const tools = toolsOf(state.versions.sysstat ?? "");
  const names = role === "storage" ? [...new Set(request.clients.map(({ pool }) => pool))] : [];
  const unit = `${job}-telemetry`;
  // First of all and alone, as a round trip with other questions in it takes longer.
  const { ahead, error } = await clockAhead(host);
  const [noPerf, before, ...disks] = await Promise.all([
    whyNoPerf(host),
    role === "client" ? sessions(host) : undefined,
    ...names.map((pool) => diskNames(host, pool)),
  ]);
  const cgroup = unitName(run, unit);
  const collector = startCollector(host, run, unit, {
    description: `storage-lab benchmark of stack ${request.stack}: telemetry of ${host.name} for ${job}`,
    seconds: seconds + 2 * spareSeconds,
    interval: request.interval,
    ahead,
    sources: sourcesOf(role, request.interval, tools, {
      unit: cgroup,
      pools: names,
      perf: noPerf === undefined,
    }),
    onLine(program, line) {
      const core = program === "mpstat" ? tools.mpstat.liveCore(line) : undefined;
      if (core) live.core(host.name, core);
    },
  });
  return {
    running: collector.running,
    async stop() {
      const frames = await collector.stop();
      const after = role === "client" ? await sessions(host) : undefined;
      const pools = new Map(names.map((pool, n) => [pool, disks[n] ?? []]));
      return {
        ...{ host: host.name, role, cpus: state.cpus, frames, ahead, clockError: error, tools, pools },
        ...{ noPerf, unit: cgroup },
        faults: before === undefined || after === undefined ? [] : sessionFaults(before, after),
        files: rawFiles(host.name, job, frames, tools, {
          ...(before === undefined ? {} : { "iscsi-sessions-before": before }),
          ...(after === undefined ? {} : { "iscsi-sessions-after": after }),
        }),
      };
    },
  };
}

/** iscsiadm's status 21 is its word for no session at all. */
async function sessions(host: BenchHost): Promise<string> {
  const answer = await host.ask(["iscsiadm", "-m", "session", "-s"]);
  return answer.status === 21 ? "" : expect(host, answer, "the counters of its iSCSI sessions");
}

/** What each program printed, and the counters frame by frame as they were read. */
function rawFiles(
  host: string,
  job: string,
  frames: readonly Frame[],
  tools: Tools,
  others: Record<string, string>,
): Record<string, string> {
  const printed = new Map<string, string>();
  for (const frame of frames) {
    for (const [name, text] of frame.printed) printed.set(name, (printed.get(name) ?? "") + text);
  }
  const extensions: Record<string, string> = {
    mpstat: tools.mpstat.extension,
    iostat: tools.iostat.extension,
    perf: "csv",
  };
  const counters = frames.map(({ time, files }) =>
    [`# ${time}\n`, ...[...files].map(([path, text]) => `## ${path}\n${text}`)].join(""),
  );
  const named = (name: string, extension: string): string =>
    `${name}-${host}-${job}.${extension}`.replaceAll(/[^\w.-]/g, "_");
  return Object.fromEntries([
    ...[...printed].map(([name, text]) => [named(name, extensions[name] ?? "txt"), text]),
    ...Object.entries(others).map(([name, text]) => [named(name, "txt"), text]),
    [named("counters", "txt"), counters.join("")],
  ]);
}

/** All hosts' samples whose interval lies inside the measured time, on one line. */
function record(told: readonly Stopped[], interval: number, { start, end }: Window): HostsRecording {
  const { timeOrigin } = performance;
  const line = timeLine(interval, timeOrigin + start, timeOrigin + end);
  const [first] = line.times;
  if (first === undefined) {
    throw new ParseError(
      `no sample of ${interval} s lies inside the ${((end - start) / 1000).toFixed(1)} s that were measured: measure longer, or sample more often`,
    );
  }
  return {
    began: new Date(first).toISOString(),
    interval,
    times: line.times.map((time) => time - timeOrigin),
    hosts: told.map((one) => {
      const recorded = recordHost(one, line);
      if (one.clockError < 250 * interval) return recorded;
      const vague = `its clock was compared to ${(one.clockError / 1000).toFixed(1)} s only: its samples may stand that far off`;
      return { ...recorded, gaps: [vague, ...recorded.gaps] };
    }),
  };
}

/** What a client had moved so far: bytes since its start, in so many ms of its own, at a time of performance.now(). */
export type Progress = {
  readonly at: number;
  readonly ms: number;
  readonly read: number;
  readonly written: number;
};

/** A client's MB/s at the times of a recording, from reports that come at other times; null outside of them. */
export function onLine(
  times: readonly number[],
  reports: readonly Progress[],
): Pick<Recording["clients"][number], "read" | "written"> {
  const rate = (value: (report: Progress) => number) =>
    times.map((time) => {
      const next = reports.findIndex((report) => report.at >= time);
      const [before, after] = [reports[next - 1], reports[next]];
      if (before === undefined || after === undefined || after.ms <= before.ms) return null;
      // By fio's own time: the last report comes a while after the last I/O.
      return (value(after) - value(before)) / (after.ms - before.ms) / 1000;
    });
  return { read: rate(({ read }) => read), written: rate(({ written }) => written) };
}
