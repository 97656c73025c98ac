import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { clone } from "../../../../provider/resources/zfs/clone.ts";
import { dataset } from "../../../../provider/resources/zfs/dataset.ts";
import { encryptionRoot, isLocked } from "../../../../provider/resources/zfs/encryption.ts";
import { poolGeometries } from "../../../../provider/resources/zfs/geometry.ts";
import { type Properties, parseProperties } from "../../../../provider/resources/zfs/properties.ts";
import { snapshot } from "../../../../provider/resources/zfs/snapshot.ts";
import { volume } from "../../../../provider/resources/zfs/volume.ts";
import { recorded } from "../../../recorded.ts";

/** What ZFS 2.1.11 tells of datasets: other properties, other defaults, the same words. */

const host = { name: "storage", ssh: "storage" };
const read = (what: string): Properties => parseProperties(recorded(`zfs-get--${what}--zfs-2.1.11`));
const none = {
  programs: true,
  snapshots: [],
  key: { files: new Map(), unit: { text: undefined, enabled: false } },
};
const retain = { host, onDelete: "retain" } as const;

describe("ZFS 2.1 tells of", () => {
  test("a sparse volume, whose default block size is 8 KiB", () => {
    const observed = { ...none, properties: read("sparse-volume"), node: true, pool: undefined };
    const found = volume.found?.(observed, { ...retain, name: "tank/sparse", size: "0" });
    assert.deepEqual(found, {
      ...retain,
      name: "tank/sparse",
      size: "64 MiB",
      volblocksize: "8 KiB",
      sparse: true,
      onDelete: "destroy",
    });
    assert.deepEqual(volume.plan(found, observed, found ?? assert.fail(), "storage-lab/lab"), []);
  });

  test("an encrypted volume whose key is not loaded", () => {
    const properties = read("encrypted-volume-key-unloaded");
    assert.deepEqual([encryptionRoot(properties), isLocked(properties)], ["tank/locked", true]);
    const observed = { ...none, properties, node: false, pool: undefined };
    const found = volume.found?.(observed, { ...retain, name: "tank/locked", size: "0" });
    assert.deepEqual([found?.encryption, found?.keyOnHost], ["aes-256-gcm", undefined]);
    assert.match(
      volume.refusals?.(found, observed, found ?? assert.fail(), "storage-lab/lab")[0] ?? "",
      /zfs load-key tank\/locked/,
    );
  });

  test("a file system, where xattr=on means dir", () => {
    const observed = { ...none, properties: read("file-system"), children: [] };
    const found = dataset.found?.(observed, { ...retain, name: "tank/files" });
    assert.deepEqual([found?.recordsize, found?.quota], ["1 MiB", "128 MiB"]);
    const wants = (xattr: "dir" | "sa") => {
      const inputs = { ...retain, name: "tank/files", xattr };
      return dataset.plan(inputs, observed, inputs, "storage-lab/lab").length;
    };
    assert.deepEqual([wants("dir"), wants("sa")], [0, 1]);
  });

  test("a snapshot and its clone, with marks that are inherited and therefore not their own", () => {
    const observed = { programs: true, properties: read("snapshot"), holds: [], below: [] };
    const inputs = { host, name: "tank/lun0@before", onDelete: "destroy" } as const;
    assert.equal(snapshot.owner?.(observed, ""), undefined);
    assert.equal(snapshot.current(observed, inputs).onDelete, "retain");
    assert.match(
      snapshot.refusals?.(undefined, observed, inputs, "storage-lab/lab")[0] ?? "",
      /has clones \(tank\/clone\)/,
    );
    const cloned = {
      programs: true,
      properties: read("clone"),
      snapshots: [],
      of: "volume" as const,
      node: true,
    };
    assert.equal(
      clone.found?.(cloned, { ...retain, name: "tank/clone", snapshot: "" }).snapshot,
      "tank/lun0@before",
    );
  });

  test("vdevs by which data is laid out", () => {
    const properties = parseProperties(recorded("zpool-get--two-mirrors--zfs-2.1.11"));
    assert.deepEqual(
      poolGeometries(recorded("zpool-status--raidz1-raidz2-raidz3--zfs-2.1.11"), "rz1", properties),
      [{ kind: "raidz", parity: 1, width: 3, ashift: 12 }],
    );
    assert.deepEqual(poolGeometries(recorded("zpool-status--draid--zfs-2.1.11"), "tank", properties), [
      { kind: "draid", parity: 2, width: 6, ashift: 12 },
    ]);
  });
});
