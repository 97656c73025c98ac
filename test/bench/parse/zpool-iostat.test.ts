import assert from "node:assert/strict";
import { test } from "node:test";
import { parseZpoolIostat } from "../../../bench/parse/zpool-iostat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded } from "../../recorded.ts";

const text = recorded("zpool-iostat--mirror-with-log--2.3.9");

test("one sample an interval; the report since boot leaves only its time", () => {
  const samples = parseZpoolIostat(text, "tank");
  assert.equal(samples.length, text.split("\n").filter((line) => line.startsWith("tank\t")).length);
  assert.ok(samples.length >= 2);
  for (const { pool, vdevs } of samples) {
    assert.equal(pool.name, "tank");
    assert.deepEqual(
      vdevs.map((vdev) => vdev.name).filter((name) => name.startsWith("mirror")),
      ["mirror-0", "mirror-1", "mirror-2"],
    );
    assert.equal(vdevs.length, 11);
    assert.ok((pool.allocated ?? 0) > 0 && (pool.free ?? 0) > 0);
  }
});

test("figures by column, a dash is none", () => {
  const [sample] = parseZpoolIostat("1796041381\ntank\t-\t5\t1\t2\t3000\t4000\n", "tank");
  assert.deepEqual(sample?.pool, {
    ...{ name: "tank", allocated: null, free: 5 },
    ...{ role: "pool", depth: 0, waits: null, queues: null },
    ...{ readOperations: 1, writeOperations: 2, read: 3000, write: 4000 },
  });
});

for (const [what, bad] of Object.entries({
  "another pool": "1\nback\t0\t0\t0\t0\t0\t0\n",
  "columns of -l": "1\ntank\t0\t0\t0\t0\t0\t0\t77\n",
  "a word for a number": "1\ntank\t0\t0\t0\t0\t0\t1.5M\n",
  "no rate": "1\ntank\t0\t0\t0\t0\t-\t0\n",
  "no time": "tank\t0\t0\t0\t0\t0\t0\n",
})) {
  test(`${what} is an error`, () => assert.throws(() => parseZpoolIostat(bad, "tank"), ParseError));
}
