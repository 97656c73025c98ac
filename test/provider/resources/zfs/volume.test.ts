import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import {
  volume as type,
  type VolumeInputs,
  volumeInputs,
} from "../../../../provider/resources/zfs/volume.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const inputs: VolumeInputs = {
  host: { name: "storage", ssh: "storage" },
  name: "tank/lun0",
  size: "512M",
  volblocksize: "16K",
  compression: "off",
  onDelete: "destroy",
};
const owner = "storage-lab/lab";
const get = "zfs get -Hp -o property,value,source all tank/lun0";
const marks =
  "name,property,value,source createtxg,clones,userrefs,org.storage-lab:owner,org.storage-lab:on-delete";
const list = `zfs get -Hp -d 1 -t snapshot -o ${marks} tank/lun0`;
const status = "zpool status -P";
const ofPool = "zpool get -Hp -o property,value,source all tank";
const node = "test -b /dev/zvol/tank/lun0";
const pool: Record<string, Told> = {
  [status]: recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9"),
  [ofPool]: recorded("zpool-get--two-mirrors--zfs-2.3.9"),
};
const there: Record<string, Told> = {
  ...pool,
  [get]: recorded("zfs-get--volume--zfs-2.3.9"),
  [list]: "",
  [node]: "",
};
const gone = "cannot open 'tank/lun0': dataset does not exist\n";
const absent: Record<string, Told> = {
  ...pool,
  [get]: { status: 1, stderr: gone },
  [list]: { status: 1, stderr: gone },
  [node]: { status: 1 },
};

const observe = (told: Record<string, Told>) => type.observe(fakeHost(told), inputs);
const plan = async (
  desired: VolumeInputs | undefined,
  told = there,
  last = desired ?? inputs,
): Promise<string[]> => type.plan(desired, await observe(told), last, owner).map(line);
const refusals = async (
  desired: VolumeInputs | undefined,
  told = there,
  last = desired ?? inputs,
): Promise<string[]> => type.refusals?.(desired, await observe(told), last, owner) ?? [];
const line = (step: Step): string =>
  "argv" in step && step.stdin !== undefined ? step.argv.join(" ") : stepLine(step);
const created = "-o org.storage-lab:on-delete=destroy -o org.storage-lab:owner=storage-lab/lab";
const wait = "wait up to 120 s for: test -b /dev/zvol/tank/lun0";

/** Lines for snapshots of tank/lun0: name, owner and onDelete set on it, clones. */
const snapshots = (...all: [name: string, owner: string, onDelete: string, clones?: string][]): string =>
  all
    .flatMap(([name, owner, onDelete, clones = "-"]) =>
      [
        `createtxg\t9\t-`,
        `clones\t${clones}\t-`,
        "userrefs\t0\t-",
        `org.storage-lab:owner\t${owner || "storage-lab/lab"}\t${owner ? "local" : "inherited from tank/lun0"}`,
        `org.storage-lab:on-delete\t${onDelete || "destroy"}\t${onDelete ? "local" : "inherited from tank/lun0"}`,
      ].map((line) => `tank/lun0@${name}\t${line}\n`),
    )
    .join("");

describe("observing a volume", () => {
  test("asks everything at once", async () => {
    const host = fakeHost(there);
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, [get, list, node, status, ofPool]);
    assert.deepEqual([type.exists(observed), observed.node, observed.snapshots], [true, true, []]);
    assert.equal(type.owner?.(observed, owner), owner);
    assert.deepEqual(type.current(observed, inputs), inputs);
  });

  test("absence by ZFS's own words alone", async () => {
    assert.equal(type.exists(await observe(absent)), false);
    await assert.rejects(
      observe({ ...there, [get]: { status: 1, stderr: "pool I/O is suspended\n" } }),
      CommandError,
    );
    await assert.rejects(
      observe({ ...there, [list]: { status: 1, stderr: "out of memory\n" } }),
      CommandError,
    );
    await assert.rejects(
      observe({ ...there, [node]: { status: 2, stderr: "test: syntax error\n" } }),
      CommandError,
    );
  });

  test("what differs is shown as it is there, the rest as declared", async () => {
    const other: VolumeInputs = {
      ...inputs,
      size: "1.5T",
      volblocksize: "32 KiB",
      compression: "lz4",
      sync: "always",
      sparse: true,
    };
    assert.deepEqual(type.current(await observe(there), other), {
      ...other,
      size: "512 MiB",
      volblocksize: "16 KiB",
      compression: "off",
      sync: "standard",
      sparse: false,
    });
  });
});

