import { ParseError } from "../provider/errors.ts";
import { expect } from "../provider/resource.ts";
import { commandLine } from "../provider/shell.ts";
import { arcstats } from "./environment.ts";
import { type Bench, expectFio, reportEvery, runFio } from "./fio.ts";
import type { Folder } from "./folder.ts";
import { expectedOptions, fioArgv } from "./job.ts";
import { aboveLink, whyInvalid } from "./judge.ts";
import { arcBetween, parseArcstats } from "./parse/arcstats.ts";
import { parseFio } from "./parse/fio.ts";
import type { Live } from "./progress.ts";
import type { Direction } from "./request.ts";
import type { PathState, ValidRun } from "./result.ts";
import { type HostStates, startTelemetry } from "./telemetry.ts";
import { stopUnits } from "./unit.ts";

/**
 * One measured fio run through one path, with what is recorded beside it on both hosts. Raw outputs are written
 * before they are read, so that they are there when reading them fails.
 */
export async function measure(
  bench: Bench,
  folder: Folder,
  path: PathState,
  direction: Direction,
  hosts: HostStates,
  live: Live,
): Promise<{ run: ValidRun; mountOptions: string }> {
  const { request, storage, initiator } = bench;
  const { runtime, rampTime = 0 } = request.workload;
  const job = `${path.protocol}-${direction}`;
  const argv = fioArgv(request, direction, reportEvery(runtime));
  // What came before is on the disks first, so that no run pays for another's dirty data.
  await storage.apply([{ say: `sync pool ${request.pool}`, argv: ["zpool", "sync", request.pool] }], {
    holder: request.stack,
    sideBySide: true,
  });
  const telemetry = startTelemetry(bench, job, runtime + rampTime, hosts, live);
  try {
    const [before] = await Promise.all([storage.ask(arcstats), telemetry.running]);
    const fio = await runFio(bench, path, job, runtime + rampTime, argv, live);
    const after = await storage.ask(arcstats);
    const recorded = await telemetry.stop();
    for (const [name, text] of Object.entries(recorded.files)) folder.write(name, text);
    const [arcBefore, arcAfter] = [before, after].map((answer) =>
      expect(storage, answer, "the ARC's counters"),
    );
    folder.write(`arcstats-before-${job}.txt`, arcBefore ?? "");
    folder.write(`arcstats-after-${job}.txt`, arcAfter ?? "");
    folder.write(`fio-${job}.out`, fio.answer.stdout + fio.answer.stderr);
    expectFio(initiator, fio.answer, "fio");
    const report = parseFio(fio.answer.stdout, direction);
    folder.write(`fio-${job}.json`, `${report.text}\n`);
    const invalid = whyInvalid(report, expectedOptions(request, direction), request.workload);
    if (invalid !== undefined) throw new ParseError(invalid);
    const { seconds, bytes, clat, bandwidth, iops, warnings } = report;
    if (bandwidth === null || iops === null)
      throw new ParseError("fio printed no number for bandwidth or IOPS");
    return {
      mountOptions: fio.options,
      run: {
        ...{ protocol: path.protocol, direction, command: commandLine(argv), valid: true },
        ...{ seconds, bytes, bandwidth, iops, clat, warnings: [...warnings] },
        ...recorded.between(fio.ended - seconds * 1000, fio.ended),
        arc: arcBetween(parseArcstats(arcBefore ?? ""), parseArcstats(arcAfter ?? "")),
        aboveLink: aboveLink(bandwidth, [hosts.storage.link.speed, hosts.initiator.link.speed]),
      },
    };
  } finally {
    // After a failure the collectors still run; how they end no longer matters.
    await Promise.allSettled([stopUnits(storage, bench.run), stopUnits(initiator, bench.run)]);
  }
}
