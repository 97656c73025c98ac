import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import { type PoolInputs, poolInputs, pool as type } from "../../../../provider/resources/zfs/pool.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const id = (n: number): string => `by-id/virtio-D${n}`;
const path = (n: number): string => `/dev/disk/by-id/virtio-D${n}`;
const paths = [1, 2, 3, 4, 5, 6, 7, 8].map(path);
const inputs: PoolInputs = {
  host: { name: "storage", ssh: "storage" },
  name: "tank",
  vdevs: [
    { role: "data", type: "mirror", disks: [id(1), id(2)] },
    { role: "data", type: "mirror", disks: [path(4), id(3)] },
    { role: "log", type: "mirror", disks: [id(5), id(6)] },
    { role: "cache", type: "stripe", disks: [id(7)] },
    { role: "spare", type: "stripe", disks: [id(8)] },
  ],
  ashift: 12,
  filesystemProperties: { compression: "off" },
  onDelete: "destroy",
};
const owner = "storage-lab/lab";

const settle = "udevadm settle --timeout=30";
const lsblk =
  "lsblk -J -b -p -o KNAME,NAME,TYPE,SIZE,RO,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINT,PHY-SEC,LOG-SEC";
const links = (all: readonly string[] = [1, 2, 4, 3, 5, 6, 7, 8].map(path)): string =>
  `readlink -m ${all.join(" ")}`;
const node = (of: string): string =>
  of.replace(/.*D(\d)/, (_, n) => `/dev/vd${"abcdefghi"[Number(n)]}`).replace("-part", "");
const nodes = (all: readonly string[]): string => all.map((of) => `${node(of)}\n`).join("");
/** Members of the pool that are not declared by the names that it shows. */
const members = (...numbers: number[]): Record<string, Told> => {
  const shown = numbers.map((n) => `${path(n)}-part1`);
  return { [links(shown)]: nodes(shown) };
};
const module = "cat /sys/module/zfs/version";
const status = "zpool status -P";
const zpoolGet = "zpool get -Hp -o property,value,source all tank";
const zfsGet = "zfs get -Hp -o property,value,source all tank";
const onDeletes = "zfs get -Hp -r -t all -o name,value,source org.storage-lab:on-delete tank";
const record = "cat /var/lib/storage-lab/zpool-begun/tank";
const noRecord: Told = { status: 1, stderr: `cat: ${record.slice(4)}: No such file or directory\n` };

type Block = { kname: string; children?: Block[]; [key: string]: unknown };
/** The system's disk, and D1 to D8. */
const eightDisks = JSON.stringify({
  blockdevices: JSON.parse(recorded("lsblk--sectors--util-linux-2.41")).blockdevices.filter(
    ({ kname }: Block) => kname <= "/dev/vdi",
  ),
});
const there: Record<string, Told> = {
  [settle]: "",
  [lsblk]: eightDisks,
  [links()]: nodes([1, 2, 4, 3, 5, 6, 7, 8].map(path)),
  [module]: "2.3.9-0+deb13u1\n",
  [status]: recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9"),
  [zpoolGet]: recorded("zpool-get--two-mirrors--zfs-2.3.9"),
  [zfsGet]: recorded("zfs-get--pool-root--zfs-2.3.9"),
  [onDeletes]: "tank\tdestroy\tlocal\ntank/lun0\tdestroy\tlocal\n",
  [record]: noRecord,
};

const blocks = (change: (disk: Block) => Block): string =>
  JSON.stringify({
    blockdevices: JSON.parse(eightDisks).blockdevices.map(change),
  });
const blankDisk = ({ children: _, ...disk }: Block): Block => ({ ...disk, pttype: null });
const blankDisks = blocks((disk) => (disk.mountpoint === "/" ? disk : blankDisk(disk)));
const noPool = "cannot open 'tank': dataset does not exist\n";
/** ZFS is loaded, no pool is imported, all disks are blank. */
const absent: Record<string, Told> = {
  ...there,
  [lsblk]: blankDisks,
  [status]: "no pools available\n",
  [zpoolGet]: { status: 1, stderr: "Cannot get properties of tank: no such pool available.\n" },
  [zfsGet]: { status: 1, stderr: noPool },
  [onDeletes]: { status: 1, stderr: noPool },
  "zpool import": "no pools available to import\n",
  ...Object.fromEntries(paths.map((disk) => [`wipefs -J -n ${disk}`, '{"signatures": []}'])),
};
const gpt = recorded("wipefs--gpt--util-linux-2.41");
const partitions = ["b", "c", "d", "e", "f", "g", "h", "i"].flatMap((l) => [`/dev/vd${l}1`, `/dev/vd${l}9`]);
const unlabelled: Told = {
  status: 2,
  stdout: [0, 1, 2, 3].map((n) => `failed to unpack label ${n}\n`).join(""),
};
/** The pool was exported or destroyed: its disks hold what `label` is, D7 is a cache and D8 a spare. */
const left = (label: string): Record<string, Told> => ({
  ...absent,
  [lsblk]: eightDisks,
  ...Object.fromEntries(paths.map((disk) => [`wipefs -J -n ${disk}`, gpt])),
  ...Object.fromEntries(partitions.map((part) => [`zdb -l ${part}`, unlabelled])),
  ...Object.fromEntries(
    partitions.filter((part) => part.endsWith("1")).map((part) => [`zdb -l ${part}`, recorded(label)]),
  ),
  "zdb -l /dev/vdh1": recorded("zdb-label--cache--zfs-2.3.9"),
  "zdb -l /dev/vdi1": recorded("zdb-label--cache--zfs-2.3.9").replace("state: 4", "state: 3"),
});
const exported: Record<string, Told> = {
  ...left("zdb-label--exported--zfs-2.3.9"),
  "zpool import": recorded("zpool-import--exported--zfs-2.3.9"),
};
const destroyed = left("zdb-label--destroyed--zfs-2.3.9");
/** `zpool create` was killed: partitions without labels, on the disks that the record lists. */
const killed: Record<string, Told> = {
  ...destroyed,
  ...Object.fromEntries(partitions.map((part) => [`zdb -l ${part}`, unlabelled])),
  [record]: `${owner}\n${paths.join("\n")}\n`,
};

type Observed = Parameters<typeof type.exists>[0];
const observe = (told: Record<string, Told>, desired = inputs): Promise<Observed> =>
  type.observe(fakeHost(told), desired);
const plan = async (
  told: Record<string, Told>,
  desired: PoolInputs | undefined = inputs,
  last = desired ?? inputs,
): Promise<string[]> => type.plan(desired, await observe(told, last), last, owner).map(line);
const remove = async (told: Record<string, Told>, last = inputs): Promise<string[]> =>
  type.plan(undefined, await observe(told, last), last, owner).map(line);