describe("planning a volume", () => {
  const cases: [
    what: string,
    desired: VolumeInputs | undefined,
    told: Record<string, Told>,
    steps: string[],
  ][] = [
    ["as declared", inputs, there, []],
    ["as declared, in another spelling", { ...inputs, size: "0.5 GiB", volblocksize: "16384" }, there, []],
    [
      "absent",
      inputs,
      absent,
      [`zfs create -V 536870912 -o volblocksize=16384 -o compression=off ${created} tank/lun0`, wait],
    ],
    [
      "absent, sparse, the block size left out",
      {
        host: inputs.host,
        name: "tank/lun0",
        size: "1.5T",
        sparse: true,
        sync: "always",
        onDelete: "destroy",
      },
      absent,
      [`zfs create -s -V 1649267441664 -o sync=always ${created} tank/lun0`, wait],
    ],
    [
      "absent, without a node",
      { ...inputs, volmode: "none" },
      absent,
      [
        `zfs create -V 536870912 -o volblocksize=16384 -o compression=off -o volmode=none ${created} tank/lun0`,
      ],
    ],
    ["one property", { ...inputs, compression: "lz4" }, there, ["zfs set compression=lz4 tank/lun0"]],
    [
      "grown: the node has the new size before what stands on it looks",
      { ...inputs, size: "1 GiB" },
      there,
      [
        "zfs set volsize=1073741824 tank/lun0",
        `wait up to 120 s for: sh -c '[ "$(blockdev --getsize64 "$1")" = "$2" ]' sh /dev/zvol/tank/lun0 1073741824`,
      ],
    ],
    ["sparse from now on", { ...inputs, sparse: true }, there, ["zfs set refreservation=none tank/lun0"]],
    [
      "retained from now on",
      { ...inputs, onDelete: "retain" },
      there,
      ["zfs set org.storage-lab:on-delete=retain tank/lun0"],
    ],
    ["its node not there yet", inputs, { ...there, [node]: { status: 1 } }, [wait]],
    ["deleted", undefined, there, ["sh -s -- 60 /dev/zvol/tank/lun0 zfs destroy tank/lun0"]],
    ["deleted, and gone already", undefined, absent, []],
  ];
  for (const [what, desired, told, steps] of cases) {
    test(what, async () => assert.deepEqual(await plan(desired, told), steps));
  }

  test("right after zfs create -V the node may not be there: it is waited for, with a deadline", async () => {
    const steps = type.plan(inputs, await observe(absent), inputs, owner);
    assert.deepEqual(steps.at(-1), {
      say: "wait for /dev/zvol/tank/lun0",
      until: ["test", "-b", "/dev/zvol/tank/lun0"],
      deadlineSeconds: 120,
    });
  });

  test("second apply does not set volblocksize again, which is read-only", async () => {
    for (const volblocksize of ["16K", "16 KiB", "16384"])
      assert.deepEqual(await plan({ ...inputs, volblocksize }), []);
  });

  test("1.5T and 1.50T, 1536G and 1.50T: one size, never a change", async () => {
    const told = {
      ...there,
      [get]: recorded("zfs-get--volume--zfs-2.3.9").replaceAll("536870912", `${1536 * 2 ** 30}`),
    };
    for (const size of ["1.5T", "1.50T", "1536G", "1536 GiB", "1.5 TiB"]) {
      assert.deepEqual(await plan({ ...inputs, size }, told), []);
      assert.equal(type.current(await observe(told), { ...inputs, size }).size, size);
    }
  });

  test("values that ZFS prints by another word are no change", async () => {
    const text = recorded("zfs-get--volume--zfs-2.3.9")
      .replace(/^compression\t.*$/m, "compression\tgzip\tlocal")
      .replace(/^volmode\t.*$/m, "volmode\tfull\tlocal");
    const desired: VolumeInputs = { ...inputs, compression: "gzip-6", volmode: "geom" };
    assert.deepEqual(await plan(desired, { ...there, [get]: text }), []);
    assert.deepEqual(type.current(await observe({ ...there, [get]: text }), desired), desired);
  });

  test("a warning of zfs with status 0 is no failure: nothing looks at what a step says that succeeded", async () => {
    const [create] = type.plan({ ...inputs, volblocksize: "4K" }, await observe(absent), inputs, owner);
    assert.ok(create && "argv" in create && create.accept === undefined);
  });

  test("says what it does to those who use it", async () => {
    const effects = async (desired: VolumeInputs | undefined) =>
      type.plan(desired, await observe(there), inputs, owner).map((step) => step.effect);
    assert.deepEqual(await effects({ ...inputs, volmode: "none" }), ["outage"]);
    assert.deepEqual(await effects({ ...inputs, readonly: "on" }), ["outage"]);
    assert.deepEqual(await effects({ ...inputs, sync: "always" }), [undefined]);
    assert.deepEqual(await effects(undefined), ["data loss"]);
  });

  test("its own snapshots that no state knows of any more go first", async () => {
    const told = { ...there, [list]: snapshots(["a", owner, "destroy"]) };
    assert.deepEqual(await refusals(undefined, told), []);
    assert.deepEqual(await plan(undefined, told), [
      "zfs destroy tank/lun0@a",
      "sh -s -- 60 /dev/zvol/tank/lun0 zfs destroy tank/lun0",
    ]);
  });

  test("what allows its destruction is its own mark, not one that it inherits", async () => {
    const text = recorded("zfs-get--volume--zfs-2.3.9").replace(
      /^org.storage-lab:on-delete.*$/m,
      "org.storage-lab:on-delete\tdestroy\tinherited from tank",
    );
    const told = { ...there, [get]: text };
    assert.equal(type.current(await observe(told), inputs).onDelete, "retain");
    assert.deepEqual(await plan(inputs, told), ["zfs set org.storage-lab:on-delete=destroy tank/lun0"]);
    assert.deepEqual(await plan({ ...inputs, onDelete: "retain" }, told), []);
  });

  test("a volume that is retained stays", async () => {
    assert.deepEqual(await plan(undefined, there, { ...inputs, onDelete: "retain" }), []);
  });

  test("an imported volume gets no mark by itself, but with the next change; an inherited one is none", async () => {
    const text = recorded("zfs-get--volume--zfs-2.3.9").replace(
      /^org.storage-lab:owner.*$/m,
      "org.storage-lab:owner\tstorage-lab/lab\tinherited from tank",
    );
    assert.equal(type.owner?.(await observe({ ...there, [get]: text }), owner), undefined);
    assert.deepEqual(await plan(inputs, { ...there, [get]: text }), []);
    assert.deepEqual(await plan({ ...inputs, sync: "always" }, { ...there, [get]: text }), [
      "zfs set sync=always org.storage-lab:owner=storage-lab/lab tank/lun0",
    ]);
  });
});

