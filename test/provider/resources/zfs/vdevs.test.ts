import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parsePoolStatus } from "../../../../provider/resources/zfs/status.ts";
import {
  currentVdevs,
  type DeclaredVdev,
  describeVdev,
  foundVdevs,
  vdevArguments,
  vdevChanges,
} from "../../../../provider/resources/zfs/vdevs.ts";
import { recorded } from "../../../recorded.ts";

/** Declared vdevs against those of real pools: which commands turn the ones into the others. */

const d = (...numbers: number[]): string[] => numbers.map((n) => `by-id/virtio-D${n}`);
const shown = (n: number): string => `/dev/disk/by-id/virtio-D${n}-part1`;
const pool = (situation: string) =>
  parsePoolStatus(recorded(`zpool-status--${situation}--zfs-2.3.9`))[0]?.vdevs ?? [];
const mirror = (...numbers: number[]): DeclaredVdev => ({
  role: "data",
  type: "mirror",
  disks: d(...numbers),
});
const of = (type: DeclaredVdev["type"], role: DeclaredVdev["role"], ...numbers: number[]): DeclaredVdev => ({
  ...{ role, type, disks: d(...numbers) },
});
const unresolved = () => undefined;

/** What is to be done, without what is not. */
function changes(declared: DeclaredVdev[], situation: string): Record<string, unknown> {
  const all = vdevChanges(declared, pool(situation), unresolved);
  return Object.fromEntries(Object.entries(all).filter(([, list]) => list.length > 0));
}

const two = "two-mirrors-log-cache-spare";
const aside = [of("mirror", "log", 5, 6), of("stripe", "cache", 7), of("stripe", "spare", 8)];
const special = [
  mirror(1, 2),
  of("mirror", "special", 3, 4),
  of("mirror", "dedup", 5, 6),
  of("stripe", "log", 7),
  of("stripe", "cache", 8),
];
const eleven = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const draid = (data: number | undefined, spares: number | undefined): DeclaredVdev => ({
  ...of("draid2", "data", ...eleven),
  ...(data !== undefined && { data }),
  ...(spares !== undefined && { spares }),
});

const cases: [
  what: string,
  declared: DeclaredVdev[],
  situation: string,
  expected: Record<string, unknown>,
][] = [
  ["as declared", [mirror(1, 2), mirror(3, 4), ...aside], two, {}],
  ["disks and vdevs in another order", [mirror(4, 3), ...aside, mirror(2, 1)], two, {}],
  ["a pool with a special and a dedup vdev, applied twice", special, "special-dedup-log-cache", {}],
  [
    "one side more",
    [mirror(1, 2, 9), mirror(3, 4), ...aside],
    two,
    { attach: [{ vdev: "mirror-0", to: shown(1), disk: "by-id/virtio-D9" }] },
  ],
  [
    "one side less",
    [of("stripe", "data", 1), mirror(3, 4), ...aside],
    two,
    { detach: [{ vdev: "mirror-0", disk: shown(2), name: shown(2) }] },
  ],
  [
    "a side of the log replaced",
    [mirror(1, 2), mirror(3, 4), of("mirror", "log", 5, 9), ...aside.slice(1)],
    two,
    { replace: [{ vdev: "mirror-2", old: shown(6), disk: "by-id/virtio-D9" }] },
  ],
  [
    "a single log becomes a mirror",
    [...special.slice(0, 3), of("mirror", "log", 7, 9), ...special.slice(4)],
    "special-dedup-log-cache",
    { attach: [{ vdev: shown(7), to: shown(7), disk: "by-id/virtio-D9" }] },
  ],
  [
    "another cache disk: the old one goes, the new one comes",
    [
      mirror(1, 2),
      mirror(3, 4),
      of("mirror", "log", 5, 6),
      of("stripe", "cache", 9),
      of("stripe", "spare", 8),
    ],
    two,
    { add: [of("stripe", "cache", 9)], remove: pool(two).filter(({ role }) => role === "cache") },
  ],
  [
    "a mirror left out",
    [mirror(1, 2), ...aside],
    two,
    { remove: pool(two).filter(({ name }) => name === "mirror-1") },
  ],
  [
    "being replaced counts as the new disk",
    [mirror(1, 8), mirror(3, 4), of("stripe", "log", 5)],
    "replacing",
    {},
  ],
  ["the spare that stands in changes nothing", [mirror(1, 2), mirror(3, 4), ...aside], "spare-in-use", {}],
  [
    "the spare that stands in is declared in the disk's place",
    [mirror(1, 8), mirror(3, 4), ...aside.slice(0, 2)],
    "spare-in-use",
    { detach: [{ vdev: "mirror-0", disk: shown(2), name: shown(2) }] },
  ],
  [
    "a spare that has taken a disk's place for good",
    [mirror(1, 8), mirror(3, 4), ...aside.slice(0, 2)],
    "two-offline-spare-permanent",
    {},
  ],
  [
    "a removal under way goes on",
    [mirror(1, 2), of("stripe", "log", 5), of("stripe", "cache", 6)],
    "removing",
    { remove: pool("removing").filter(({ name }) => name === "mirror-1") },
  ],
  [
    "a removal under way is stopped where the vdev is declared again",
    [mirror(1, 2), mirror(3, 4), of("stripe", "log", 5), of("stripe", "cache", 6)],
    "removing",
    { keep: pool("removing").filter(({ name }) => name === "mirror-1") },
  ],
  ["a RAID-Z while it gets wider", [of("raidz1", "data", 1, 2, 3, 4)], "raidz-expanding", {}],
  [
    "a RAID-Z wider by two",
    [of("raidz1", "data", 1, 2, 3, 4, 5, 6)],
    "raidz-expanded",
    {
      attach: [5, 6].map((n) => ({ vdev: "raidz1-0", to: "raidz1-0", disk: `by-id/virtio-D${n}` })),
    },
  ],
  [
    "a disk of a RAID-Z replaced",
    [of("raidz1", "data", 1, 2, 9, 4)],
    "raidz-expanded",
    { replace: [{ vdev: "raidz1-0", old: shown(3), disk: "by-id/virtio-D9" }] },
  ],
  [
    "a RAID-Z can't get narrower",
    [of("raidz1", "data", 1, 2, 3)],
    "raidz-expanded",
    { impossible: [{ declared: of("raidz1", "data", 1, 2, 3), there: pool("raidz-expanded")[0] }] },
  ],
  ["dRAID as declared", [draid(4, 1)], "draid", {}],
  ["dRAID whose geometry was left to ZFS", [draid(undefined, undefined)], "draid", {}],
  ["dRAID with its distributed spare in use", [draid(4, 1)], "draid-spare-in-use", {}],
  [
    "another geometry of dRAID",
    [draid(8, 1)],
    "draid",
    { impossible: [{ declared: draid(8, 1), there: pool("draid")[0] }] },
  ],
  [
    "a disk of a dRAID replaced",
    [{ ...draid(4, 1), disks: d(12, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) }],
    "draid",
    { replace: [{ vdev: "draid2:4d:11c:1s-0", old: shown(1), disk: "by-id/virtio-D12" }] },
  ],
];

