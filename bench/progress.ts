import { documents } from "./parse/documents.ts";
import type { Core } from "./parse/mpstat.ts";

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

/** Turns what arrives while a job runs into lines. */
export type Live = {
  /** A report of one client's fio, as it was printed. */
  fio(report: string, client?: string): void;
  /** How far a run of several phases is: MB/s where its program tells, and how much of the phase is done. */
  phase(progress: { phase: string; done: number | null; bandwidth: number | null }): void;
  /** How busy a core of a host was in the last second. */
  core(host: string, core: Pick<Core, "core" | "busy">): void;
};

/**
 * At most one line in `every` seconds. `total`: how much one client's job is, in seconds or bytes; for a run of
 * several phases, what it is thought to take. `leftAfter`: seconds that what follows this job will take.
 */
export function live(
  say: Say,
  job: string,
  total: { seconds: number } | { bytes: number },
  leftAfter: number,
  every = 3,
): Live {
  const began = performance.now();
  let said = began;
  const last = new Map<string, { name: string; bytes: number; ms: number; rate: number; left: number }>();
  const cores = new Map<string, Pick<Core, "core" | "busy">>();
  const line = (what: string, left: number): void => {
    said = performance.now();
    say(`${job}: ${what}${busiest(cores)}, ${duration(Math.max(0, left) + leftAfter)} left`);
  };
  const due = (): boolean => performance.now() - said >= every * 1000;
  return {
    core(host, core) {
      cores.set(`${host} ${core.core}`, core);
    },
    fio(report, client = "") {
      const now = transferred(report);
      if (now === undefined) return;
      const { ms, name } = now;
      // What read the file into the ARC has ended; the run counts from nothing.
      if (last.get(client)?.name !== name) last.delete(client);
      const before = last.get(client) ?? { bytes: 0, ms: 0 };
      const bytes = now.read + now.written;
      // When its ramp is over, fio counts from nothing again.
      if (ms < before.ms) last.delete(client);
      if (ms <= before.ms) return;
      const rate = (bytes - before.bytes) / (ms - before.ms) / 1000;
      const left =
        "seconds" in total
          ? total.seconds - ms / 1000
          : ((total.bytes - bytes) * ms) / Math.max(1, bytes) / 1000;
      last.set(client, { name, bytes, ms, rate, left });
      if (!due()) return;
      const all = [...last.values()];
      const sum = all.reduce((rates, one) => rates + one.rate, 0);
      const what = name === warming ? "reading into the ARC, " : "";
      line(`${what}${sum.toFixed(1)} MB/s`, Math.max(...all.map((one) => one.left)));
    },
    phase({ phase, done, bandwidth }) {
      if (!due()) return;
      const words = [
        phase,
        ...(done === null ? [] : [`${(done * 100).toFixed(0)} %`]),
        ...(bandwidth === null ? [] : [`${bandwidth.toFixed(1)} MB/s`]),
      ];
      const passed = (performance.now() - began) / 1000;
      line(words.join(", "), "seconds" in total ? total.seconds - passed : 0);
    },
  };
}

/** The name of the fio job that reads the test file into the ARC. */
export const warming = "warm";

/** What a fio has moved so far, over its jobs, and the ms that it has measured. Undefined: no report of fio. */
export function transferred(
  report: string,
): { name: string; read: number; written: number; ms: number } | undefined {
  type Side = { io_bytes: number; runtime: number };
  type Jobs = { jobname: string; read: Side; write: Side }[];
  const value = documents(report).documents[0]?.value as { jobs?: Jobs } | undefined;
  const jobs = value?.jobs;
  if (jobs === undefined || jobs.length === 0) return undefined;
  const sum = (of: "read" | "write"): number => jobs.reduce((all, job) => all + job[of].io_bytes, 0);
  const ms = Math.max(...jobs.flatMap(({ read, write }) => [read.runtime, write.runtime]));
  return { name: jobs[0]?.jobname ?? "", read: sum("read"), written: sum("write"), ms };
}

/** ", busiest core storage 3 at 88 %, initiator 0 at 20 %" */
function busiest(cores: ReadonlyMap<string, { busy: number }>): string {
  const byHost = new Map<string, [string, number]>();
  for (const [key, { busy }] of cores) {
    const host = key.slice(0, key.lastIndexOf(" "));
    if (busy >= (byHost.get(host)?.[1] ?? -1)) byHost.set(host, [key, busy]);
  }
  const words = [...byHost.values()].sort().map(([key, busy]) => `${key} at ${busy.toFixed(0)} %`);
  return words.length === 0 ? "" : `, busiest core: ${words.join(", ")}`;
}