describe("what a volume refuses", () => {
  test("nothing where it is as declared, or absent", async () => {
    assert.deepEqual([await refusals(inputs), await refusals(inputs, absent)], [[], []]);
  });
  test("to shrink, with both sizes", async () => {
    assert.deepEqual(await refusals({ ...inputs, size: "256M" }), [
      "Volume tank/lun0 has 536870912 bytes (512 MiB); shrinking it to the declared 268435456 bytes (256 MiB) would cut off data. Declare at least 512 MiB, or make another volume.",
    ]);
  });
  test("another block size than it has, since nothing can change it", async () => {
    assert.match(
      (await refusals({ ...inputs, volblocksize: "32K" }))[0] ?? "",
      /has volblocksize 16 KiB, declared is 32 KiB\. That is fixed/,
    );
  });
  test("a size that its own block size does not divide", async () => {
    const { volblocksize: _, ...rest } = inputs;
    assert.match(
      (await refusals({ ...rest, size: "536875008" }))[0] ?? "",
      /multiple of volblocksize: 536875008 bytes/,
    );
  });
  test("to be destroyed with its snapshots", async () => {
    const told = { ...there, [list]: snapshots(["a", "", ""], ["b", "another/stack", "destroy"]) };
    assert.match((await refusals(undefined, told))[0] ?? "", /has snapshots \(tank\/lun0@a, tank\/lun0@b\)/);
    assert.deepEqual(await refusals(undefined, told, { ...inputs, onDelete: "retain" }), []);
  });
  test("a file system of that name", async () => {
    const told = { ...there, [get]: "type\tfilesystem\t-\n" };
    assert.deepEqual(await refusals(inputs, told), [
      "tank/lun0 is a filesystem, not a volume. Give the volume another name.",
    ]);
  });
  test("a host without ZFS, with the command that brings it", async () => {
    const none = { status: 127, stderr: "sh: 1: zfs: not found\n" };
    assert.match(
      (await refusals(inputs, { ...absent, [get]: none }))[0] ?? "",
      /apt-get install .*zfsutils-linux.*dnf install zfs/,
    );
  });
  test("to be replaced, unless it may be destroyed", () => {
    assert.equal(type.refusesReplace?.(inputs), undefined);
    assert.match(type.refusesReplace?.({ ...inputs, onDelete: "retain" }) ?? "", /would lose what it holds/);
  });
});