const refusals = async (told: Record<string, Told>, desired = inputs, by = owner): Promise<string[]> =>
  type.refusals?.(desired, await observe(told, desired), desired, by) ?? [];
const line = (step: Step): string =>
  "argv" in step && step.stdin !== undefined ? step.argv.join(" ") : stepLine(step);

const atBoot = "write /etc/modules-load.d/storage-lab-zfs.conf";
const noted = "write /var/lib/storage-lab/zpool-begun/tank";
const done = "rm -f /var/lib/storage-lab/zpool-begun/tank";
const order = [1, 2, 4, 3, 5, 6, 7, 8].map(path);
const locks = (disks: readonly string[]): string => disks.map((disk) => `flock -s ${disk} `).join("");
const linked = (disks: readonly string[]): string => `wait up to 60 s for: ls -L ${disks.join(" ")}`;
const create =
  `${locks(order)}zpool create -o ashift=12 -o comment=storage-lab/lab ` +
  "-O org.storage-lab:owner=storage-lab/lab -O compression=off tank " +
  `mirror ${path(1)} ${path(2)} mirror ${path(4)} ${path(3)} log mirror ${path(5)} ${path(6)} cache ${path(7)} spare ${path(8)}`;
const whole = (disks: readonly string[]): string[] =>
  disks.flatMap((disk) => [`${node(disk)}1`, `${node(disk)}9`, disk]);
const cleared = (disks: readonly string[]): string[] => [
  `wipefs -q -a ${whole(disks).join(" ")}`,
  `wait up to 60 s for: test ${disks.map((disk) => `'!' -e ${disk}-part1`).join(" -a ")}`,
  "wait up to 120 s for: udevadm settle --timeout=5",
];
const labels = (disks: readonly string[]): string[] =>
  disks.map((disk) => `zpool labelclear -f ${node(disk)}1`);

describe("observing a pool", () => {
  test("asks nine things at once, and no more where every disk is in it", async () => {
    const host = fakeHost(there);
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, Object.keys(there));
    assert.equal(type.exists(observed), true);
    assert.equal(type.owner?.(observed, owner), owner);
    assert.deepEqual(type.current(observed, inputs), inputs);
    const { guid, ...outputs } = type.outputs(inputs, observed);
    assert.match(String(guid), /^\d{10,}$/);
    assert.deepEqual(outputs, { name: "tank", size: 2013265920, health: "ONLINE" });
  });

  test("looks for what the disks hold, and for exported pools, only where the pool is not there", async () => {
    const host = fakeHost(absent);
    const observed = await type.observe(host, inputs);
    assert.deepEqual(
      host.asked.slice(9).sort(),
      ["zpool import", ...paths.map((disk) => `wipefs -J -n ${disk}`)].sort(),
    );
    assert.equal(type.exists(observed), false);
  });

  test("absence by ZFS's own words alone", async () => {
    const suspended: Told = { status: 1, stderr: "cannot open 'tank': pool I/O is currently suspended\n" };
    for (const command of [zpoolGet, zfsGet, onDeletes, status]) {
      await assert.rejects(observe({ ...there, [command]: suspended }), CommandError, command);
    }
    for (const command of ["zpool import", `wipefs -J -n ${path(1)}`, lsblk, record, module]) {
      await assert.rejects(
        observe({ ...absent, [command]: { status: 1, stderr: "Permission denied\n" } }),
        CommandError,
        command,
      );
    }
    await assert.rejects(
      observe({ ...destroyed, "zdb -l /dev/vdb1": { status: 1, stderr: "cannot open\n" } }),
      CommandError,
    );
  });

  test("a pool that was made by other names of the same disks is the same pool", async () => {
    const other = recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9").replaceAll(
      /\/dev\/disk\/by-id\/virtio-D(\d)-part1/g,
      (_, n) => `/dev/vd${"abcdefghi"[Number(n)]}1`,
    );
    const members = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `/dev/vd${"abcdefghi"[n]}1`);
    const told = {
      ...absent,
      ...there,
      [status]: other,
      [`readlink -m ${members.join(" ")}`]: members.map((member) => `${member}\n`).join(""),
      ...Object.fromEntries(partitions.map((part) => [`zdb -l ${part}`, unlabelled])),
    };
    const observed = await observe(told);
    assert.deepEqual(observed.disks, []);
    assert.deepEqual(type.plan(inputs, observed, inputs, owner), []);
    assert.deepEqual(type.refusals?.(inputs, observed, inputs, owner), []);
    assert.deepEqual(type.current(observed, inputs), inputs);
  });

  test("what differs is shown as it is there", async () => {
    const [first, second, , cache, spare] = inputs.vdevs as [never, never, never, never, never];
    const desired: PoolInputs = {
      ...inputs,
      vdevs: [first, second, cache, spare],
      filesystemProperties: { compression: "lz4" },
    };
    const told = {
      ...there,
      [links([1, 2, 4, 3, 7, 8].map(path))]: nodes([1, 2, 4, 3, 7, 8].map(path)),
      ...members(5, 6),
    };
    const current = type.current(await observe(told, desired), desired);
    assert.deepEqual(current.vdevs, [
      ...desired.vdevs,
      { role: "log", type: "mirror", disks: [path(5), path(6)] },
    ]);
    assert.deepEqual(current.filesystemProperties, { compression: "off" });
  });
});

