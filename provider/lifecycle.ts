import type { z } from "zod";
import { explain, ParseError, RefusedError, TransportError } from "./errors.ts";
import { type Connection, Host, type HostAddress } from "./host.ts";
import { claim, isMachineStopped, recordedOwner, release } from "./ownership.ts";
import type { OnHost, ResourceType } from "./resource.ts";
import { type Step, stepLine } from "./step.ts";
import { type Change, differences, join, type Plain, topLevel } from "./values.ts";

/**
 * What happens to every resource, whatever its type: check → diff → create, update, read, delete.
 * Nothing here knows the wire, and nothing here knows a resource type.
 */

// biome-ignore lint/suspicious/noExplicitAny: each type keeps its own inputs and observations; the registry holds them all.
export type AnyType = ResourceType<any, any>;
type Inputs = OnHost & Plain;

/** What the engine is told beside the answer: `status` lines are replaced by the next one. */
export type Report = (severity: "info" | "warning" | "status", message: string) => void;

/** Settings for the whole provider, from the stack's configuration: `storagelab:readOnly: true`. */
export const providerSettings = {
  showCommands: "Previews list the commands that up would run.",
  readOnly: "Nothing is changed on any host.",
  destroyProtection: "Nothing is deleted or replaced.",
} as const;
export type ProviderSettings = { [K in keyof typeof providerSettings]: boolean };

export type Context = {
  /** `project/stack`: the mark of what this stack makes. */
  readonly owner: string;
  readonly report: Report;
};

/** The object was begun but is not in the declared state; the engine keeps it and tries again. */
export class Unfinished extends Error {
  readonly id: string;
  readonly outputs: Plain;
  /** Property paths of `outputs` that are secret. */
  secrets: readonly string[] = [];
  constructor(id: string, outputs: Plain, cause: unknown) {
    // The engine shows this message alone, so the whole chain of causes is in it.
    super(explain(cause));
    this.id = id;
    this.outputs = outputs;
  }
}

/** What is there, and whose mark it carries. */
type Found = { observed: unknown; owner: string | undefined };

/** How long a host that did not answer is left in peace: more than a preview, less than a virtual machine's boot. */
const forgetAfter = 10_000;

export type Diff = {
  changes: (Change & { replace: boolean })[];
  /** The object differs on the host although the inputs are the same. */
  drifted: boolean;
};

export class Lifecycle {
  settings: ProviderSettings = { showCommands: false, readOnly: false, destroyProtection: false };
  readonly #hosts = new Map<string, Connection>();
  readonly #connect: (address: HostAddress) => Connection;
  /** Hosts that did not answer, and when: said once, and not waited for again by every resource of a preview. */
  readonly #unreachable = new Map<string, number>();

  constructor(connect = (address: HostAddress): Connection => new Host(address)) {
    this.#connect = connect;
  }