describe("what a volume's preview hints at", () => {
  const raidz = { ...absent, [status]: recorded("zpool-status--raidz1--zfs-2.3.9").replaceAll("rz", "tank") };
  const hints = async (change: Partial<VolumeInputs>, told: Record<string, Told>) =>
    type.hints?.({ ...inputs, ...change }, await observe(told)) ?? [];
  test("a block size that wastes the pool's space, before the volume is made", async () => {
    assert.match(
      (await hints({ volblocksize: "8K" }, raidz))[0] ?? "",
      /RAID-Z1 of 3 disks .* 16 KiB leaves 67 %/,
    );
    assert.deepEqual(await hints({}, raidz), []);
    assert.deepEqual(
      await hints({ volblocksize: "8K" }, { ...raidz, ...there, [status]: raidz[status] ?? "" }),
      [],
    );
    const noPool = { status: 1, stderr: "cannot open 'tank': no such pool\n" };
    assert.deepEqual(await hints({ volblocksize: "8K" }, { ...absent, [ofPool]: noPool }), []);
  });
  test("that sync=disabled loses acknowledged writes in a crash", async () => {
    assert.match(
      (await hints({ sync: "disabled" }, there))[0] ?? "",
      /acknowledged are lost when the host crashes/,
    );
  });
});

test("found by its name: what it is, and what was set on it", async () => {
  const named = type.named?.(inputs.host, "tank/lun0");
  assert.ok(named);
  assert.deepEqual(type.found?.(await observe(there), named), {
    host: inputs.host,
    name: "tank/lun0",
    size: "512 MiB",
    volblocksize: "16 KiB",
    sparse: false,
    compression: "off",
    onDelete: "destroy",
  });
  for (const wrong of ["tank", "tank/", "tank/a@b", "", "tank/a b", "/tank"])
    assert.equal(type.named?.(inputs.host, wrong), undefined, wrong);
});

describe("a volume's rules", () => {
  const cases: [Partial<VolumeInputs>, key: string, RegExp][] = [
    [
      { size: "33561640K" },
      "size",
      /34367119360 bytes .* is not one of 16384 bytes \(16 KiB\); the next are 34367111168/,
    ],
    [{ size: "200000004096" }, "size", /200000004096 bytes .* 16384 bytes/],
    [{ size: "0" }, "size", /more than 0/],
    [{ volblocksize: "24K" }, "volblocksize", /power of two/],
    [{ volblocksize: "256" }, "volblocksize", /power of two from 512 B/],
    [{ volblocksize: "32M" }, "volblocksize", /power of two from 512 B/],
    [{ name: "tank" }, "name", /POOL\/VOLUME/],
    [{ name: "tank/a b" }, "name", /"tank\/a b"/],
    [{ name: "tank/$(reboot)" }, "name", /is not/],
    [{ name: "tank/../x" }, "name", /is not/],
    [{ name: "tank/lun0@snap" }, "name", /is not/],
    [{ name: "-o/x" }, "name", /is not/],
  ];
  for (const [change, key, sentence] of cases) {
    test(JSON.stringify(change), () => {
      const [found, ...others] = type.rules?.({ ...inputs, ...change }) ?? [];
      assert.deepEqual([found?.[0], others], [key, []]);
      assert.match(found?.[1] ?? "", sentence);
    });
  }
  test("none is broken", () => assert.deepEqual(type.rules?.(inputs), []));
  test("the schema refuses unknown keys and sizes of two meanings", () => {
    assert.equal(volumeInputs.safeParse(inputs).success, true);
    for (const wrong of [
      { size: "200GB" },
      { size: "1.3" },
      { compression: "lz5" },
      { blocksize: "16K" },
      { sync: "on" },
    ]) {
      assert.equal(volumeInputs.safeParse({ ...inputs, ...wrong }).success, false, JSON.stringify(wrong));
    }
  });
});
