import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import type { Answer, Questions } from "../../../../provider/host.ts";
import { parseObjects } from "../../../../provider/resources/zfs/dependents.ts";
import {
  type BlockDevice,
  contents,
  findDevice,
  inUse,
  type Label,
  parseLsblk,
  readLabel,
  readSignatures,
} from "../../../../provider/resources/zfs/disks.ts";
import {
  differing,
  local,
  noZfs,
  parseProperties,
  property,
  readProperties,
} from "../../../../provider/resources/zfs/properties.ts";
import {
  parseImportable,
  parsePoolStatus,
  type TopLevelVdev,
} from "../../../../provider/resources/zfs/status.ts";
import { recorded } from "../../../recorded.ts";

/**
 * The same situations played on ZFS 2.1 (Debian 12) and 2.3 (Debian 13) by virtual/record-zfs, read by the
 * provider's own parsers: what one version prints otherwise than the other is here, by name.
 */

const old = "zfs-2.1.11";
const both = [old, "zfs-2.3.9"] as const;
const systems = ["util-linux-2.38", "util-linux-2.41"] as const;

const host: Questions = { name: "storage", ask: () => Promise.reject(new Error("nothing is asked here")) };
const said = (status: number, stderr: string): Answer => ({ argv: ["zfs"], status, stdout: "", stderr });
const printed = (stdout: string): Answer => ({ argv: ["zfs"], status: 0, stdout, stderr: "" });

const disk = (path: string): string => path.replace("/dev/disk/by-id/virtio-", "").replace(/-part1$/, "");
/** A top-level vdev in one line: "log mirror D5 D6", and what is not as usual with its disks. */
function line({
  role,
  type,
  disks,
  data,
  spares,
  states,
  standIns,
  leaving,
  removing,
}: TopLevelVdev): string {
  return [
    `${role} ${type}${data === undefined ? "" : `:${data}d:${spares}s`} ${disks.map(disk).join(" ")}`,
    ...Object.entries(states ?? {}).map(([path, state]) => `${disk(path)} ${state}`),
    ...Object.entries(standIns ?? {}).map(([path, spare]) => `${disk(spare)} for ${disk(path)}`),
    ...(leaving ?? []).map((path) => `${disk(path)} leaves`),
    ...(removing ? ["removing"] : []),
  ].join(", ");
}

