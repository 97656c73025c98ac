import type { Live } from "../progress.ts";
import type { HostRecording, Recording } from "../schema/recording.ts";
import type { Request } from "../schema/request.ts";
import type { HostState } from "../schema/result.ts";
import type { BenchHost, RunName } from "../unit.ts";

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

/** Begin to record. `job` names the units and files; `seconds`: how long fio will run, ramp included. */
export function startTelemetry(
  _recorded: Recorded,
  _job: string,
  _seconds: number,
  _states: States,
  _live: Pick<Live, "core">,
): Telemetry {
  throw new Error("not there yet");
}

/** What a client had moved so far: bytes since its start, at a time of performance.now(). */
export type Progress = { readonly at: number; readonly read: number; readonly written: number };

/** A client's MB/s at the times of a recording, from reports that come at other times; null outside of them. */
export function onLine(
  times: readonly number[],
  reports: readonly Progress[],
): Pick<Recording["clients"][number], "read" | "written"> {
  const rate = (value: (report: Progress) => number) =>
    times.map((time) => {
      const next = reports.findIndex((report) => report.at >= time);
      const [before, after] = [reports[next - 1], reports[next]];
      if (before === undefined || after === undefined) return null;
      return (value(after) - value(before)) / (after.at - before.at) / 1000;
    });
  return { read: rate(({ read }) => read), written: rate(({ written }) => written) };
}
