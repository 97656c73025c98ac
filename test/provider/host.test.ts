import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CommandError, explain, TransportError } from "../../provider/errors.ts";
import { Host } from "../../provider/host.ts";
import type { Step } from "../../provider/step.ts";

const here = () => new Host({ name: "here", ssh: "local" });
const folder = mkdtempSync(join(tmpdir(), "storage-lab-host-"));
const file = (name: string): string => join(folder, name);
const apply = (steps: Step[], said: string[] = []): Promise<void> =>
  here().apply(steps, { holder: "test", sideBySide: true, onStep: (step) => said.push(step.say) });

describe("questions", () => {
  test("asked at once they travel together and answer apart", async () => {
    const host = here();
    const answers = await Promise.all([
      host.ask(["echo", "it's"]),
      host.ask(["sh", "-c", "echo no >&2; exit 7"]),
      host.ask(["sh", "-c", "echo $PPID"]),
      host.ask(["sh", "-c", "echo $PPID"]),
    ]);
    assert.deepEqual(answers[0], { argv: ["echo", "it's"], status: 0, stdout: "it's\n", stderr: "" });
    assert.deepEqual([answers[1]?.status, answers[1]?.stderr], [7, "no\n"]);
    assert.equal(answers[2]?.stdout, answers[3]?.stdout, "one shell asked both");
  });

  test("a question can't eat the questions behind it from stdin", async () => {
    const host = here();
    const [, second] = await Promise.all([host.ask(["cat"]), host.ask(["echo", "still here"])]);
    assert.equal(second.stdout, "still here\n");
  });
});

describe("steps", () => {
  test("run in order and stop at the first that fails; what was done is taken back, last first", async () => {
    const said: string[] = [];
    const failing = apply(
      [
        { say: "make a", argv: ["touch", file("a")], undo: ["rm", file("a")] },
        { say: "make b", argv: ["touch", file("b")] },
        { say: "fail", argv: ["sh", "-c", "echo broken >&2; exit 5"], undo: ["touch", file("not-mine")] },
        { say: "never", argv: ["touch", file("c")] },
      ],
      said,
    );
    await assert.rejects(failing, (error: CommandError) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.status, 5);
      assert.match(
        error.message,
        /^here: could not fail: sh -c 'echo broken >&2; exit 5' ended with 5 and said: broken$/,
      );
      return true;
    });
    assert.deepEqual(
      [existsSync(file("a")), existsSync(file("b")), existsSync(file("c"))],
      [false, true, false],
    );
    assert.equal(existsSync(file("not-mine")), false);
    assert.deepEqual(said, ["make a", "make b", "fail"]);
  });

  test("a file is written whole with its mode, in a folder made for it", async () => {
    const path = file("deep/er/name with 'quote");
    await apply([{ say: "write", file: path, text: "a\n$HOME\n", mode: "600" }]);
    assert.equal(readFileSync(path, "utf8"), "a\n$HOME\n");
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test("bytes that are no text come as base64; a file that is there already is not written again, its mode set right", async () => {
    const path = file("key");
    const bytes = Buffer.from([0, 10, 255, 39, 10]);
    const write: Step = {
      say: "write",
      file: path,
      text: bytes.toString("base64"),
      base64: true,
      mode: "600",
    };
    await apply([write]);
    assert.deepEqual(readFileSync(path), bytes);
    const { ino } = statSync(path);
    await apply([{ ...write, mode: "640" }]);
    assert.deepEqual([statSync(path).ino, statSync(path).mode & 0o777], [ino, 0o640]);
    await apply([{ say: "write", file: path, text: "other\n" }]);
    assert.equal(readFileSync(path, "utf8"), "other\n");
    assert.notEqual(statSync(path).ino, ino);
    assert.equal(existsSync(`${path}.storage-lab-part`), false);
  });

  test("an attribute is written by the shell, and a failed write is a failure", async () => {
    await apply([{ say: "set", attribute: file("attribute"), value: "it's & $x" }]);
    assert.equal(readFileSync(file("attribute"), "utf8"), "it's & $x");
    await assert.rejects(apply([{ say: "set", attribute: "/dev/full", value: "1" }]), CommandError);
  });

  test("other exit statuses can be success", async () => {
    await apply([{ say: "ask", argv: ["sh", "-c", "exit 15"], accept: [15, 21] }]);
    await assert.rejects(apply([{ say: "ask", argv: ["sh", "-c", "exit 16"], accept: [15, 21] }]), {
      status: 16,
    });
  });

  test("waiting ends with its condition, or with its deadline and the condition's words", async () => {
    await apply([
      { say: "start", argv: ["sh", "-c", `(sleep 0.3; touch ${file("later")}) >/dev/null 2>&1 &`] },
      { say: "wait", until: ["test", "-e", file("later")], deadlineSeconds: 10 },
    ]);
    await assert.rejects(
      apply([{ say: "wait for x", until: ["test", "-e", file("x")], deadlineSeconds: 1 }]),
      {
        status: 124,
        message: /not so after 1 s: test -e .*x$/,
      },
    );
  });

  test("a long wait tells how far it is", async () => {
    const said: string[] = [];
    const count = file("count");
    const wait: Step = {
      say: "wait for it",
      until: ["sh", "-c", `sleep 0.1; echo x >>${count}; [ $(wc -l <${count}) -ge 3 ]`],
      deadlineSeconds: 20,
      progress: ["sh", "-c", `echo noise; echo $(wc -l <${count}) of 3`],
    };
    await apply([wait, { say: "go on", argv: ["true"] }], said);
    assert.deepEqual(said, ["wait for it", "wait for it: 1 of 3", "wait for it: 2 of 3", "go on"]);
  });

  test("a secret stands in no message, not even where the program repeats it", async () => {
    const secret = "canary hunter2";
    const echo = 'cat >&2; echo "no room for it" >&2; exit 1';
    const cut = "cut -c 3-6 >&2; exit 1";
    const steps: [step: Step, said: string][] = [
      [
        { say: "log in", argv: ["sh", "-c", echo], stdin: secret, secret: true },
        "[not shown: it may hold the secret]\nno room for it",
      ],
      [
        { say: "log in", argv: ["sh", "-c", cut], stdin: secret, secret: true },
        "[not shown: it may hold the secret]",
      ],
      [
        { say: "log in", argv: ["sh", "-c", "cat; exit 1"], stdin: "abc", secret: true },
        "[not shown: it may hold the secret]",
      ],
      [{ say: "set", attribute: `/dev/full/${secret}`, value: secret, secret: true }, "[not shown"],
      [{ say: "write", file: "/dev/full/x", text: secret, secret: true }, "/dev/full"],
    ];
    for (const [step, said] of steps) {
      await assert.rejects(apply([step]), (error: CommandError) => {
        const words = error.message.slice(error.message.indexOf(" said: ") + 7);
        assert.ok(words.includes(said), error.message);
        if (!("attribute" in step)) assert.doesNotMatch(explain(error), /hunter2|canary|nary|abc/);
        return true;
      });
    }
  });

  test("plans that come together share the lock; one that fails leaves the others alone", async () => {
    const host = here();
    const run = (n: number) =>
      host.apply([{ say: `plan ${n}`, argv: ["sh", "-c", `exit ${n}`] }], { holder: "test" });
    const results = await Promise.allSettled([run(0), run(4), run(0)]);
    assert.deepEqual(
      results.map((result) => result.status),
      ["fulfilled", "rejected", "fulfilled"],
    );
  });
});