const aside = ["log mirror D5 D6", "cache stripe D7", "spare stripe D8"];
const replaced = ["data mirror D1 D9", "data mirror D3 D4", ...aside];
/** What `zpool status -P` shows, by situation; for a situation that 2.3 has a test of its own of, only of 2.1. */
const statuses: [
  situation: string,
  versions: readonly string[],
  pools: Record<string, [state: string, vdevs: string[]]>,
  busy?: string[],
][] = [
  ["no-pools", both, {}],
  [
    "two-mirrors-log-cache-spare",
    both,
    { tank: ["ONLINE", ["data mirror D1 D2", "data mirror D3 D4", ...aside]] },
  ],
  ["offline", both, { tank: ["DEGRADED", ["data mirror D1 D2, D2 OFFLINE", "data mirror D3 D4", ...aside]] }],
  [
    "replacing",
    [old],
    { tank: ["ONLINE", ["data mirror D1 D9, D2 leaves", "data mirror D3 D4", ...aside]] },
    ["resilver"],
  ],
  ["resilvered", both, { tank: ["ONLINE", replaced] }],
  ["faulted", both, { tank: ["DEGRADED", ["data mirror D1 D9, D1 FAULTED", "data mirror D3 D4", ...aside]] }],
  [
    "spare-in-use",
    [old],
    { tank: ["DEGRADED", ["data mirror D1 D9, D1 FAULTED, D8 for D1", "data mirror D3 D4", ...aside]] },
    ["resilver"],
  ],
  ["scrubbing", both, { tank: ["ONLINE", replaced] }],
  ["scrub-paused", both, { tank: ["ONLINE", replaced] }],
  ["checkpoint", both, { tank: ["ONLINE", replaced] }],
  [
    "missing-disk",
    both,
    { tank: ["DEGRADED", ["data mirror D1 D9", "data mirror D3 D4, D4 UNAVAIL", ...aside]] },
  ],
  [
    "special-dedup-log-cache",
    [old],
    {
      tank: [
        "ONLINE",
        [
          ...["data mirror D1 D2", "dedup mirror D5 D6", "special mirror D3 D4"],
          ...["log stripe D7", "cache stripe D8"],
        ],
      ],
    },
  ],
  [
    "raidz1-raidz2-raidz3",
    both,
    {
      rz1: ["ONLINE", ["data raidz1 D1 D2 D3"]],
      rz2: ["ONLINE", ["data raidz2 D4 D5 D6 D7"]],
      rz3: ["ONLINE", ["data raidz3 D8 D9 D10 D11 D12"]],
    },
  ],
  [
    "raidz-degraded",
    both,
    {
      rz1: ["DEGRADED", ["data raidz1 D1 D2 D3, D2 OFFLINE"]],
      rz2: ["ONLINE", ["data raidz2 D4 D5 D6 D7"]],
      rz3: ["DEGRADED", ["data raidz3 D8 D9 D10 D11 D12, D9 OFFLINE, D10 OFFLINE"]],
    },
  ],
  [
    "draid",
    [old],
    {
      tank: ["ONLINE", ["data draid2:4d:1s D1 D2 D3 D4 D5 D6 D7 D8", "log stripe D9", "spare stripe D10"]],
    },
  ],
  ...(
    [
      ["draid-rebuilding", both, ["resilver"]],
      ["draid-spare-in-use", [old], []],
    ] as const
  ).map(([situation, versions, busy]): (typeof statuses)[number] => [
    situation,
    versions,
    {
      tank: [
        "DEGRADED",
        ["data draid2:4d:1s D1 D2 D3 D4 D5 D6 D7 D8, D3 FAULTED", "log stripe D9", "spare stripe D10"],
      ],
    },
    [...busy],
  ]),
  ["stripe", [old], { tank: ["ONLINE", ["data stripe D1", "data stripe D2", "data stripe D10"]] }],
  [
    // Only 2.3 marks the vdev itself with "(removing)"; 2.1 names it in the sentence alone.
    "removing-vdev",
    [old],
    { tank: ["ONLINE", ["data stripe D1", "data stripe D2, removing", "data stripe D10"]] },
    ["remove"],
  ],
  ["removed-vdev", [old], { tank: ["ONLINE", ["data stripe D1", "data stripe D10"]] }],
  ["data-errors", both, { tank: ["ONLINE", ["data stripe D1"]] }],
  ["compatibility", both, { tank: ["ONLINE", ["data stripe D1"]] }],
  ["features-disabled", both, { tank: ["ONLINE", ["data stripe D1"]] }],
];

describe("zpool status", () => {
  for (const [situation, versions, pools, busy = []] of statuses) {
    for (const version of versions) {
      test(`${situation}, ${version}`, () => {
        const found = parsePoolStatus(recorded(`zpool-status--${situation}--${version}`));
        assert.deepEqual(
          Object.fromEntries(found.map(({ name, state, vdevs }) => [name, [state, vdevs.map(line)]])),
          pools,
        );
        assert.deepEqual(
          found.flatMap((pool) => Object.keys(pool.busy ?? {})),
          busy,
        );
      });
    }
  }
});

describe("zpool import", () => {
  const mark = "storage-lab/lab";
  const corrupted = "One or more devices contains corrupted data.";
  const other = "The pool was last accessed by another system.";
  const lists: [
    situation: string,
    pools: [state: string, comment?: string | undefined, status?: string][],
  ][] = [
    ["no-pools", []],
    ["exported", [["ONLINE", mark]]],
    ["degraded", [["DEGRADED", mark, corrupted]]],
    ["destroyed-hidden", []],
    ["destroyed", [["DEGRADED (DESTROYED)", mark, corrupted]]],
    ["two-of-one-name", [["ONLINE"], ["ONLINE"]]],
    ["another-system", [["ONLINE", undefined, other]]],
  ];
  for (const version of both) {
    for (const [situation, pools] of lists) {
      test(`${situation}, ${version}`, () => {
        const found = parseImportable(recorded(`zpool-import--${situation}--${version}`));
        assert.deepEqual(
          found.map(({ name, state, comment, status }) => [name, state, comment, status]),
          pools.map(([state, comment, status]) => ["tank", state, comment, status]),
        );
        for (const { guid } of found) assert.match(guid, /^\d{15,20}$/);
      });
    }
  }
});