describe("planning a pool", () => {
  test("as declared: nothing", async () => assert.deepEqual(await plan(there), []));

  test("by-id link missing for a moment: waited for, and locks keep udev from re-reading the tables meanwhile", async () => {
    assert.deepEqual(await plan(absent), [atBoot, noted, linked(order), create, done]);
  });

  test("the module is loaded, now and at boot, where it is not", async () => {
    const unloaded: Told = {
      status: 1,
      stderr: "The ZFS modules cannot be auto-loaded.\nTry running 'modprobe zfs' as root\n",
    };
    const told = {
      ...absent,
      [module]: { status: 1, stderr: "cat: /sys/module/zfs/version: No such file or directory\n" },
      ...Object.fromEntries(
        [status, zpoolGet, zfsGet, onDeletes, "zpool import"].map((command) => [command, unloaded]),
      ),
    };
    assert.deepEqual((await plan(told)).slice(0, 3), ["modprobe zfs", atBoot, noted]);
    assert.deepEqual(await refusals(told), []);
  });

  test("pool destroyed and created again: its own stale labels are known by their mark, without `wipe`", async () => {
    assert.deepEqual(await plan(destroyed), [
      atBoot,
      noted,
      ...labels(order),
      ...cleared(order),
      linked(order),
      create,
      done,
    ]);
    assert.deepEqual(await refusals(destroyed), []);
  });

  test("over what a killed `zpool create` left", async () => {
    assert.deepEqual(await plan(killed), [atBoot, noted, ...cleared(order), linked(order), create, done]);
    assert.deepEqual(await refusals(killed), []);
  });

  test("pool exported, then applied: it is imported, never created over", async () => {
    const guid = /id: (\d+)/.exec(recorded("zpool-import--exported--zfs-2.3.9"))?.[1];
    assert.deepEqual(await plan(exported), [
      atBoot,
      `zpool import -d /dev/disk/by-id ${guid}`,
      "zfs set compression=off tank",
    ]);
    assert.deepEqual(await refusals(exported), []);
    assert.deepEqual(await plan(exported, { ...inputs, wipe: paths }), await plan(exported));
  });

  test("only the properties that differ are set", async () => {
    const desired: PoolInputs = {
      ...inputs,
      properties: { autoexpand: "on", autotrim: "off" },
      filesystemProperties: { compression: "lz4", recordsize: "128 KiB", atime: "on" },
    };
    assert.deepEqual(await plan(there, desired), [
      "zpool set autoexpand=on tank",
      "zfs set compression=lz4 tank",
    ]);
  });

  test("a pool that was imported into the stack is left as it is, and marked with its next change; a note goes", async () => {
    const text = (of: Told | undefined): string => String(of);
    const told = {
      ...there,
      [zpoolGet]: text(there[zpoolGet]).replace(/^comment\t.*$/m, "comment\t-\tdefault"),
      [zfsGet]: text(there[zfsGet]).replace(/^org.storage-lab:owner.*\n/m, ""),
    };
    assert.equal(type.owner?.(await observe(told), owner), undefined);
    assert.deepEqual(await plan(told), []);
    assert.deepEqual(await plan({ ...told, [record]: `${owner}\n` }), [done]);
    assert.deepEqual(await plan(told, { ...inputs, properties: { autotrim: "on" } }), [
      "zpool set comment=storage-lab/lab tank",
      "zfs set org.storage-lab:owner=storage-lab/lab tank",
      "zpool set autotrim=on tank",
    ]);
  });

  test("a comment that was changed by hand is set right", async () => {
    const told = {
      ...there,
      [zpoolGet]: String(there[zpoolGet]).replace(/^comment\t.*$/m, "comment\tmine\tlocal"),
    };
    assert.deepEqual(await plan(told), ["zpool set comment=storage-lab/lab tank"]);
  });

  test("log, cache and spare vdevs are removed in one step, and their disks cleared", async () => {
    const desired = { ...inputs, vdevs: inputs.vdevs.slice(0, 2) };
    const told = {
      ...there,
      [links(order.slice(0, 4))]: nodes(order.slice(0, 4)),
      ...members(5, 6, 7, 8),
    };
    const disks = [5, 6, 7, 8].map(path);
    assert.deepEqual(await plan(told, desired), [
      noted,
      `zpool remove tank mirror-2 ${path(7)}-part1 ${path(8)}-part1`,
      ...labels(disks),
      ...cleared(disks),
      done,
    ]);
    assert.deepEqual(await refusals(told, desired), []);
  });

  /** A ninth and tenth disk, blank, for the pool that is there. */
  const more: Record<string, Told> = (() => {
    const { blockdevices } = JSON.parse(eightDisks);
    const disk = blankDisk(blockdevices.at(-1));
    const added = [
      disk,
      { ...disk, kname: "/dev/vdx", name: "/dev/vdx" },
      { ...disk, kname: "/dev/vdy", name: "/dev/vdy" },
    ];
    const members = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${path(n)}-part1`);
    return {
      ...there,
      [lsblk]: JSON.stringify({ blockdevices: [...blockdevices, ...added.slice(1)] }),
      [links([...order, "/dev/disk/by-id/x", "/dev/disk/by-id/y"])]: `${nodes(order)}/dev/vdx\n/dev/vdy\n`,
      [links(members)]: nodes(members),
      "wipefs -J -n /dev/disk/by-id/x": '{"signatures": []}',
      "wipefs -J -n /dev/disk/by-id/y": '{"signatures": []}',
    };
  })();
  const added = (vdev: PoolInputs["vdevs"][number]): PoolInputs => ({
    ...inputs,
    vdevs: [...inputs.vdevs, vdev],
  });

  test("a data vdev of the same shape is added", async () => {
    const desired = added({ role: "data", type: "mirror", disks: ["by-id/x", "by-id/y"] });
    const disks = ["/dev/disk/by-id/x", "/dev/disk/by-id/y"];
    assert.deepEqual(await plan(more, desired), [
      noted,
      linked(disks),
      `${locks(disks)}zpool add -o ashift=12 tank mirror ${disks.join(" ")}`,
      done,
    ]);
    assert.deepEqual(await refusals(more, desired), []);
  });

  test("a disk that joins a vdev is no smaller than its disks, and its sectors no larger than ashift means", async () => {
    const three: PoolInputs = {
      ...inputs,
      vdevs: [{ role: "data", type: "mirror", disks: [id(1), id(2), "by-id/x"] }, ...inputs.vdevs.slice(1)],
    };
    const paths = [path(1), path(2), "/dev/disk/by-id/x", ...order.slice(2)];
    const told = (change: Partial<Block>): Record<string, Told> => {
      const { blockdevices } = JSON.parse(String(more[lsblk])) as { blockdevices: Block[] };
      const changed = blockdevices.map((one) => (one.kname === "/dev/vdx" ? { ...one, ...change } : one));
      return {
        ...more,
        [lsblk]: JSON.stringify({ blockdevices: changed }),
        [links(paths)]: paths.map((one) => (one.endsWith("/x") ? "/dev/vdx\n" : nodes([one]))).join(""),
      };
    };
    assert.deepEqual(await refusals(told({}), three), []);
    assert.match(
      (await refusals(told({ size: 300 * 1024 ** 2 }), three))[0] ?? "",
      /by-id\/x has 300 MiB, 314572800 bytes, less than the smallest disk .*D1-part1: 512 MiB, 536870912 bytes/,
    );
    assert.match(
      (await refusals(told({ "log-sec": 8192 }), three))[0] ?? "",
      /by-id\/x has sectors of 8192 bytes/,
    );
  });

  test("one that survives less than the data vdevs is refused with both sides", async () => {
    for (const vdev of [
      { role: "data", type: "stripe", disks: ["by-id/x", "by-id/y"] },
      { role: "special", type: "stripe", disks: ["by-id/x", "by-id/y"] },
    ] as const) {
      const [refusal, ...others] = await refusals(more, added({ ...vdev, disks: [...vdev.disks] }));
      assert.match(
        refusal ?? "",
        /differ in redundancy: (data|special) stripe of by-id\/x \(survives no failure\) beside data mirror of .* \(survives 1 failed disk\)/,
      );
      assert.deepEqual(others, []);
    }
    const special = added({ role: "special", type: "mirror", disks: ["by-id/x", "by-id/y"] });
    assert.deepEqual(await refusals(more, special), []);
  });

  test("a disk that the pool uses elsewhere is refused", async () => {
    const three: PoolInputs = {
      ...inputs,
      vdevs: [{ role: "data", type: "mirror", disks: [id(1), id(2), id(8)] }, ...inputs.vdevs.slice(1, 4)],
    };
    const told = {
      ...there,
      [links([1, 2, 8, 4, 3, 5, 6, 7].map(path))]: nodes([1, 2, 8, 4, 3, 5, 6, 7].map(path)),
    };
    assert.match(
      (await refusals(told, three))[0] ?? "",
      /D8 is to go to another place .* spare stripe of .*D8-part1/,
    );
  });
});

test("a pool that zpool made and could not mount (the disk of / was full) is mounted by the next up", async () => {
  const unmounted = (more: Record<string, string> = {}) => {
    const changed = Object.entries({ mounted: "no", ...more }).reduce(
      (text, [key, value]) => text.replace(new RegExp(`^${key}\t[^\t]*`, "m"), `${key}\t${value}`),
      recorded("zfs-get--pool-root--zfs-2.3.9"),
    );
    return { ...there, [zfsGet]: changed };
  };
  const [step, ...more] = await plan(unmounted());
  assert.match(step ?? "", /zfs mount/);
  assert.deepEqual(more, []);
  for (const meant of [{ canmount: "off" }, { mountpoint: "none" }, { mountpoint: "legacy" }])
    assert.deepEqual(await plan(unmounted(meant)), []);
  assert.deepEqual(
    await plan({ ...there, [zfsGet]: unmounted()[zfsGet].replace(/^org.*owner.*\n/m, "") }),
    [],
  );
});

describe("deleting a pool", () => {
  test("destroyed: noted, its labels and partition tables cleared", async () => {
    assert.deepEqual(await remove(there), [
      noted,
      "sh -s -- 60 /dev/zvol/tank zpool destroy tank",
      ...labels(paths),
      ...cleared(paths),
      done,
    ]);
  });
  test("exported: the disks are left as they are", async () => {
    assert.deepEqual(await remove(there, { ...inputs, onDelete: "export" }), [
      "sh -s -- 60 /dev/zvol/tank zpool export tank",
    ]);
    assert.deepEqual(await remove(exported, { ...inputs, onDelete: "export" }), []);
  });
  test("an interrupted one is taken up; what is not ours is left", async () => {
    assert.deepEqual(await remove(destroyed), [noted, ...labels(order), ...cleared(order), done]);
    assert.deepEqual(await remove(exported), []);
    assert.deepEqual(await remove(absent), []);
  });
  test("a partition that ZFS did not make keeps the disk's table", async () => {
    const told = {
      ...there,
      [lsblk]: blocks((disk) =>
        disk.kname === "/dev/vdb"
          ? {
              ...disk,
              children: disk.children?.map((part) => ({
                ...part,
                parttype: "0fc63daf-8483-4772-8e79-3d69d8477de4",
              })) as Block[],
            }
          : disk,
      ),
    };
    const steps = (await remove(told)).filter((step) => step.includes("virtio-D1") || step.includes("vdb"));
    assert.match(
      steps.join("\n"),
      /^zpool labelclear -f \/dev\/vdb1\nwipefs -q -a \/dev\/disk\/by-id\/virtio-D1-part1 \/dev\/vdc1 /,
    );
    assert.doesNotMatch(steps.join("\n"), /vdb9|vdb |virtio-D1 /);
  });
  test("not while it holds what nothing allows to destroy", async () => {
    const forbids = async (datasets: string): Promise<string[]> => {
      const observed = await observe({ ...there, [onDeletes]: `tank\t-\t-\n${datasets}` });
      return type.refusals?.(undefined, observed, inputs, owner) ?? [];
    };
    assert.deepEqual(await forbids("tank/lun0\tdestroy\tlocal\n"), []);
    assert.match(
      (await forbids("tank/lun0\tretain\tlocal\ntank/home\t-\t-\n"))[0] ?? "",
      /still holds tank\/lun0, tank\/home, which/,
    );
  });

  test("what others put below ours inherits our property, and stays all the same", async () => {
    const observed = await observe({
      ...there,
      [onDeletes]: recorded("zfs-get--on-delete-of-all--zfs-2.3.9"),
    });
    const [refusal = ""] = type.refusals?.(undefined, observed, inputs, owner) ?? [];
    assert.match(refusal, /still holds tank\/apps\/foreign, tank\/kept, tank\/lun0@by-hand, which/);
    const replace = type.refusesReplace?.({ ...inputs, onDelete: "destroy" }, observed);
    assert.equal(replace, refusal, "before anything that stands on it is taken down");
  });
});

describe("what a pool refuses", () => {
  const found = (n: number, ...types: string[]): Record<string, Told> => ({
    [`wipefs -J -n ${path(n)}`]: JSON.stringify({
      signatures: types.map((type) => ({
        device: `virtio-D${n}`,
        offset: "0x0",
        type,
        uuid: null,
        label: null,
      })),
    }),
  });
  const disk = (n: number, change: Partial<Block>): Record<string, Told> => ({
    [lsblk]: JSON.stringify({
      blockdevices: JSON.parse(blankDisks).blockdevices.map((block: Block) =>
        block.kname === node(path(n)) ? { ...block, ...change } : block,
      ),
    }),
  });
  const block: Block = JSON.parse(blankDisks).blockdevices[1];
  const cases: [what: string, told: Record<string, Told>, sentence: RegExp][] = [
    [
      "an unmounted file system",
      { ...absent, ...found(1, "ext4") },
      /not blank:\n {4}\/dev\/disk\/by-id\/virtio-D1: ext4\n.*under wipe/,
    ],
    ["an LVM PV", { ...absent, ...found(2, "LVM2_member") }, /virtio-D2: LVM2_member/],
    ["an md member", { ...absent, ...found(3, "linux_raid_member") }, /virtio-D3: linux_raid_member/],
    [
      "an empty partition table",
      { ...absent, ...found(4, "gpt", "PMBR") },
      /virtio-D4: a partition table \(gpt\) with no partitions/,
    ],
    [
      "the ZFS label of a pool that another tool cut",
      { ...absent, ...found(5, "zfs_member") },
      /virtio-D5: zfs_member/,
    ],
    [
      "a disk that is not there",
      { ...absent, [links()]: nodes(order).replace("/dev/vdi", path(8)), ...found(8) },
      /not there:\n {4}\/dev\/disk\/by-id\/virtio-D8\n/,
    ],
    ["a read-only disk", { ...absent, ...disk(1, { ro: true }) }, /in use:\n.*virtio-D1: it is read-only/],
    ["a mounted disk", { ...absent, ...disk(1, { mountpoint: "/srv" }) }, /\/dev\/vdb is mounted on \/srv/],
    [
      "a disk with an LVM volume on it",
      {
        ...absent,
        ...disk(1, { children: [{ ...block, kname: "/dev/dm-0", name: "/dev/mapper/vg-lv", type: "lvm" }] }),
      },
      /\/dev\/mapper\/vg-lv \(lvm\) stands on \/dev\/vdb/,
    ],
  ];
  for (const [what, told, sentence] of cases) {
    test(`a disk that holds something or is in use: ${what}`, async () => {
      const [refusal, ...others] = await refusals(told);
      assert.match(refusal ?? "", sentence);
      assert.deepEqual(others, []);
    });
  }

  const many = (changes: Record<number, Partial<Block>>): Record<string, Told> => ({
    ...absent,
    [lsblk]: JSON.stringify({
      blockdevices: JSON.parse(blankDisks).blockdevices.map((one: Block) => {
        const n = "bcdefghi".indexOf(one.kname.slice(-1)) + 1;
        return { ...one, ...changes[n] };
      }),
    }),
  });
  const unfit: [what: string, told: Record<string, Told>, sentence: RegExp][] = [
    [
      "swap",
      many({ 1: { mountpoint: "[SWAP]", fstype: "swap" } }),
      /virtio-D1: \/dev\/vdb is in use as swap/,
    ],
    [
      "a path of a multipath map",
      many({
        1: { children: [{ ...block, kname: "/dev/dm-0", name: "/dev/mapper/mpatha", type: "mpath" }] },
      }),
      /virtio-D1: it is a path of \/dev\/mapper\/mpatha, which is to be declared instead/,
    ],
    [
      "an md array on it",
      many({ 1: { children: [{ ...block, kname: "/dev/md0", name: "/dev/md0", type: "raid1" }] } }),
      /virtio-D1: \/dev\/md0 \(raid1\) stands on \/dev\/vdb/,
    ],
    [
      "one disk under two names",
      { ...absent, [links()]: nodes(order).replace("/dev/vdc", "/dev/vdb") },
      /virtio-D1 \(\/dev\/vdb\) and \/dev\/disk\/by-id\/virtio-D2 \(\/dev\/vdb\) are the same disk/,
    ],
    [
      "a disk much smaller than its mirror's other",
      many({ 1: { size: 400 * 1024 ** 2 } }),
      /different sizes.*\n {4}\/dev\/disk\/by-id\/virtio-D1: 400 MiB, 419430400 bytes\n {4}\S+D2: 512 MiB, 536870912 bytes\n.*16 MiB at most/s,
    ],
    [
      "size 64 MB against a minimum of 64 MiB: exact units",
      many({ 7: { size: 64_000_000 } }),
      /virtio-D7 has 62500 KiB, 64000000 bytes; ZFS takes no device below 64 MiB, 67108864 bytes/,
    ],
    [
      "sectors larger than ashift means",
      many({ 3: { "phy-sec": 8192, "log-sec": 8192 } }),
      /virtio-D3 has sectors of 8192 bytes, ashift 12 means 4096. Declare ashift: 13/,
    ],
  ];
  for (const [what, told, sentence] of unfit) {
    test(`a disk that can't be taken: ${what}`, async () => {
      const [refusal, ...others] = await refusals(told);
      assert.match(refusal ?? "", sentence);
      assert.deepEqual(others, []);
    });
  }

  test("mixed sector sizes in a vdev, unless the stack says which it is to use", async () => {
    const told = many({ 3: { "phy-sec": 4096 } });
    assert.deepEqual(await refusals(told), []);
    const { ashift: _, ...unsaid } = inputs;
    assert.match(
      (await refusals(told, unsaid))[0] ?? "",
      /different sector sizes:.*D3: 4096 bytes physical, 512 bytes logical.*ashift: 12/s,
    );
  });

  test("content may be wiped where the stack file names the disk, use may not", async () => {
    const wipe = { ...inputs, wipe: [id(1)] };
    assert.deepEqual(await refusals({ ...absent, ...found(1, "ext4") }, wipe), []);
    assert.match(
      (await refusals({ ...absent, ...disk(1, { mountpoint: "/srv" }) }, wipe))[0] ?? "",
      /in use/,
    );
  });

  test("a destroyed or half-made pool of another stack", async () => {
    for (const told of [destroyed, killed]) {
      const [refusal] = await refusals(told, inputs, "storage-lab/other");
      assert.match(
        refusal ?? "",
        /not blank:\n {4}\/dev\/disk\/by-id\/virtio-D1: .*a partition table \(gpt\) with \/dev\/vdb1/s,
      );
    }
    const [label] = await refusals(destroyed, inputs, "storage-lab/other");
    assert.match(
      label ?? "",
      /\/dev\/vdb1 has the ZFS label of the destroyed pool tank, guid \d+, last on zsto/,
    );
  });

  test("a partition that ZFS did not make, beside our destroyed pool", async () => {
    const told = {
      ...destroyed,
      [lsblk]: blocks((disk) =>
        disk.kname === "/dev/vdb"
          ? {
              ...disk,
              children: [
                ...(disk.children ?? []),
                { ...block, kname: "/dev/vdb2", name: "/dev/vdb2", type: "part" },
              ],
            }
          : disk,
      ),
    };
    assert.match((await refusals(told))[0] ?? "", /virtio-D1: /);
  });

  test("an exported pool of that name which this stack did not make", async () => {
    const [namesake, disks] = await refusals(exported, inputs, "storage-lab/other");
    assert.match(
      namesake ?? "",
      /A pool named tank that this stack did not make .* not imported \(guid \d+, ONLINE\)\. Look at it/,
    );
    assert.match(disks ?? "", /the ZFS label of the exported pool tank/);
    assert.deepEqual(await refusals(exported, { ...inputs, wipe: paths }, "storage-lab/other"), []);
  });

  test("to import a pool that another system may be using, or that is not whole", async () => {
    const list = recorded("zpool-import--exported--zfs-2.3.9");
    const told = (change: (text: string) => string) => ({ ...exported, "zpool import": change(list) });
    const other = told((text) =>
      text.replace(" action:", "status: The pool was last accessed by another system.\n action:"),
    );
    assert.match((await refusals(other))[0] ?? "", /last used by another system.*zpool import -f \d+/);
    const broken = told((text) => text.replace("state: ONLINE", "state: UNAVAIL"));
    assert.match((await refusals(broken))[0] ?? "", /can't be imported: its state is UNAVAIL/);
    assert.match((await refusals(told((text) => text + text)))[0] ?? "", /Two exported pools are named tank/);
  });

  test("a disk of another imported pool, even under `wipe`", async () => {
    const told = {
      ...there,
      [zpoolGet]: absent[zpoolGet] as Told,
      [zfsGet]: absent[zfsGet] as Told,
      [onDeletes]: absent[onDeletes] as Told,
      [status]: recorded("zpool-status--two-mirrors-log-cache-spare--zfs-2.3.9").replaceAll("tank", "pool"),
      "zpool import": "no pools available to import\n",
      [links([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${path(n)}-part1`))]: nodes(
        [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${path(n)}-part1`),
      ),
      ...Object.fromEntries(paths.map((disk) => [`wipefs -J -n ${disk}`, gpt])),
      ...Object.fromEntries(partitions.map((part) => [`zdb -l ${part}`, unlabelled])),
    };
    assert.match(
      (await refusals(told, { ...inputs, wipe: paths }))[0] ?? "",
      /virtio-D1: the imported pool pool uses it/,
    );
  });

  test("a host without ZFS, and a property that its ZFS does not know", async () => {
    const none: Told = { status: 127, stderr: "sh: 1: zpool: not found\n" };
    const told = {
      ...absent,
      [module]: { status: 1, stderr: "cat: /sys/module/zfs/version: No such file or directory\n" },
    };
    for (const command of [status, zpoolGet, zfsGet, onDeletes, "zpool import"])
      Object.assign(told, { [command]: none });
    assert.match(
      (await refusals(told))[0] ?? "",
      /storage has no ZFS programs.*apt-get install.*dnf install/,
    );
    const [unknown] = await refusals(there, { ...inputs, filesystemProperties: { compresion: "off" } });
    assert.match(unknown ?? "", /compresion is no dataset property that this host's ZFS knows/);
  });

  test("to be replaced, unless it may be destroyed", () => {
    assert.equal(type.refusesReplace?.(inputs), undefined);
    assert.match(type.refusesReplace?.({ ...inputs, onDelete: "export" }) ?? "", /would lose what it holds/);
  });
});

describe("what a pool's plan does to its users, and what its preview says", () => {
  const steps = async (
    told: Record<string, Told>,
    desired: PoolInputs | undefined,
    last = desired ?? inputs,
  ) =>
    type
      .plan(desired, await observe(told, last), last, owner)
      .filter(({ effect }) => effect !== undefined)
      .map((step) => [step.effect, step.say]);
  const hints = async (told: Record<string, Told>, desired: PoolInputs) =>
    type.hints?.(desired, await observe(told, desired)) ?? [];

  test("destroying loses data, exporting is an outage", async () => {
    assert.deepEqual(await steps(there, undefined), [
      ["data loss", "destroy pool tank and all that it holds"],
    ]);
    assert.deepEqual(await steps(there, undefined, { ...inputs, onDelete: "export" }), [
      ["outage", "export pool tank, its data stays on the disks"],
    ]);
  });

  test("wiping a disk names what is lost; taking a blank one, or a leftover, loses nothing", async () => {
    const signature = { device: "D1", offset: "0x0", uuid: null, type: "ext4", label: "home" };
    const told = { ...absent, [`wipefs -J -n ${path(1)}`]: JSON.stringify({ signatures: [signature] }) };
    assert.deepEqual(await steps(told, { ...inputs, wipe: [id(1)] }), [
      ["data loss", `wipe ${path(1)}, which holds ext4 "home"`],
    ]);
    for (const nothing of [absent, destroyed, killed]) assert.deepEqual(await steps(nothing, inputs), []);
  });

  test("enabling a feature can't be undone, a property can", async () => {
    const told = {
      ...there,
      [zpoolGet]: String(there[zpoolGet]).replace("feature@edonr\tenabled", "feature@edonr\tdisabled"),
    };
    const properties = { "feature@edonr": "enabled", autotrim: "on" };
    assert.deepEqual(await steps(told, { ...inputs, properties }), [
      ["cannot be undone", "set feature@edonr of pool tank to enabled"],
    ]);
    assert.deepEqual(await plan(there, { ...inputs, properties: { "feature@edonr": "enabled" } }), []);
    assert.match(
      (await refusals(there, { ...inputs, properties: { "feature@edonr": "disabled" } }))[0] ?? "",
      /feature@edonr is enabled, and a feature that is enabled can't be disabled/,
    );
  });

  test("special or single disk added to a RAID-Z pool: preview says that it cannot be undone; redundancy is never forced", async () => {
    const raidz = (...more: PoolInputs["vdevs"]): PoolInputs => ({
      ...inputs,
      vdevs: [{ role: "data", type: "raidz1", disks: [1, 2, 3, 4].map(id) }, ...more],
    });
    const blank = (...ids: number[]): Record<string, Told> => ({
      ...there,
      [status]: recorded("zpool-status--raidz-expanded--zfs-2.3.9"),
      [lsblk]: blankDisks,
      [links([1, 2, 3, 4, ...ids].map(path))]: nodes([1, 2, 3, 4, ...ids].map(path)),
      ...members(1, 2, 3, 4),
      ...Object.fromEntries(ids.map((n) => [`wipefs -J -n ${path(n)}`, ""])),
    });
    const special = raidz({ role: "special", type: "mirror", disks: [id(5), id(6)] });
    assert.deepEqual(await steps(blank(5, 6), special), [
      ["cannot be undone", `add special mirror ${path(5)} ${path(6)} to pool tank`],
    ]);
    assert.deepEqual(await refusals(blank(5, 6), special), []);
    assert.match(
      (await hints(blank(5, 6), special))[0] ?? "",
      /can't be removed from it again, since the pool has a raidz1 vdev: special mirror/,
    );
    for (const role of ["special", "data"] as const) {
      const single = raidz({ role, type: "stripe", disks: [id(5)] });
      assert.match(
        (await refusals(blank(5), single))[0] ?? "",
        /differ in redundancy: .*survives no failure/,
      );
      assert.doesNotMatch((await plan(blank(5), single)).join("\n"), /zpool .* -f /);
    }
    const wider = raidz();
    wider.vdevs[0]?.disks.push(id(5));
    assert.deepEqual(await steps(blank(5), wider), [
      ["cannot be undone", `widen raidz1-0 of pool tank by ${path(5)}`],
    ]);
    assert.match((await hints(blank(5), wider))[0] ?? "", /got wider stays so/);
    const features = (change: string) => ({
      ...blank(5),
      [zpoolGet]: String(there[zpoolGet]).replace("feature@raidz_expansion\tenabled\tlocal\n", change),
    });
    assert.match(
      (await refusals(features(""), wider))[0] ?? "",
      /came with ZFS 2.3, and this host has 2.3.9/,
    );
    const disabled = features("feature@raidz_expansion\tdisabled\tlocal\n");
    assert.match(
      (await refusals(disabled, wider))[0] ?? "",
      /raidz_expansion is disabled. Enable it, for good/,
    );
    assert.deepEqual(
      await refusals(disabled, { ...wider, properties: { "feature@raidz_expansion": "enabled" } }),
      [],
    );
  });

  test("a single log is warned of, and so is a pool that is not upgraded", async () => {
    const log: PoolInputs = {
      ...inputs,
      vdevs: [...inputs.vdevs.slice(0, 2), { role: "log", type: "stripe", disks: [id(5)] }],
    };
    const told = { ...absent, [links([1, 2, 4, 3, 5].map(path))]: nodes([1, 2, 4, 3, 5].map(path)) };
    assert.match((await hints(told, log))[0] ?? "", /Log device by-id\/virtio-D5 of pool tank stands alone/);
    const old = {
      ...there,
      [status]: String(there[status]).replace(
        " state: ONLINE\n",
        " state: ONLINE\nstatus: Some supported and requested features are not enabled on the pool.\n\tThe pool can still be used, but some features are unavailable.\naction: Enable all features using 'zpool upgrade'.\n",
      ),
      [zpoolGet]: String(there[zpoolGet]).replace("feature@longname\tenabled", "feature@longname\tdisabled"),
    };
    assert.match(
      (await hints(old, inputs))[0] ?? "",
      /does not use all features .*\(longname\), and is not upgraded/,
    );
    assert.deepEqual(await plan(old), []);
  });

  test("`draid2:3d:12c:1s` with 12 disks: odd groups are said, since ZFS allows them", async () => {
    const disks = Array.from({ length: 12 }, (_, n) => path(n + 1));
    const desired: PoolInputs = {
      ...inputs,
      vdevs: [{ role: "data", type: "draid2", disks, data: 3, spares: 1 }],
    };
    const told = {
      ...absent,
      [links(disks)]: disks.map((disk) => `${disk}\n`).join(""),
      ...Object.fromEntries(disks.map((disk) => [`wipefs -J -n ${disk}`, ""])),
    };
    assert.deepEqual(type.rules?.(desired), []);
    assert.match(
      (await hints(told, desired))[0] ?? "",
      /draid2:3d:12c:1s of .*: 11 disks beside its spares are no multiple of 5 \(3 data and 2 parity\)/,
    );
    const even: PoolInputs = {
      ...desired,
      vdevs: [{ role: "data", type: "draid2", disks, data: 4, spares: 0 }],
    };
    assert.deepEqual(await hints(told, even), []);
  });
});

describe("an imported pool's life", () => {
  const named = type.named?.({ name: "storage", ssh: "storage" }, "tank") as PoolInputs;
  const shown = members(1, 2, 3, 4, 5, 6, 7, 8);
  const { [links()]: _, ...told } = { ...there, ...shown };

  test("by its name, with all that the host tells; no change afterwards", async () => {
    const found = type.found?.(await observe(told, named), named) as PoolInputs;
    assert.deepEqual(found, {
      host: { name: "storage", ssh: "storage" },
      name: "tank",
      vdevs: [
        { role: "data", type: "mirror", disks: [path(1), path(2)] },
        { role: "data", type: "mirror", disks: [path(3), path(4)] },
        { role: "log", type: "mirror", disks: [path(5), path(6)] },
        { role: "cache", type: "stripe", disks: [path(7)] },
        { role: "spare", type: "stripe", disks: [path(8)] },
      ],
      ashift: 12,
      filesystemProperties: { compression: "off" },
      onDelete: "export",
    });
    assert.equal(poolInputs.safeParse(found).success, true);
    assert.deepEqual(type.rules?.(found), []);
    const again = { ...there, [links(paths)]: nodes(paths) };
    assert.deepEqual(await plan(again, found), []);
    assert.deepEqual(type.current(await observe(again, found), found), found);
  });

  test("a name that no pool can have is none", () => {
    for (const name of ["", "mirror", "tank/x", "-f", "a b"])
      assert.equal(type.named?.({ name: "storage", ssh: "storage" }, name), undefined);
  });

  test("a partition that was made by hand is found as it is", async () => {
    const alone = {
      ...told,
      [lsblk]: blocks((disk) => ({ ...disk, children: disk.children?.slice(0, 1) as Block[] })),
    };
    const found = type.found?.(await observe(alone, named), named) as PoolInputs;
    assert.deepEqual(found.vdevs[0]?.disks, [`${path(1)}-part1`, `${path(2)}-part1`]);
  });

  test("a pool that is not there is none", async () => {
    const { [links()]: _, ...none } = absent;
    assert.equal(type.exists(await observe(none, named)), false);
  });
});

describe("disks offline, larger, or being replaced", () => {
  const off = { ...there, [status]: recorded("zpool-status--offline--zfs-2.3.9") };

  test("what was taken offline by hand is left, unless the stack says which disks are", async () => {
    assert.deepEqual(await plan(off), []);
    assert.deepEqual(await plan(off, { ...inputs, offline: [id(2)] }), []);
    assert.deepEqual(await plan(off, { ...inputs, offline: [] }), [`zpool online tank ${path(2)}-part1`]);
    assert.deepEqual(await plan(there, { ...inputs, offline: [path(6)] }), [
      `zpool offline tank ${path(6)}-part1`,
    ]);
    const other = { ...inputs, offline: [id(1)] };
    assert.deepEqual(type.current(await observe(off, other), other).offline, [path(2)]);
  });

  test("a resilver is waited for on demand", async () => {
    const vdevs: PoolInputs["vdevs"] = [
      { role: "data", type: "mirror", disks: [id(1), id(8)] },
      { role: "data", type: "mirror", disks: [id(3), id(4)] },
      { role: "log", type: "stripe", disks: [id(5)] },
    ];
    const told = {
      ...there,
      [status]: recorded("zpool-status--replacing--zfs-2.3.9"),
      [links([1, 8, 3, 4, 5].map(path))]: nodes([1, 8, 3, 4, 5].map(path)),
      ...members(2),
    };
    assert.deepEqual(await plan(told, { ...inputs, vdevs }), []);
    const desired = { ...inputs, vdevs, waitForResilver: true };
    assert.deepEqual(await plan(told, desired), [
      "wait up to 1500 s for: timeout 5 zpool wait -t resilver tank",
    ]);
    const [wait] = type.plan(desired, await observe(told, desired), desired, owner);
    assert.match(
      wait?.say ?? "",
      /^wait for the resilver \(86.96% done, no estimated completion time\) of pool tank, 25 minutes/,
    );
  });

  test("larger disks are used on demand: by the label, since expandsize says so only after they were opened again", async () => {
    const grown = (label: string) => ({
      ...there,
      [lsblk]: blocks((disk) => ({ ...disk, size: Number(disk.size) * 2 })),
      ...Object.fromEntries(
        ["b", "d", "f"].map((l) => [`zdb -l /dev/vd${l}1`, recorded(`zdb-label--${label}--zfs-2.3.9`)]),
      ),
    });
    const desired = { ...inputs, expand: true };
    assert.deepEqual(await plan(grown("replaced")), []);
    assert.equal(type.current(await observe(grown("replaced"), desired), desired).expand, false);
    assert.deepEqual(await plan(grown("replaced"), desired), [
      `zpool online -e tank ${[1, 2, 3, 4, 5, 6].map(path).join(" ")}`,
    ]);
    assert.equal(type.current(await observe(grown("expanded-mirror"), desired), desired).expand, true);
    assert.deepEqual(await plan(grown("expanded-mirror"), desired), []);
  });
});

describe("a pool's rules", () => {
  const data = { role: "data", type: "mirror", disks: [id(1), id(2)] } as const;
  const vdevs = (...more: PoolInputs["vdevs"]): Partial<PoolInputs> => ({
    vdevs: [{ ...data, disks: [...data.disks] }, ...more],
  });
  const cases: [Partial<PoolInputs>, key: string, RegExp][] = [
    ...["c0", "c9d1", "mirror", "mirrors", "raidz2", "draid", "spare-pool", "log"].map(
      (name): [Partial<PoolInputs>, string, RegExp] => [{ name }, "name", /are its own; choose another/],
    ),
    ...["", "1tank", "-f", "tank/x", "a b", "$(reboot)", "tank@s"].map(
      (name): [Partial<PoolInputs>, string, RegExp] => [{ name }, "name", /a pool's name is a letter/],
    ),
    [
      vdevs({ role: "log", type: "mirror", disks: [id(3)] }),
      "vdevs[1].disks",
      /mirror has at least 2 disks; here 1/,
    ],
    [
      { vdevs: [{ role: "data", type: "raidz2", disks: [id(1), id(2)] }] },
      "vdevs[0].disks",
      /raidz2 has at least 3 disks; here 2/,
    ],
    [
      vdevs({ role: "cache", type: "mirror", disks: [id(3), id(4)] }),
      "vdevs[1].type",
      /cache disks stand alone/,
    ],
    [
      vdevs({ role: "log", type: "raidz1", disks: [id(3), id(4), id(5)] }),
      "vdevs[1].type",
      /a stripe or a mirror; raidz1/,
    ],
    [
      { vdevs: [{ role: "data", type: "draid2", disks: [1, 2, 3, 4, 5].map(id), data: 4 }] },
      "vdevs[0].data",
      /4 data and 2 parity needs 6 disks; 5 less 0 spares leave 5, so data is 3 at most/,
    ],
    [
      { vdevs: [{ role: "data", type: "draid1", disks: [1, 2, 3].map(id), spares: 2 }] },
      "vdevs[0].spares",
      /3 disks less 2 spares leave 1, too few for 1 parity and 1 data/,
    ],
    [
      { vdevs: [{ role: "data", type: "raidz1", disks: [1, 2, 3].map(id), spares: 1 }] },
      "vdevs[0].spares",
      /spares is for dRAID; this vdev is a raidz1/,
    ],
    [
      { vdevs: [{ role: "data", type: "draid1", disks: Array.from({ length: 256 }, (_, n) => id(n)) }] },
      "vdevs[0].disks",
      /at most 255 disks; here 256/,
    ],
    [{ offline: [id(9)] }, "offline", /virtio-D9 is no disk of this pool's vdevs/],
    [{ offline: [id(1), path(2)] }, "offline", /can be without 1 disks; offline are 2/],
    [
      { properties: { "feature@draid": "on" } },
      "properties.feature@draid",
      /enabled or disabled; on is neither/,
    ],
    [{ vdevs: [] }, "vdevs", /at least one data vdev; here is none/],
    [
      vdevs({ role: "spare", type: "stripe", disks: [path(2)] }),
      "vdevs",
      /virtio-D2 is declared more than once/,
    ],
    [{ wipe: [id(9)] }, "wipe", /by-id\/virtio-D9 is no disk of this pool's vdevs/],
    [{ properties: { comment: "mine" } }, "properties.comment", /this project's mark/],
    [{ properties: { ashift: "12" } }, "properties.ashift", /a field of its own/],
    [
      { filesystemProperties: { "org.storage-lab:owner": "me" } },
      "filesystemProperties",
      /this project's mark/,
    ],
  ];
  for (const [change, key, sentence] of cases) {
    test(change.name === undefined ? JSON.stringify(change) : `pool name ${change.name}`, () => {
      const [found, ...others] = type.rules?.({ ...inputs, ...change }) ?? [];
      assert.deepEqual([found?.[0], others], [key, []]);
      assert.match(found?.[1] ?? "", sentence);
    });
  }
  test("none is broken; names that only look reserved are free", () => {
    for (const name of ["tank", "logs", "cold", "Mirror", "tank-1:a.b_c"])
      assert.deepEqual(type.rules?.({ ...inputs, name }), []);
  });
  test("the schema refuses unknown keys, relative disks and values with newlines", () => {
    assert.equal(poolInputs.safeParse(inputs).success, true);
    for (const wrong of [
      { vdevs: [{ role: "data", type: "mirror", disks: ["sda", "sdb"] }] },
      { vdevs: [{ role: "data", type: "stripe", disks: ["/dev/sda -f"] }] },
      { vdevs: [{ role: "data", type: "draid4", disks: ["/dev/sda"] }] },
      { ashift: 8 },
      { force: true },
      { properties: { autotrim: "on\n" } },
      { onDelete: "keep" },
    ]) {
      assert.equal(poolInputs.safeParse({ ...inputs, ...wrong }).success, false, JSON.stringify(wrong));
    }
  });
});