  #host(address: HostAddress): Connection {
    const key = JSON.stringify(address);
    let host = this.#hosts.get(key);
    if (host === undefined) {
      host = this.#connect(address);
      this.#hosts.set(key, host);
    }
    return host;
  }

  /** Stop what runs on hosts where it is: after the step under way. The next run goes on from there. */
  interrupt(): void {
    for (const host of this.#hosts.values()) host.interrupt();
  }

  /** What is wrong with these inputs: [property path, sentence]. Fields that are not known yet pass. */
  check(type: AnyType, inputs: Plain, unknowns: readonly string[]): [path: string, reason: string][] {
    const parsed = type.inputs.safeParse(inputs);
    if (!parsed.success) {
      return parsed.error.issues
        .map((issue): [string, string] => [issuePath(issue.path), sentence(issue, inputs)])
        .filter(([path]) => !unknowns.some((unknown) => related(unknown, path)));
    }
    return unknowns.length > 0 ? [] : (type.rules?.(inputs) ?? []);
  }

  async diff(
    type: AnyType,
    before: Inputs,
    after: Inputs,
    unknowns: readonly string[],
    context: Context,
  ): Promise<Diff> {
    // A value that is not known yet comes from an object that is being replaced: this one stands on it and goes first.
    const changes = [
      ...differences(before, after)
        .filter(({ path }) => !unknowns.some((unknown) => related(path, unknown)))
        .map((change) => ({ ...change, replace: replaces(type, change.path) })),
      ...unknowns.map((path) => ({ path, kind: "update" as const, replace: true })),
    ];
    if (changes.some((change) => change.replace)) {
      const refusal = type.refusesReplace?.(before);
      if (refusal !== undefined) {
        const what = changes
          .filter((change) => change.replace)
          .map(
            (change) => `${change.path}: ${show(at(before, change.path))} → ${show(at(after, change.path))}`,
          );
        throw new RefusedError(`${named(type, before)} can't be replaced (${what.join(", ")}). ${refusal}`);
      }
      if (this.settings.destroyProtection) throw protectedFrom(type, before, "replaced", "destroyProtection");
      return { changes, drifted: false };
    }
    if (unknowns.length > 0) return { changes, drifted: false };
    let observed: unknown;
    try {
      const found = await this.#ifReachable(type, after, context);
      if (found === undefined) return { changes, drifted: false };
      observed = found.observed;
      this.#refuse(type, after, observed, context, after);
    } catch (error) {
      // What it stands on may be set right first, by this same up; if it is not, its update says so as an error.
      if (changes.length > 0 || error instanceof ParseError) throw error;
      context.report("warning", explain(error));
      return { changes, drifted: true };
    }
    const steps: Step[] = type.plan(after, observed, after, context.owner);
    this.#preview(type, after, steps, context);
    if (steps.length > 0 && changes.length === 0) reportDrift(type, after, observed, steps, context);
    return { changes, drifted: steps.length > 0 && changes.length === 0 };
  }

  /** What a create would give, as far as it can be known; refuses what can be refused by reading. */
  async previewCreate(type: AnyType, inputs: Inputs, context: Context): Promise<Plain> {
    const found = await this.#ifReachable(type, inputs, context);
    if (found !== undefined) {
      if (type.exists(found.observed)) mayTouch(type, inputs, found.owner, "create", context);
      this.#refuse(type, inputs, found.observed, context, inputs);
      const steps = type.plan(inputs, found.observed, inputs, context.owner);
      this.#preview(type, inputs, [...mark(type, inputs, found.owner, context), ...steps], context);
    }
    return { ...inputs, ...type.outputs(inputs, undefined) };
  }

  async create(type: AnyType, inputs: Inputs, context: Context): Promise<{ id: string; outputs: Plain }> {
    return { id: identifier(type, inputs), outputs: await this.#ensure(type, inputs, "create", context) };
  }

  previewUpdate(type: AnyType, inputs: Inputs): Plain {
    return { ...inputs, ...type.outputs(inputs, undefined) };
  }

  async update(type: AnyType, inputs: Inputs, context: Context): Promise<Plain> {
    return this.#ensure(type, inputs, "update", context);
  }

  /** The real state in the spelling of the known inputs; undefined when the object is not there. */
  async read(type: AnyType, inputs: Inputs): Promise<{ inputs: Inputs; outputs: Plain } | undefined> {
    const host = this.#host(inputs.host);
    const observed = await type.observe(host, inputs);
    if (!type.exists(observed)) return undefined;
    const current = type.current(observed, inputs);
    return { inputs: current, outputs: { ...current, ...type.outputs(current, observed) } };
  }

  async delete(type: AnyType, inputs: Inputs, context: Context): Promise<void> {
    const host = this.#host(inputs.host);
    let found: Found;
    try {
      found = await this.#look(type, inputs, context);
    } catch (error) {
      if (!(error instanceof TransportError) || !(await isMachineStopped(inputs.host))) throw error;
      context.report(
        "info",
        `${named(type, inputs)}: its virtual machine is stopped; it goes with the machine's disks`,
      );
      return;
    }
    const { observed, owner } = found;
    if (type.exists(observed)) mayTouch(type, inputs, owner, "delete", context);
    this.#refuse(type, inputs, observed, context);
    const steps = type.plan(undefined, observed, inputs, context.owner);
    for (const setting of ["readOnly", "destroyProtection"] as const) {
      if (this.settings[setting] && steps.length > 0) throw protectedFrom(type, inputs, "deleted", setting);
    }
    await host.apply(
      [...steps, ...(type.owner ? [] : release(type.type, type.identity(inputs)))],
      this.#options(type, context),
    );
    if (steps.length === 0) return;
    const rest: Step[] = type.plan(undefined, await type.observe(host, inputs), inputs, context.owner);
    if (rest.length > 0) throw unfinished(type, inputs, rest);
  }

  /** Observe, plan, apply, observe again; a second plan that is not empty is an error. */
  async #ensure(type: AnyType, inputs: Inputs, how: "create" | "update", context: Context): Promise<Plain> {
    const host = this.#host(inputs.host);
    const { observed, owner } = await this.#look(type, inputs, context);
    if (type.exists(observed)) mayTouch(type, inputs, owner, how, context);
    this.#refuse(type, inputs, observed, context, inputs);
    const steps: Step[] = type.plan(inputs, observed, inputs, context.owner);
    if (this.settings.readOnly && steps.length > 0) throw protectedFrom(type, inputs, "changed", "readOnly");
    try {
      await host.apply([...mark(type, inputs, owner, context), ...steps], this.#options(type, context));
      const after = steps.length === 0 ? observed : await type.observe(host, inputs);
      const rest: Step[] = steps.length === 0 ? [] : type.plan(inputs, after, inputs, context.owner);
      if (rest.length > 0) throw unfinished(type, inputs, rest);
      return { ...inputs, ...type.outputs(inputs, after) };
    } catch (error) {
      throw new Unfinished(
        identifier(type, inputs),
        { ...inputs, ...type.outputs(inputs, undefined) },
        error,
      );
    }
  }

  /** What a preview says of a plan: its commands where they are asked for; that it is forbidden where it is. */
  #preview(type: AnyType, inputs: Inputs, steps: readonly Step[], context: Context): void {
    if (steps.length === 0) return;
    if (this.settings.readOnly) throw protectedFrom(type, inputs, "changed", "readOnly");
    if (!this.settings.showCommands) return;
    const lines = steps.map((step) => `\n  ${stepLine(step)}`).join("");
    context.report("info", `${named(type, inputs)}: up runs on ${inputs.host.name}:${lines}`);
  }

  /** What is there, and whose it is, in one round trip. */
  async #look(type: AnyType, inputs: Inputs, context: Context): Promise<Found> {
    const host = this.#host(inputs.host);
    if (type.owner) {
      const observed = await type.observe(host, inputs);
      return { observed, owner: type.owner(observed, context.owner) };
    }
    const record = recordedOwner(host, type.type, type.identity(inputs));
    const [observed, owner] = await Promise.all([type.observe(host, inputs), record]);
    return { observed, owner };
  }

  #refuse(type: AnyType, inputs: Inputs, observed: unknown, context: Context, desired?: Inputs): void {
    const refusals = type.refusals?.(desired, observed, inputs, context.owner) ?? [];
    if (refusals.length > 0) throw new RefusedError(`${named(type, inputs)}: ${refusals.join("\n  ")}`);
  }

  /** What is there now, or undefined where the host can't be asked: said once a host, never taken for absence. */
  async #ifReachable(type: AnyType, inputs: Inputs, context: Context): Promise<Found | undefined> {
    const { name } = inputs.host;
    const failed = this.#unreachable.get(name);
    if (failed !== undefined && Date.now() - failed < forgetAfter) return undefined;
    try {
      return await this.#look(type, inputs, context);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const told = this.#unreachable.has(name);
      this.#unreachable.set(name, Date.now());
      if (told) return undefined;
      if (await isMachineStopped(inputs.host)) {
        context.report(
          "info",
          `${name}: its virtual machine does not run yet; what will be on it is planned without looking`,
        );
      } else {
        context.report("warning", `${error.message}\n  What is on ${name} is planned without looking.`);
      }
      return undefined;
    }
  }

  #options(type: AnyType, context: Context) {
    return {
      holder: context.owner,
      onStep: (step: Step) => context.report("status", step.say),
      ...(type.sideBySide ? { sideBySide: true } : {}),
    };
  }
}

