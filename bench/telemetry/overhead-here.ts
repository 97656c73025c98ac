import { availableParallelism } from "node:os";
import { ParseError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import { expect } from "../../provider/resource.ts";
import { parseFio } from "../fio/report.ts";
import { sysstatVersion } from "../parse/mpstat.ts";
import { collectorArguments, script } from "./collector.ts";
import { sourcesOf, toolsOf } from "./sources.ts";

/**
 * What telemetry costs a machine of its own, not emulated: this one, as a client. fio reads memory by a job for each
 * processor, so that no processor is ever idle and each moment that telemetry takes is missing in fio's figure.
 */

const processors = availableParallelism();
const seconds = 8;
export const hereInWords = `4 KiB random reads of a file in memory by ${processors} jobs on ${processors} processors, ${seconds} s a run`;

const host = new Host({ name: "here", ssh: "local" });
const file = `/dev/shm/storage-lab-overhead-${process.pid}`;

const fio = [
  ...["fio", "--name=overhead", `--filename=${file}`, "--size=268435456", "--rw=randread", "--bs=4096"],
  ...["--ioengine=psync", "--thread", `--numjobs=${processors}`, "--group_reporting", "--unlink=1"],
  ...["--time_based", `--runtime=${seconds}`, "--output-format=json"],
];

/** Long enough to be there before fio and after it. */
const recordedSeconds = seconds + 8;
const shares: number[] = [];
/** Percent of all processors' time that the collector and its programs took, in each run that was recorded. */
export const sharesHere = (): readonly number[] => shares;

/** MB/s of one run. */
export async function measureHere(recorded: boolean): Promise<number> {
  const telemetry = recorded ? await record() : undefined;
  const answer = await host.stream(fio, { deadlineSeconds: 10 * seconds });
  await telemetry?.ended;
  const { read } = parseFio(expect(host, answer, "what fio measured"));
  if (read?.bandwidth == null) throw new ParseError("fio printed no bandwidth");
  return read.bandwidth;
}

/** Its CPU time, and that of all it started, is what the shell says when it has ended. */
const timed = ["bash", "-c", `TIMEFORMAT='%U %S'; time timeout -s INT ${recordedSeconds} "$@"`, "bash"];

/** Starts the collector and resolves when it records, with what ends when it has ended. */
async function record(): Promise<{ ended: Promise<void> }> {
  const version = expect(host, await host.ask(["mpstat", "-V"]), "mpstat's version (package sysstat)");
  const tools = toolsOf(sysstatVersion(version, host.name));
  const sources = sourcesOf("client", 1, tools, { unit: "storage-lab-overhead", pools: [], perf: false });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let frames = 0;
  const argv = [...timed, "bash", "-s", "--", ...collectorArguments(1, 0, sources)];
  const ended = host
    .stream(argv, {
      stdin: script,
      deadlineSeconds: 4 * recordedSeconds,
      onLine() {
        frames += 1;
        if (frames === 3) resolve();
      },
    })
    .then(({ stderr }) => {
      const [, user, system] = /^(\d+\.\d+) (\d+\.\d+)$/m.exec(stderr) ?? [];
      if (user === undefined || frames < recordedSeconds / 2) {
        throw new ParseError(`the collector gave ${frames} frames and said: ${stderr.trim()}`);
      }
      shares.push((100 * (Number(user) + Number(system))) / recordedSeconds / processors);
    });
  ended.then(() => reject(new Error("the collector ended before it recorded")), reject);
  await promise;
  return { ended };
}
