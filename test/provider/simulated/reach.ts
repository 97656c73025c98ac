import assert from "node:assert/strict";
import type { OnHost, ResourceType } from "../../../provider/resource.ts";
import type { SimulatedHost } from "./tree.ts";

/** What holds for every resource type on every host, whatever was there before. */

export const owner = "lab/test";

/**
 * Go towards `desired`; where the run stops after `cut` steps, the next one goes on. Then nothing is left to do, what is
 * there reads as declared, and what an import finds needs nothing either. False where it was refused.
 */
export async function reach<I extends OnHost, O>(
  type: ResourceType<I, O>,
  host: SimulatedHost,
  desired: I,
  cut: number,
  imports = true,
): Promise<boolean> {
  const observe = () => type.observe(host, desired);
  assert.deepEqual(type.rules?.(desired) ?? [], []);
  const before = await observe();
  if ((type.refusals?.(desired, before, desired, owner) ?? []).length > 0) return false;
  host.apply(type.plan(desired, before, desired, owner), cut);
  host.apply(type.plan(desired, await observe(), desired, owner));
  const after = await observe();
  assert.deepEqual(type.plan(desired, after, desired, owner), [], "nothing more to do");
  assert.deepEqual(type.refusals?.(desired, after, desired, owner) ?? [], []);
  assert.equal(type.exists(after), true);
  assert.deepEqual(type.current(after, desired), desired);
  if (imports) await importsWithoutChange(type, host, type.identity(desired));
  return true;
}

export async function importsWithoutChange<I extends OnHost, O>(
  type: ResourceType<I, O>,
  host: SimulatedHost,
  identity: string,
): Promise<I> {
  const least = type.named?.({ name: host.name, ssh: host.name }, identity) as I;
  const found = type.found?.(await type.observe(host, least), least) as I;
  assert.equal(type.identity(found), identity);
  assert.deepEqual(type.rules?.(found) ?? [], []);
  const seen = await type.observe(host, found);
  assert.deepEqual(type.plan(found, seen, found, owner), [], "nothing to do after an import");
  assert.deepEqual(type.current(seen, found), found);
  return found;
}

/** Go towards nothing, likewise. False where it was refused. */
export async function remove<I extends OnHost, O>(
  type: ResourceType<I, O>,
  host: SimulatedHost,
  known: I,
  cut: number,
): Promise<boolean> {
  const observe = () => type.observe(host, known);
  const before = await observe();
  if ((type.refusals?.(undefined, before, known, owner) ?? []).length > 0) return false;
  host.apply(type.plan(undefined, before, known, owner), cut);
  host.apply(type.plan(undefined, await observe(), known, owner));
  const after = await observe();
  assert.deepEqual(type.plan(undefined, after, known, owner), []);
  assert.equal(type.exists(after), false);
  const gone = type.gone?.(before, known) as O;
  const [foretold, planned] = [gone, after].map((seen) => type.plan(known, seen, known, owner));
  assert.deepEqual(foretold, planned, "what a successor's preview shows is what up does");
  return true;
}

/** A state that survives: there is nothing to do. */
export async function stands<I extends OnHost, O>(
  type: ResourceType<I, O>,
  host: SimulatedHost,
  inputs: I,
): Promise<void> {
  assert.deepEqual(type.plan(inputs, await type.observe(host, inputs), inputs, owner), []);
}
