import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { documents } from "../../../bench/parse/documents.ts";

test("text before, between and after documents is kept apart", () => {
  const found = documents('note: old file\n{"a": 1}\nfio: warning\n{"b": "}{"}\n\nend\n');
  assert.deepEqual(
    found.documents.map(({ value }) => value),
    [{ a: 1 }, { b: "}{" }],
  );
  assert.deepEqual(found.outside, ["note: old file", "fio: warning", "end"]);
});

test("nan and inf are null, and counted; in a string they are words", () => {
  const [found] = documents(
    '{"a": nan, "b": -nan, "c": inf, "d": -inf, "e": "nan inf", "info": 1}',
  ).documents;
  assert.deepEqual(found?.value, { a: null, b: null, c: null, d: null, e: "nan inf", info: 1 });
  assert.equal(found?.notNumbers, 4);
});

test("a document that is cut off is text, and does not hide those before", () => {
  const found = documents('{"a": 1}\n{\n "b": {"c": 2},\n');
  assert.equal(found.documents.length, 1);
  assert.deepEqual(found.outside, ["{", '"b": {"c": 2},']);
});

test("any JSON objects come back as they went in, whatever stands between", () => {
  const noise = fc.constantFrom("fio: it's", '"', "}", "  [1, 2", "");
  fc.assert(
    fc.property(fc.array(fc.tuple(noise, fc.dictionary(fc.string(), fc.jsonValue()))), (items) => {
      const text = items.map(([line, value]) => `${line}\n${JSON.stringify(value, null, 1)}\n`).join("");
      const found = documents(text).documents.map(({ value }) => JSON.stringify(value));
      assert.deepEqual(
        found,
        items.map(([, value]) => JSON.stringify(value)),
      );
    }),
  );
});
