import { appendFileSync } from "node:fs";

/**
 * Where an `up` spends its time: with STORAGE_LAB_TRACE=FILE every round trip appends a line of JSON there.
 * `seconds` is what this side waited, `host` what the script took on the host by its own clock (/proc/uptime,
 * which a shell reads without a process); the rest is SSH.
 */

const file = process.env.STORAGE_LAB_TRACE;

export type RoundTrip = { host: string; kind: "ask" | "apply"; commands: number };

/** Shell text for a script's first and last line; empty where nothing is traced. */
export const clockStart = file === undefined ? "true" : "read up0 rest </proc/uptime";
export const clockEnd = file === undefined ? "true" : 'read up1 rest </proc/uptime; echo "$up0 $up1"';

/** Begin a round trip; the function it gives is called with the script's clock when the answer is there. */
export function roundTrip(trip: RoundTrip): (clock: string) => void {
  if (file === undefined) return () => {};
  const started = performance.now();
  return (clock) => {
    const [from = Number.NaN, to = Number.NaN] = clock.trim().split(" ").map(Number);
    const seconds = (performance.now() - started) / 1000;
    appendFileSync(
      file,
      `${JSON.stringify({ at: new Date().toISOString(), ...trip, seconds, onHost: to - from })}\n`,
    );
  };
}
