import { documents } from "../parse/documents.ts";
import { clockAhead, now } from "../telemetry/clock.ts";
import type { BenchHost } from "../unit.ts";

/**
 * Several clients begin at one moment: each mounts its LUN, says so and waits; when all wait, each is told the same
 * moment in the time of its own clock, which is compared with ours right before.
 */

/** The folder in /run that a unit has for its gate, and that goes with the unit (RuntimeDirectory). */
export const gateFolder = (run: string, job: string): string => `storage-lab-bench-${run}-${job}`;
const gateOf = (folder: string): string => `/run/${folder}/gate`;

/** A FIFO: opening it waits for whoever writes the moment, in ms since 1970 by this host's clock. */
const gateScript = `
mkfifo -m 600 -- "$0" || exit 1
echo '{"waits": true}'
read -r moment <"$0"
wait=$((moment - $(date +%s%3N)))
[ "$wait" -le 0 ] || sleep "$((wait / 1000)).$(printf %03d "$((wait % 1000))")"
exec "$@"`;

export const gated = (folder: string, argv: readonly string[]): string[] => [
  ...["sh", "-c", gateScript, gateOf(folder)],
  ...argv,
];

export const isWaiting = (line: string): boolean => line === '{"waits": true}';

/** Long enough for every client to be told before the moment comes. */
const leadMilliseconds = 1500;

/** Tell all that wait. Resolves when they were told; rejects where one does not listen any more. */
export async function open(
  gates: readonly { readonly host: BenchHost; readonly folder: string }[],
  holder: string,
): Promise<void> {
  const clocks = new Map<BenchHost, Awaited<ReturnType<typeof clockAhead>>>();
  await Promise.all(
    [...new Set(gates.map(({ host }) => host))].map(async (host) => clocks.set(host, await clockAhead(host))),
  );
  const slowest = Math.max(...[...clocks.values()].map(({ error }) => error));
  const moment = now() + leadMilliseconds + 4 * slowest;
  await Promise.all(
    gates.map(({ host, folder }) => {
      const theirs = Math.round(moment + (clocks.get(host)?.ahead ?? 0));
      // Nobody reads a gate whose client has ended: without a limit the writer would wait for ever.
      const tell = ["timeout", "20", "sh", "-c", 'printf "%s\\n" "$1" >"$0"', gateOf(folder), String(theirs)];
      const step = { say: `tell the client on ${host.name} when to begin`, argv: tell };
      return host.apply([step], { holder, sideBySide: true });
    }),
  );
}

/** What a wrapper of fio printed about the test file before fio began. */
export type TestFile = { readonly size: number; readonly allocated: number };

const statScript = `
stat --printf='{"testFile": true, "size": %s, "blocks": %b, "unit": %B}\\n' -- "$0" || exit 1
exec "$@"`;

/** Say how large the test file is and how much of it is allocated, then become `argv`. */
export const sayingTestFile = (file: string, argv: readonly string[]): string[] => [
  ...["sh", "-c", statScript, file],
  ...argv,
];

export function testFileOf(stdout: string): TestFile | undefined {
  const said = documents(stdout).documents.find(({ value }) => "testFile" in (value as object));
  if (said === undefined) return undefined;
  const { size, blocks, unit } = said.value as { size: number; blocks: number; unit: number };
  return { size, allocated: blocks * unit };
}
