import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import {
  assignment,
  currentProperties,
  differing,
  local,
  ownerProperty,
  parseProperties,
  poolComment,
  property,
  readProperties,
} from "../../../../provider/resources/zfs/properties.ts";
import { fakeHost, recorded } from "../../../recorded.ts";

const root = parseProperties(recorded("zfs-get--pool-root--zfs-2.3.9"));

describe("properties", () => {
  test("a value and where it comes from", () => {
    assert.deepEqual(root.get("compression"), { value: "off", source: "local" });
    assert.equal(property(root, "recordsize"), "131072");
    assert.throws(() => property(root, "volsize"), ParseError);
    assert.throws(() => parseProperties("compression off local\n"), /"compression off local"/);
  });

  test("only a mark that was set on the object itself counts", () => {
    assert.equal(local(root, ownerProperty), "storage-lab/lab");
    const inherited = parseProperties(`${ownerProperty}\tstorage-lab/lab\tinherited from tank\n`);
    assert.equal(local(inherited, ownerProperty), undefined);
  });

  test("a value may hold anything but a newline", () => {
    assert.equal(property(parseProperties("a:b\tone\ttwo 'x'\tlocal\n"), "a:b"), "one\ttwo 'x'");
  });

  for (const [name, declared, found, same] of [
    ["compression", "lz4", "lz4", true],
    ["compression", "lz4", "off", false],
    ["recordsize", "128K", "131072", true],
    ["recordsize", "128 KiB", "131072", true],
    ["recordsize", "64K", "131072", false],
    ["quota", "none", "0", true],
    ["quota", "1.5T", "1649267441664", true],
    ["feature@lz4_compress", "enabled", "active", true],
    ["feature@lz4_compress", "disabled", "active", false],
  ] as const) {
    test(`${name}: declared ${declared}, found ${found}: ${same ? "the same" : "another"}`, () => {
      const have = new Map([[name, { value: found, source: "local" }]]);
      assert.deepEqual(differing({ [name]: declared }, have), same ? [] : [[name, declared]]);
      assert.deepEqual(currentProperties({ [name]: declared }, have), { [name]: same ? declared : found });
    });
  }

  test("zfs knows 128K, not 128 KiB", () => {
    assert.equal(assignment("recordsize", "128 KiB"), "recordsize=131072");
    assert.equal(assignment("recordsize", "128K"), "recordsize=128K");
    assert.equal(assignment("compression", "gzip-9"), "compression=gzip-9");
    assert.equal(assignment("org.example:note", "a = b"), "org.example:note=a = b");
  });
});

describe("the mark in a pool's comment", () => {
  test("is the owner, or its beginning and a hash where ZFS's 32 characters are too few", () => {
    assert.equal(poolComment("storage-lab/lab"), "storage-lab/lab");
    const [a, b] = ["a", "b"].map((end) => poolComment(`storage-lab/a-stack-with-a-long-name-${end}`));
    assert.match(a ?? "", /^storage-lab\/a-stack~[0-9a-f]{12}$/);
    assert.notEqual(a, b);
    assert.match(poolComment("lab/größe"), /^[\x20-\x7e]{1,32}$/);
  });
});

describe("absence", () => {
  const read = (status: number, stderr: string) =>
    readProperties(fakeHost({}), { argv: ["zfs", "get"], status, stdout: "", stderr }, "volume tank/lun0");
  for (const stderr of [
    "cannot open 'tank': no such pool",
    "cannot open 'tank/lun0': dataset does not exist",
    "Cannot get properties of tank: no such pool available.",
  ]) {
    test(stderr, () => assert.equal(read(1, `${stderr}\n`), undefined));
  }
  test("no program, no module", () => {
    assert.equal(read(127, "sh: 1: zfs: not found\n"), undefined);
    assert.equal(read(1, "The ZFS modules cannot be auto-loaded.\nTry running 'modprobe zfs'\n"), undefined);
  });
  for (const stderr of [
    "cannot open 'tank': pool I/O is currently suspended",
    "Permission denied the ZFS utilities",
    "",
  ]) {
    test(`not: ${stderr || "no word"}`, () => assert.throws(() => read(1, stderr), CommandError));
  }
});
