import assert from "node:assert/strict";
import { test } from "node:test";
import { kstatText, parseKstat, parseTxgs } from "../../../bench/parse/kstat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertTotal } from "./total.ts";

const versionOf = (name: string): string => /zfs-([\d.]+)$/.exec(name)?.[1] ?? "";
const tables = [...recordings("kstat", /^(?!txgs)/), ...recordings("arcstats")];
const histories = recordings("kstat", /^txgs/);

for (const name of tables) {
  test(`${name}: a number for each line but the texts`, () => {
    const text = recorded(name);
    const values = parseKstat(text, name);
    assert.equal(values.size, text.trimEnd().split("\n").length - 2 - (name.includes("objset") ? 1 : 0));
    for (const [key, value] of values) assert.ok(Number.isSafeInteger(value), `${key} ${value}`);
  });
}

test("the ZIL of all pools is the one volume's that was written", () => {
  for (const name of recordings("kstat", /^zil--/)) {
    const zil = parseKstat(recorded(name), "zil");
    const text = recorded(name.replace("--zil--", "--objset-volume--"));
    assert.equal(kstatText(text, "dataset_name", "objset"), "tank/lun0");
    const volume = parseKstat(text, "objset");
    // Half of the writes were flushed, all to the SLOG.
    const commits = zil.get("zil_commit_count") ?? 0;
    assert.ok(commits > 0);
    // A volume has a ZIL's counters of its own since ZFS 2.2; they were read a moment later.
    const later = volume.get("zil_commit_count");
    assert.equal(later !== undefined, versionOf(name) >= "2.2");
    if (later !== undefined)
      assert.ok(later >= commits && later < commits * 1.5 + 50, `${commits}, ${later}`);
    assert.ok((zil.get("zil_itx_metaslab_slog_bytes") ?? 0) > 0);
    assert.equal(zil.get("zil_itx_metaslab_normal_bytes"), 0);
    assert.ok((volume.get("nwritten") ?? 0) / (volume.get("writes") ?? 1) === 16384, "blocks of 16 KiB");
    // What was allotted on the SLOG, which is more than what was written to it: since ZFS 2.2.
    assert.equal(zil.has("zil_itx_metaslab_slog_alloc"), versionOf(name) >= "2.2");
  }
});

for (const name of histories) {
  test(`${name}: a group opens where the one before was closed; one is open, the rest is done or on its way`, () => {
    const txgs = parseTxgs(recorded(name));
    assert.ok(txgs.length >= 5);
    assert.equal(txgs.at(-1)?.state, "O");
    for (const [at, txg] of txgs.entries()) {
      const next = txgs[at + 1];
      if (next === undefined) continue;
      assert.equal(next.txg, txg.txg + 1);
      assert.equal(next.birth, txg.birth + txg.openTime);
      if (txg.state === "C") assert.ok(txg.syncTime > 0);
      // What was dirty in memory is written at least once, less what was compressed away.
      if (txg.state === "C" && txg.dirty > 4e6) assert.ok(txg.written > txg.dirty / 2, `${txg.txg}`);
    }
  });
}

test("figures by hand", () => {
  const [last] = parseTxgs(recorded("kstat--txgs--zfs-2.3.9")).slice(-3);
  assert.deepEqual(last, {
    ...{ txg: 60, birth: 308_929_102_212, state: "C", dirty: 11_124_736, read: 0, written: 20_955_136 },
    ...{ reads: 0, writes: 353, openTime: 1_350_107_790, quiesceTime: 13_345 },
    ...{ waitTime: 151_082, syncTime: 238_083_014 },
  });
  const zil = parseKstat(recorded("kstat--zil--zfs-2.3.9"), "zil");
  assert.equal(zil.get("zil_itx_metaslab_slog_bytes"), 269_082_304);
});

test("what is no kstat is an error that says whose", () => {
  const head = "19 1 0x01 1 1 1 1\nname type data\n";
  for (const [text, said] of [
    ["", /zil: not a kstat/],
    [`${head}hits 4 many\n`, /zil: unknown line "hits 4 many"/],
    [`${head}hits 9 1\n`, /zil: unknown line "hits 9 1"/],
    [`${head}hits\n`, /zil: unknown line "hits"/],
  ] as const) {
    assert.throws(
      () => parseKstat(text, "zil"),
      (error) => error instanceof ParseError && said.test(error.message),
    );
  }
  assert.throws(() => kstatText(head, "dataset_name", "objset"), /objset: no text dataset_name/);
  assert.throws(
    () => parseTxgs(recorded("kstat--zil--zfs-2.3.9")),
    /txgs: not a kstat of transaction groups/,
  );
  const txgs = recorded("kstat--txgs--zfs-2.3.9");
  assert.throws(() => parseTxgs(`${txgs}63 1 X 0 0 0 0 0 0 0 0 0\n`), /txgs: unknown line "63 1 X/);
});

test("any text is parsed or a ParseError", () => {
  assertTotal((text) => parseKstat(text, "zil"), recorded("kstat--zil--zfs-2.3.9"));
  assertTotal(
    (text) => kstatText(text, "dataset_name", "objset"),
    recorded("kstat--objset-volume--zfs-2.3.9"),
  );
  assertTotal(parseTxgs, recorded("kstat--txgs--zfs-2.3.9"));
});
