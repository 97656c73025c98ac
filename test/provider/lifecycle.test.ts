import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, explain, ParseError, RefusedError, TransportError } from "../../provider/errors.ts";
import { Unfinished } from "../../provider/lifecycle.ts";
import { inputs, lab, marks, type NoteInputs, note, record } from "./note.ts";

describe("create", () => {
  test("marks whose it is before it makes it, and answers with what is there then", async () => {
    const { host, lifecycle, context } = lab();
    const made = await lifecycle.create(note, inputs, context);
    assert.deepEqual(made, { id: "storage//a", outputs: { ...inputs, length: 3 } });
    assert.deepEqual(host.done, [...marks, "write /a"]);
    assert.equal(host.files.get(record), "lab/one\n");
  });

  test("a second one does nothing", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    await lifecycle.create(note, inputs, context);
    assert.equal(host.done.length, 3);
  });

  test("two stacks that make it at once: the first has it, the second is refused and mixes nothing in", async () => {
    const { host, lifecycle, context } = lab();
    const other = { ...context, owner: "lab/two" };
    const results = await Promise.allSettled([
      lifecycle.create(note, inputs, context),
      lifecycle.create(note, { ...inputs, text: "two" }, other),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
    assert.deepEqual([host.files.get(record), host.files.get("/a")], ["lab/one\n", "one"]);
    await assert.rejects(lifecycle.update(note, inputs, other), /stack lab\/one made it/);
  });

  test("interrupted before any step, it goes on where it stopped", async () => {
    for (const breakAt of [0, 1, 2]) {
      const { host, lifecycle, context } = lab();
      host.breakAt = breakAt;
      await assert.rejects(lifecycle.create(note, inputs, context), (error: Unfinished) => {
        assert.ok(error instanceof Unfinished);
        assert.equal(explain(error), "storage: the connection broke", "each cause is said once");
        return true;
      });
      host.breakAt = Number.POSITIVE_INFINITY;
      await lifecycle.create(note, inputs, context);
      assert.deepEqual(
        [...host.files],
        [
          [record, "lab/one\n"],
          ["/a", "one"],
        ],
      );
    }
  });

  test("what nobody of ours made is refused and left alone", async () => {
    const { host, lifecycle, context } = lab();
    host.files.set("/a", "somebody's");
    await assert.rejects(lifecycle.create(note, inputs, context), {
      name: "RefusedError",
      message:
        /^storage: Note \/a is there already and this stack did not make it \(this is lab\/one\)\. Nothing was touched\./,
    });
    assert.deepEqual(host.done, []);
    await assert.rejects(lifecycle.previewCreate(note, inputs, context), RefusedError);
  });

  test("what another stack made is refused with its name", async () => {
    const { lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    const other = { ...context, owner: "lab/two" };
    await assert.rejects(
      lifecycle.create(note, inputs, other),
      /stack lab\/one made it \(this is lab\/two\)/,
    );
    await assert.rejects(lifecycle.update(note, { ...inputs, text: "two" }, other), RefusedError);
    await assert.rejects(lifecycle.delete(note, inputs, other), RefusedError);
  });

  test("a plan that leaves something to do is an error that names it, and the object stays known", async () => {
    const { lifecycle, context } = lab();
    const stubborn = { ...note, plan: () => [{ say: "write it", file: "/b", text: "x" }] };
    await assert.rejects(lifecycle.create(stubborn, inputs, context), (error: Unfinished) => {
      assert.ok(error instanceof Unfinished);
      assert.equal(error.id, "storage//a");
      assert.match(
        error.message,
        /Note \/a is not as declared after its plan was applied; still to do:\n {2}write \/b/,
      );
      return true;
    });
  });

  test("an error while observing is never taken for absence", async () => {
    const { host, lifecycle, context } = lab();
    const unreadable = { ...note, observe: () => Promise.reject(new ParseError("unknown line")) };
    await assert.rejects(lifecycle.create(unreadable, inputs, context), ParseError);
    host.reachable = false;
    await assert.rejects(lifecycle.create(note, inputs, context), TransportError);
    await assert.rejects(lifecycle.read(note, inputs), TransportError);
    await assert.rejects(lifecycle.delete(note, inputs, context), TransportError);
    assert.deepEqual(host.done, []);
  });
});

describe("check", () => {
  test("names the key, the rule and the value", () => {
    const { lifecycle } = lab();
    assert.deepEqual(lifecycle.check(note, { ...inputs, path: "a", extra: 1 }, []), [
      ["path", 'Invalid string: must start with "/" (given: a)'],
      ["", 'Unrecognized key: "extra"'],
    ]);
    assert.deepEqual(lifecycle.check(note, { ...inputs, text: "x".repeat(21) }, []), [
      ["text", "at most 20 characters, not 21"],
    ]);
  });

  test("what is not known yet passes", () => {
    const { lifecycle } = lab();
    assert.deepEqual(lifecycle.check(note, { host: inputs.host, path: "/a" }, ["text"]), []);
  });
});

describe("diff", () => {
  test("a changed field is an update, or a replace where the schema says so", async () => {
    const { lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    assert.deepEqual(await lifecycle.diff(note, inputs, { ...inputs, text: "two" }, [], context), {
      changes: [{ path: "text", kind: "update", replace: false }],
      drifted: false,
    });
    const { changes } = await lifecycle.diff(note, inputs, { ...inputs, path: "/b" }, [], context);
    assert.deepEqual(changes, [{ path: "path", kind: "update", replace: true }]);
  });

  test("another way to the same host is an update, another host a replace", async () => {
    const { lifecycle, context } = lab();
    const moved = { ...inputs, host: { name: "storage", ssh: "root@new" } };
    assert.equal((await lifecycle.diff(note, inputs, moved, [], context)).changes[0]?.replace, false);
    const other = { ...inputs, host: { name: "other", ssh: "storage" } };
    assert.equal((await lifecycle.diff(note, inputs, other, [], context)).changes[0]?.replace, true);
  });

  test("what stands on an object that is being replaced is replaced too", async () => {
    const { lifecycle, context } = lab();
    const { text: _, ...rest } = inputs;
    const diff = await lifecycle.diff(note, inputs, rest as NoteInputs, ["text"], context);
    assert.deepEqual(diff.changes, [{ path: "text", kind: "update", replace: true }]);
  });

  test("a replace that would lose data is refused with both values and the way out", async () => {
    const { lifecycle, context } = lab();
    const kept = { ...inputs, keep: true };
    await assert.rejects(lifecycle.diff(note, kept, { ...kept, path: "/b" }, [], context), {
      message: "storage: Note /a can't be replaced (path: /a → /b). keep is set: take it off first.",
    });
  });

  test("drift is found without a change in the stack file, with both values", async () => {
    const { host, lifecycle, context, said } = lab();
    await lifecycle.create(note, inputs, context);
    assert.deepEqual(await lifecycle.diff(note, inputs, inputs, [], context), {
      changes: [],
      drifted: false,
    });
    host.files.set("/a", "by hand");
    assert.equal((await lifecycle.diff(note, inputs, inputs, [], context)).drifted, true);
    assert.match(
      said.at(-1) ?? "",
      /^warning: storage: Note \/a is not as declared: text is by hand, declared one\. To do: write it$/,
    );
    host.files.delete("/a");
    assert.equal((await lifecycle.diff(note, inputs, inputs, [], context)).drifted, true);
    assert.match(said.at(-1) ?? "", /Note \/a is not there\. To do: write it$/);
    await lifecycle.update(note, inputs, context);
    assert.equal(host.files.get("/a"), "one");
  });

  test("a host that can't be reached is said once, and the plan goes on by what is known", async () => {
    const { host, lifecycle, context, said } = lab();
    host.reachable = false;
    for (const _ of [1, 2, 3]) {
      assert.deepEqual(await lifecycle.diff(note, inputs, inputs, [], context), {
        changes: [],
        drifted: false,
      });
      assert.deepEqual(await lifecycle.previewCreate(note, inputs, context), { ...inputs, length: 3 });
    }
    assert.deepEqual(said, [
      "warning: storage did not answer\n  What is on storage is planned without looking.",
    ]);
  });

  test("what can't be looked at or set right now is an update with a warning: what it stands on comes first", async () => {
    const { host, lifecycle, context, said } = lab();
    await lifecycle.create(note, inputs, context);
    const unreadable = {
      ...note,
      observe: () => Promise.reject(new CommandError("storage", 1, "storage: no such device")),
    };
    assert.deepEqual(await lifecycle.diff(unreadable, inputs, inputs, [], context), {
      changes: [],
      drifted: true,
    });
    assert.equal(said.at(-1), "warning: storage: no such device");
    await assert.rejects(lifecycle.update(unreadable, inputs, context), /no such device/);
    const refusing = { ...note, refusals: () => ["its device is not there."] };
    assert.equal((await lifecycle.diff(refusing, inputs, inputs, [], context)).drifted, true);
    assert.equal(said.at(-1), "warning: storage: Note /a: its device is not there.");
    await assert.rejects(
      lifecycle.diff(refusing, inputs, { ...inputs, text: "two" }, [], context),
      RefusedError,
    );
    assert.equal(host.done.length, 3);
  });

  test("what can be refused by reading is refused at preview", async () => {
    const { lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    const bad = { ...inputs, text: "forbidden" };
    await assert.rejects(lifecycle.diff(note, inputs, bad, [], context), /its text is forbidden/);
    await assert.rejects(
      lifecycle.previewCreate(note, { ...bad, path: "/c" }, context),
      /its text is forbidden/,
    );
  });
});

describe("settings for the whole provider", () => {
  test("showCommands: a preview lists what up then runs, in the same words", async () => {
    const { host, lifecycle, context, said } = lab();
    lifecycle.settings = { ...lifecycle.settings, showCommands: true };
    await lifecycle.previewCreate(note, inputs, context);
    await lifecycle.create(note, inputs, context);
    await lifecycle.diff(note, inputs, { ...inputs, text: "two" }, [], context);
    await lifecycle.update(note, { ...inputs, text: "two" }, context);
    const listed = said
      .filter((line) => line.startsWith("info: "))
      .flatMap((line) => line.split("\n").slice(1));
    assert.deepEqual(
      listed.map((line) => line.trim()),
      host.done,
    );
  });

  test("readOnly: whatever would change a host is refused, at preview and at up", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    const before = [...host.done];
    lifecycle.settings = { ...lifecycle.settings, readOnly: true };
    const changed = { ...inputs, text: "two" };
    const message = /storage: Note \/a can't be (changed|deleted): readOnly is set\./;
    await assert.rejects(
      lifecycle.previewCreate(note, { ...inputs, path: "/b" }, context),
      /can't be changed: readOnly/,
    );
    await assert.rejects(lifecycle.diff(note, inputs, changed, [], context), message);
    await assert.rejects(lifecycle.update(note, changed, context), message);
    await assert.rejects(lifecycle.delete(note, inputs, context), message);
    await lifecycle.update(note, inputs, context);
    assert.deepEqual(host.done, before);
  });

  test("destroyProtection: changes in place are made, deletes and replaces refused", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    lifecycle.settings = { ...lifecycle.settings, destroyProtection: true };
    const message =
      /can't be (deleted|replaced): destroyProtection is set\. .*pulumi config set storagelab:destroyProtection false/;
    await assert.rejects(lifecycle.delete(note, inputs, context), message);
    await assert.rejects(lifecycle.diff(note, inputs, { ...inputs, path: "/b" }, [], context), message);
    await lifecycle.update(note, { ...inputs, text: "two" }, context);
    assert.equal(host.files.get("/a"), "two");
  });
});

describe("read", () => {
  test("gives the real state, and nothing where the object is gone", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    host.files.set("/a", "by hand");
    assert.deepEqual(await lifecycle.read(note, inputs), {
      inputs: { ...inputs, text: "by hand" },
      outputs: { ...inputs, text: "by hand", length: 7 },
    });
    host.files.delete("/a");
    assert.equal(await lifecycle.read(note, inputs), undefined);
  });
});

describe("delete", () => {
  test("leaves nothing, its record neither; a second one does nothing", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    await lifecycle.delete(note, inputs, context);
    assert.deepEqual([...host.files], []);
    await lifecycle.delete(note, inputs, context);
    assert.deepEqual([...host.files], []);
  });

  test("what can't go now is refused with the reason, and stays", async () => {
    const { host, lifecycle, context } = lab();
    const used = { ...inputs, text: "in use" };
    await lifecycle.create(note, used, context);
    await assert.rejects(lifecycle.delete(note, used, context), {
      message: "storage: Note /a: it is in use: free it first.",
    });
    assert.equal(host.files.get("/a"), "in use");
  });

  test("what is on a virtual machine that is stopped goes with it", async () => {
    const { host, lifecycle, context, said } = lab();
    host.reachable = false;
    const guest = { ...inputs, host: { ...inputs.host, machine: ".lab/no-such-machine" } };
    await lifecycle.delete(note, guest, context);
    assert.match(said[0] ?? "", /its virtual machine is stopped/);
  });
});
