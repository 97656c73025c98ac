import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ParseError } from "../../../../provider/errors.ts";
import {
  destroySnapshots,
  parseObjects,
  refuseSnapshots,
} from "../../../../provider/resources/zfs/dependents.ts";
import { recorded } from "../../../recorded.ts";

const found = parseObjects(recorded("zfs-get--snapshots-of-volume--zfs-2.3.9"));

describe("what depends on a dataset", () => {
  test("its snapshots with clones, holds and the marks that are their own", () => {
    assert.deepEqual(found, [
      { name: "tank/v@a", txg: 70n, clones: ["tank/c"], holds: 0, owner: "a/b", onDelete: "destroy" },
      { name: "tank/v@b", txg: 71n, clones: [], holds: 1, owner: undefined, onDelete: undefined },
    ]);
    assert.deepEqual(parseObjects(""), []);
  });

  test("all below it: what was taken together has one transaction group", () => {
    const all = parseObjects(recorded("zfs-get--recursive-snapshot--zfs-2.3.9"));
    assert.deepEqual(
      all.map(({ name, txg }) => [name, txg]),
      [
        ["tank/apps", 129n],
        ["tank/apps@r", 133n],
        ["tank/apps/lun", 131n],
        ["tank/apps/lun@r", 133n],
      ],
    );
  });

  test("an unknown line is quoted", () => {
    assert.throws(() => parseObjects("tank@a\tclones\n"), /"tank@a\\tclones"/);
    assert.throws(() => parseObjects("tank@a\tsize\t1\t-\n"), ParseError);
    assert.throws(() => parseObjects("tank@a\tcreatetxg\tx\t-\n"), ParseError);
  });

  test("an own snapshot goes with its volume, a foreign one refuses, and so do clones and holds", () => {
    const own = { name: "tank/v@c", txg: 1n, clones: [], holds: 0, owner: "a/b", onDelete: "destroy" };
    assert.deepEqual(refuseSnapshots("Volume tank/v", [own], "a/b"), []);
    assert.deepEqual(destroySnapshots([own, ...found.slice(1)], "a/b"), [
      { say: "destroy snapshot tank/v@c", argv: ["zfs", "destroy", "tank/v@c"], effect: "data loss" },
    ]);
    assert.deepEqual(refuseSnapshots("Volume tank/v", found, "a/b"), [
      "Volume tank/v has snapshots (tank/v@b), which would be lost with it. Destroy them by hand (zfs destroy tank/v@b), or keep it (onDelete: retain).",
      "Snapshot tank/v@a has clones (tank/c), which stand on it. Destroy them first, or let one take its place: zfs promote tank/c",
    ]);
    assert.match(
      refuseSnapshots("Volume tank/v", [{ ...own, holds: 2 }], "a/b")[0] ?? "",
      /Snapshot tank\/v@c is held .* zfs release TAG tank\/v@c/,
    );
    // Another stack's, and one of ours that is to be retained.
    for (const other of [
      { ...own, owner: "x/y" },
      { ...own, onDelete: "retain" },
    ])
      assert.equal(refuseSnapshots("Volume tank/v", [other], "a/b").length, 1);
  });
});
