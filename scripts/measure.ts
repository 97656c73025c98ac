import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { project, pulumiEnvironment } from "./environment.ts";
import { explain } from "./explain.ts";
import { covered, type Trip } from "./round-trips.ts";

/**
 * npm run measure -- [--from-nothing] [STACK]: how long an `up` takes and where its time goes.
 * Without the option an up of a lab that stands, three times; with it the lab is destroyed and built again.
 */

const trace = join(tmpdir(), `storage-lab-trace-${process.pid}`);

async function pulumi(...args: string[]): Promise<number> {
  const began = performance.now();
  await execa("pulumi", args, { cwd: project, env: { ...pulumiEnvironment(), STORAGE_LAB_TRACE: trace } });
  return (performance.now() - began) / 1000;
}

/** One up, and its shares: the guests' boot, the hosts' own work, SSH, and the rest, which is the engine's. */
async function measure(stack: string): Promise<Record<string, string>> {
  await rm(trace, { force: true });
  const wall = await pulumi("up", "--yes", "--skip-preview", "--stack", stack);
  const lines = (await readFile(trace, "utf8")).trim().split("\n");
  const trips = lines.map((line) => JSON.parse(line) as Trip);
  const remote = trips.filter(({ host }) => host !== "local");
  const boot = covered(trips.filter(({ host, kind }) => host === "local" && kind === "apply"));
  const waited = covered(remote);
  const sum = (of: (trip: Trip) => number): number => remote.reduce((total, trip) => total + of(trip), 0);
  const onHosts =
    (waited * sum(({ onHost }) => onHost)) /
    Math.max(
      sum(({ seconds }) => seconds),
      0.001,
    );
  const { stdout } = await execa("pulumi", ["stack", "history", "--json", "--stack", stack], {
    cwd: project,
    env: pulumiEnvironment(),
  });
  const [latest] = JSON.parse(stdout) as { resourceChanges: Record<string, number> }[];
  const seconds = (value: number): string => value.toFixed(1);
  return {
    up: seconds(wall),
    "guests boot": seconds(boot),
    "work on hosts": seconds(onHosts),
    SSH: seconds(waited - onHosts),
    "engine, program, benchmark": seconds(Math.max(0, wall - waited - boot)),
    "round trips": String(remote.length),
    commands: String(sum(({ commands }) => commands)),
    changes: Object.entries(latest?.resourceChanges ?? {})
      .map(([kind, count]) => `${count} ${kind}`)
      .join(", "),
  };
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { "from-nothing": { type: "boolean", default: false } },
  });
  const stack = positionals[0] ?? "lab";
  const rows: Record<string, string>[] = [];
  if (values["from-nothing"]) {
    const took = await pulumi("destroy", "--yes", "--stack", stack);
    console.log(`destroy: ${took.toFixed(1)} s\n`);
    rows.push(await measure(stack));
  } else {
    for (let run = 0; run < 3; run += 1) rows.push(await measure(stack));
  }
  const [first] = rows;
  console.log(`| ${Object.keys(first ?? {}).join(" | ")} |`);
  console.log(
    `|${Object.keys(first ?? {})
      .map(() => "---|")
      .join("")}`,
  );
  for (const row of rows) console.log(`| ${Object.values(row).join(" | ")} |`);
  await rm(trace, { force: true });
}

process.exitCode = (await main().catch(explain)) ?? 0;
