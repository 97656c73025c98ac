import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import {
  type DatasetInputs,
  datasetInputs,
  dataset as type,
} from "../../../../provider/resources/zfs/dataset.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const owner = "storage-lab/lab";
const inputs: DatasetInputs = {
  host: { name: "storage", ssh: "storage" },
  name: "tank/f",
  recordsize: "1M",
  quota: "none",
  mountpoint: "/srv/x",
  onDelete: "destroy",
};
const get = "zfs get -Hp -o property,value,source all tank/f";
const list =
  "zfs get -Hp -d 1 -t snapshot -o name,property,value,source createtxg,clones,userrefs,org.storage-lab:owner,org.storage-lab:on-delete tank/f";
const below = "zfs list -H -d 1 -t filesystem,volume -o name tank/f";
/** The recorded file system, mounted at /srv/x, with our marks. */
const recordedText = recorded("zfs-get--file-system--zfs-2.3.9")
  .replace(/^mounted.*$/m, "mounted\tyes\t-")
  .replace(/^mountpoint.*$/m, "mountpoint\t/srv/x\tlocal")
  .concat("org.storage-lab:owner\tstorage-lab/lab\tlocal\norg.storage-lab:on-delete\tdestroy\tlocal\n");
const there: Record<string, Told> = { [get]: recordedText, [list]: "", [below]: "tank/f\n" };
const gone = { status: 1, stderr: "cannot open 'tank/f': dataset does not exist\n" };
const absent: Record<string, Told> = { [get]: gone, [list]: gone, [below]: gone };

const line = (step: Step): string =>
  "argv" in step && step.stdin !== undefined ? step.argv.join(" ") : stepLine(step);
const plan = async (desired: DatasetInputs | undefined, told = there, last = desired ?? inputs) =>
  type.plan(desired, await type.observe(fakeHost(told), last), last, owner).map(line);
const refusals = async (desired: DatasetInputs | undefined, told = there, last = desired ?? inputs) =>
  type.refusals?.(desired, await type.observe(fakeHost(told), last), last, owner) ?? [];
const replaced = (from: RegExp, to: string): Record<string, Told> => ({
  ...there,
  [get]: recordedText.replace(from, to),
});
const mount = `sh -c '[ "$(zfs get -H -o value mounted "$1")" = yes ] || zfs mount "$1"' sh tank/f`;
const marks = "-o org.storage-lab:on-delete=destroy -o org.storage-lab:owner=storage-lab/lab";

describe("planning a dataset", () => {
  const cases: [what: string, desired: DatasetInputs | undefined, told: Record<string, Told>, string[]][] = [
    ["as declared", inputs, there, []],
    [
      "absent",
      inputs,
      absent,
      [`zfs create -o recordsize=1048576 -o quota=none -o mountpoint=/srv/x ${marks} tank/f`],
    ],
    [
      "absent, to group volumes",
      { host: inputs.host, name: "tank/f", canmount: "off", onDelete: "destroy" },
      absent,
      [`zfs create -o canmount=off ${marks} tank/f`],
    ],
    ["a quota", { ...inputs, quota: "1.5T" }, there, ["zfs set quota=1649267441664 tank/f"]],
    ["unmounted by hand", inputs, replaced(/^mounted.*$/m, "mounted\tno\t-"), [mount]],
    [
      "unmounted, and not to be mounted by ZFS",
      { ...inputs, canmount: "noauto" },
      replaced(/^mounted.*$/m, "mounted\tno\t-"),
      ["zfs set canmount=noauto tank/f"],
    ],
    [
      "mounted elsewhere: once nothing is in it any more",
      { ...inputs, mountpoint: "/srv/y" },
      there,
      ["sh -s -- 60 tank/f zfs set mountpoint=/srv/y tank/f"],
    ],
    ["deleted", undefined, there, ["sh -s -- 60 tank/f zfs destroy tank/f"]],
    ["deleted, and gone already", undefined, absent, []],
  ];
  for (const [what, desired, told, steps] of cases)
    test(what, async () => assert.deepEqual(await plan(desired, told), steps));

  test("says what it does to those who use it", async () => {
    const effects = async (desired: DatasetInputs | undefined) =>
      type
        .plan(desired, await type.observe(fakeHost(there), inputs), desired ?? inputs, owner)
        .map((step) => step.effect);
    assert.deepEqual(await effects({ ...inputs, mountpoint: "none" }), ["outage"]);
    assert.deepEqual(await effects({ ...inputs, readonly: "on" }), ["outage"]);
    assert.deepEqual(await effects({ ...inputs, sync: "standard" }), [undefined]);
    assert.deepEqual(await effects(undefined), ["data loss"]);
  });

  test("one that is retained stays", async () => {
    assert.deepEqual(await plan(undefined, there, { ...inputs, onDelete: "retain" }), []);
  });
});

