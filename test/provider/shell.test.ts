import assert from "node:assert/strict";
import { test } from "node:test";
import { execa } from "execa";
import fc from "fast-check";
import { commandLine, Frames, heredoc, quote, whole } from "../../provider/shell.ts";

const sh = async (script: string) =>
  execa("sh", ["-s"], { input: script, stripFinalNewline: false, reject: false });

test("a quoted word reaches the program as it is, whatever it holds", async () => {
  const word = fc.string({ unit: fc.constantFrom(..."a 'Z\"\\$`!*?~#&|;<>(){}[]\n\t-é€=%") });
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 5 }), async (words) => {
      const { stdout } = await sh(commandLine(["printf", "%s\\0", ...words]));
      assert.deepEqual(stdout.split("\0").slice(0, -1), words);
    }),
    { numRuns: 40 },
  );
});

test("plain words stay readable", () => {
  assert.equal(
    commandLine(["zfs", "set", "compression=lz4", "tank/lun0"]),
    "zfs set compression=lz4 tank/lun0",
  );
  assert.equal(quote("it's"), `'it'\\''s'`);
  assert.equal(quote(""), "''");
});

test("a word with a NUL byte can't be an argument", () => {
  assert.throws(() => quote("a\0b"), /holds a NUL byte/);
});

test("a heredoc gives its text even where a line of it looks like the end mark", async () => {
  const { stdout } = await sh(`cat ${heredoc("one\nEOF\n$HOME `id`")}`);
  assert.equal(stdout, "one\nEOF\n$HOME `id`\n");
});

test("frames keep the answers apart: status, stdout and stderr of each, without a final newline too", async () => {
  const frames = new Frames();
  const script = [
    frames.around("a", "printf 'no newline'"),
    frames.around("b", "sh -c 'echo out; echo err >&2; exit 3'"),
    frames.around("c", "true"),
  ].join("\n");
  const { stdout, stderr } = await sh(script);
  assert.deepEqual(
    [...frames.parse(stdout, stderr)],
    [
      ["a", { status: 0, stdout: "no newline", stderr: "" }],
      ["b", { status: 3, stdout: "out\n", stderr: "err\n" }],
      ["c", { status: 0, stdout: "", stderr: "" }],
    ],
  );
});

test("what ssh says before the script is in no frame", async () => {
  const frames = new Frames();
  const script = [frames.begin(), frames.around("a", "echo answer; echo error >&2")].join("\n");
  const { stdout, stderr } = await sh(script);
  const noise = "ControlSocket /tmp/x already exists, disabling multiplexing\n";
  const found = frames.parse(`Welcome\n${stdout}`, `${noise}${stderr}`).get("a");
  assert.deepEqual(found, { status: 0, stdout: "answer\n", stderr: "error\n" });
});

test("a script that arrives in part runs nothing", async () => {
  const script = whole("echo ran");
  const { stdout } = await sh(script.slice(0, script.lastIndexOf("main")));
  assert.equal(stdout, "");
  assert.equal((await sh(script)).stdout, "ran\n");
});
