import type { z } from "zod";
import { CommandError } from "./errors.ts";
import type { Answer, HostAddress, Questions } from "./host.ts";
import type { Step } from "./step.ts";

/** What every resource's inputs hold: the host that it lives on. */
export type OnHost = { host: HostAddress };

/**
 * A resource type: data plus pure functions, and `observe`, which only reads.
 * There is no create path beside an update path: the lifecycle observes, plans, applies the steps in one round
 * trip, observes again, and takes a second plan that is not empty for an error.
 */
export interface ResourceType<I extends OnHost, O> {
  /** `zfs:Volume`; the Pulumi token is `storagelab:zfs:Volume`. */
  readonly type: string;
  /**
   * The inputs' schema: strict, each field described with unit, default and source. A field whose change needs a
   * new object says `.meta({ change: "replace" })`; a secret one `.meta({ secret: true })`; one that `current` can't
   * read back from the host, because it says what may be done and not what is (onDelete), `.meta({ unseen: true })`.
   * A field that is left out of the stack file is left alone on the host: no defaults here.
   */
  readonly inputs: z.ZodType<I>;
  /** What names the object on its host, for ids and messages: `tank/lun0`. */
  identity(inputs: I): string;
  /** What is there now. Only a tool's own known word for absence may count as absent; unreachable throws. */
  observe(host: Questions, inputs: I): Promise<O>;
  /** Is the object there? */
  exists(observed: O): boolean;
  /**
   * The mark of the stack that made the object, where the object itself carries one (a ZFS user property);
   * types without it are marked by a record on the host, which the lifecycle keeps. A mark that can be checked
   * but not read back (a UUID made from the owner) is checked against `asking`, the stack that asks.
   */
  owner?(observed: O, asking: string): string | undefined;
  /** The inputs as they hold on the host now, in the spelling of `inputs` wherever that means the same. Pure. */
  current(observed: O, inputs: I): I;
  /**
   * The steps from `observed` to `desired`, or towards nothing where `desired` is undefined. Pure; empty when
   * there is nothing to do. `inputs` are the last known inputs (for a delete the only ones).
   */
  plan(desired: I | undefined, observed: O, inputs: I, owner: string): Step[];
  /** What forbids that plan (never a partial refusal): each a whole sentence with the way out. Pure. */
  refusals?(desired: I | undefined, observed: O, inputs: I, owner: string): string[];
  /** What an operator should know before this is made so although nothing forbids it, a sentence each. Pure. */
  hints?(desired: I, observed: O): string[];
  /** Why this object may not be replaced (its data would be lost); undefined = it may. Pure. */
  refusesReplace?(inputs: I, observed?: O): string | undefined;
  /** What would be observed once this object has been deleted as its inputs say: what its successor is planned on. Pure. */
  gone?(observed: O, inputs: I): O;
  /** Rules over several fields, or on a spelling, that the schema can't say: [key, sentence]. Pure, no host. */
  rules?(inputs: I): [key: string, sentence: string][];
  /**
   * The least inputs by which `observe` finds the object of this identity on this host; undefined where nothing is
   * named so. The identity is what `identity` gives. For `pulumi import`.
   */
  named(host: HostAddress, identity: string): I | undefined;
  /** All that the host tells of an object that `named` found, as inputs that hold there now: no plan. Pure. */
  found(observed: O, named: I): I;
  /** Outputs that are known from the inputs alone (shown in previews) and, once made, from what was observed. */
  outputs(inputs: I, observed: O | undefined): Record<string, unknown>;
  /** Touches nothing that another plan on this host could touch: runs beside others, without the host's lock. */
  readonly sideBySide?: true;
}

/** The answer's stdout, or a CommandError that says what could not be read and what the program said. */
export function expect(host: Questions, answer: Answer, what: string): string {
  if (answer.status === 0) return answer.stdout;
  const said = answer.stderr.trim() || answer.stdout.trim() || "nothing";
  throw new CommandError(
    host.name,
    answer.status,
    `${host.name}: could not read ${what}: ${answer.argv.join(" ")} ended with ${answer.status} and said: ${said}`,
  );
}
