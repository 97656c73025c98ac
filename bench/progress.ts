import { documents } from "./parse/documents.ts";
import type { Core } from "./parse/mpstat.ts";
import type { Workload } from "./request.ts";

/** What is going on, line by line, for whoever watches `pulumi up`. */

export type Say = (text: string) => void;

/** Lines with the time since the start: "  1:05 iscsi write: …". */
export function sayTo(write: Say): Say {
  const start = performance.now();
  return (text) => write(`${duration((performance.now() - start) / 1000).padStart(6)}  ${text}\n`);
}

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Seconds that a run takes beside its measured time: collectors, mount, fio's start, unmount. */
const aroundRun = 8;

export const runSeconds = (workload: Workload): number =>
  workload.runtime + (workload.rampTime ?? 0) + aroundRun;

/** Turns what arrives while a job runs into lines. */
export type Live = {
  /** A report of fio, as it was printed. */
  fio(report: string): void;
  /** How busy a core of a host was in the last second. */
  core(host: string, core: Core): void;
};

/** At most one line in `every` seconds. `leftAfter`: seconds that what follows this job will take. */
export function live(
  say: Say,
  job: string,
  total: { seconds: number } | { bytes: number },
  leftAfter: number,
  every = 3,
): Live {
  let said = performance.now();
  let before = { bytes: 0, ms: 0 };
  const cores = new Map<string, Core>();
  return {
    core(host, core) {
      const key = `${host} ${core.core}`;
      cores.set(key, core);
    },
    fio(report) {
      const now = transferred(report);
      if (now === undefined || now.ms <= before.ms || performance.now() - said < every * 1000) return;
      said = performance.now();
      const rate = (now.bytes - before.bytes) / (now.ms - before.ms) / 1000;
      before = now;
      const left =
        "seconds" in total
          ? total.seconds - now.ms / 1000
          : ((total.bytes - now.bytes) * now.ms) / now.bytes / 1000;
      say(
        `${job}: ${rate.toFixed(1)} MB/s${busiest(cores)}, ${duration(Math.max(0, left) + leftAfter)} left`,
      );
    },
  };
}

/** Bytes and measured time so far, of both directions. */
function transferred(report: string): { bytes: number; ms: number } | undefined {
  type Side = { io_bytes: number; runtime: number };
  const value = documents(report).documents[0]?.value as { jobs?: { read: Side; write: Side }[] } | undefined;
  const job = value?.jobs?.[0];
  if (job === undefined) return undefined;
  return { bytes: job.read.io_bytes + job.write.io_bytes, ms: Math.max(job.read.runtime, job.write.runtime) };
}

/** ", busiest core storage 3 at 88 %, initiator 0 at 20 %" */
function busiest(cores: ReadonlyMap<string, Core>): string {
  const byHost = new Map<string, [string, number]>();
  for (const [key, { busy }] of cores) {
    const host = key.slice(0, key.lastIndexOf(" "));
    if (busy >= (byHost.get(host)?.[1] ?? -1)) byHost.set(host, [key, busy]);
  }
  const words = [...byHost.values()].sort().map(([key, busy]) => `${key} at ${busy.toFixed(0)} %`);
  return words.length === 0 ? "" : `, busiest core: ${words.join(", ")}`;
}
