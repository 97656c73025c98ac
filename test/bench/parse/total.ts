import assert from "node:assert/strict";
import fc from "fast-check";
import { ParseError } from "../../../provider/errors.ts";

/**
 * A parser is total: of any text it makes something or a ParseError, never another error. Tried with any text and with
 * a recording of which pieces are cut out, doubled or replaced.
 */
export function assertTotal(parse: (text: string) => unknown, recording: string): void {
  const parsed = (text: string): void => {
    try {
      parse(text);
    } catch (error) {
      assert.ok(error instanceof ParseError, `${error} of ${JSON.stringify(text.slice(0, 300))}`);
    }
  };
  fc.assert(fc.property(fc.string(), parsed), { numRuns: 50 });
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom("", "-", "0", "nan", "\t", "\n", " ", "999999999999999999999"),
  );
  const cut = fc.tuple(fc.nat(recording.length), fc.nat(200), piece);
  const damaged = fc
    .array(cut, { minLength: 1, maxLength: 3 })
    .map((cuts) =>
      cuts.reduce((text, [at, length, by]) => text.slice(0, at) + by + text.slice(at + length), recording),
    );
  fc.assert(fc.property(damaged, parsed), { numRuns: 100 });
}

/** Within this share of each other, or both near nothing. */
export function assertNear(a: number, b: number, share: number, what: string): void {
  assert.ok(Math.abs(a - b) <= share * Math.max(Math.abs(a), Math.abs(b)), `${what}: ${a} and ${b}`);
}
