import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ParseError } from "../../../../provider/errors.ts";
import {
  isMarked,
  markedUuid,
  parseSuperblock,
  parseXfsInfo,
} from "../../../../provider/resources/fs/superblock.ts";
import { recorded } from "../../../recorded.ts";

const device = "/dev/zvol/tank/lun0";
const owner = "storage-lab/lab";

describe("XFS's superblock", () => {
  test("finished", () => {
    assert.deepEqual(parseSuperblock(recorded("od--xfs--xfsprogs-6.13")), {
      uuid: markedUuid(owner, device),
      label: "lun0",
      inProgress: false,
      bytes: 671088640n,
    });
  });
  test("left by a killed mkfs.xfs", () => {
    const half = parseSuperblock(recorded("od--xfs-half-made--xfsprogs-6.13"));
    assert.deepEqual([half?.uuid, half?.inProgress], [markedUuid(owner, device), true]);
  });
  test("none", () => assert.equal(parseSuperblock(" 00".repeat(512)), undefined));
  test("half a sector, or no bytes, is an error", () => {
    assert.throws(() => parseSuperblock(" 00".repeat(256)), ParseError);
    assert.throws(() => parseSuperblock(`${" 00".repeat(511)} xx`), ParseError);
    assert.throws(() => parseSuperblock(""), ParseError);
  });
});

describe("a mounted XFS's size", () => {
  test("as the kernel has it", () => {
    assert.equal(parseXfsInfo(recorded("xfs_info--grown--xfsprogs-6.13")), 245760n * 4096n);
  });
  test("other words are an error that quotes them", () => {
    for (const text of [
      "",
      "xfs_info: /mnt is not a mounted XFS filesystem\n",
      "log =internal bsize=1 blocks=1,",
    ])
      assert.throws(
        () => parseXfsInfo(text),
        (error: Error) => error.message.includes(JSON.stringify(text)),
      );
  });
});

describe("the mark in a UUID", () => {
  const uuid = markedUuid(owner, device);
  test("is a UUID of version 8, always the same one", () => {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(markedUuid(owner, device), uuid);
  });
  test("is another one for another owner or device", () => {
    assert.notEqual(markedUuid("storage-lab/other", device), uuid);
    assert.notEqual(markedUuid(owner, "/dev/zvol/tank/lun1"), uuid);
  });
  test("is known for its device, whoever owns it", () => {
    assert.equal(isMarked(uuid, device), true);
    assert.equal(isMarked(markedUuid("storage-lab/other", device), device), true);
    assert.equal(isMarked(uuid, "/dev/zvol/tank/lun1"), false);
    assert.equal(isMarked("f3a1c1de-0f0e-4a4e-9d0c-2d5a3a1b4c5d", device), false);
    assert.equal(isMarked("not a uuid", device), false);
  });
});
