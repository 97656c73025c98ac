import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { explain, TransportError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import { Lifecycle, Unfinished } from "../../provider/lifecycle.ts";
import { decode } from "../../provider/values.ts";
import { inputs, lab, type NoteInputs, note } from "./note.ts";

/** What goes wrong elsewhere between Pulumi, SSH and a provider, and does not here. */

test("secret in connection, stdout or an error text: the error of a failed step holds none", async () => {
  const host = new Host({ name: "here", ssh: "local" });
  const says = "read secret; echo told $secret; echo told $secret >&2; exit 3";
  const step = { say: "tell it", argv: ["sh", "-c", says], stdin: "hunter-4711\n", secret: true } as const;
  await assert.rejects(host.apply([step], { holder: "test", sideBySide: true }), (error: Error) => {
    assert.match(error.message, /could not tell it/);
    assert.doesNotMatch(explain(error), /hunter|4711/);
    return true;
  });
});

test("unknown value's sentinel in check or diff: it is no string to be checked or compared", async () => {
  const { lifecycle, context } = lab();
  const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
  const struct = structProto.Struct.fromJavaScript({
    host: { ...inputs.host },
    path: inputs.path,
    text: unknown,
  } as never);
  const { value, unknowns } = decode(struct);
  assert.deepEqual([value.text, unknowns], [undefined, ["text"]]);
  assert.deepEqual(lifecycle.check(note, value, unknowns), []);
  const { changes } = await lifecycle.diff(note, inputs, value as NoteInputs, unknowns, context);
  assert.deepEqual(changes, [{ path: "text", kind: "update", replace: true }]);
});

test("read returns the stored inputs: here it returns what is there, in the known spelling", async () => {
  const { host, lifecycle, context } = lab();
  await lifecycle.create(note, inputs, context);
  host.files.set("/a", "by hand");
  assert.equal((await lifecycle.read(note, inputs))?.inputs.text, "by hand");
});

test("interrupted run, pending operations: a create takes up what carries its own mark", async () => {
  const { host, lifecycle, context } = lab();
  await lifecycle.create(note, inputs, context);
  host.done.length = 0;
  assert.equal((await lifecycle.create(note, inputs, context)).id, "storage//a");
  assert.deepEqual(host.done, []);
});

test("import: it plans no replace and no change", async () => {
  const { host, lifecycle, context } = lab();
  host.files.set("/a", "one");
  const imported = await lifecycle.import(note, "storage//a", () => inputs.host, context);
  const diff = await lifecycle.diff(note, imported?.inputs ?? inputs, inputs, [], context);
  assert.deepEqual(diff, { changes: [], drifted: false });
});

test("host gone for good: the delete says how to forget it, and then does", async () => {
  const { host, lifecycle, context, said } = lab();
  await lifecycle.create(note, inputs, context);
  host.reachable = false;
  await assert.rejects(lifecycle.delete(note, inputs, context), (error: Error) => {
    assert.ok(error instanceof TransportError);
    assert.match(
      explain(error),
      /Note \/a can't be deleted now\. If storage is gone for good, forget .*: pulumi config set storagelab:forget storage\n {2}because: storage did not answer/,
    );
    return true;
  });
  lifecycle.settings = { ...lifecycle.settings, forget: ["other", "storage"] };
  await lifecycle.delete(note, inputs, context);
  assert.equal(said.at(-1), "info: storage: Note /a is forgotten with its host, as storagelab:forget says");
});

test("many parallel commands over one SSH connection: never more than its MaxSessions of 10", async () => {
  const folder = mkdtempSync(join(tmpdir(), "storage-lab-"));
  const running = join(folder, "running");
  mkdirSync(running);
  // In place of ssh: counts how many of it run at once, and runs the script here.
  writeFileSync(
    join(folder, "ssh"),
    `#!/bin/sh\nmkdir ${running}/$$; ls ${running} | wc -l >>${folder}/counts; sh -s; r=$?; rmdir ${running}/$$; exit $r\n`,
  );
  chmodSync(join(folder, "ssh"), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${folder}:${path}`;
  try {
    const host = new Host({ name: "storage", ssh: "storage" });
    const asked = Array.from({ length: 40 }, async (_, n) => {
      // Each alone in its round trip, since it is asked a moment after the one before has been sent.
      await new Promise((resolve) => setTimeout(resolve, n * 20));
      return (await host.ask(["sh", "-c", `sleep 0.3; echo ${n}`])).stdout.trim();
    });
    const applied = host.apply([{ say: "wait", argv: ["sleep", "0.5"] }], {
      holder: "test",
      sideBySide: true,
    });
    assert.deepEqual(
      await Promise.all(asked),
      Array.from({ length: 40 }, (_, n) => `${n}`),
    );
    await applied;
    const counts = readFileSync(join(folder, "counts"), "utf8").trim().split("\n").map(Number);
    assert.ok(Math.max(...counts) > 1 && Math.max(...counts) < 10, counts.join(" "));
  } finally {
    process.env.PATH = path;
    rmSync(folder, { recursive: true });
  }
});

test("host refuses connections while it boots: an up waits for it, with a deadline; a preview does not", async () => {
  const { host, context } = lab();
  let refusals = 3;
  const starting = () => new TransportError("storage", "storage refused", { starting: true });
  const booting: typeof host = Object.create(host, {
    ask: { value: (argv: string[]) => (refusals-- > 0 ? Promise.reject(starting()) : host.ask(argv)) },
  });
  const patient = new Lifecycle(() => booting, 2000);
  await patient.create(note, inputs, context);
  assert.equal(host.files.get("/a"), "one");
  refusals = Number.POSITIVE_INFINITY;
  const began = Date.now();
  await assert.rejects(new Lifecycle(() => booting, 200).update(note, inputs, context), TransportError);
  assert.ok(Date.now() - began < 2000);
  await new Lifecycle(() => booting, 60_000).previewCreate(note, inputs, context);
  assert.ok(Date.now() - began < 5000);
});

test("default left out in the stack file: what is there is left alone", async () => {
  const { host, lifecycle, context } = lab();
  host.files.set("/a", "one");
  const { kind: _, ...rest } = { ...inputs, kind: "plain" };
  await lifecycle.update(note, rest, context);
  assert.equal(host.files.get("/a"), "one");
  assert.deepEqual((await lifecycle.diff(note, rest, rest, [], context)).changes, []);
});

test("a create that could not end is kept, so that the next up goes on with it", async () => {
  const { host, lifecycle, context } = lab();
  host.breakAt = 2;
  await assert.rejects(lifecycle.create(note, inputs, context), Unfinished);
});
