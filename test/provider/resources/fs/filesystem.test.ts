import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import {
  type FilesystemInputs,
  filesystemInputs,
  filesystem as type,
} from "../../../../provider/resources/fs/filesystem.ts";
import { parseMounts } from "../../../../provider/resources/fs/mounts.ts";
import { markedUuid } from "../../../../provider/resources/fs/superblock.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const device = "/dev/zvol/tank/lun0";
const inputs: FilesystemInputs = {
  host: { name: "initiator", ssh: "initiator" },
  device,
  type: "xfs",
  label: "lun0",
};
const owner = "storage-lab/lab";
const uuid = markedUuid(owner, device);

const lsblk = `lsblk -J -b -p -o KNAME,NAME,TYPE,SIZE,RO,FSTYPE,LABEL,PTTYPE,PARTTYPE,MOUNTPOINT ${device}`;
const wipefs = `wipefs -J -n ${device}`;
const od = (of: string): string => `od -A n -v -t x1 -N 512 ${of}`;
const mountinfo = "cat /proc/self/mountinfo";
const mkfs = "command -v mkfs.xfs";
const rootMount = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";
const zeros = " 00".repeat(512);

const made: Record<string, Told> = {
  [lsblk]: recorded("lsblk--zvol-xfs--util-linux-2.41"),
  [wipefs]: recorded("wipefs--xfs--util-linux-2.41"),
  [od(device)]: recorded("od--xfs--xfsprogs-6.13"),
  [mountinfo]: rootMount,
  [mkfs]: "/usr/sbin/mkfs.xfs\n",
};
const blank: Record<string, Told> = { ...made, [wipefs]: '{"signatures": []}', [od(device)]: zeros };
const half: Record<string, Told> = { ...made, [od(device)]: recorded("od--xfs-half-made--xfsprogs-6.13") };
const missing: Record<string, Told> = {
  [lsblk]: { status: 32, stdout: '{"blockdevices": []}', stderr: `lsblk: ${device}: not a block device\n` },
  [wipefs]: {
    status: 1,
    stderr: `wipefs: error: ${device}: probing initialization failed: No such file or directory\n`,
  },
  [od(device)]: { status: 1, stderr: `od: ${device}: No such file or directory\n` },
  [mountinfo]: rootMount,
  [mkfs]: "/usr/sbin/mkfs.xfs\n",
};
const mounted: Record<string, Told> = {
  ...made,
  [mountinfo]: recorded("mountinfo--xfs-with-bind--linux-6.12"),
  "xfs_info /mnt/c": recorded("xfs_info--grown--xfsprogs-6.13").replace("blocks=245760", "blocks=163840"),
};

const observe = (told: Record<string, Told>) => type.observe(fakeHost(told, "initiator"), inputs);
const plan = async (
  desired: FilesystemInputs | undefined,
  told: Record<string, Told>,
  by = owner,
): Promise<string[]> => type.plan(desired, await observe(told), inputs, by).map(line);
const line = (step: Step): string =>
  "argv" in step && step.stdin !== undefined ? step.argv.join(" ") : stepLine(step);
const refusals = async (
  told: Record<string, Told>,
  by = owner,
  desired: FilesystemInputs | undefined = inputs,
) => type.refusals?.(desired, await observe(told), inputs, by) ?? [];

