import { RefusedError } from "../provider/errors.ts";
import type { Answer, Host } from "../provider/host.ts";
import { expect } from "../provider/resource.ts";

/**
 * Everything that the benchmark runs on a host for longer than a moment is a transient unit of systemd
 * (systemd-run(1)), so that it can be found and ended by its name after this process was killed. It seldom has to
 * be: a unit writes to our connection every few seconds and dies of SIGPIPE once nobody listens, and a dead
 * connection that nobody noticed ends by RuntimeMaxSec.
 */

/** What the benchmark uses of a host. */
export type BenchHost = Pick<Host, "name" | "ask" | "stream" | "apply">;

/** A run of the benchmark: its stack and when it began. No stack's name holds a colon. */
export type RunName = { readonly stack: string; readonly id: string };

const prefix = "storage-lab-bench";
export const unitName = (run: RunName, job: string): string =>
  `${prefix}:${run.stack}:${run.id}:${job}.service`;

export type Unit = {
  readonly name: string;
  /** A sentence for `systemctl status`. */
  readonly description: string;
  /** After this many seconds systemd ends it. */
  readonly seconds: number;
  /** How it is asked to end; mpstat closes its JSON on SIGINT. */
  readonly stopSignal?: "SIGINT";
  /** Runs when it has ended, however it ended. */
  readonly afterwards?: readonly string[];
  /** A folder of this name in /run, which is there while the unit is. */
  readonly runtimeDirectory?: string;
};

/** The argv that runs `argv` as a unit: in the foreground, its output on ours, with its exit status. */
export function asUnit(unit: Unit, argv: readonly string[]): string[] {
  const properties = [
    "IgnoreSIGPIPE=no",
    `RuntimeMaxSec=${unit.seconds}`,
    "TimeoutStopSec=15",
    ...(unit.stopSignal === undefined ? [] : [`KillSignal=${unit.stopSignal}`]),
    ...(unit.runtimeDirectory === undefined ? [] : [`RuntimeDirectory=${unit.runtimeDirectory}`]),
    ...(unit.afterwards === undefined ? [] : [`ExecStopPost=-${unit.afterwards.join(" ")}`]),
  ];
  return [
    "systemd-run",
    ...["--collect", "--pipe", "--wait", "--service-type=exec", "--setenv=LC_ALL=C"],
    `--unit=${unit.name}`,
    `--description=${unit.description}`,
    ...properties.map((property) => `--property=${property}`),
    "--",
    ...argv,
  ];
}

/** What systemd-run adds to a program's stderr. */
const systemdLine =
  /^(Running as unit|Finished with result|Main processes terminated|Service runtime|CPU time|Memory|IO|IP traffic)\b.*/;

/** How a unit failed, in the program's own words, else in systemd's; undefined when it ended well. */
export function unitFailure({ status, stderr }: Answer): string | undefined {
  const ending = /^Main processes terminated with: (code=killed.*)$/m.exec(stderr)?.[1];
  if (status === 0 && ending === undefined) return undefined;
  const lines = stderr.split("\n").map((line) => line.trim());
  const own = lines.filter((line) => line !== "" && !systemdLine.test(line));
  if (own.length > 0) return own.join("; ");
  if (lines.includes("Finished with result: timeout")) return "its time was over (RuntimeMaxSec)";
  return ending === undefined ? `status ${status}, no word` : `ended from outside (${ending})`;
}

/** End this run's units of these jobs (all without one) and wait until they have ended. */
export async function stopUnits(host: BenchHost, run: RunName, job = "*"): Promise<void> {
  const argv = ["systemctl", "stop", unitName(run, job)];
  const answer = await host.stream(argv, { deadlineSeconds: 60 });
  expect(host, answer, `whether ${unitName(run, job)} has ended`);
}

/** What an earlier run of this stack left on a host is ended; another stack's benchmark is not ours to end. */
export async function stopLeftovers(host: BenchHost, stack: string): Promise<string[]> {
  const units = expect(
    host,
    await host.ask(["systemctl", "list-units", "--all", "--plain", "--no-legend", "--full", `${prefix}:*`]),
    "its units",
  );
  const names = parseUnits(units);
  const foreign = names.find((name) => name.split(":")[1] !== stack);
  if (foreign !== undefined) {
    throw new RefusedError(
      `${host.name}: the benchmark of stack ${foreign.split(":")[1]} runs here (unit ${foreign}), and two at once measure each other. ` +
        `Wait for it, or end it: systemctl stop '${foreign}'`,
    );
  }
  if (names.length > 0) await stopUnits(host, { stack, id: "*" });
  return names;
}

/** The names in `systemctl list-units --plain --no-legend`. */
export const parseUnits = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim().split(/\s+/)[0] ?? ""]));
