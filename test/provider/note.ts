import { z } from "zod";
import type { Context } from "../../provider/context.ts";
import { CommandError, TransportError } from "../../provider/errors.ts";
import {
  type Answer,
  type ApplyOptions,
  type Connection,
  hostAddress,
  type Questions,
} from "../../provider/host.ts";
import { Lifecycle } from "../../provider/lifecycle.ts";
import type { PlanNote } from "../../provider/plan-note.ts";
import { expect, type ResourceType } from "../../provider/resource.ts";
import { type Step, stepLine } from "../../provider/step.ts";

/** The smallest resource type on the smallest host, for tests of what every type has in common. */

/** A host with files alone: it knows cat, rm -f and the writing of files, and is strict about all else. */
export class FileHost implements Connection {
  readonly name = "storage";
  readonly files = new Map<string, string>();
  readonly done: string[] = [];
  /** Break the connection before the step with this number (counted over the host's life). */
  breakAt = Number.POSITIVE_INFINITY;
  reachable = true;

  ask(argv: readonly string[]): Promise<Answer> {
    if (!this.reachable) return Promise.reject(new TransportError(this.name, `${this.name} did not answer`));
    const [program, path = ""] = argv;
    if (program !== "cat" || argv.length !== 2)
      return Promise.reject(new Error(`unknown: ${argv.join(" ")}`));
    const text = this.files.get(path);
    if (text !== undefined) return Promise.resolve({ argv, status: 0, stdout: text, stderr: "" });
    return Promise.resolve({
      argv,
      status: 1,
      stdout: "",
      stderr: `cat: ${path}: No such file or directory\n`,
    });
  }

  apply(steps: readonly Step[], options: ApplyOptions): Promise<void> {
    for (const step of steps) {
      if (this.done.length >= this.breakAt) {
        return Promise.reject(new TransportError(this.name, `${this.name}: the connection broke`));
      }
      options.onStep?.(step);
      this.done.push(stepLine(step));
      if ("file" in step) this.files.set(step.file, step.text);
      else if ("argv" in step && step.argv.slice(0, 3).join(" ") === "test ! -s") {
        if (this.files.get(step.argv[3] ?? "")) {
          return Promise.reject(new CommandError(this.name, 1, `storage: could not ${step.say}`));
        }
      } else if ("argv" in step && step.argv[0] === "rm") this.files.delete(step.argv.at(-1) ?? "");
      else return Promise.reject(new CommandError(this.name, 127, `unknown: ${stepLine(step)}`));
    }
    return Promise.resolve();
  }

  interrupt(): void {}
}

const noteInputs = z.strictObject({
  host: hostAddress,
  path: z.string().startsWith("/").meta({ change: "replace" }),
  text: z.string(),
  keep: z.boolean().optional().meta({ unseen: true }),
  password: z.string().optional().meta({ secret: true }),
  kind: z.enum(["plain", "fancy"]).optional().meta({ change: "replace" }),
});
export type NoteInputs = z.infer<typeof noteInputs>;
type NoteObserved = { text: string | undefined };

/** A file with a text: the smallest resource type. */
export const note: ResourceType<NoteInputs, NoteObserved> = {
  type: "test:Note",
  inputs: noteInputs,
  identity: (inputs) => inputs.path,
  async observe(host: Questions, inputs): Promise<NoteObserved> {
    const answer = await host.ask(["cat", inputs.path]);
    if (answer.status !== 0 && answer.stderr.includes("No such file")) return { text: undefined };
    return { text: expect(host, answer, inputs.path) };
  },
  named: (host, path) => (path.startsWith("/") ? { host, path, text: "" } : undefined),
  found: (observed, named) => ({ ...named, text: observed.text ?? "" }),
  gone: () => ({ text: undefined }),
  hints: (desired) => (desired.text === "dull" ? ["it says little."] : []),
  exists: (observed) => observed.text !== undefined,
  current: (observed, inputs) => (observed.text === undefined ? inputs : { ...inputs, text: observed.text }),
  plan(desired, observed, inputs) {
    if (desired?.text === observed.text) return [];
    if (desired === undefined)
      return [{ say: "remove it", argv: ["rm", "-f", inputs.path], effect: "data loss" }];
    return [{ say: "write it", file: inputs.path, text: desired.text }];
  },
  refusals(desired, observed) {
    if (desired === undefined) return observed.text === "in use" ? ["it is in use: free it first."] : [];
    return desired.text === "forbidden" ? ["its text is forbidden: write another."] : [];
  },
  refusesReplace: (inputs) => (inputs.keep ? "keep is set: take it off first." : undefined),
  rules: (inputs) =>
    inputs.text.length > 20 ? [["text", `at most 20 characters, not ${inputs.text.length}`]] : [],
  outputs: (inputs, observed) => ({ length: (observed?.text ?? inputs.text).length }),
};

export const record = "/var/lib/storage-lab/owned/test%3ANote%20%2Fa";
/** The steps that mark a note as this stack's. */
export const marks = [`test '!' -s ${record}`, `write ${record}`];
export const inputs: NoteInputs = { host: { name: "storage", ssh: "storage" }, path: "/a", text: "one" };

export function lab() {
  const host = new FileHost();
  const said: string[] = [];
  const context: Context = {
    owner: "lab/one",
    urn: "urn:pulumi:one::lab::storagelab:test:Note::first",
    report: (severity, message) => said.push(`${severity}: ${message}`),
  };
  const notes: PlanNote[] = [];
  const noting: Context = { ...context, note: (plan) => notes.push(plan) };
  return { host, said, context, noting, notes, lifecycle: new Lifecycle(() => host) };
}
