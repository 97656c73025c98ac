import { reporting, testFile } from "../fio/argv.ts";
import { prefillArgv, prefillSize } from "../fio/prefill.ts";
import { type Live, warming } from "../progress.ts";
import type { PathState } from "../schema/result.ts";
import type { RunSpec } from "../schema/test.ts";
import { chill } from "./arc.ts";
import type { Bench, BenchClient } from "./bench.ts";
import { type ClientPath, expectFio } from "./fio.ts";
import { runMounted } from "./mounted.ts";

/** What is done on the hosts before a measurement: test files written, pools synced, the ARC emptied or filled. */

/** Nothing this project knows moves fewer bytes a second. */
const slowest = 2e6;

/** Follows fio's reports on a client; what they say goes to the display. */
const showing = (live: Live, client: string) => {
  let report = "";
  return (line: string): void => {
    if (line.startsWith("{")) report = "";
    report += `${line}\n`;
    if (line.startsWith("}")) live.fio(report, client);
  };
};

/** Write the test file once, unless an earlier benchmark has; how the file system was mounted. */
export async function prefill(
  bench: Bench,
  which: BenchClient,
  path: PathState,
  live: Live,
): Promise<string> {
  const { client, host } = which;
  const size = prefillSize(bench.request.tests);
  const job = `prefill-client${bench.clients.indexOf(which) + 1}`;
  const argv = prefillArgv(client, size, 5);
  const { answer, options } = await runMounted(bench, which, path, job, Math.ceil(size / slowest), argv, {
    onLine: showing(live, client.name),
  });
  expectFio(host, answer, `writing the test file on ${client.mount}`);
  return options;
}

/** What came before is on the disks first, so that no run pays for another's dirty data. */
export async function syncPools(bench: Bench): Promise<void> {
  const pools = [...new Set(bench.clients.map(({ client }) => client.pool))];
  await bench.storage.apply(
    pools.map((pool) => ({ say: `sync pool ${pool}`, argv: ["zpool", "sync", pool] })),
    { holder: bench.request.stack, sideBySide: true },
  );
}

/** Bring the ARC into the state that the run asks for. */
export async function prepareArc(
  bench: Bench,
  paths: readonly ClientPath[],
  { id, test }: RunSpec,
  live: Live,
): Promise<void> {
  if (test.kind !== "fio" || test.backstore !== "volume") return;
  if (test.arc === "cold") await chill(bench, bench.clients[0]?.client.pool ?? "", `${id}-cold`);
  if (test.arc !== "warm") return;
  await Promise.all(
    paths.map(async ({ which, path }, n) => {
      const { client, host } = which;
      const argv = [
        ...[
          "fio",
          `--name=${warming}`,
          `--filename=${testFile(client)}`,
          `--size=${test.size}`,
          "--bs=1048576",
        ],
        ...["--iodepth=16", "--ioengine=libaio", "--direct=1", "--rw=read", ...reporting(5)],
      ];
      const seconds = Math.ceil(test.size / slowest);
      const { answer } = await runMounted(bench, which, path, `${id}-warm${n + 1}`, seconds, argv, {
        onLine: showing(live, client.name),
      });
      expectFio(host, answer, "reading the test file once");
    }),
  );
}
