import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import provider from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { call, type Driven, drive } from "../../plugin-driver.ts";

const secretKey = "4dabf18193072939515e22adb298388d";
const secret = (value: string) => ({ [secretKey]: "1b47061264138c4ac30d75fd1eb44270", value });
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

type Properties = Parameters<typeof structProto.Struct.fromJavaScript>[0];
const struct = (properties: Properties) => structProto.Struct.fromJavaScript(properties);

const urn = "urn:pulumi:lab::storage-lab::command:local:Command::benchmark";

let driven: Driven;
before(async () => {
  driven = await drive("tools/command-provider/main.ts");
});
after(() => driven.stop());

async function create(properties: Properties, preview = false) {
  const request = new provider.CreateRequest();
  request.setUrn(urn);
  request.setProperties(struct(properties));
  request.setPreview(preview);
  const response = await call<provider.CreateResponse>(driven, "create", request);
  return { id: response.getId(), outputs: response.getProperties()?.toJavaScript() ?? {} };
}

async function update(olds: Properties, news: Properties) {
  const request = new provider.UpdateRequest();
  request.setUrn(urn);
  request.setOlds(struct(olds));
  request.setNews(struct(news));
  return (await call<provider.UpdateResponse>(driven, "update", request)).getProperties()?.toJavaScript();
}

async function diff(olds: Properties, news: Properties) {
  const request = new provider.DiffRequest();
  request.setUrn(urn);
  request.setOldInputs(struct(olds));
  request.setNews(struct(news));
  const response = await call<provider.DiffResponse>(driven, "diff", request);
  return { changes: response.getDiffsList(), replaces: response.getReplacesList() };
}

test("create runs the command and returns its inputs and outputs, less one line end", async () => {
  const { id, outputs } = await create({ create: "echo out; echo; echo err >&2" });
  assert.match(id, /^benchmark[0-9a-f]{8}$/);
  assert.deepEqual(outputs, { create: "echo out; echo; echo err >&2", stdout: "out\n", stderr: "err" });
});

test("dir, environment, stdin and interpreter reach the command", async () => {
  const { outputs } = await create({
    create: 'echo "$PWD $KIND $(cat)"; [[ 1 == 1 ]] && echo bash',
    dir: "/usr",
    environment: { KIND: "read" },
    stdin: "typed",
    interpreter: ["bash", "-c"],
  });
  assert.equal(outputs.stdout, "/usr read typed\nbash");
});

test("each line is in the engine's log while the command runs, in order, as a status of the resource", async () => {
  driven.logged.length = 0;
  await create({ create: "for n in 1 2 3; do echo line $n; sleep 0.2; done; echo last >&2" });
  const ended = performance.now();
  assert.deepEqual(
    driven.logged.map(({ message }) => message),
    ["line 1", "line 2", "line 3", "last"],
  );
  assert.ok(driven.logged.every((entry) => entry.urn === urn && entry.ephemeral));
  assert.ok(ended - (driven.logged[0]?.at ?? ended) > 400, "the first line came only with the last");
});

test("logging chooses what is logged, and outputs stay whole", async () => {
  for (const [logging, expected] of [
    ["none", []],
    ["stdout", ["out"]],
    ["stderr", ["err"]],
  ] as const) {
    driven.logged.length = 0;
    const { outputs } = await create({ create: "echo out; echo err >&2", logging });
    assert.deepEqual(
      driven.logged.map(({ message }) => message),
      expected,
    );
    assert.equal(`${outputs.stdout} ${outputs.stderr}`, "out err");
  }
});

