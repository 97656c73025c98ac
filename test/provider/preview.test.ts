import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inputs, lab, marks, type NoteInputs, note } from "./note.ts";

/** What a preview says: no change where none is made, what a plan does to users, what is refused. */

const none = { changes: [], drifted: false };

describe("a change that the host has already", () => {
  test("is none; left out is left alone", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    host.files.set("/a", "two");
    assert.deepEqual(await lifecycle.diff(note, inputs, { ...inputs, text: "two" }, [], context), none);
    const mentioned = { ...inputs, text: "two", kind: "plain" } as const;
    assert.deepEqual(await lifecycle.diff(note, { ...inputs, text: "two" }, mentioned, [], context), none);
    assert.deepEqual(await lifecycle.diff(note, mentioned, { ...inputs, text: "two" }, [], context), none);
  });

  test("but what can't be seen on the host, and the way to the host, is always shown", async () => {
    const { lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    const kept = await lifecycle.diff(note, inputs, { ...inputs, keep: true }, [], context);
    assert.deepEqual(kept.changes, [{ path: "keep", kind: "add", replace: false }]);
    const moved = { ...inputs, host: { name: "storage", ssh: "root@new" } };
    assert.equal((await lifecycle.diff(note, inputs, moved, [], context)).changes.length, 1);
  });

  test("and a name is one even where something of the new name is there", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    host.files.set("/b", "one");
    const { changes } = await lifecycle.diff(note, inputs, { ...inputs, path: "/b" }, [], context);
    assert.deepEqual(changes, [{ path: "path", kind: "update", replace: true }]);
  });
});

describe("what a plan does to the storage's users", () => {
  test("is said before; hints are said and refuse nothing", async () => {
    const { lifecycle, context, said } = lab();
    await lifecycle.previewCreate(note, { ...inputs, text: "dull" }, context);
    assert.deepEqual(said, ["info: storage: Note /a: it says little."]);
    await lifecycle.create(note, inputs, context);
    said.length = 0;
    await lifecycle.previewDelete(note, inputs, context);
    assert.deepEqual(said, ["warning: storage: Note /a: data is lost: remove it"]);
  });

  test("a replace shows the delete and then the create, and runs just these", async () => {
    const { host, lifecycle, context, said } = lab();
    // A kind that this host shows, so that another one is a change.
    const kinded = {
      ...note,
      current: (_: unknown, given: NoteInputs) => ({ ...given, kind: "plain" as const }),
    };
    await lifecycle.create(kinded, inputs, context);
    host.done.length = 0;
    lifecycle.settings = { ...lifecycle.settings, showCommands: true };
    const after = { ...inputs, kind: "fancy" } as const;
    await lifecycle.diff(kinded, inputs, after, [], context);
    await lifecycle.previewCreate(kinded, after, context);
    const listed = said
      .filter((line) => line.startsWith("info: "))
      .flatMap((line) =>
        line
          .split("\n")
          .slice(1)
          .map((command) => command.trim()),
      );
    await lifecycle.delete(kinded, inputs, context);
    await lifecycle.create(kinded, after, context);
    assert.deepEqual(listed, host.done);
    assert.equal(listed.length, 5);
  });
});

test("a secret is shown nowhere: not in drift, in a check, in a plan's values", async () => {
  const { lifecycle, context, noting, said, notes } = lab();
  const secret = { ...inputs, password: "canary-7" };
  const leaky = {
    ...note,
    current: (_: unknown, given: NoteInputs) => ({ ...given, password: "canary-8" }),
    plan: () => [{ say: "write it", file: "/a", text: "canary-7", secret: true as const }],
  };
  await lifecycle.create(note, secret, context);
  await lifecycle.diff(leaky, secret, secret, [], context);
  await lifecycle.diff(leaky, secret, secret, [], noting);
  await lifecycle.diff(leaky, inputs, { ...secret, text: "two" }, [], { ...noting, secrets: ["text"] });
  const checked = lifecycle.check(
    note,
    { ...secret, text: "canary".repeat(5), path: "canary-9" },
    [],
    ["path"],
  );
  assert.match(said.join("\n"), /password is \[secret\], declared \[secret\]/);
  assert.match(JSON.stringify(checked), /\(given: \[secret\]\)/);
  assert.doesNotMatch(JSON.stringify([said, notes, checked]), /canary/);
});

describe("notes for a review", () => {
  test("every plan with its values, steps, effects", async () => {
    const { lifecycle, noting, notes } = lab();
    await lifecycle.previewCreate(note, inputs, noting);
    await lifecycle.create(note, inputs, noting);
    await lifecycle.diff(note, inputs, { ...inputs, text: "two" }, [], noting);
    await lifecycle.previewDelete(note, inputs, noting);
    assert.deepEqual(
      notes.map(({ does, object, values, steps }) => [does, object, values, steps.map(({ line }) => line)]),
      [
        ["create", "storage: Note /a", [], [...marks, "write /a"]],
        ["update", "storage: Note /a", [{ path: "text", before: "one", after: "two" }], ["write /a"]],
        [
          "delete",
          "storage: Note /a",
          [],
          ["rm -f /a", "rm -f /var/lib/storage-lab/owned/test%3ANote%20%2Fa"],
        ],
      ],
    );
    assert.equal(notes.at(-1)?.steps[0]?.effect, "data loss");
  });

  test("a value that is not known yet is said to be so", async () => {
    const { lifecycle, context, noting, notes } = lab();
    await lifecycle.create(note, inputs, context);
    const { text: _, ...rest } = inputs;
    await lifecycle.diff(note, inputs, rest as NoteInputs, ["text"], noting);
    assert.deepEqual(notes[0]?.values, [
      { path: "text", before: "one", after: "known when it is made anew" },
    ]);
  });

  test("a refusal is noted with its reason and ends nothing; without notes it is an error", async () => {
    const { host, lifecycle, context, noting, notes } = lab();
    host.files.set("/a", "somebody's");
    await assert.rejects(lifecycle.previewCreate(note, inputs, context));
    await lifecycle.previewCreate(note, inputs, noting);
    const kept = { ...inputs, keep: true };
    await lifecycle.diff(note, kept, { ...kept, path: "/b" }, [], noting);
    assert.deepEqual(
      notes.map(({ does, refused }) => [does, refused?.slice(0, 40)]),
      [
        ["create", "storage: Note /a is there already and th"],
        ["replace", "storage: Note /a can't be replaced (path"],
      ],
    );
    assert.deepEqual(host.done, []);
  });
});
