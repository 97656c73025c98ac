import assert from "node:assert/strict";
import { test } from "node:test";
import structproto from "google-protobuf/google/protobuf/struct_pb.js";
import { decode, differences, encode, join, topLevel } from "../../provider/values.ts";

const wire = (value: object) => structproto.Struct.fromJavaScript(value as never);
const secret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

test("secrets and unknown values are taken out of their envelopes, and where they were is kept", () => {
  const decoded = decode(
    wire({
      name: "tank",
      chap: { user: "u", password: secret("hunter2") },
      luns: [{ lun: 0, backstore: unknown }],
      all: secret({ a: 1 }),
      __defaults: [],
      nothing: null,
    }),
  );
  assert.deepEqual(decoded.value, {
    name: "tank",
    chap: { user: "u", password: "hunter2" },
    luns: [{ lun: 0 }],
    all: { a: 1 },
  });
  assert.deepEqual(decoded.secrets.toSorted(), ["all", "chap.password"]);
  assert.deepEqual(decoded.unknowns, ["luns[0].backstore"]);
});

test("what was secret goes back in an envelope", () => {
  const encoded = encode({ chap: { password: "hunter2", user: "u" }, gone: undefined }, [
    "chap.password",
  ]).toJavaScript();
  assert.deepEqual(encoded, { chap: { password: secret("hunter2"), user: "u" } });
});

test("differences are named by property path", () => {
  const before = { a: 1, vdevs: [{ disks: ["x", "y"] }], properties: { "org.x:y": "1", old: 1 } };
  const after = { a: 1, vdevs: [{ disks: ["x", "z", "w"] }], properties: { "org.x:y": "2" }, b: true };
  assert.deepEqual(differences(before, after), [
    { path: "vdevs[0].disks[1]", kind: "update" },
    { path: "vdevs[0].disks[2]", kind: "add" },
    { path: `properties["org.x:y"]`, kind: "update" },
    { path: "properties.old", kind: "delete" },
    { path: "b", kind: "add" },
  ]);
  assert.deepEqual(differences(before, structuredClone(before)), []);
});

test("paths", () => {
  assert.equal(join("a", "b"), "a.b");
  assert.equal(join("", "x:y"), `["x:y"]`);
  assert.equal(topLevel("vdevs[0].disks"), "vdevs");
});
