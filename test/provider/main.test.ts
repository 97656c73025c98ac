import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { call, type Driven, drive } from "../plugin-driver.ts";

/** The provider as the engine runs it, on what needs no host: checks, diffs, previews, settings. */

type Properties = Parameters<typeof structProto.Struct.fromJavaScript>[0];
const struct = (properties: Properties) => structProto.Struct.fromJavaScript(properties);
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const urn = "urn:pulumi:lab::storage-lab::storage-lab:lab:Storage$storagelab:zfs:Volume::tank/lun0";
// A name that never resolves (RFC 6761): unreachable without a packet.
const host = { name: "storage", ssh: "storage.invalid" };
const volume = { host, name: "tank/lun0", size: "2 GiB", volblocksize: "16 KiB", onDelete: "destroy" };

let driven: Driven;
before(async () => {
  driven = await drive("provider/main.ts");
});
after(() => driven.stop());

async function check(news: Properties, of = urn): Promise<[string, string][]> {
  const request = new provider.CheckRequest();
  request.setUrn(of);
  request.setNews(struct(news));
  const response = await call<provider.CheckResponse>(driven, "check", request);
  return response.getFailuresList().map((failure) => [failure.getProperty(), failure.getReason()]);
}

async function diff(olds: Properties, news: Properties) {
  const request = new provider.DiffRequest();
  request.setUrn(urn);
  request.setOldInputs(struct(olds));
  request.setNews(struct(news));
  const response = await call<provider.DiffResponse>(driven, "diff", request);
  return {
    some: response.getChanges() === provider.DiffResponse.DiffChanges.DIFF_SOME,
    changes: response.getDiffsList(),
    replaces: response.getReplacesList(),
    deleteFirst: response.getDeletebeforereplace(),
  };
}

test("a check names the property and the rule; what is not known yet passes", async () => {
  assert.deepEqual(await check(volume), []);
  assert.deepEqual(await check({ ...volume, size: unknown }), []);
  const [[property, reason] = []] = await check({ ...volume, sync: "sometimes" });
  assert.equal(property, "sync");
  assert.match(reason ?? "", /"standard"\|"always"\|"disabled".*given: sometimes/);
});

test("a type that is not ours is an error with its name", async () => {
  const other = "urn:pulumi:lab::storage-lab::storagelab:zfs:Bucket::x";
  await assert.rejects(check({}, other), /storagelab has no resource type storagelab:zfs:Bucket/);
});

test("a diff is told property by property, with what needs a new object, the old one gone first", async () => {
  const same = await diff(volume, volume);
  assert.deepEqual([same.some, same.changes], [false, []]);
  const grown = await diff(volume, { ...volume, size: "4 GiB" });
  assert.deepEqual([grown.changes, grown.replaces], [["size"], []]);
  const blocks = await diff(volume, { ...volume, volblocksize: "32 KiB" });
  assert.deepEqual([blocks.replaces, blocks.deleteFirst], [["volblocksize"], true]);
});

test("what stands on something that is being replaced is replaced", async () => {
  assert.deepEqual((await diff(volume, { ...volume, name: unknown })).replaces, ["name"]);
});

test("a replace that would lose data is refused before anything is asked of a host", async () => {
  const kept = { ...volume, onDelete: "retain" };
  await assert.rejects(
    diff(kept, { ...kept, volblocksize: "32 KiB" }),
    /can't be replaced \(volblocksize: 16 KiB → 32 KiB\)/,
  );
});

test("a preview of a create gives the outputs that are known, and says once that the host does not answer", async () => {
  const request = new provider.CreateRequest();
  request.setUrn(urn);
  request.setProperties(struct(volume));
  request.setPreview(true);
  const response = await call<provider.CreateResponse>(driven, "create", request);
  assert.equal(response.getProperties()?.toJavaScript().device, "/dev/zvol/tank/lun0");
  await call(driven, "create", request);
  const said = driven.logged.filter(({ message }) => message.includes("did not answer"));
  assert.equal(said.length, 1);
  assert.match(
    said[0]?.message ?? "",
    /^storage \(storage\.invalid\) did not answer: .*Try by hand: ssh storage\.invalid true/,
  );
});

test("settings that the provider has not are refused by name", async () => {
  const request = new provider.CheckRequest();
  request.setNews(struct({ readOnly: "yes", colour: "red" }));
  const response = await call<provider.CheckResponse>(driven, "checkConfig", request);
  assert.deepEqual(
    response
      .getFailuresList()
      .map((failure) => [failure.getProperty(), failure.getReason()])
      .toSorted(),
    [
      ["colour", "no setting of storagelab; it has showCommands, readOnly, destroyProtection, forget"],
      ["readOnly", "true or false, not yes"],
    ],
  );
});

test("the schema names every type", async () => {
  const response = await call<provider.GetSchemaResponse>(
    driven,
    "getSchema",
    new provider.GetSchemaRequest(),
  );
  const { resources } = JSON.parse(response.getSchema());
  assert.ok("storagelab:lio:Target" in resources && "storagelab:vm:Machine" in resources);
});
