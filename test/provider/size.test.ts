import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatSize, parseSize } from "../../provider/size.ts";

const cases: [text: string, bytes: bigint | undefined][] = [
  ["2 GiB", 2n << 30n],
  ["200G", 200n << 30n],
  ["16K", 16384n],
  ["16 KiB", 16384n],
  ["1.5T", 1649267441664n],
  ["1536G", 1649267441664n],
  ["1.50T", 1649267441664n],
  ["512", 512n],
  ["512 B", 512n],
  ["200000004096", 200000004096n],
  ["0.3K", undefined],
  ["2 GB", undefined],
  ["64MB", undefined],
  ["", undefined],
  ["-1G", undefined],
  ["1e3", undefined],
  ["1 ZiB", undefined],
];

for (const [text, bytes] of cases) {
  test(`${JSON.stringify(text)} is ${bytes ?? "no size"}`, () => assert.equal(parseSize(text), bytes));
}

test("what is formatted parses to the same bytes", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 60n }), (bytes) => parseSize(formatSize(bytes)) === bytes),
  );
});