describe("zdb -l", () => {
  const mark = "storage-lab/lab";
  const labels: [situation: string, versions: readonly string[], label: Partial<Label>, vdev?: string][] = [
    ["active", both, { state: 0, pool: "tank", comment: mark, hostname: "storage" }, "mirror"],
    ["exported", both, { state: 1, pool: "tank", comment: mark }, "mirror"],
    ["destroyed", both, { state: 2, pool: "tank", comment: mark }, "mirror"],
    ["another-system", both, { state: 0, pool: "tank", hostname: "storage" }, "disk"],
    ["spare", both, { state: 3 }],
    ["cache", both, { state: 4 }],
  ];
  for (const [situation, versions, expected, vdev] of labels) {
    for (const version of versions) {
      test(`${situation}, ${version}`, () => {
        const label = readLabel(host, printed(recorded(`zdb-label--${situation}--${version}`)), "/dev/vdb1");
        const { state, pool, comment, hostname } = expected;
        assert.deepEqual(
          [label?.state, label?.pool, label?.comment, label?.vdev?.type],
          [state, pool, comment, vdev],
        );
        if (hostname !== undefined) assert.equal(label?.hostname, hostname);
        if (pool !== undefined) assert.match(label?.guid ?? "", /^\d{15,20}$/);
        if (vdev === undefined) return;
        assert.ok(label?.vdev !== undefined && label.vdev.asize > 0 && label.vdev.metaslabShift > 0);
      });
    }
  }

  for (const version of both) {
    for (const situation of ["none", "whole-disk"]) {
      test(`no label is no error: ${situation}, ${version}`, () => {
        const text = recorded(`zdb-label--${situation}--${version}`);
        assert.equal(readLabel(host, { ...printed(text), status: 2 }, "/dev/vdb"), undefined);
      });
    }

    test(`no device is an error, ${version}`, () => {
      const text = recorded(`zdb-label--no-device--${version}`);
      assert.throws(() => readLabel(host, said(1, text), "/dev/disk/by-id/virtio-D99"), CommandError);
    });
  }
});

describe("zfs get and zpool get", () => {
  for (const version of both) {
    for (const [program, situation] of [
      ["zpool-get", "absent"],
      ["zfs-get", "absent"],
      ["zfs-get", "absent-in-pool"],
      ["zfs-get", "absent-in-pool-absent"],
    ]) {
      test(`absent in ${program}'s own words: ${situation}, ${version}`, () => {
        const answer = said(1, recorded(`${program}--${situation}--${version}`));
        assert.equal(readProperties(host, answer, "tank"), undefined);
      });
    }

    test(`no ZFS module for this kernel, ${version}`, () => {
      for (const command of ["zpool-status", "zfs-get"]) {
        assert.ok(noZfs(said(1, recorded(`${command}--module-missing--${version}`))));
      }
    });

    test(`a pool's properties, ${version}`, () => {
      const have = parseProperties(recorded(`zpool-get--two-mirrors--${version}`));
      assert.equal(local(have, "comment"), "storage-lab/lab");
      assert.deepEqual(
        differing({ ashift: "12", autotrim: "off", "feature@lz4_compress": "enabled" }, have),
        [],
      );
      for (const name of ["guid", "size", "health"]) assert.notEqual(property(have, name), "");
    });

    test(`what every dataset is asked for is there, ${version}`, () => {
      for (const [situation, names] of [
        ["volume", ["volsize", "volblocksize", "refreservation", "volmode", "guid"]],
        ["sparse-volume", ["volsize", "volblocksize", "refreservation"]],
        ["encrypted-volume", ["encryption", "keyformat", "keylocation", "keystatus", "encryptionroot"]],
        ["file-system", ["recordsize", "quota", "special_small_blocks", "mountpoint", "mounted"]],
        ["pool-root", ["compression", "atime"]],
        ["clone", ["origin", "volsize"]],
      ] as const) {
        const have = parseProperties(recorded(`zfs-get--${situation}--${version}`));
        for (const name of names) assert.notEqual(property(have, name), "", `${name} of ${situation}`);
      }
      const sparse = parseProperties(recorded(`zfs-get--sparse-volume--${version}`));
      assert.equal(property(sparse, "refreservation"), "0");
    });

    test(`an encrypted volume's key, ${version}`, () => {
      const status = (situation: string) =>
        property(parseProperties(recorded(`zfs-get--${situation}--${version}`)), "keystatus");
      assert.equal(status("encrypted-volume"), "available");
      assert.equal(status("encrypted-volume-key-unloaded"), "unavailable");
    });

    test(`features that are not enabled, ${version}`, () => {
      const have = parseProperties(recorded(`zpool-get--features-disabled--${version}`));
      assert.equal(property(have, "feature@device_removal"), "disabled");
    });
  }

  test("what only 2.3 has: a property that 2.1 lacks is missing there, not empty", () => {
    const names = (situation: string, version: string) => [
      ...parseProperties(recorded(`${situation}--${version}`)).keys(),
    ];
    const onlyNew = (situation: string): string[] => {
      const have = new Set(names(situation, old));
      return names(situation, both[1]).filter((name) => !have.has(name) && !name.includes(":"));
    };
    assert.deepEqual(onlyNew("zfs-get--volume"), ["prefetch", "volthreading"]);
    assert.deepEqual(onlyNew("zfs-get--pool-root"), ["prefetch", "direct", "longname"]);
    assert.deepEqual(
      onlyNew("zpool-get--two-mirrors").filter((name) => !name.startsWith("feature@")),
      [
        "bcloneused",
        "bclonesaved",
        "bcloneratio",
        "dedup_table_size",
        "dedup_table_quota",
        "last_scrubbed_txg",
      ],
    );
  });
});