describe("vdevs against those that are there", () => {
  for (const [what, declared, situation, expected] of cases) {
    test(what, () => assert.deepEqual(changes(declared, situation), expected));
  }

  test("a disk that is gone is replaced by its guid", () => {
    const there =
      parsePoolStatus(
        "  pool: tank\n state: DEGRADED\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  DEGRADED  0 0 0\n" +
          `\t  mirror-0  DEGRADED  0 0 0\n\t    ${shown(1)}  ONLINE  0 0 0\n\t    1234567  UNAVAIL  0 0 0  was ${shown(2)}\n`,
      )[0]?.vdevs ?? [];
    assert.deepEqual(vdevChanges([mirror(1, 3)], there, unresolved).replace, [
      { vdev: "mirror-0", old: "1234567", disk: "by-id/virtio-D3" },
    ]);
  });

  test("a disk that stands alone is exchanged for another, two are not guessed at", () => {
    const line = (n: number): string => `\t  ${shown(n)}  ONLINE  0 0 0\n`;
    const there =
      parsePoolStatus(
        `  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0 0 0\n${line(1)}${line(2)}`,
      )[0]?.vdevs ?? [];
    assert.deepEqual(vdevChanges([of("stripe", "data", 1, 3)], there, unresolved).replace, [
      { vdev: shown(2), old: shown(2), disk: "by-id/virtio-D3" },
    ]);
    const both = vdevChanges([of("stripe", "data", 3, 4)], there, unresolved);
    assert.deepEqual([both.replace.length, both.add.length, both.remove.length], [0, 2, 2]);
  });

  test("what differs is shown as it is there", () => {
    const whole = (path: string): string => path.replace("-part1", "");
    const current = currentVdevs([draid(8, 1)], pool("draid"), unresolved, whole);
    assert.deepEqual(current, [
      { role: "data", type: "draid2", disks: eleven.map((n) => whole(shown(n))), data: 4, spares: 1 },
    ]);
    assert.deepEqual(currentVdevs([draid(4, undefined)], pool("draid"), unresolved, whole), [
      draid(4, undefined),
    ]);
  });

  test("found vdevs: stripes of one role in a row are one", () => {
    const found = foundVdevs(pool("removing").slice(0, 1).concat(pool("removing").slice(2)), (path) => path);
    assert.deepEqual(
      found.map(({ role, type, disks }) => [role, type, disks.length]),
      [
        ["data", "mirror", 2],
        ["log", "stripe", 1],
        ["cache", "stripe", 1],
      ],
    );
  });

  test("as zpool's arguments", () => {
    assert.deepEqual(vdevArguments([draid(4, 1)]).slice(0, 2), [
      "draid2:4d:11c:1s",
      "/dev/disk/by-id/virtio-D1",
    ]);
    assert.equal(vdevArguments([draid(undefined, undefined)])[0], "draid2:11c:0s");
    assert.match(describeVdev(draid(4, 1)), /^data draid2:4d:11c:1s of by-id\/virtio-D1 /);
  });
});
