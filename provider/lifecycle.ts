import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { AnyType, Context, Inputs, ProviderSettings } from "./context.ts";
import { explain, ParseError, RefusedError, TransportError } from "./errors.ts";
import { type Connection, Host, type HostAddress } from "./host.ts";
import { isMachineStopped, mark, mayTouch, recordedOwner, unmark } from "./ownership.ts";
import { noting, protectedFrom, reportDrift, tell, valuesOf } from "./preview.ts";
import { type Step, stepLine } from "./step.ts";
import { type Change, differences, type Plain, related, topLevel } from "./values.ts";
import { fieldMeta, identifier, issuePath, kind, named, secretPaths, sentence } from "./wording.ts";

/**
 * What happens to every resource, whatever its type: check → diff → create, update, read, delete.
 * Nothing here knows the wire, and nothing here knows a resource type.
 */

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

type Changes = (Change & { replace: boolean })[];
/** How long an up waits for a host that refuses connections because it is just starting, in milliseconds. */
const startDeadline = 120_000;

export type Diff = {
  changes: Changes;
  /** The object differs on the host although the inputs are the same. */
  drifted: boolean;
};

export class Lifecycle {
  settings: ProviderSettings = { showCommands: false, readOnly: false, destroyProtection: false };
  readonly #hosts = new Map<string, Connection>();
  readonly #connect: (address: HostAddress) => Connection;
  /** Hosts that did not answer, and when: said once, and not waited for again by every resource of a preview. */
  readonly #unreachable = new Map<string, number>();
  /** Objects whose replacement a diff has planned, with their inputs: what a look finds of them goes first. */
  readonly #replaced = new Map<string, Inputs>();

  readonly #patience: number;

  constructor(connect = (address: HostAddress): Connection => new Host(address), patience = startDeadline) {
    this.#connect = connect;
    this.#patience = patience;
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
  check(
    type: AnyType,
    inputs: Plain,
    unknowns: readonly string[],
    secrets: readonly string[] = [],
  ): [path: string, reason: string][] {
    const parsed = type.inputs.safeParse(inputs);
    if (!parsed.success) {
      return parsed.error.issues
        .map((issue): [string, string] => [issuePath(issue.path), sentence(type, issue, inputs, secrets)])
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
    const changes: Changes = [
      ...differences(before, after)
        .filter(({ path }) => !unknowns.some((unknown) => related(path, unknown)))
        .map((change) => ({ ...change, replace: replaces(type, change.path) })),
      ...unknowns.map((path) => ({ path, kind: "update" as const, replace: true })),
    ];
    const replaced = changes.some(({ replace }) => replace);
    const does = replaced ? "replace" : changes.length > 0 ? "update" : "set right";
    const planned = () => ({ does, values: valuesOf(type, changes, before, after, context) }) as const;
    return noting(type, after, context, planned, { changes, drifted: false }, () =>
      this.#diff(type, before, after, unknowns, changes, context),
    );
  }

  async #diff(
    type: AnyType,
    before: Inputs,
    after: Inputs,
    unknowns: readonly string[],
    given: Changes,
    context: Context,
  ): Promise<Diff> {
    const same = unknowns.length === 0 && identifier(type, before) === identifier(type, after);
    let found: Found | undefined;
    let changes = given;
    try {
      if (same) found = await this.#ifReachable(type, after, context);
    } catch (error) {
      // What it stands on may be set right first, by this same up; if it is not, its update says so as an error.
      const replaced = changes.some(({ replace }) => replace);
      if ((changes.length > 0 && !replaced) || error instanceof ParseError) throw error;
      if (!replaced) {
        context.report("warning", explain(error));
        return { changes, drifted: true };
      }
    }
    if (found !== undefined && type.exists(found.observed)) {
      const current = type.current(found.observed, after);
      changes = changes.filter(({ path }) => !holds(type, current, after, path));
    }
    if (changes.some(({ replace }) => replace)) {
      await this.#previewReplace(type, before, after, changes, context);
      return { changes, drifted: false };
    }
    if (found === undefined) return { changes, drifted: false };
    const { observed, owner } = found;
    try {
      this.#refuse(type, after, observed, context, after);
    } catch (error) {
      if (changes.length > 0) throw error;
      context.report("warning", explain(error));
      return { changes, drifted: true };
    }
    const steps: Step[] = type.plan(after, observed, after, context.owner);
    const drifted = steps.length > 0 && changes.length === 0;
    if (steps.length === 0) return { changes, drifted };
    const current = type.exists(observed) ? type.current(observed, after) : undefined;
    const values = drifted
      ? valuesOf(type, differences(current ?? {}, after), current ?? {}, after, context)
      : valuesOf(type, changes, before, after, context);
    if (drifted) reportDrift(type, after, current !== undefined, values, steps, context);
    tell(type, after, context, this.settings, {
      does: drifted ? "set right" : "update",
      values,
      steps: [...mark(type, after, owner, context), ...steps],
      hints: type.hints?.(after, observed) ?? [],
    });
    return { changes, drifted };
  }

  /** Of a replace, why it is refused and what its delete does; its successor's own preview tells of the rest. */
  async #previewReplace(
    type: AnyType,
    before: Inputs,
    after: Inputs,
    changes: Changes,
    context: Context,
  ): Promise<void> {
    const found = await this.#ifReachable(type, before, context).catch(() => undefined);
    const there = found !== undefined && type.exists(found.observed) ? found : undefined;
    const refusal = type.refusesReplace?.(before, there?.observed);
    const values = valuesOf(type, changes, before, after, context);
    if (refusal !== undefined) {
      const what = values
        .filter(({ path }) => changes.some((change) => change.replace && change.path === path))
        .map(({ path, before: from, after: to }) => `${path}: ${from} → ${to}`);
      throw new RefusedError(`${named(type, before)} can't be replaced (${what.join(", ")}). ${refusal}`);
    }
    for (const setting of ["readOnly", "destroyProtection"] as const) {
      if (this.settings[setting]) throw protectedFrom(type, before, "replaced", setting);
    }
    this.#replaced.set(identifier(type, before), before);
    if (there === undefined) return;
    const steps = [...type.plan(undefined, there.observed, before, context.owner), ...unmark(type, before)];
    tell(type, before, context, this.settings, { does: "replace", values, steps, hints: [] });
  }