describe("lsblk and wipefs", () => {
  for (const version of systems) {
    test(`disks with all kinds of contents, ${version}`, () => {
      const devices = parseLsblk(recorded(`lsblk--contents--${version}`));
      const on = (kname: string, situation?: string): string[] => {
        const device = findDevice(devices, kname) as BlockDevice;
        const signatures =
          situation === undefined
            ? []
            : readSignatures(host, printed(recorded(`wipefs--${situation}--${version}`)), kname);
        const all = { path: kname, device, signatures: signatures ?? [], labels: [], pool: undefined };
        return [...inUse(all), ...contents(all)];
      };
      assert.deepEqual(on("/dev/vdb", "gpt"), [
        "/dev/vdb1 is mounted on /mnt",
        'a partition table (gpt) with /dev/vdb1 (64 MiB ext4 "data"), /dev/vdb2 (200261120 B)',
      ]);
      assert.match(on("/dev/vdc", "xfs").join(), /^xfs "(scratch|lun0)"$/);
      assert.deepEqual(on("/dev/vdd", "swap"), ["/dev/vdd is in use as swap", 'swap "swap"']);
      assert.deepEqual(on("/dev/vde", "lvm"), ["/dev/mapper/vg-lv (lvm) stands on /dev/vde", "LVM2_member"]);
      assert.deepEqual(on("/dev/vdf", "md"), [
        "/dev/md0 (raid1) stands on /dev/vdf",
        'linux_raid_member "storage:0"',
      ]);
      assert.deepEqual(on("/dev/vdg", "gpt-empty"), ["a partition table (gpt) with no partitions"]);
      assert.deepEqual(on("/dev/vdh", "dos"), ["a partition table (dos) with no partitions"]);
      assert.deepEqual(on("/dev/vdi", "blank"), []);
    });

    test(`a disk that is not there, ${version}`, () => {
      const answer = said(1, recorded(`wipefs--no-device--${version}`));
      assert.equal(readSignatures(host, answer, "/dev/disk/by-id/virtio-D99"), undefined);
    });

    test(`a whole disk and the partition that ZFS made on it, ${version}`, () => {
      const types = (situation: string) => [
        ...new Set(
          readSignatures(host, printed(recorded(`wipefs--${situation}--${version}`)), "/dev/vdb")?.map(
            ({ type }) => type,
          ),
        ),
      ];
      assert.deepEqual(types("zfs-disk"), ["gpt", "PMBR"]);
      assert.deepEqual(types("zfs-partition"), ["zfs_member"]);
    });
  }
});

test("sector sizes, util-linux-2.38", () => {
  const devices = parseLsblk(recorded("lsblk--contents-sectors--util-linux-2.38"));
  const sizes = devices.map((device) => [device["phy-sec"], device["log-sec"]].join("/"));
  assert.deepEqual([...new Set(sizes)], ["512/512"]);
});

describe("snapshots", () => {
  test(`with their clones and holds, ${old}`, () => {
    const found = parseObjects(recorded(`zfs-get--snapshots-of-volume--${old}`));
    assert.deepEqual(
      found.map(({ name, clones, holds }) => [name, clones, holds]),
      [
        ["tank/lun0@before", ["tank/clone"], 0],
        ["tank/lun0@all", [], 1],
      ],
    );
  });

  test(`of a whole pool, taken in one transaction group, ${old}`, () => {
    const found = parseObjects(recorded(`zfs-get--recursive-snapshot--${old}`));
    const taken = found.filter(({ name }) => name.endsWith("@all"));
    assert.equal(taken.length, 6);
    assert.equal(new Set(taken.map(({ txg }) => txg)).size, 1);
  });
});
