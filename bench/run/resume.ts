import { createHash } from "node:crypto";
import { z } from "zod";
import { createFolder, type Folder, foldersWith, shown } from "../folder.ts";
import type { Say } from "../progress.ts";
import type { Request } from "../schema/request.ts";
import { type Environment, type Run, run } from "../schema/result.ts";

/**
 * A benchmark that was interrupted goes on where it stopped: its folder says what was asked and on what, each run
 * that ended stands in a file of its own. It is taken up again only where the same is asked, and all that a figure
 * depends on is as it was: two halves on two kernels are no benchmark.
 */

const file = "unfinished.json";

const unfinished = z.strictObject({
  fingerprint: z.string(),
  started: z.iso.datetime(),
  seconds: z.number().describe("What its parts took until their last run ended."),
  setup: z.record(z.string(), z.string()).describe("What was measured on, by name."),
});
type Unfinished = z.infer<typeof unfinished>;

/** The same for the same request, whatever the order of its keys. Where results go makes no difference to them. */
export function fingerprintOf({ folder: _, ...request }: Request): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(request)))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** What changes by itself while a lab is measured. */
const passing = new Set(["compressratio", "used", "logicalused", "fragmentation", "capacity", "dedupratio"]);

/** Everything of an environment that a figure depends on, flat: "storage kernel" → "6.12.0". */
export function setupOf(
  environment: Pick<
    Environment,
    "storage" | "clients" | "pools" | "volumes" | "arcMaximum" | "zfsParameters" | "targets"
  >,
): Record<string, string> {
  const found: [string, string][] = [];
  for (const host of [environment.storage, ...environment.clients]) {
    const { name, kernel, cpus, cpuModel, memory, governor, versions, link } = host;
    const said = { kernel, cpus, cpuModel, memory: about(memory), governor, link };
    for (const [key, value] of Object.entries(said)) found.push([`${name} ${key}`, JSON.stringify(value)]);
    for (const [program, version] of Object.entries(versions)) found.push([`${name} ${program}`, version]);
  }
  for (const { name, layout, properties } of environment.pools) {
    found.push([`layout of ${name}`, JSON.stringify(layout)]);
    found.push(...lasting(name, properties));
  }
  for (const { name, properties } of environment.volumes) found.push(...lasting(name, properties));
  for (const { iqn, attributes } of environment.targets) found.push(...lasting(iqn, attributes));
  found.push(...lasting("zfs", environment.zfsParameters), ["ARC's maximum", about(environment.arcMaximum)]);
  return Object.fromEntries(found);
}

/** From boot to boot the kernel keeps some pages more or less for itself. */
const about = (bytes: number): string => `${Math.round(bytes / 2 ** 26)} × 64 MiB`;

const lasting = (of: string, properties: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(properties)
    .filter(([name]) => !passing.has(name))
    .map(([name, value]) => [`${of} ${name}`, value]);

export function difference(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
): string | undefined {
  const key = [...new Set([...Object.keys(before), ...Object.keys(now)])].find((k) => before[k] !== now[k]);
  return key && `${key} was ${before[key] ?? "not there"} and is ${now[key] ?? "not there"}`;
}

export type Attempt = {
  readonly folder: Folder;
  readonly started: Date;
  /** Runs of earlier parts that have figures, by id. */
  readonly kept: ReadonlyMap<string, Run>;
  /** Keep a run that ended. */
  keep(run: Run): void;
  /** Seconds of all parts so far. */
  seconds(): number;
  /** All is measured: nothing to take up again. */
  finish(): void;
};

/** Take up what was interrupted, or begin. */
export function takeUp(
  results: string,
  request: Request,
  setup: Readonly<Record<string, string>>,
  now: Date,
  say: Say,
): Attempt {
  const fingerprint = fingerprintOf(request);
  const earlier = foldersWith(results, file).flatMap((folder) => {
    const said = parse(folder);
    return said?.fingerprint === fingerprint ? [{ folder, said }] : [];
  });
  for (const { folder, said } of earlier) {
    const other = difference(said.setup, setup);
    if (other === undefined) return resumed(folder, said, now, say);
    say(`${shown(folder.path)} was interrupted and is not gone on with: ${other}`);
  }
  const folder = createFolder(results, now);
  folder.write("request.json", `${JSON.stringify(request, null, 2)}\n`);
  const begun = { fingerprint, started: now.toISOString(), seconds: 0, setup };
  folder.replace(file, `${JSON.stringify(begun, null, 2)}\n`);
  return attempt(folder, begun, new Map(), now);
}

function resumed(folder: Folder, said: Unfinished, now: Date, say: Say): Attempt {
  const kept = new Map<string, Run>();
  for (const name of folder.names().filter((one) => /^run-.*\.json$/.test(one))) {
    const parsed = run.safeParse(JSON.parse(folder.read(name) ?? "null"));
    if (parsed.success && parsed.data.valid) kept.set(parsed.data.spec.id, parsed.data);
  }
  // Raw files of runs that did not get to their end, or have no figures, are made again beside these.
  const ofKept = (name: string): boolean => [...kept.values()].some((one) => one.files.includes(name));
  const mine = new Set(["request.json", file, ...[...kept.keys()].map((id) => `run-${id}.json`)]);
  const aside = folder.setAside((name) => !mine.has(name) && !ofKept(name));
  const again = aside.length === 0 ? "" : `; ${aside.length} files of runs that are made again are set aside`;
  say(
    `goes on with ${shown(folder.path)}, begun ${said.started}: ${kept.size} runs with figures are kept${again}`,
  );
  return attempt(folder, said, kept, now);
}

function attempt(folder: Folder, said: Unfinished, kept: ReadonlyMap<string, Run>, now: Date): Attempt {
  const seconds = () => said.seconds + (Date.now() - now.getTime()) / 1000;
  return {
    ...{ folder, kept, seconds, started: new Date(said.started) },
    keep(one) {
      folder.write(`run-${one.spec.id}.json`, `${JSON.stringify(one, null, 2)}\n`);
      folder.replace(file, `${JSON.stringify({ ...said, seconds: seconds() }, null, 2)}\n`);
    },
    finish() {
      folder.remove(file);
    },
  };
}

/** A marker that a crash or a full disk cut off says nothing that could be gone on with. */
function parse(folder: Folder): Unfinished | undefined {
  try {
    return unfinished.parse(JSON.parse(folder.read(file) ?? ""));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}
