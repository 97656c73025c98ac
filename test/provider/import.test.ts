import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RefusedError, TransportError } from "../../provider/errors.ts";
import { inputs, lab, marks, note } from "./note.ts";

const { host: address } = inputs;
const addressOf = () => address;

describe("import", () => {
  test("takes what the host tells, and the next plan changes nothing", async () => {
    const { host, lifecycle, context, said } = lab();
    host.files.set("/a", "by hand");
    const imported = await lifecycle.import(note, "storage//a", addressOf, context);
    assert.equal(imported?.id, "storage//a");
    assert.deepEqual(imported?.inputs, { host: address, path: "/a", text: "by hand" });
    assert.deepEqual(imported?.secrets, ["password"]);
    const declared = { ...inputs, text: "by hand" };
    assert.deepEqual(await lifecycle.diff(note, imported?.inputs ?? inputs, declared, [], context), {
      changes: [],
      drifted: false,
    });
    assert.deepEqual([host.done, said], [[], []]);
  });

  test("the mark goes on with the first change; what was imported can be deleted", async () => {
    const { host, lifecycle, context } = lab();
    host.files.set("/a", "by hand");
    await lifecycle.update(note, inputs, context);
    assert.deepEqual(host.done, [...marks, "write /a"]);
    await lifecycle.delete(note, inputs, context);
    assert.deepEqual([...host.files], []);
  });

  test("what is not there is nothing; what can't be reached is an error", async () => {
    const { host, lifecycle, context } = lab();
    assert.equal(await lifecycle.import(note, "storage//a", addressOf, context), undefined);
    host.reachable = false;
    await assert.rejects(lifecycle.import(note, "storage//a", addressOf, context), TransportError);
  });

  test("an ID that names no host or nothing of this kind is refused with the form", async () => {
    const { lifecycle, context } = lab();
    for (const id of ["tank", "storage/", "/x", "storage/relative"]) {
      await assert.rejects(lifecycle.import(note, id, addressOf, context), {
        name: "RefusedError",
        message:
          /An import's ID is HOST\/NAME, with the host's name in the stack file, such as storage\/tank\./,
      });
    }
  });

  test("what another stack made is refused with its name", async () => {
    const { host, lifecycle, context } = lab();
    await lifecycle.create(note, inputs, context);
    const other = { ...context, owner: "lab/two" };
    const before = [...host.done];
    await assert.rejects(lifecycle.import(note, "storage//a", addressOf, other), {
      name: "RefusedError",
      message: /^storage: Note \/a is stack lab\/one's \(this is lab\/two\)\. Nothing was imported\./,
    });
    assert.deepEqual(host.done, before);
  });

  test("a create that finds something of that name says the command that imports it", async () => {
    const { host, lifecycle, context } = lab();
    host.files.set("/a", "somebody's");
    await assert.rejects(lifecycle.previewCreate(note, inputs, context), (error: Error) => {
      assert.ok(error instanceof RefusedError);
      assert.match(
        error.message,
        /Take it over: pulumi import --stack one --generate-code=false --protect=false storagelab:test:Note first storage\/\/a/,
      );
      return true;
    });
  });
});