/** The steps that put our mark on, where the object has no room for one. */
function mark(type: AnyType, inputs: Inputs, owner: string | undefined, context: Context): Step[] {
  if (type.owner || owner === context.owner) return [];
  return claim(type.type, type.identity(inputs), context.owner);
}

const protectedFrom = (
  type: AnyType,
  inputs: Inputs,
  what: string,
  setting: keyof ProviderSettings,
): RefusedError =>
  new RefusedError(
    `${named(type, inputs)} can't be ${what}: ${setting} is set. ${providerSettings[setting]} ` +
      `Allow it with: pulumi config set storagelab:${setting} false`,
  );

/** Refuses what another stack, or nobody of ours, has made. */
function mayTouch(
  type: AnyType,
  inputs: Inputs,
  owner: string | undefined,
  how: "create" | "update" | "delete",
  context: Context,
): void {
  if (owner === context.owner || (owner === undefined && how !== "create")) return;
  const whose = owner === undefined ? "this stack did not make it" : `stack ${owner} made it`;
  const out =
    how === "create"
      ? "Choose another name, or take it away by hand."
      : `Forget it here with: pulumi state delete URN — or change it from stack ${owner}.`;
  throw new RefusedError(
    `${named(type, inputs)} is there already and ${whose} (this is ${context.owner}). Nothing was touched. ${out}`,
  );
}

