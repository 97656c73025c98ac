import { readFileSync } from "node:fs";
import { explain, ParseError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import { readHost } from "../environment/host.ts";
import { isFio } from "../fio/argv.ts";
import { mergeReports } from "../fio/merge.ts";
import { runsOf } from "../plan.ts";
import type { Live } from "../progress.ts";
import { type Bench, clientHosts, distinctMounts } from "../run/bench.ts";
import { overlap, runFio } from "../run/fio.ts";
import { readPath } from "../run/path.ts";
import { prefill, syncPools } from "../run/prepare.ts";
import { request as schema } from "../schema/request.ts";
import { stopUnits } from "../unit.ts";
import { hereInWords, measureHere, sharesHere } from "./overhead-here.ts";
import { ratioOf } from "./ratio.ts";
import { startTelemetry } from "./telemetry.ts";

/**
 * What telemetry costs:
 *   node bench/telemetry/overhead.ts REQUEST.json [BLOCKS]   in a lab that is up
 *   node bench/telemetry/overhead.ts here [BLOCKS]           on this machine, without a lab
 *
 * The request is one that a benchmark has left in its results folder (request.json); its first fio test is run over
 * its first protocol. Runs with telemetry (A) and without (B) alternate as A B B A, so that a lab that slowly gets
 * faster or slower favours neither. Each block of four gives one ratio; of all the mean with its 95 % interval.
 */

const [file, blocks = "6"] = process.argv.slice(2);
const silent: Live = { fio: () => {}, core: () => {}, phase: () => {} };

async function main(): Promise<void> {
  if (file === undefined || !/^[1-9]\d*$/.test(blocks)) {
    throw new TypeError("usage: node bench/telemetry/overhead.ts REQUEST.json|here [BLOCKS, 6 by default]");
  }
  if (file === "here") {
    console.log(`${hereInWords}: ${blocks} blocks of four runs, telemetry every second`);
    await compareRuns(measureHere);
    tellShare("this machine", sharesHere());
    return;
  }
  const request = schema.parse(JSON.parse(readFileSync(file, "utf8")));
  const spec = runsOf(request).find(isFio);
  if (spec === undefined) throw new TypeError(`${file} has no fio test`);
  const hosts = new Map<string, Host>();
  const hostOf = (address: ConstructorParameters<typeof Host>[0]): Host => {
    const host = hosts.get(address.name) ?? new Host(address);
    hosts.set(address.name, host);
    return host;
  };
  const storage = hostOf(request.storage);
  const clients = await Promise.all(
    distinctMounts(request.clients).map(async (client) => {
      const host = hostOf(client.host);
      return { client, host, ownsMountPoint: (await host.ask(["test", "-e", client.mount])).status !== 0 };
    }),
  );
  const run = { stack: request.stack, id: new Date().toISOString().replaceAll(/[-:.]/g, "") };
  const bench: Bench = { request, run, storage, clients, signal: new AbortController().signal };
  const states = {
    storage: await readHost(storage, request, "storage"),
    clients: await Promise.all(clientHosts(bench).map((host) => readHost(host, request, "client"))),
  };
  const paths = async () =>
    await Promise.all(
      clients.map(async (which) => {
        const path = which.client.paths.find(({ protocol }) => protocol === spec.protocol);
        if (path === undefined) throw new TypeError(`${which.client.name} has no path by ${spec.protocol}`);
        return { which, path: await readPath(which.host, which.client, path) };
      }),
    );
  const shares = new Map<string, number[]>();
  let runs = 0;
  /** MB/s, both ways together. */
  const measure = async (recorded: boolean): Promise<number> => {
    runs += 1;
    await syncPools(bench);
    const at = await paths();
    const one = { ...spec, id: `overhead-${runs}` };
    const seconds = spec.test.runtime + spec.test.rampTime;
    const telemetry = recorded
      ? startTelemetry(
          { request, run, storage, clients: clientHosts(bench) },
          one.id,
          seconds,
          states,
          silent,
        )
      : undefined;
    await telemetry?.running;
    const found = await runFio(bench, at, one, silent, () => {}, []);
    const stopped = await telemetry?.stop();
    for (const { host, collector } of stopped?.record(overlap(found.map(({ window }) => window))).hosts ??
      []) {
      if (collector) shares.set(host, [...(shares.get(host) ?? []), collector.share]);
    }
    const { read, write } = mergeReports(found.map(({ report }) => report));
    const bandwidth = (read?.bandwidth ?? 0) + (write?.bandwidth ?? 0);
    if (bandwidth === 0) throw new ParseError(`run ${runs}: fio moved nothing`);
    return bandwidth;
  };
  try {
    for (const { which, path } of await paths()) await prefill(bench, which, path, silent);
    console.log(`${spec.id}: ${blocks} blocks of four runs, telemetry every ${request.interval} s`);
    await compareRuns(measure);
    for (const [host, all] of shares) tellShare(host, all);
  } finally {
    await Promise.allSettled([...hosts.values()].map((host) => stopUnits(host, run)));
  }
}

function tellShare(host: string, shares: readonly number[]): void {
  const mean = shares.reduce((a, b) => a + b, 0) / shares.length;
  console.log(`CPU time of the collector on ${host}: ${mean.toFixed(2)} % of all its cores`);
}

/** Blocks of A B B A; what came of each, and of all. `measure`: MB/s of one run, with telemetry or without. */
async function compareRuns(measure: (recorded: boolean) => Promise<number>): Promise<void> {
  // The first run finds other caches than all that follow: it doesn't count.
  await measure(false);
  const pairs: { with: number[]; without: number[] }[] = [];
  const shown = (values: readonly number[]): string => values.map((v) => v.toFixed(2)).join(" and ");
  for (let n = 1; n <= Number(blocks); n += 1) {
    const first = await measure(true);
    const without = [await measure(false), await measure(false)];
    const pair = { with: [first, await measure(true)], without };
    pairs.push(pair);
    console.log(`block ${n}: with ${shown(pair.with)} MB/s, without ${shown(without)} MB/s`);
  }
  const { ratio, low, high } = ratioOf(pairs);
  const less = (value: number): string => `${((1 - value) * 100).toFixed(2)} %`;
  console.log(
    `overhead: ${less(ratio)} of throughput (95 % interval ${less(high)} to ${less(low)}, ${pairs.length} blocks)`,
  );
}

try {
  await main();
  // Connections of ssh stay open for a while.
  process.exit(0);
} catch (error) {
  console.error(explain(error));
  process.exit(1);
}
