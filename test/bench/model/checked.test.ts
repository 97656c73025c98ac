import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { poolSpace, volumeSpace } from "../../../bench/model/space.ts";
import type { VdevShape } from "../../../bench/schema/evidence.ts";
import { parseProperties, property } from "../../../provider/resources/zfs/properties.ts";
import { recorded } from "../../recorded.ts";
import { checkedMarkdown } from "./checked-table.ts";
import { checkedRows, commandsOf, off, type Row } from "./recordings.ts";

/** The model against what pools really gave, took and wrote: OpenZFS 2.3.9 (test/recorded/layout--*) and 2.1.11. */

const rows = checkedRows();
const of = (...what: Row["what"][]): Row[] => rows.filter((row) => what.includes(row.what));
const name = ({ layout, volblocksize, logbias, what }: Row): string =>
  [what, "of", layout, volblocksize && `${volblocksize / 1024} KiB`, logbias].filter(Boolean).join(" ");

test("there are recordings of disks, mirrors, RAID-Z1 to 3, dRAID, SLOG, special vdev, large disks and 512-byte sectors", () => {
  const layouts = [...new Set(rows.map(({ layout }) => layout))];
  for (const kind of ["stripe", "mirror", "raidz1", "raidz2", "raidz3", "draid1", "draid2"])
    assert.ok(
      layouts.some((layout) => layout.includes(kind)),
      kind,
    );
  for (const kind of ["-log", "-special", "-1-tb", "-ashift-9", "sync-"])
    assert.ok(
      layouts.some((layout) => layout.includes(kind)),
      kind,
    );
});

describe("to the byte", () => {
  for (const row of of("size", "reservation")) test(name(row), () => assert.equal(row.model, row.found));
  for (const row of of("usable").filter(({ layout }) => !layout.includes("special")))
    test(name(row), () => assert.equal(row.model, row.found));
});

test("usable space with a special vdev: its metadata counts as used, and is not taken from the data vdevs", () => {
  const special = of("usable").filter(({ layout }) => layout.includes("special"));
  assert.equal(special.length, 1);
  for (const row of special) assert.ok(off(row) <= 0 && off(row) > -0.02, `${off(row)} %`);
});

describe("space of written blocks: below what was found by the metadata, under 1.5 %", () => {
  for (const row of of("written"))
    test(name(row), () => assert.ok(off(row) <= 0 && off(row) > -1.5, `${off(row)} %`));
});

/** Metadata that is written beside the data, in bytes: of 48 MiB at once, and of 8 MiB in several transaction groups. */
const metadata = ({ what, sync }: Row): number =>
  what === "log writes" ? 0 : sync ? 3 * 2 ** 20 : 6 * 2 ** 20;
const payload = ({ sync }: Row): number => (sync ? 8 : 48) * 2 ** 20;

describe("writes on the disks: no less than the least, and no more than the most and some MiB of metadata", () => {
  for (const row of of("data writes", "log writes"))
    test(name(row), () => {
      assert.ok(row.found >= row.model, `${row.found} is less than ${row.model}`);
      const most = row.most + metadata(row) / payload(row);
      assert.ok(row.found <= most, `${row.found} is more than ${most}`);
    });
});

describe("OpenZFS 2.1.11, on disks of 256 MiB: to the byte", () => {
  const mirror = (role: VdevShape["role"], count = 1): VdevShape => ({
    ...{ kind: "mirror", role, disks: 2, data: null, spares: 0, diskSize: 256 * 2 ** 20, count },
  });
  const value = (recording: string, name: string): number =>
    Number(property(parseProperties(recorded(`${recording}--zfs-2.1.11`)), name));
  const two = { vdevs: [mirror("data", 2), mirror("log")], ashift: 12 };
  test("size and usable space of two mirrors and a log", () => {
    const space = poolSpace(two);
    assert.equal(space?.size, value("zpool-get--two-mirrors", "size"));
    const root = "zfs-get--pool-root";
    assert.equal(space?.usable, value(root, "used") + value(root, "available"));
  });
  test("size of a pool with special and dedup vdevs", () => {
    const vdevs = [mirror("data"), mirror("special"), mirror("dedup")];
    assert.equal(poolSpace({ vdevs, ashift: 12 })?.size, value("zpool-get--special-dedup", "size"));
  });
  test("a volume's reservation", () => {
    const volume = "zfs-get--volume";
    const [size, block] = [value(volume, "volsize"), value(volume, "volblocksize")];
    assert.equal(volumeSpace(two, { size, block }).reservation, value(volume, "refreservation"));
  });
});

test("a transcript that doesn't begin with a command is refused", () => {
  assert.throws(() => commandsOf("tank\t1\n"), /before the first command: "tank\\t1"/);
  assert.deepEqual(commandsOf("$ a b\n1\n2\n$ c\n"), [
    { command: "a b", lines: ["1", "2"] },
    { command: "c", lines: [] },
  ]);
});

test("space isn't known where a disk's size isn't", () => {
  const vdev = {
    kind: "mirror",
    role: "data",
    disks: 2,
    data: null,
    spares: 0,
    diskSize: null,
    count: 1,
  } as const;
  assert.equal(poolSpace({ vdevs: [vdev], ashift: 12 }), null);
});

test("the table of docs/model.md is this one: node test/bench/model/checked-table.ts", () => {
  const doc = readFileSync(join(import.meta.dirname, "../../../docs/model.md"), "utf8");
  assert.ok(doc.includes(checkedMarkdown(rows)), "write it again: node test/bench/model/checked-table.ts");
});