const identifier = (type: AnyType, inputs: Inputs): string => `${inputs.host.name}/${type.identity(inputs)}`;

const named = (type: AnyType, inputs: Inputs): string =>
  `${inputs.host.name}: ${type.type.split(":").at(-1)} ${type.identity(inputs)}`;

function unfinished(type: AnyType, inputs: Inputs, rest: readonly Step[]): Error {
  const lines = rest.map((step) => `\n  ${stepLine(step)}`).join("");
  return new Error(
    `${named(type, inputs)} is not as declared after its plan was applied; still to do:${lines}`,
  );
}

function reportDrift(
  type: AnyType,
  inputs: Inputs,
  observed: unknown,
  steps: readonly Step[],
  context: Context,
): void {
  const does = steps.map((step) => step.say).join(", ");
  if (!type.exists(observed)) {
    context.report("warning", `${named(type, inputs)} is not there. To do: ${does}`);
    return;
  }
  const current = type.current(observed, inputs);
  const values = differences(current, inputs).map(
    ({ path }) => `${path} is ${show(at(current, path))}, declared ${show(at(inputs, path))}`,
  );
  const differs = values.length > 0 ? `: ${values.join("; ")}` : "";
  context.report("warning", `${named(type, inputs)} is not as declared${differs}. To do: ${does}`);
}

/** Does a change of this property need a new object? The schema says so, field by field. */
function replaces(type: AnyType, path: string): boolean {
  const key = topLevel(path);
  // Another way to the same host is no other host.
  if (key === "host") return path === "host.name";
  const shape = (type.inputs as unknown as z.ZodObject).shape as Record<string, z.ZodType | undefined>;
  return shape[key]?.meta()?.change === "replace";
}

const related = (a: string, b: string): boolean => a === b || under(a, b) || under(b, a);
const under = (a: string, b: string): boolean => a.startsWith(`${b}.`) || a.startsWith(`${b}[`);

const issuePath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (joined, key) => (typeof key === "number" ? `${joined}[${key}]` : join(joined, String(key))),
    "",
  );

function sentence(issue: { message: string; path: readonly PropertyKey[] }, inputs: Plain): string {
  const value = issue.path.reduce<unknown>((v, key) => (v as Plain | undefined)?.[key as string], inputs);
  return value === undefined || typeof value === "object"
    ? issue.message
    : `${issue.message} (given: ${show(value)})`;
}

function at(value: unknown, path: string): unknown {
  const keys = path.match(/[^.[\]"]+/g) ?? [];
  return keys.reduce<unknown>((v, key) => (v as Plain | undefined)?.[key], value);
}

const show = (value: unknown): string =>
  value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
