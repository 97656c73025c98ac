import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa, execaSync } from "execa";

/**
 * A copy of the project for tests on the virtual lab, with state and guests of its own, so that a test never
 * touches the lab of whoever runs it.
 */

const source = resolve(import.meta.dirname, "../..");

const quiet = { reject: false, all: true, stdin: "ignore" } as const;

export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "storage-lab-"));

  constructor() {
    const { folder } = this;
    const { stdout } = execaSync("git", ["ls-files", "-co", "--exclude-standard", "--deduplicate"], {
      cwd: source,
    });
    // What is deleted and not committed yet is still listed.
    for (const file of stdout.split("\n").filter((name) => existsSync(join(source, name)))) {
      mkdirSync(join(folder, file, ".."), { recursive: true });
      cpSync(join(source, file), join(folder, file));
    }
    symlinkSync(join(source, "node_modules"), join(folder, "node_modules"));
  }

  /** A project with its stack `lab` made, measuring little. */
  static async withLab(): Promise<Project> {
    const project = new Project();
    project.edit("Pulumi.lab.yaml", "size: 256 MiB, runtime: 15 s", "size: 64 MiB, runtime: 5 s");
    await project.must("stack", "select", "--create", "lab");
    return project;
  }

  /** Destroy what still stands of these stacks, and the copy. */
  async remove(...stacks: string[]): Promise<void> {
    for (const stack of stacks) await this.pulumi("destroy", "--yes", "--stack", stack);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Run Pulumi as `npm run -s pulumi -- ARGS` does; resolves whatever its exit status. */
  pulumi(...args: string[]) {
    return execa(process.execPath, ["scripts/pulumi.mjs", ...args], { ...quiet, cwd: this.folder });
  }

  /** Run Pulumi and give its output; an exit status other than 0 is an error that shows it. */
  async must(...args: string[]): Promise<string> {
    const result = await this.pulumi(...args);
    if (result.exitCode !== 0)
      throw new Error(`pulumi ${args.join(" ")} ended with ${result.exitCode}:\n${result.all}`);
    return result.stdout;
  }

  /** Replace text in a file of the project; the text must be there. */
  edit(file: string, from: string | RegExp, to: string): void {
    const before = readFileSync(join(this.folder, file), "utf8");
    const after = before.replace(from, to);
    if (after === before) throw new Error(`${file} holds no ${from}`);
    writeFileSync(join(this.folder, file), after);
  }

  /** Run a shell line on a guest by plain ssh: the second channel, not our provider. */
  async on(stack: string, host: string, line: string): Promise<string> {
    const config = join(this.folder, ".lab", stack, host, "ssh_config");
    const { stdout } = await execa("ssh", ["-F", config, "-o", "BatchMode=yes", host, line], {
      stdin: "ignore",
    });
    return stdout;
  }
}

/** What `pulumi preview --json` plans: [type and name, operation, changed properties]. */
export type Planned = { resource: string; op: string; changes: string[] };

export async function planned(project: Project, stack: string): Promise<Planned[]> {
  const { steps } = JSON.parse(await project.must("preview", "--stack", stack, "--json")) as {
    steps: { op: string; urn: string; detailedDiff?: Record<string, unknown> | null }[];
  };
  return steps
    .filter(({ op }) => op !== "same")
    .map(({ op, urn, detailedDiff }) => ({
      resource: urn.split("::").slice(2).join("::").replace(/^.*\$/, ""),
      op,
      changes: Object.keys(detailedDiff ?? {}),
    }));
}
