import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ParseError } from "../../../../provider/errors.ts";
import {
  parseHolds,
  type SnapshotInputs,
  snapshot as type,
} from "../../../../provider/resources/zfs/snapshot.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";
import { SimulatedZfs } from "../../simulated/zfs.ts";

const owner = "a/b";
const host = { name: "storage", ssh: "storage" };
const inputs: SnapshotInputs = { host, name: "tank/v@a", holds: ["keep"], onDelete: "destroy" };
const get = "zfs get -Hp -o property,value,source all tank/v@a";
const holds = "zfs holds -Hp tank/v@a";
const there: Record<string, Told> = {
  [get]: recorded("zfs-get--snapshot--zfs-2.3.9"),
  [holds]: recorded("zfs-holds--one--zfs-2.3.9").replaceAll("@b", "@a"),
};
const unused: Record<string, Told> = {
  ...there,
  [get]: recorded("zfs-get--snapshot--zfs-2.3.9").replace(/^clones.*\n/m, ""),
};
const gone = { status: 1, stderr: "cannot open 'tank/v@a': dataset does not exist\n" };
const absent: Record<string, Told> = { [get]: gone, [holds]: gone };
const plan = async (
  desired: SnapshotInputs | undefined,
  told: Record<string, Told>,
  last = desired ?? inputs,
) => type.plan(desired, await type.observe(fakeHost(told), last), last, owner).map(stepLine);
const refusals = async (
  desired: SnapshotInputs | undefined,
  told: Record<string, Told>,
  last = desired ?? inputs,
) => type.refusals?.(desired, await type.observe(fakeHost(told), last), last, owner) ?? [];

describe("a snapshot", () => {
  test("is taken once: one that is there is never taken again", async () => {
    assert.deepEqual(await plan(inputs, absent), [
      "zfs snapshot -o org.storage-lab:on-delete=destroy -o org.storage-lab:owner=a/b tank/v@a",
      "zfs hold keep tank/v@a",
    ]);
    assert.deepEqual(await plan(inputs, there), []);
    assert.deepEqual(await plan({ ...inputs, holds: ["keep", "backup"] }, there), [
      "zfs hold backup tank/v@a",
    ]);
  });

  test("is destroyed after its own holds; those of others and clones refuse it by name", async () => {
    assert.deepEqual(await refusals(undefined, unused), []);
    assert.deepEqual(await plan(undefined, unused), ["zfs release keep tank/v@a", "zfs destroy tank/v@a"]);
    assert.deepEqual(await refusals(undefined, there), [
      "Snapshot tank/v@a has clones (tank/c), which stand on it. Destroy them first, or let one take its place: zfs promote tank/c",
    ]);
    assert.match(
      (await refusals(undefined, unused, { ...inputs, holds: [] }))[0] ?? "",
      /is held .*zfs release TAG/,
    );
    const retained: SnapshotInputs = { ...inputs, onDelete: "retain" };
    assert.deepEqual(
      [await plan(undefined, there, retained), await refusals(undefined, there, retained)],
      [[], []],
    );
    const steps: Step[] = type.plan(undefined, await type.observe(fakeHost(unused), inputs), inputs, owner);
    assert.equal(steps.at(-1)?.effect, "data loss");
  });

  test("taken of all below at one moment goes with all of that moment, and no others of its name", async () => {
    const zfs = new SimulatedZfs();
    const run = (...argv: string[]): void => zfs.apply([{ say: "", argv: ["zfs", ...argv] }]);
    run("create", "tank/apps");
    run("create", "tank/apps/one");
    const all: SnapshotInputs = { host, name: "tank/apps@s", recursive: true, onDelete: "destroy" };
    zfs.apply(type.plan(all, await type.observe(zfs, all), all, owner));
    run("create", "tank/apps/later");
    run("snapshot", "tank/apps/later@s");
    assert.deepEqual(type.hints?.(all, await type.observe(zfs, all)), []);
    assert.deepEqual(type.plan(undefined, await type.observe(zfs, all), all, owner).map(stepLine), [
      "zfs destroy tank/apps/one@s",
      "zfs destroy tank/apps@s",
    ]);
    zfs.things.delete("tank/apps/one@s");
    assert.deepEqual(type.hints?.(all, await type.observe(zfs, all)), [
      "tank/apps@s has no snapshot of tank/apps/one, which was there when it was taken. It is not taken again: declare another name for that.",
    ]);
  });

  test("is found by its name, holds included", async () => {
    const named = type.named?.(host, "tank/v@a");
    assert.ok(named);
    const found = type.found?.(await type.observe(fakeHost(there), named), named);
    assert.deepEqual(found, inputs);
    assert.equal(type.owner?.(await type.observe(fakeHost(there), named), owner), "a/b");
    for (const wrong of ["tank", "tank/v", "tank@a@b", "@a", "tank@", "tank/$(x)@a", "tank@a b"])
      assert.equal(type.named?.(host, wrong), undefined, wrong);
    assert.ok(type.named?.(host, "tank@a"));
  });

  test("a line of its holds that is none is quoted", () => {
    assert.throws(() => parseHolds("tank/v@b\tkeep\t1\n", "tank/v@a"), ParseError);
    assert.throws(() => parseHolds("nonsense\n", "tank/v@a"), /"nonsense"/);
  });
});