  /** What a create would give, as far as it can be known; refuses what can be refused by reading. */
  async previewCreate(type: AnyType, inputs: Inputs, context: Context): Promise<Plain> {
    const outputs = { ...inputs, ...type.outputs(inputs, undefined) };
    const planned = { does: "create" as const, values: [] };
    return noting(
      type,
      inputs,
      context,
      () => planned,
      outputs,
      async () => {
        const before = this.#replaced.get(identifier(type, inputs));
        const found = await this.#ifReachable(type, inputs, context);
        // What it stands on may be replaced with it: where its type can't tell, its plan is known once it is gone.
        if (found === undefined || (before !== undefined && type.gone === undefined)) return outputs;
        const observed = before === undefined ? found.observed : type.gone?.(found.observed, before);
        const owner = before === undefined ? found.owner : undefined;
        if (type.exists(observed)) mayTouch(type, inputs, owner, "create", context);
        this.#refuse(type, inputs, observed, context, inputs);
        const steps = [
          ...mark(type, inputs, owner, context),
          ...type.plan(inputs, observed, inputs, context.owner),
        ];
        const hints = type.hints?.(inputs, observed) ?? [];
        tell(type, inputs, context, this.settings, { ...planned, steps, hints });
        return outputs;
      },
    );
  }

  /** What a delete would do, or why it would be refused; for reviews, since the engine asks no provider before it deletes. */
  async previewDelete(type: AnyType, inputs: Inputs, context: Context): Promise<void> {
    const planned = { does: "delete" as const, values: [], hints: [] };
    await noting(
      type,
      inputs,
      context,
      () => planned,
      undefined,
      async () => {
        const found = await this.#ifReachable(type, inputs, context);
        if (found === undefined) return;
        if (type.exists(found.observed)) mayTouch(type, inputs, found.owner, "delete", context);
        this.#refuse(type, inputs, found.observed, context);
        const steps = [
          ...type.plan(undefined, found.observed, inputs, context.owner),
          ...unmark(type, inputs),
        ];
        if (this.settings.destroyProtection)
          throw protectedFrom(type, inputs, "deleted", "destroyProtection");
        tell(type, inputs, context, this.settings, { ...planned, steps });
      },
    );
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

  /**
   * An object that is on its host and in no state, by `HOST/IDENTITY`; undefined where it is not there. Nothing is
   * written: our mark goes on with the next change.
   */
  async import(
    type: AnyType,
    id: string,
    addressOf: (host: string) => HostAddress | Promise<HostAddress>,
    context: Context,
  ): Promise<{ id: string; inputs: Inputs; outputs: Plain; secrets: string[] } | undefined> {
    const [, hostName, identity] = /^([^/]+)\/(.+)$/s.exec(id) ?? [];
    const form = `An import's ID is HOST/NAME, with the host's name in the stack file, such as storage/tank`;
    if (hostName === undefined || identity === undefined)
      throw new RefusedError(`${JSON.stringify(id)} is no ID to import a ${kind(type)} by. ${form}.`);
    const least: Inputs | undefined = type.named(await addressOf(hostName), identity);
    if (least === undefined)
      throw new RefusedError(`${JSON.stringify(identity)} names no ${kind(type)}. ${form}.`);
    const { observed, owner } = await this.#look(type, least, context);
    if (!type.exists(observed)) return undefined;
    if (owner !== undefined && owner !== context.owner) {
      throw new RefusedError(
        `${named(type, least)} is stack ${owner}'s (this is ${context.owner}). Nothing was imported. ` +
          "Forget it there first: pulumi state delete URN, then take its mark off its host (docs/import.md).",
      );
    }
    const inputs: Inputs = type.found(observed, least);
    return {
      id: identifier(type, inputs),
      inputs,
      outputs: { ...inputs, ...type.outputs(inputs, observed) },
      secrets: secretPaths(type.inputs).filter((path) => !path.includes("[]")),
    };
  }

  async delete(type: AnyType, inputs: Inputs, context: Context): Promise<void> {
    const host = this.#host(inputs.host);
    if (this.settings.forget?.includes(inputs.host.name)) {
      context.report("info", `${named(type, inputs)} is forgotten with its host, as storagelab:forget says`);
      return;
    }
    let found: Found;
    try {
      found = await this.#lookPatiently(type, inputs, context);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const { name } = inputs.host;
      if (!(await isMachineStopped(inputs.host))) {
        const out = `If ${name} is gone for good, forget what was on it: pulumi config set storagelab:forget ${name}`;
        throw new TransportError(name, `${named(type, inputs)} can't be deleted now. ${out}`, {
          cause: error,
        });
      }
      context.report(
        "info",
        `${named(type, inputs)}: its virtual machine is stopped; it goes with the machine's disks`,
      );
      return;
    }
    const { observed, owner } = found;
    if (type.exists(observed)) mayTouch(type, inputs, owner, "delete", context);
    this.#refuse(type, inputs, observed, context);
    const steps: Step[] = type.plan(undefined, observed, inputs, context.owner);
    for (const setting of ["readOnly", "destroyProtection"] as const) {
      if (this.settings[setting] && steps.length > 0) throw protectedFrom(type, inputs, "deleted", setting);
    }
    await host.apply([...steps, ...unmark(type, inputs)], this.#options(type, context));
    if (steps.length === 0) return;
    const rest: Step[] = type.plan(undefined, await type.observe(host, inputs), inputs, context.owner);
    if (rest.length > 0) throw unfinished(type, inputs, rest);
  }

  /** Observe, plan, apply, observe again; a second plan that is not empty is an error. */
  async #ensure(type: AnyType, inputs: Inputs, how: "create" | "update", context: Context): Promise<Plain> {
    const host = this.#host(inputs.host);
    const { observed, owner } = await this.#lookPatiently(type, inputs, context);
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

  /** The same for an up: a host that has just been started refuses connections for a while. */
  async #lookPatiently(type: AnyType, inputs: Inputs, context: Context): Promise<Found> {
    const deadline = Date.now() + this.#patience;
    for (let pause = this.#patience / 120; ; pause *= 2) {
      try {
        return await this.#look(type, inputs, context);
      } catch (error) {
        const starting = error instanceof TransportError && error.starting;
        if (!starting || Date.now() + pause > deadline || (await isMachineStopped(inputs.host))) throw error;
        context.report(
          "status",
          `${inputs.host.name} refuses connections; trying again until it has started`,
        );
        await setTimeout(pause);
      }
    }
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

/** Does a change of this property need a new object? The schema says so, field by field. */
function replaces(type: AnyType, path: string): boolean {
  // Another way to the same host is no other host.
  if (topLevel(path) === "host") return path === "host.name";
  return fieldMeta(type, path).change === "replace";
}

/** Does the declared value hold on the host, so that a change of its spelling, or a first mention, changes nothing? */
function holds(type: AnyType, current: Plain, after: Plain, path: string): boolean {
  const key = topLevel(path);
  if (key === "host" || fieldMeta(type, path).unseen === true) return false;
  return isDeepStrictEqual(current[key], after[key]);
}

function unfinished(type: AnyType, inputs: Inputs, rest: readonly Step[]): Error {
  const lines = rest.map((step) => `\n  ${stepLine(step)}`).join("");
  return new Error(
    `${named(type, inputs)} is not as declared after its plan was applied; still to do:${lines}`,
  );
}
