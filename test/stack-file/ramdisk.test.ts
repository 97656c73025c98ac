import assert from "node:assert/strict";
import { test } from "node:test";
import { lunsOf, ramdiskName, sizesOf } from "../../components/iscsi-inputs.ts";
import { parse, refused, target, whole } from "./sample.ts";

/** A target's RAM disk in the stack file, and what it makes of LUNs and sessions. */

const withRamdisk = (ramdisk: unknown, more: object = {}) =>
  parse((stack) => ({ targets: { [target]: { ...stack.targets[target], ramdisk, ...more } } }));

test("it is the last LUN there may be: a further volume never takes its number", () => {
  const lab = withRamdisk("256 MiB");
  const declared = lab.targets[target];
  assert.ok(declared);
  assert.deepEqual(lunsOf(declared), [0, 255]);
  assert.deepEqual(sizesOf(lab, declared), ["2 GiB", "256 MiB"]);
  assert.equal(ramdiskName(declared), "tank-lun0-ramdisk");
  const plain = parse(() => ({})).targets[target];
  assert.ok(plain);
  assert.deepEqual(lunsOf(plain), [0]);
});

for (const [what, text, message] of [
  ["no size", "much", /targets\.\S+\.ramdisk: /],
  ["no whole number of MiB", "100 KiB", /ramdisk: 100 KiB \(102400 bytes\) is no whole number of MiB/],
  ["nothing", "0", /ramdisk: 0 \(0 bytes\) is no whole number of MiB/],
] as const) {
  test(`refused before anything is touched: a RAM disk of ${what}`, () => {
    assert.match(
      refused(() => withRamdisk(text)),
      message,
    );
  });
}

test("refused: a volume whose backstore would have its name", () => {
  const volumes = { ...whole().volumes, "tank/lun0-ramdisk": { size: "1 GiB" } };
  const said = refused(() =>
    parse((stack) => ({
      volumes,
      targets: {
        [target]: { ...stack.targets[target], luns: ["tank/lun0", "tank/lun0-ramdisk"], ramdisk: "1 GiB" },
      },
    })),
  );
  assert.match(
    said,
    /ramdisk: LUN tank\/lun0-ramdisk would be backstore tank-lun0-ramdisk, as the RAM disk; rename the volume/,
  );
});
