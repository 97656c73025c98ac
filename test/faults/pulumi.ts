import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { Project } from "../lab/project.ts";
import type { Fault } from "./fault.ts";
import { parseReport, type Seen } from "./report.ts";
import type { Declared } from "./scenario.ts";

/** A copy of the project that declares what a fault run wants, with the provider that has a fault in it. */

export const projectName = "storage-lab-faults";

const definition = `\
name: ${projectName}
description: What the fault runs declare
runtime:
  name: nodejs
  options:
    typescript: false
main: test/faults/program/index.ts
plugins:
  providers:
    - name: storagelab
      path: test/faults/plugin
`;

export type Ran = { exitCode: number | undefined; said: string; seen: Seen };

export class FaultProject {
  readonly folder: string;
  /** What belongs to the run and not to the project: guests, declarations, reports. */
  readonly own: string;
  readonly #project = new Project();
  readonly #ended = new AbortController();
  readonly #running = new Set<PromiseLike<unknown>>();

  constructor() {
    this.folder = this.#project.folder;
    this.own = join(this.folder, ".faults");
    mkdirSync(join(this.own, "guests"), { recursive: true });
    writeFileSync(join(this.folder, "Pulumi.yaml"), definition);
    for (const stack of ["base", "under"]) writeFileSync(join(this.folder, `Pulumi.${stack}.yaml`), "{}\n");
  }

  /** Both stacks, empty, whatever they were. */
  async begin(): Promise<void> {
    rmSync(join(this.folder, ".state"), { recursive: true, force: true });
    for (const stack of ["base", "under"]) {
      this.declare(stack, []);
      const made = await this.#run({}, "stack", "init", stack);
      if (made.exitCode !== 0) throw new Error(`no stack ${stack}:\n${made.all}`);
    }
  }

  declare(stack: string, declared: readonly Declared[]): void {
    writeFileSync(join(this.own, `${stack}.json`), JSON.stringify(declared));
  }

  /** An `up` of what is declared, as an operator runs it, with or without a fault; `onStrike` when that strikes. */
  async up(stack: string, fault?: Fault, onStrike: () => void = () => {}): Promise<Ran> {
    const report = join(this.own, `${stack}.report`);
    writeFileSync(report, "");
    const env = {
      STORAGE_LAB_FAULT_REPORT: report,
      ...(fault && { STORAGE_LAB_FAULT: JSON.stringify(fault) }),
    };
    let heard = false;
    const listen = (): Seen => {
      const seen = parseReport(readFileSync(report, "utf8"));
      if (seen.struck && !heard) onStrike();
      heard ||= seen.struck;
      return seen;
    };
    const ears = setInterval(listen, 200);
    try {
      const ran = await this.#run(env, "up", "--yes", "--skip-preview", "--stack", stack);
      return { exitCode: ran.exitCode, said: ran.all ?? "", seen: listen() };
    } finally {
      clearInterval(ears);
    }
  }

  /** An `up` that no fault strikes and that has to succeed. */
  async must(stack: string): Promise<Seen> {
    const { exitCode, said, seen } = await this.up(stack);
    if (exitCode !== 0) throw new Error(`up of ${stack} ended with ${exitCode}:\n${said}`);
    return seen;
  }

  /** Does the engine see anything to do? Its output, or undefined where there is nothing. */
  async changes(stack: string): Promise<string | undefined> {
    const ran = await this.#run({}, "preview", "--expect-no-changes", "--stack", stack);
    return ran.exitCode === 0 ? undefined : ran.all;
  }

  /** What the state holds as begun and not ended. */
  pending(stack: string): string[] {
    const file = join(this.folder, `.state/.pulumi/stacks/${projectName}/${stack}.json`);
    const { checkpoint } = JSON.parse(readFileSync(file, "utf8")) as {
      checkpoint: { latest?: { pending_operations?: { type: string; resource: { urn: string } }[] | null } };
    };
    return (checkpoint.latest?.pending_operations ?? []).map(
      ({ type, resource }) => `${type} ${resource.urn}`,
    );
  }

  /** Ends what still runs here, and removes it all. */
  async remove(): Promise<void> {
    this.#ended.abort();
    await Promise.allSettled(this.#running);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #run(env: Record<string, string>, ...args: string[]) {
    const run = execa(process.execPath, ["scripts/pulumi.mjs", ...args], {
      cwd: this.folder,
      reject: false,
      all: true,
      stdin: "ignore",
      cancelSignal: this.#ended.signal,
      timeout: 15 * 60_000,
      env: {
        ...env,
        PULUMI_BACKEND_URL: `file://${this.folder}/.state`,
        PULUMI_CONFIG_PASSPHRASE: "storage-lab",
        // The program and the provider are started anew for each run; this halves what that takes.
        NODE_COMPILE_CACHE: join(this.own, "compiled"),
      },
    });
    this.#running.add(run);
    return run.finally(() => this.#running.delete(run));
  }
}