test("a failing command is an error with its status and all that it printed", async () => {
  await assert.rejects(create({ create: "echo so far; echo no such pool >&2; exit 3" }), (error: Error) => {
    assert.match(error.message, /exit status 3: running "echo so far; /);
    assert.match(error.message, /so far/);
    assert.match(error.message, /no such pool/);
    return true;
  });
  await assert.rejects(
    create({ create: "true", interpreter: ["/no/such/shell"] }),
    /\/no\/such\/shell can't be started/,
  );
});

test("with a secret input the outputs are secret, and neither log nor error shows it", async () => {
  driven.logged.length = 0;
  const environment = { PASSWORD: secret("hunter2-hunter2") };
  const { outputs } = await create({ create: "echo $PASSWORD", environment });
  assert.deepEqual(outputs.stdout, secret("hunter2-hunter2"));
  assert.deepEqual(outputs.stderr, secret(""));
  assert.deepEqual(outputs.environment, environment);
  await assert.rejects(create({ create: "echo $PASSWORD >&2; false", environment }), (error: Error) => {
    assert.doesNotMatch(error.message, /hunter2/);
    assert.match(error.message, /\[secret\]/);
    return true;
  });
  assert.deepEqual(
    driven.logged.map(({ message }) => message),
    ["[secret]", "[secret]"],
  );
});

test("a preview runs nothing, keeps what is unknown, and leaves the outputs open", async () => {
  const { id, outputs } = await create({ create: "false", environment: { DEVICE: unknown } }, true);
  assert.equal(id, "");
  assert.deepEqual(outputs, {
    create: "false",
    environment: { DEVICE: unknown },
    stdout: unknown,
    stderr: unknown,
  });
});

test("an update runs `update`, else `create`, and finds the outputs before it", async () => {
  const olds = { create: "echo 1", stdout: "1", stderr: "w" };
  const seen = 'echo "$PULUMI_COMMAND_STDOUT$PULUMI_COMMAND_STDERR"';
  assert.equal((await update(olds, { create: "echo 2" }))?.stdout, "2");
  assert.equal((await update(olds, { create: "false", update: seen }))?.stdout, "1w");
  assert.equal((await update(olds, { update: seen, addPreviousOutputInEnv: false }))?.stdout, "");
  assert.equal((await update(olds, {}))?.stdout, "1");
});

test("delete runs `delete` with the last outputs", async () => {
  const request = new provider.DeleteRequest();
  request.setUrn(urn);
  request.setId("benchmark1");
  request.setProperties(struct({ delete: 'echo "was $PULUMI_COMMAND_STDOUT"', stdout: "1", stderr: "" }));
  driven.logged.length = 0;
  await call(driven, "delete", request);
  assert.deepEqual(
    driven.logged.map(({ message }) => message),
    ["was 1"],
  );
});

test("triggers replace; other inputs update; without a change there is none", async () => {
  const olds = { create: "a", triggers: ["1"] };
  assert.deepEqual(await diff(olds, olds), { changes: [], replaces: [] });
  assert.deepEqual(await diff(olds, { ...olds, create: "b" }), { changes: ["create"], replaces: [] });
  assert.deepEqual(await diff(olds, { ...olds, triggers: ["2"] }), {
    changes: ["triggers[0]"],
    replaces: ["triggers[0]"],
  });
});

test("what the stand-in lacks is refused, with the way to the official plugin", async () => {
  const request = new provider.CheckRequest();
  request.setUrn(urn);
  request.setNews(struct({ create: "true", assetPaths: ["*"] }));
  const [failure] = (await call<provider.CheckResponse>(driven, "check", request)).getFailuresList();
  assert.equal(failure?.getProperty(), "assetPaths");
  assert.match(failure?.getReason() ?? "", /pulumi plugin install resource command 1\.2\.1 --reinstall/);
  request.setUrn(urn.replace("local:Command", "remote:Command"));
  await assert.rejects(
    call<provider.CheckResponse>(driven, "check", request),
    /command:remote:Command is not in the stand-in/,
  );
});

test("cancel ends the command and what it has started", async () => {
  driven.logged.length = 0;
  const running = create({ create: "sleep 60 & echo $!; wait" });
  const failed = assert.rejects(running, /signal: SIGTERM/);
  while (driven.logged.length === 0) await new Promise((done) => setTimeout(done, 20));
  const grandchild = Number(driven.logged[0]?.message);
  process.kill(grandchild, 0);
  await call(driven, "cancel", new emptyProto.Empty());
  await failed;
  // Gone, or a zombie that nobody has waited for.
  const stat = existsSync(`/proc/${grandchild}`) ? readFileSync(`/proc/${grandchild}/stat`, "utf8") : "gone";
  assert.match(stat, /^gone$|\) Z /);
});