describe("observing a file system", () => {
  test("asks five things at once, and no more where nothing is mounted", async () => {
    const host = fakeHost(made, "initiator");
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, [lsblk, wipefs, od(device), mountinfo, mkfs]);
    assert.equal(type.exists(observed), true);
    assert.equal(type.owner?.(observed, owner), owner);
    assert.equal(type.owner?.(observed, "storage-lab/other"), `with mark ${uuid.slice(0, 18)}`);
    assert.deepEqual(type.current(observed, inputs), inputs);
    assert.deepEqual(type.outputs(inputs, observed), { device, type: "xfs", uuid });
  });

  test("what this stack made for another path to the disk is its own: a portal may have moved", async () => {
    const moved = markedUuid(owner, "/dev/disk/by-path/ip-10.10.10.9:3260-iscsi-x-lun-0");
    const observed = await observe(made);
    assert.ok(observed.superblock);
    const found = { ...observed, superblock: { ...observed.superblock, uuid: moved } };
    assert.equal(type.owner?.(found, owner), owner);
    assert.deepEqual(type.plan(inputs, found, inputs, owner), []);
    assert.deepEqual(type.refusals?.(inputs, found, inputs, owner), []);
    assert.equal(type.refusals?.(inputs, found, inputs, "storage-lab/other").length, 1);
  });

  test("a missing device is absent by lsblk's own word alone", async () => {
    assert.equal(type.exists(await observe(missing)), false);
    await assert.rejects(
      observe({ ...made, [lsblk]: { status: 1, stderr: "lsblk: out of memory\n" } }),
      CommandError,
    );
    await assert.rejects(
      observe({ ...made, [od(device)]: { status: 1, stderr: "od: Permission denied\n" } }),
      CommandError,
    );
    await assert.rejects(
      observe({ ...made, [wipefs]: { status: 1, stderr: "wipefs: Permission denied\n" } }),
      CommandError,
    );
    await assert.rejects(observe({ ...made, [wipefs]: "DEVICE OFFSET\n" }), ParseError);
  });

  test("a device that can't be read, its session lost, is as good as not there: nothing is made on it", async () => {
    for (const said of ["No such device or address", "read error: Input/output error"]) {
      const lost = { ...made, [od(device)]: { status: 1, stderr: `od: ${device}: ${said}\n` } };
      assert.equal((await observe(lost)).node, undefined);
      assert.deepEqual(await plan(inputs, lost), [`wait up to 60 s for: test -b ${device}`]);
      assert.deepEqual(await plan(undefined, lost), []);
    }
  });

  test("its mounts, by the device and by another path to the same disk, the last first", async () => {
    assert.deepEqual((await observe(mounted)).mounts, [
      { target: "/mnt/c", uuid },
      { target: "/mnt/a b", uuid },
    ]);
    const other = `${rootMount}40 22 8:16 / /test rw - xfs /dev/sdb rw\n41 22 8:32 / /other rw - xfs /dev/sdc rw\n`;
    const told = {
      ...made,
      [mountinfo]: other,
      [od("/dev/sdb")]: recorded("od--xfs--xfsprogs-6.13"),
      [od("/dev/sdc")]: zeros,
      "xfs_info /test": recorded("xfs_info--grown--xfsprogs-6.13"),
    };
    assert.deepEqual((await observe(told)).mounts, [{ target: "/test", uuid }]);
    assert.deepEqual((await observe({ ...told, ...missing, [mountinfo]: other })).mounts, [
      { target: "/test", uuid },
    ]);
    const dead = {
      ...told,
      [od("/dev/sdb")]: { status: 1, stderr: "od: /dev/sdb: read error: Input/output error\n" },
    };
    assert.deepEqual((await observe(dead)).mounts, []);
  });
});

describe("planning a file system", () => {
  const make = (force = "", label = " -L lun0"): string =>
    `mkfs.xfs -q${force} -m uuid=${uuid}${label} ${device}`;
  const { label: _, ...unlabelled } = inputs;
  const cases: [
    what: string,
    desired: FilesystemInputs | undefined,
    told: Record<string, Told>,
    steps: string[],
  ][] = [
    ["as declared", inputs, made, []],
    ["as declared, and mounted", inputs, mounted, []],
    ["the label left out", unlabelled, made, []],
    ["a blank device", inputs, blank, [make()]],
    ["a blank device, the label left out", unlabelled, blank, [make("", "")]],
    ["a killed mkfs.xfs of ours", inputs, half, [make(" -f")]],
    ["another label", { ...inputs, label: "test" }, made, [`xfs_admin -L test ${device}`]],
    [
      "another label, while mounted",
      { ...inputs, label: "test" },
      mounted,
      ["xfs_io -c 'label -s test' /mnt/c"],
    ],
    [
      "no device: what it holds can't be told, so nothing is made",
      inputs,
      missing,
      [`wait up to 60 s for: test -b ${device}`],
    ],
    ["deleted", undefined, made, []],
    [
      "deleted, while mounted",
      undefined,
      mounted,
      ["sh -s -- 60 /mnt/c umount /mnt/c", "sh -s -- 60 /mnt/a b umount /mnt/a b"],
    ],
    ["deleted, on a device that holds something else", undefined, blank, []],
    ["deleted, without its device", undefined, missing, []],
  ];
  for (const [what, desired, told, steps] of cases) {
    test(what, async () => assert.deepEqual(await plan(desired, told), steps));
  }
  test("-f goes over nobody else's half-made file system", async () => {
    assert.doesNotMatch((await plan(inputs, half, "storage-lab/other")).join(), / -f /);
    assert.match(
      (await refusals(half, "storage-lab/other"))[0] ?? "",
      /an XFS that mkfs.xfs has not finished/,
    );
  });
});

