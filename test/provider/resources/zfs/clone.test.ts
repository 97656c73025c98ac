import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CloneInputs, clone as type } from "../../../../provider/resources/zfs/clone.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const owner = "a/b";
const host = { name: "storage", ssh: "storage" };
const inputs: CloneInputs = { host, name: "tank/c", snapshot: "tank/v@a", onDelete: "retain" };
const get = (name: string): string => `zfs get -Hp -o property,value,source all ${name}`;
const list =
  "zfs get -Hp -d 1 -t snapshot -o name,property,value,source createtxg,clones,userrefs,org.storage-lab:owner,org.storage-lab:on-delete tank/c";
const node = "test -b /dev/zvol/tank/c";
const volume = recorded("zfs-get--volume--zfs-2.3.9");
const there: Record<string, Told> = {
  [get("tank/c")]: recorded("zfs-get--volume-clone--zfs-2.3.9"),
  [get("tank/v")]: volume,
  [list]: "",
  [node]: "",
};
const gone = { status: 1, stderr: "cannot open 'tank/c': dataset does not exist\n" };
const absent = { ...there, [get("tank/c")]: gone, [list]: gone, [node]: { status: 1 } };
const ofFiles = { ...absent, [get("tank/v")]: recorded("zfs-get--file-system--zfs-2.3.9") };
const line = (step: Step): string =>
  "argv" in step && step.stdin !== undefined ? step.argv.join(" ") : stepLine(step);
const plan = async (desired: CloneInputs | undefined, told: Record<string, Told>, last = desired ?? inputs) =>
  type.plan(desired, await type.observe(fakeHost(told), last), last, owner).map(line);
const refusals = async (
  desired: CloneInputs | undefined,
  told: Record<string, Told>,
  last = desired ?? inputs,
) => type.refusals?.(desired, await type.observe(fakeHost(told), last), last, owner) ?? [];
const marks = "-o org.storage-lab:on-delete=retain -o org.storage-lab:owner=a/b";

describe("a clone", () => {
  test("of a volume is a volume, of a file system one: with a node or without", async () => {
    assert.deepEqual(await plan(inputs, there), []);
    assert.deepEqual(await plan({ ...inputs, volmode: "dev" }, absent), [
      `zfs clone -o volmode=dev ${marks} tank/v@a tank/c`,
      "wait up to 120 s for: test -b /dev/zvol/tank/c",
    ]);
    assert.deepEqual(await plan({ ...inputs, quota: "1G" }, ofFiles), [
      `zfs clone -o quota=1073741824 ${marks} tank/v@a tank/c`,
    ]);
  });

  test("takes properties of its own kind alone", async () => {
    assert.deepEqual(await refusals({ ...inputs, quota: "1G", volmode: "dev" }, absent), [
      "Clone tank/c is a volume, as its snapshot is of one; quota is no property of it. Leave it out.",
    ]);
    assert.match(
      (await refusals({ ...inputs, volmode: "dev" }, ofFiles))[0] ?? "",
      /is a file system.*volmode/,
    );
  });

  test("that was promoted, or stands on another snapshot, is refused", async () => {
    const text = recorded("zfs-get--volume-clone--zfs-2.3.9");
    const promoted = { ...there, [get("tank/c")]: text.replace(/^origin.*\n/m, "") };
    assert.match(
      (await refusals(inputs, promoted))[0] ?? "",
      /^tank\/c is no clone \(it may have been promoted\)/,
    );
    const other = { ...there, [get("tank/c")]: text.replace("tank/v@a", "tank/v@b") };
    assert.match(
      (await refusals(inputs, other))[0] ?? "",
      /is a clone of tank\/v@b, declared is one of tank\/v@a/,
    );
    assert.equal(type.current(await type.observe(fakeHost(other), inputs), inputs).snapshot, "tank/v@b");
  });

  test("is destroyed where that is allowed, and not with foreign snapshots", async () => {
    const destroy: CloneInputs = { ...inputs, onDelete: "destroy" };
    assert.deepEqual(await plan(undefined, there, inputs), []);
    assert.deepEqual(await plan(undefined, there, destroy), [
      "sh -s -- 60 /dev/zvol/tank/c zfs destroy tank/c",
    ]);
    const snapshots = recorded("zfs-get--snapshots-of-volume--zfs-2.3.9").replaceAll("tank/v@", "tank/c@");
    assert.match((await refusals(undefined, { ...there, [list]: snapshots }, destroy))[0] ?? "", /tank\/c@b/);
    assert.match(type.refusesReplace?.(inputs) ?? "", /would lose what was written to it/);
  });

  test("is found by its name with its snapshot", async () => {
    const named = type.named?.(host, "tank/c");
    assert.ok(named);
    const asked = { ...there, [get("tank/c")]: there[get("tank/c")] ?? "" };
    assert.deepEqual(type.found?.(await type.observe(fakeHost(asked), named), named), inputs);
  });

  for (const [change, key] of [
    [{ snapshot: "tank/v" }, "snapshot"],
    [{ snapshot: "other/v@a" }, "snapshot"],
    [{ name: "tank" }, "name"],
    [{ name: "tank/a b" }, "name"],
  ] as const)
    test(`refuses ${JSON.stringify(change)}`, () =>
      assert.deepEqual(
        type.rules?.({ ...inputs, ...change }).map(([field]) => field),
        [key],
      ));
});