test("two ups at one host: the second waits, is told who holds the lock, and nothing of the two is mixed", async () => {
  const [log, go] = [file("two-ups"), file("go")];
  const said: string[] = [];
  const add = (word: string) => ({ say: word, argv: ["sh", "-c", `echo ${word} >>${log}`] });
  const first = here().apply(
    [add("one"), { say: "wait", until: ["test", "-e", go], deadlineSeconds: 30 }, add("two")],
    {
      holder: "lab/first",
      onStep: ({ say }) => {
        if (say !== "wait") return;
        second = here().apply([add("three"), add("four")], {
          holder: "lab/second",
          onStep: (step) => {
            said.push(step.say);
            if (step.say.startsWith("wait")) writeFileSync(go, "");
          },
        });
      },
    },
  );
  let second: Promise<void> | undefined;
  await first;
  await second;
  assert.match(said[0] ?? "", /^wait for the lock of this host, held by lab\/first since /);
  assert.deepEqual(said.slice(1), ["three", "four"]);
  assert.equal(readFileSync(log, "utf8"), "one\ntwo\nthree\nfour\n");
});

describe("unreachable", () => {
  test("a closed port is a transport error with the command to try by hand, never an answer", async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    const host = new Host({ name: "storage", ssh: `ssh://root@127.0.0.1:${port}` });
    const attempts = [
      () => host.ask(["true"]),
      () => host.apply([{ say: "x", argv: ["true"] }], { holder: "test" }),
    ];
    for (const attempt of attempts) {
      await assert.rejects(attempt, (error: TransportError) => {
        assert.ok(error instanceof TransportError);
        assert.match(
          error.message,
          /^storage \(ssh:\/\/root@127\.0\.0\.1:\d+\) did not answer: .*refused.*\. Try by hand: ssh ssh:/,
        );
        return true;
      });
    }
  });

  test("a connection that breaks in the middle names the step", async () => {
    const broken = apply([
      { say: "do one", argv: ["true"] },
      { say: "do two", argv: ["sh", "-c", "kill -9 $PPID"] },
      { say: "do three", argv: ["true"] },
    ]);
    await assert.rejects(broken, (error: Error) => {
      assert.ok(error instanceof TransportError);
      assert.match(
        explain(error),
        /^here: the connection broke during: do two\. Run again: .*\n {2}because: here \(local\)/,
      );
      return true;
    });
  });
});

test("interrupted, a plan stops at the step that it is at", async () => {
  const host = here();
  const begun = Promise.withResolvers<void>();
  const steps: Step[] = [
    { say: "begin", argv: ["true"] },
    { say: "sleep", argv: ["sleep", "30"] },
    { say: "never", argv: ["touch", file("after-interrupt")] },
  ];
  const onStep = (step: Step): void => {
    if (step.say === "sleep") begun.resolve();
  };
  const plan = host.apply(steps, { holder: "test", sideBySide: true, onStep });
  await begun.promise;
  host.interrupt();
  await assert.rejects(plan, (error: Error) => {
    assert.ok(error instanceof TransportError);
    assert.match(
      explain(error),
      /^here: the connection broke during: sleep\. Run again: .*\n {2}because: here: interrupted$/,
    );
    return true;
  });
  assert.equal(existsSync(file("after-interrupt")), false);
});

test("a deadline may be longer than a timer counts", async () => {
  const { stdout } = await here().stream(["echo", "ran"], { deadlineSeconds: 4_000_802 });
  assert.equal(stdout, "ran\n");
});

test("a stream hands over lines while the program runs", async () => {
  const lines: string[] = [];
  const answer = await here().stream(["sh", "-c", "echo one; echo two; exit 3"], {
    deadlineSeconds: 20,
    onLine: (line) => lines.push(line),
  });
  assert.deepEqual(lines, ["one", "two"]);
  assert.equal(answer.status, 3);
});
