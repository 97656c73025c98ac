import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ParseError } from "../../../../provider/errors.ts";
import { parseImportable, parsePoolStatus } from "../../../../provider/resources/zfs/status.ts";
import { recorded } from "../../../recorded.ts";

const part = (n: number): string => `/dev/disk/by-id/virtio-D${n}-part1`;
const vdevs = (name: string) => parsePoolStatus(recorded(name))[0]?.vdevs;

describe("zpool status", () => {
  test("mirrors, log, cache and spare", () => {
    assert.deepEqual(parsePoolStatus(recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9")), [
      {
        name: "tank",
        state: "ONLINE",
        vdevs: [
          { role: "data", type: "mirror", name: "mirror-0", disks: [part(1), part(2)] },
          { role: "data", type: "mirror", name: "mirror-1", disks: [part(3), part(4)] },
          { role: "log", type: "mirror", name: "mirror-2", disks: [part(5), part(6)] },
          { role: "cache", type: "stripe", name: part(7), disks: [part(7)] },
          { role: "spare", type: "stripe", name: part(8), disks: [part(8)] },
        ],
      },
    ]);
  });

  test("special and dedup vdevs are no data vdevs", () => {
    assert.deepEqual(
      vdevs("zpool-status--special-dedup-log-cache--zfs-2.3.9")?.map((v) => [v.role, v.type, v.disks.length]),
      [
        ["data", "mirror", 2],
        ["dedup", "mirror", 2],
        ["special", "mirror", 2],
        ["log", "stripe", 1],
        ["cache", "stripe", 1],
      ],
    );
  });

  test("a disk that is offline, being replaced, or stood in for keeps its place", () => {
    assert.deepEqual(vdevs("zpool-status--offline--zfs-2.3.9")?.[0]?.disks, [part(1), part(2)]);
    assert.deepEqual(vdevs("zpool-status--spare-in-use--zfs-2.3.9")?.[0]?.disks, [part(1), part(2)]);
    assert.deepEqual(vdevs("zpool-status--replacing--zfs-2.3.9")?.[0]?.disks, [part(1), part(8)]);
  });

  test("what is under way, and how far it is", () => {
    const busy = (name: string) => parsePoolStatus(recorded(`zpool-status--${name}--zfs-2.3.9`))[0]?.busy;
    assert.deepEqual(busy("replacing"), { resilver: "86.96% done, no estimated completion time" });
    assert.deepEqual(busy("attaching"), { resilver: "0.00% done, no estimated completion time" });
    assert.deepEqual(busy("removing"), { remove: "0.21% done, 0h7m to go" });
    assert.deepEqual(busy("raidz-expanding"), { expand: "0.00% done, (copy is slow, no estimated time)" });
    for (const ended of ["removed", "raidz-expanded", "draid", "two-offline-spare-permanent"])
      assert.equal(busy(ended), undefined, ended);
  });

  test("what becomes of each disk", () => {
    const [, , log, cache] = vdevs("zpool-status--two-offline-spare-permanent--zfs-2.3.9") ?? [];
    assert.deepEqual(log?.states, { [part(5)]: "OFFLINE" });
    assert.deepEqual(cache?.states, { [part(7)]: "OFFLINE" });
    assert.deepEqual(vdevs("zpool-status--spare-in-use--zfs-2.3.9")?.[0]?.standIns, { [part(2)]: part(8) });
    const [both] = vdevs("zpool-status--replacing-and-attaching--zfs-2.3.9") ?? [];
    assert.deepEqual([both?.disks, both?.leaving], [[part(9), part(2)], [part(1)]]);
    assert.deepEqual(
      vdevs("zpool-status--removing--zfs-2.3.9")?.map(({ removing }) => removing === true),
      [false, true, false, false],
    );
  });

  test("`zpool status -j` of ZFS 2.3 on dRAID lacks type and state: the text has the geometry in the name", () => {
    for (const [situation, data] of [
      ["draid", 4],
      ["draid-spare-in-use", 4],
      ["draid-odd", 3],
    ] as const) {
      const [vdev, ...others] = vdevs(`zpool-status--${situation}--zfs-2.3.9`) ?? [];
      assert.deepEqual([vdev?.type, vdev?.data, vdev?.spares, vdev?.disks[0]], ["draid2", data, 1, part(1)]);
      assert.deepEqual(others, [], "a distributed spare is no spare of its own");
    }
  });

  test("every recorded output of every version", () => {
    const outputs = readdirSync(join(import.meta.dirname, "../../../recorded")).filter(
      (file) =>
        file.startsWith("zpool-status--") && recorded(file.replace(/\.out$/, "")).startsWith("  pool: "),
    );
    assert.ok(outputs.length > 10);
    for (const file of outputs) {
      const [pool] = parsePoolStatus(recorded(file.replace(/\.out$/, "")));
      assert.ok(
        pool !== undefined && pool.vdevs.length > 0 && pool.vdevs.every(({ disks }) => disks.length > 0),
        file,
      );
    }
  });

  test("no pools", () => {
    assert.deepEqual(parsePoolStatus("no pools available\n"), []);
    assert.deepEqual(parsePoolStatus(""), []);
  });

  const head =
    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0 0 0\n";
  for (const [what, text] of [
    ["a line outside of a pool", "hello\n"],
    ["an unknown key", `${head}\nwarranty: void\n`],
    ["an unknown section", `${head}\tfancy\n\t  /dev/sda1  ONLINE  0 0 0\n`],
    [
      "an unknown kind of vdev",
      `${head}\t  draid4:3d:12c:1s-0  ONLINE  0 0 0\n\t    /dev/sda1  ONLINE  0 0 0\n`,
    ],
    ["a disk without a path", `${head}\t  sda1  ONLINE  0 0 0\n`],
    ["a level left out", `${head}\t      /dev/sda1  ONLINE  0 0 0\n`],
    ["no vdevs", "  pool: tank\n state: UNAVAIL\n"],
  ] as const) {
    test(`refuses ${what}`, () => assert.throws(() => parsePoolStatus(text), ParseError));
  }

  test("a missing disk is known by the path that it had", () => {
    const text = `${head}\t  mirror-0  DEGRADED  0 0 0\n\t    /dev/sda1  ONLINE  0 0 0\n\t    1234567  UNAVAIL  0 0 0  was /dev/sdb1\n`;
    assert.deepEqual(parsePoolStatus(text)[0]?.vdevs[0]?.disks, ["/dev/sda1", "/dev/sdb1"]);
  });
});

describe("zpool import", () => {
  test("an exported pool with its mark", () => {
    const [pool, ...others] = parseImportable(recorded("zpool-import--exported--zfs-2.3.9"));
    assert.deepEqual(others, []);
    assert.deepEqual([pool?.name, pool?.state, pool?.comment], ["tank", "ONLINE", "storage-lab/lab"]);
    assert.match(pool?.guid ?? "", /^\d+$/);
  });

  test("a status of several lines is kept whole", () => {
    const text =
      "   pool: tank\n     id: 1\n  state: UNAVAIL\nstatus: The pool was last accessed by\n\tanother system.\n action: Use -f.\n config:\n\n\ttank  UNAVAIL\n";
    assert.deepEqual(parseImportable(text), [
      { name: "tank", guid: "1", state: "UNAVAIL", status: "The pool was last accessed by another system." },
    ]);
  });

  test("nothing to import, and what is no pool", () => {
    assert.deepEqual(parseImportable("no pools available to import\n"), []);
    assert.throws(() => parseImportable("cannot open\n"), ParseError);
    assert.throws(() => parseImportable("   pool: tank\n weight: 3\n"), ParseError);
  });
});