describe("values that ZFS prints in another way are no change", () => {
  for (const [declared, property, value] of [
    [{ compression: "gzip-6" }, "compression", "gzip"],
    [{ compression: "zstd-fast-1" }, "compression", "zstd-fast"],
    [{ xattr: "sa" }, "xattr", "on"],
    [{ quota: "none" }, "quota", "0"],
    [{ refquota: "1536 GiB" }, "refquota", "1649267441664"],
    [{ copies: 2 }, "copies", "2"],
  ] as [Partial<DatasetInputs>, string, string][]) {
    test(`${JSON.stringify(declared)}: ${value}`, async () => {
      const told = replaced(new RegExp(`^${property}\\t.*$`, "m"), `${property}\t${value}\tlocal`);
      const desired = { ...inputs, ...declared };
      assert.deepEqual(await plan(desired, told), []);
      assert.deepEqual(type.current(await type.observe(fakeHost(told), desired), desired), desired);
    });
  }
  test("xattr=on is dir before 2.3, which has no property `direct`", async () => {
    const told = replaced(/^direct\t.*\n/m, "");
    const on = { ...told, [get]: String(told[get]).replace(/^xattr\t.*$/m, "xattr\ton\tlocal") };
    assert.deepEqual(await plan({ ...inputs, xattr: "dir" }, on), []);
    assert.deepEqual(await plan({ ...inputs, xattr: "sa" }, on), ["zfs set xattr=sa tank/f"]);
  });
});

describe("what a dataset refuses", () => {
  test("to be destroyed with what lies below it, or foreign snapshots", async () => {
    assert.deepEqual(await refusals(undefined, { ...there, [below]: "tank/f\ntank/f/lun0\n" }), [
      "Dataset tank/f holds tank/f/lun0, which would be lost with it. Delete them first, or keep it (onDelete: retain).",
    ]);
    const snapshots = recorded("zfs-get--snapshots-of-volume--zfs-2.3.9").replaceAll("tank/v", "tank/f");
    assert.match(
      (await refusals(undefined, { ...there, [list]: snapshots }))[0] ?? "",
      /has snapshots \(tank\/f@a/,
    );
  });
  test("a volume of that name", async () => {
    const told = { ...there, [get]: recorded("zfs-get--volume--zfs-2.3.9") };
    assert.match((await refusals(inputs, told))[0] ?? "", /is a volume, not a file system/);
    assert.deepEqual(type.current(await type.observe(fakeHost(told), inputs), inputs), inputs);
  });
  test("absence by ZFS's own words alone", async () => {
    await assert.rejects(
      type.observe(fakeHost({ ...there, [get]: { status: 1, stderr: "I/O error\n" } }), inputs),
      CommandError,
    );
    await assert.rejects(
      type.observe(fakeHost({ ...there, [below]: { status: 1, stderr: "out of memory\n" } }), inputs),
      CommandError,
    );
  });
  for (const [change, key] of [
    [{ name: "tank" }, "name"],
    [{ name: "tank/a b" }, "name"],
    [{ name: "tank/$(reboot)" }, "name"],
    [{ recordsize: "100K" }, "recordsize"],
    [{ special_small_blocks: "48K" }, "special_small_blocks"],
  ] as const)
    test(JSON.stringify(change), () => {
      assert.deepEqual(
        type.rules?.({ ...inputs, ...change }).map(([field]) => field),
        [key],
      );
    });
  test("by its schema: relative mount points, blanks, sizes of two meanings", () => {
    assert.equal(datasetInputs.safeParse({ ...inputs, special_small_blocks: "0" }).success, true);
    for (const wrong of [
      { mountpoint: "srv" },
      { mountpoint: "/a b" },
      { quota: "1GB" },
      { quota: "0" },
      { xattr: "on" },
    ])
      assert.equal(datasetInputs.safeParse({ ...inputs, ...wrong }).success, false, JSON.stringify(wrong));
  });
});

test("found by its name: all that was set on it, not what it inherits", async () => {
  const named = type.named?.(inputs.host, "tank/f");
  assert.ok(named);
  const found = type.found?.(await type.observe(fakeHost(there), named), named);
  assert.equal(found?.recordsize, "1 MiB");
  assert.equal(found?.mountpoint, "/srv/x");
  assert.equal(found?.compression, undefined);
  assert.equal(found?.onDelete, "destroy");
  for (const wrong of ["tank", "tank/", "tank/a@b", "", "/x", "tank/a b"])
    assert.equal(type.named?.(inputs.host, wrong), undefined, wrong);
});