describe("what a file system refuses", () => {
  const found = (...signatures: [type: string, label?: string][]): Told =>
    JSON.stringify({
      signatures: signatures.map(([type, label = null]) => ({
        device: "lun0",
        offset: "0x0",
        type,
        uuid: null,
        label,
      })),
    });
  const node = (change: object): Told => {
    const { blockdevices } = JSON.parse(recorded("lsblk--zvol-xfs--util-linux-2.41"));
    return JSON.stringify({ blockdevices: [{ ...blockdevices[0], ...change }] });
  };
  const child = {
    ...JSON.parse(recorded("lsblk--zvol-xfs--util-linux-2.41")).blockdevices[0],
    kname: "/dev/dm-0",
  };

  test("nothing where it may be made or is made", async () => {
    for (const told of [made, mounted, blank, half]) assert.deepEqual(await refusals(told), []);
  });
  const cases: [what: string, told: Record<string, Told>, sentence: RegExp][] = [
    [
      "another file system",
      { ...blank, [wipefs]: found(["ext4", "home"]) },
      /not blank: ext4 "home"\. Nothing was touched\./,
    ],
    ["a partition table", { ...blank, [wipefs]: found(["gpt"], ["PMBR"]) }, /not blank: gpt; PMBR/],
    ["an LVM member", { ...blank, [wipefs]: found(["LVM2_member"]) }, /LVM2_member/],
    ["an md member", { ...blank, [wipefs]: found(["linux_raid_member"]) }, /linux_raid_member/],
    ["a ZFS member", { ...blank, [wipefs]: found(["zfs_member", "tank"]) }, /zfs_member "tank"/],
    [
      "a multipath map",
      { ...blank, [lsblk]: node({ children: [{ ...child, name: "/dev/mapper/mpatha", type: "mpath" }] }) },
      /multipath map \/dev\/mapper\/mpatha has taken it \(declare the map/,
    ],
    [
      "an encrypted volume on it",
      { ...blank, [lsblk]: node({ children: [{ ...child, name: "/dev/mapper/secret", type: "crypt" }] }) },
      /\/dev\/mapper\/secret \(crypt\) is on it/,
    ],
    ["a mounted device", { ...blank, [lsblk]: node({ mountpoint: "/srv" }) }, /mounted on \/srv/],
    ["a device that can't be written", { ...blank, [lsblk]: node({ ro: true }) }, /read-only/],
    [
      "a device that is too small",
      { ...blank, [lsblk]: node({ size: 67108864 }) },
      /67108864 bytes \(64 MiB\); an XFS has at least 300 MiB/,
    ],
    [
      "a host without mkfs.xfs",
      { ...blank, [mkfs]: { status: 127 } },
      /apt-get install xfsprogs, or dnf install xfsprogs/,
    ],
  ];
  for (const [what, told, sentence] of cases) {
    test(what, async () => {
      const [refusal, ...others] = await refusals(told);
      assert.match(refusal ?? "", sentence);
      assert.deepEqual(others, []);
    });
  }
  test("a foreign XFS, by its UUID", async () => {
    const foreign = recorded("od--xfs--xfsprogs-6.13").replace(
      /^((?: \S\S){16}\n(?: \S\S){16}\n) \S\S/,
      "$1 ff",
    );
    const told = { ...made, [od(device)]: foreign };
    assert.equal(type.exists(await observe(told)), true);
    assert.equal(type.owner?.(await observe(told), owner), undefined);
    assert.match(
      (await refusals(told))[0] ?? "",
      /an XFS that this stack did not make for it \(UUID ff[0-9a-f]{6}-.*, label lun0; to keep it, import it and declare uuid: ff/,
    );
  });
  test("nothing of a delete", async () => {
    assert.deepEqual(type.refusals?.(undefined, await observe(missing), inputs, owner), []);
    assert.equal(type.refusesReplace?.(inputs), undefined);
  });
});

describe("growing", () => {
  const info = recorded("xfs_info--grown--xfsprogs-6.13");
  const device960 = JSON.parse(recorded("lsblk--zvol-xfs--util-linux-2.41"));
  device960.blockdevices[0].size = 960 * 2 ** 20;
  const larger: Record<string, Told> = { ...made, [lsblk]: JSON.stringify(device960) };
  const sized = (size: string): FilesystemInputs => ({ ...inputs, size });
  const steps = async (size: string, told: Record<string, Told>): Promise<Step[]> =>
    type.plan(sized(size), await type.observe(fakeHost(told), sized(size)), sized(size), owner);
  const said = async (size: string, told: Record<string, Told>): Promise<string[]> =>
    type.refusals?.(sized(size), await type.observe(fakeHost(told), sized(size)), sized(size), owner) ?? [];

  test("a zvol grown: the XFS on it grows, mounted where nobody else sees it", async () => {
    const [grow, ...others] = await steps("960 MiB", larger);
    assert.deepEqual(others, []);
    assert.equal(grow?.say, `grow the XFS on ${device} from 640 MiB to 960 MiB, mounted for that alone`);
    assert.equal(grow?.effect, "cannot be undone");
    assert.ok(grow && "argv" in grow);
    assert.deepEqual(grow.argv.slice(0, 4), ["unshare", "--mount", "sh", "-c"]);
    assert.deepEqual(grow.argv.slice(5), ["sh", device]);
    const words = [
      "blockdev --flushbufs",
      "mount -t xfs",
      "xfs_growfs -d /mnt",
      "umount /mnt",
      "blockdev --flushbufs",
    ];
    assert.deepEqual(
      grow.argv[4]?.split("\n").map((line) => words.find((word) => line.startsWith(word))),
      [undefined, ...words],
    );
  });

  test("where it is mounted it grows there, and its size is the kernel's, not the one on the device", async () => {
    const told = { ...larger, [mountinfo]: mounted[mountinfo] as string, "xfs_info /mnt/c": info };
    assert.deepEqual(await steps("960 MiB", told), [], "the superblock on the device still says 640 MiB");
    const before = info.replace("blocks=245760", "blocks=163840");
    assert.deepEqual((await steps("960 MiB", { ...told, "xfs_info /mnt/c": before })).map(stepLine), [
      "xfs_growfs -d /mnt/c",
    ]);
    const host = fakeHost(made);
    await type.observe(host, sized("960 MiB"));
    assert.doesNotMatch(host.asked.join("\n"), /xfs_info/, "where it is not mounted nobody asks");
  });

  test("the device is waited for where it does not show the size yet, with both values", async () => {
    const [wait, grow] = await steps("960 MiB", made);
    assert.deepEqual(wait, {
      say: `wait until ${device} shows 960 MiB; it shows 640 MiB`,
      until: ["grep", "-qx", "1966080", "/sys/class/block/zd0/size"],
      deadlineSeconds: 60,
    });
    assert.match(grow?.say ?? "", /^grow the XFS/);
    const [first, mkfs] = await steps("960 MiB", blank);
    assert.deepEqual([first, mkfs && "argv" in mkfs && mkfs.argv[0]], [wait, "mkfs.xfs"]);
  });

  test("left out is left alone; another spelling, or less than 16 MiB more, is nothing to do", async () => {
    assert.deepEqual(await plan(inputs, larger), []);
    const observed = await type.observe(fakeHost(made), sized("655360 KiB"));
    for (const size of ["640 MiB", "655360 KiB", "671088640", "655 MiB"]) {
      if (size !== "655 MiB") assert.deepEqual(await steps(size, made), []);
      assert.deepEqual(type.current(observed, sized(size)), sized(size));
    }
    assert.equal(type.current(observed, sized("656 MiB")).size, "640 MiB");
    assert.equal(type.current(observed, sized("512 MiB")).size, "640 MiB");
  });

  test("XFS never shrinks: refused with both values and the way out", async () => {
    assert.deepEqual(await said("512 MiB", made), [
      `the XFS on ${device} has 671088640 bytes (640 MiB) and can't shrink to 536870912 bytes (512 MiB): an XFS never shrinks. ` +
        "Declare at least 640 MiB, or copy its files to a smaller volume.",
    ]);
    assert.match(
      (await said("640 MiB", larger))[0] ?? "",
      /1006632960 bytes \(960 MiB\), more than the 671088640 .*Declare size: 960 MiB/,
    );
    assert.match(
      (await said("640 MiB", { ...larger, ...blank, [lsblk]: larger[lsblk] as string }))[0] ?? "",
      /more than the/,
    );
    assert.deepEqual(await said("960 MiB", made), [], "its volume may be about to grow");
  });

  test("a wrong size is an input's error", () => {
    for (const size of ["1 GB", "-1", "0.3 B"])
      assert.equal(filesystemInputs.safeParse(sized(size)).success, false);
  });
});

describe("importing", () => {
  const foreignUuid = "ff22ce42-fa81-8ccb-a1d1-94c9255503c8";
  const foreign: Record<string, Told> = {
    ...made,
    [od(device)]: recorded("od--xfs--xfsprogs-6.13").replace(
      /^((?: \S\S){16}\n(?: \S\S){16}\n) \S\S/,
      "$1 ff",
    ),
  };
  const look = async (told: Record<string, Told>, desired: FilesystemInputs) => {
    const observed = await type.observe(fakeHost(told), desired);
    return {
      observed,
      steps: type.plan(desired, observed, desired, owner),
      refused: type.refusals?.(desired, observed, desired, owner) ?? [],
    };
  };

  test("a device's path names a file system, and nothing else does", () => {
    assert.deepEqual(type.named?.(inputs.host, device), { host: inputs.host, device, type: "xfs" });
    for (const wrong of ["", "tank/lun0", "/etc/passwd", "/dev/a b", "/dev/"])
      assert.equal(type.named?.(inputs.host, wrong), undefined, wrong);
  });

  test("what is found leaves nothing to do: of ours without a UUID, of others with it", async () => {
    for (const [told, uuid] of [
      [made, undefined],
      [foreign, foreignUuid],
    ] as const) {
      const least = type.named?.(inputs.host, device);
      assert.ok(least);
      const { observed } = await look(told, least);
      assert.equal(type.exists(observed), true);
      const found = type.found?.(observed, least);
      assert.deepEqual(found, { ...inputs, size: "640 MiB", ...(uuid && { uuid }) });
      const again = await look(told, found);
      assert.deepEqual([again.steps, again.refused], [[], []]);
      assert.deepEqual(type.current(again.observed, found), found);
    }
    assert.equal(type.exists((await look(blank, inputs)).observed), false);
    assert.equal(type.exists((await look(half, inputs)).observed), false);
  });

  test("an XFS of a declared UUID is never made: another one, or none, is refused with both values", async () => {
    const desired = { ...inputs, uuid: foreignUuid };
    for (const told of [made, blank, half]) {
      const { refused } = await look(told, desired);
      assert.match(refused[0] ?? "", new RegExp(`declared is one of UUID ${foreignUuid}.*nothing is made`));
    }
    assert.match((await look(made, desired)).refused[0] ?? "", new RegExp(`an XFS of UUID ${uuid}`));
    assert.deepEqual((await look(foreign, { ...desired, uuid: foreignUuid.toUpperCase() })).refused, []);
    assert.equal(type.current((await look(made, desired)).observed, desired).uuid, uuid);
  });

  test("removed from the stack, an imported one is unmounted too", async () => {
    const told = {
      ...foreign,
      [mountinfo]: mounted[mountinfo] as string,
      "xfs_info /mnt/c": mounted["xfs_info /mnt/c"] as string,
    };
    const desired = { ...inputs, uuid: foreignUuid };
    const observed = await type.observe(fakeHost(told), desired);
    const steps = type.plan(undefined, observed, desired, owner);
    assert.deepEqual(
      steps.map(({ say, effect }) => [say, effect]),
      [
        ["unmount /mnt/c", "outage"],
        ["unmount /mnt/a b", "outage"],
      ],
    );
  });
});

test("shutdown: network or iscsid stops before unmount: nothing is ever mounted for longer than a step", async () => {
  const larger = { ...inputs, size: "1 GiB" };
  const observed = await observe(made);
  for (const step of [
    ...type.plan(larger, observed, larger, owner),
    ...type.plan(undefined, observed, inputs, owner),
  ]) {
    assert.ok(!("file" in step), "no unit, no fstab");
    if ("argv" in step && step.argv.join(" ").includes("mount -t"))
      assert.deepEqual(step.argv.slice(0, 2), ["unshare", "--mount"]);
  }
});

describe("inputs and mounts", () => {
  test("hostile names", () => {
    assert.equal(filesystemInputs.safeParse(inputs).success, true);
    for (const wrong of [
      { device: "/etc/passwd" },
      { device: "-f /dev/sda" },
      { label: "more than twelve" },
      { label: "a b" },
      { label: '"' },
      { type: "ext4" },
      { force: true },
    ]) {
      assert.equal(filesystemInputs.safeParse({ ...inputs, ...wrong }).success, false, JSON.stringify(wrong));
    }
  });
  test("mountinfo: escaped blanks, optional fields, unknown lines", () => {
    assert.deepEqual(parseMounts("36 35 8:1 / /mnt/a\\040b rw shared:1 master:2 - xfs /dev/sda1 rw\n"), [
      { target: "/mnt/a b", source: "/dev/sda1", type: "xfs" },
    ]);
    assert.throws(() => parseMounts("/dev/sda1 /mnt xfs rw 0 0\n"), /\/dev\/sda1 \/mnt xfs/);
  });
});
