import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import {
  type FilesystemInputs,
  filesystemInputs,
  parseMounts,
  filesystem as type,
} from "../../../../provider/resources/fs/filesystem.ts";
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
    assert.equal(type.exists(await observe(told)), false);
    assert.match(
      (await refusals(told))[0] ?? "",
      /an XFS that this stack did not make for it \(UUID ff[0-9a-f]{6}-.*, label lun0\)/,
    );
  });
  test("nothing of a delete", async () => {
    assert.deepEqual(type.refusals?.(undefined, await observe(missing), inputs, owner), []);
    assert.equal(type.refusesReplace?.(inputs), undefined);
  });
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
