import type { Client, Path, Request } from "../../bench/schema/request.ts";
import type { FioTest } from "../../bench/schema/test.ts";
import type { BenchHost } from "../../bench/unit.ts";
import type { Answer } from "../../provider/host.ts";
import { commandLine } from "../../provider/shell.ts";
import type { Step } from "../../provider/step.ts";
import { fakeHost, type Told } from "../recorded.ts";

/** A request as the stack `lab` makes it, and a host to measure with. */

const iqn = "iqn.2026-09.com.example.lab:tank";
const path = (protocol: Path["protocol"], port: number): Path => ({
  protocol,
  portal: `10.10.10.1:${port}`,
  device: `/dev/disk/by-path/ip-10.10.10.1:${port}-iscsi-${iqn}-lun-0`,
});

export const sampleClient: Client = {
  name: "initiator",
  host: { name: "initiator", ssh: "initiator" },
  target: iqn,
  pool: "tank",
  volume: "tank/lun0",
  mount: "/test",
  filesystem: { type: "xfs", uuid: "ffc79e66-7160-4eff-9c35-9e2a44cd07a1" },
  paths: [path("iscsi", 3260), path("iser", 3261)],
};

/** Lab A's job, in one direction. */
export const sampleTest = (operation: "write" | "read", change: Partial<FioTest> = {}): FioTest => ({
  ...{ kind: "fio", workload: "sequential", test: operation, operation },
  ...{ blockSize: 524288, depth: 16, jobs: 1, size: 268435456, runtime: 8, rampTime: 0 },
  ...{ sync: "none", readShare: null, rateIops: null, arc: "left", backstore: "volume" },
  ...change,
});

export const sampleRequest: Request = {
  stack: "lab",
  folder: "results/lab",
  virtual: true,
  storage: { name: "storage", ssh: "storage" },
  clients: [sampleClient],
  protocols: ["iscsi", "iser"],
  repeats: 1,
  tests: [sampleTest("write"), sampleTest("read")],
  interval: 1,
  reference: "lab-a",
};

export const refused = (status: number, stderr: string): Told => ({ status, stderr });

/** What a fake host streams: lines, each after so many ms; what it adds when it is stopped; how it ended. */
export type Streamed = {
  whenStopped?: string;
  lines: readonly (readonly [ms: number, line: string])[];
  status?: number;
  stderr?: string;
};

/**
 * A strict fake host that also streams and applies. `streams` finds what a command line prints; a unit that is
 * stopped (systemctl stop) ends at once.
 */
export function benchHost(
  name: string,
  told: Record<string, Told>,
  streams: (line: string) => Streamed | undefined = () => undefined,
): BenchHost & { asked: string[]; streamed: string[]; applied: Step[] } {
  const questions = fakeHost(told, name);
  const streamed: string[] = [];
  const applied: Step[] = [];
  const running = new Map<string, AbortController>();
  return {
    ...questions,
    streamed,
    applied,
    apply(steps) {
      applied.push(...steps);
      return Promise.resolve();
    },
    async stream(argv, options): Promise<Answer> {
      const line = commandLine(argv);
      streamed.push(line);
      if (argv[0] === "systemctl" && argv[1] === "stop") {
        const pattern = String(argv[2]).replace(/\*\.service$/, "");
        for (const [unit, control] of running) if (unit.startsWith(pattern)) control.abort();
        return { argv, status: 0, stdout: "", stderr: "" };
      }
      const printed = streams(line);
      if (printed === undefined) throw new Error(`the fake host ${name} was not told of: ${line}`);
      const unit = argv.find((word) => word.startsWith("--unit="))?.slice("--unit=".length) ?? line;
      const control = new AbortController();
      running.set(unit, control);
      const ended = AbortSignal.any([control.signal, ...(options.signal ? [options.signal] : [])]);
      let stdout = "";
      for (const [ms, text] of printed.lines) {
        if (ms > 0) await pause(ms, ended);
        if (ended.aborted) {
          stdout += printed.whenStopped ?? "";
          break;
        }
        stdout += `${text}\n`;
        for (const one of text.split("\n")) options.onLine?.(one);
      }
      running.delete(unit);
      options.signal?.throwIfAborted();
      return { argv, status: printed.status ?? 0, stdout, stderr: printed.stderr ?? "" };
    },
  };
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
