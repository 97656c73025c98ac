import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Beside } from "../../config.ts";
import { parse, refused, target } from "./sample.ts";

describe("CHAP", () => {
  const canary = "canary-7f3a91";
  const withChap = (chap: unknown, beside: Beside = { secretKeys: ["storage-lab:targets"] }) =>
    parse((s) => ({ targets: { [target]: { ...s.targets[target], chap } } }), beside);

  test("one way and mutual", () => {
    const one = { user: "lab", password: canary };
    const both = { ...one, mutual: { user: "target", password: `${canary}2` } };
    for (const chap of [one, both]) assert.deepEqual(withChap(chap).targets[target]?.chap, chap);
  });

  test("a user of digits is a number to YAML, and a name all the same", () => {
    assert.equal(withChap({ user: 1234, password: canary }).targets[target]?.chap?.user, "1234");
  });

  const wrong: [name: string, chap: unknown, message: RegExp][] = [
    ["no user", { password: canary }, /chap\.user: missing/],
    ["the password alone", canary, /chap: Invalid input: expected object/],
    ["a list", [canary], /chap: Invalid input: expected object/],
    ["the password as a key", { user: "lab", password: { [canary]: 1 } }, /chap\.password: Invalid input/],
    ["300 characters", { user: "lab", password: canary.repeat(30) }, /chap\.password: Too big/],
    ["an empty one", { user: "lab", password: "" }, /chap\.password: Too small/],
    [
      "a blank at its end",
      { user: "lab", password: `${canary} ` },
      /chap\.password may hold printable ASCII/,
    ],
    [
      "the same both ways",
      { user: "lab", password: canary, mutual: { user: "t", password: canary } },
      /lab:tank\.chap\.mutual\.password: the target's secret has to differ/,
    ],
    [
      "mutual without its password",
      { user: "lab", password: canary, mutual: { user: "t" } },
      /chap\.mutual\.password: missing/,
    ],
  ];
  for (const [name, chap, message] of wrong) {
    test(`${name}: refused, and the password is not in the error`, () => {
      const error = refused(() => withChap(chap));
      assert.match(error, message);
      assert.ok(!error.includes(canary), error);
    });
  }

  test("a key in clear is refused as well, and one of a wrong form is not shown", () => {
    const encrypted = { encryption: "aes-256-gcm", keyformat: "passphrase", key: canary };
    const volumes = { "tank/lun0": { size: "2 GiB", ...encrypted } };
    const clear = refused(() => parse(() => ({ volumes }), { secretKeys: [] }));
    assert.ok(clear.includes(`--path 'storage-lab:volumes["tank/lun0"].key'`), clear);
    const short = { ...encrypted, keyformat: "hex" };
    const wrong = refused(() =>
      parse(() => ({ volumes: { "tank/lun0": { size: "2 GiB", ...short } } }), {
        secretKeys: ["storage-lab:volumes"],
      }),
    );
    for (const error of [clear, wrong]) assert.ok(!error.includes(canary), error);
  });

  test("a password in clear is refused with the command that sets it, and is not in the error", () => {
    const chap = { user: "lab", password: canary, mutual: { user: "t", password: `${canary}2` } };
    const error = refused(() => withChap(chap, { secretKeys: [] }));
    for (const path of ["chap.password", "chap.mutual.password"]) {
      assert.ok(
        error.includes(`pulumi config set --secret --path 'storage-lab:targets["${target}"].${path}'`),
        error,
      );
    }
    assert.ok(!error.includes(canary), error);
  });
});
