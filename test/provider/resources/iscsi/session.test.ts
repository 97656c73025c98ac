import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, explain, ParseError } from "../../../../provider/errors.ts";
import { lunPath, parseDisks } from "../../../../provider/resources/iscsi/luns.ts";
import { parseRecord } from "../../../../provider/resources/iscsi/record.ts";
import { type SessionInputs, session as type } from "../../../../provider/resources/iscsi/session.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";

const target = "iqn.2026-09.com.example.lab:tank";
const inputs: SessionInputs = {
  host: { name: "initiator", ssh: "initiator" },
  target,
  portal: "10.10.10.1:3260",
  transport: "tcp",
  startup: "automatic",
};
const chap = { user: "bob", password: "a b!#$^&*/c12" };
const disk = `/dev/disk/by-path/ip-10.10.10.1:3260-iscsi-${target}-lun-0`;

const sessions =
  "find /sys/class/iscsi_session /sys/class/iscsi_connection -mindepth 1 -maxdepth 1 -exec grep -raHZ " +
  "--include=targetname --include=state --include=ifacename --include=initiatorname --include=persistent_address " +
  "--include=persistent_port '' '{}' +";
const records = `grep -raHZ '--include=*' '' /var/lib/iscsi/nodes/${target} /etc/iscsi/nodes/${target}`;
const paths =
  "find /dev/disk/by-path /usr/sbin/iscsiadm /sys/fs/xfs /sys/fs/ext4 -maxdepth 1 " +
  `'(' -name iscsiadm -o -name 'ip-10.10.10.1:3260-iscsi-${target}-lun-*' -o -path '/sys/fs/*/*' ')' ` +
  "-printf '%p\\t%l\\n'";
const blocks = "lsblk -J -b -o NAME,KNAME,TYPE,SIZE,MOUNTPOINT";
const services =
  "grep -aHZ '' /usr/lib/systemd/system/open-iscsi.service /etc/systemd/system/sysinit.target.wants/open-iscsi.service " +
  "/usr/lib/systemd/system/iscsi.service /etc/systemd/system/remote-fs.target.wants/iscsi.service";
const versions = `sh -c 'iscsiadm -V; [ ! -e "$1" ] || "/proc/$(cat "$1")/exe" -v' sh /run/iscsid.pid`;
const enabled = "/etc/systemd/system/sysinit.target.wants/open-iscsi.service\0[Unit]\n";

const loggedIn: Record<string, Told> = {
  [sessions]: recorded("grep--iscsi-sessions--linux-6.12"),
  [records]: {
    status: 2,
    stdout: recorded("grep--node-records--open-iscsi-2.1.11"),
    stderr: `grep: /etc/iscsi/nodes/${target}: No such file or directory\n`,
  },
  [paths]: recorded("find--by-path--udev-257"),
  [blocks]: recorded("lsblk--two-sessions--util-linux-2.41"),
  [services]: enabled,
  [versions]: recorded("iscsiadm--versions--open-iscsi-2.1.11"),
};
/** A host that was never logged in to anything. */
const nothing: Record<string, Told> = {
  [sessions]: { status: 1, stderr: "find: '/sys/class/iscsi_session': No such file or directory\n" },
  [records]: { status: 2, stderr: `grep: /var/lib/iscsi/nodes/${target}: No such file or directory\n` },
  [paths]: {
    status: 1,
    stdout: "/usr/sbin/iscsiadm\t\n",
    stderr: "find: '/dev/disk/by-path': No such file or directory\n",
  },
  [blocks]: '{"blockdevices": []}',
  [services]: enabled,
  [versions]: "iscsiadm version 2.1.11\n",
};

type Observed = Parameters<typeof type.exists>[0];
const observe = (told: Record<string, Told>, desired = inputs): Promise<Observed> =>
  type.observe(fakeHost(told, "initiator"), desired);
const plan = (desired: SessionInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, desired ?? inputs, "lab/test");
const refusals = (desired: SessionInputs | undefined, observed: Observed): string[] =>
  type.refusals?.(desired, observed, desired ?? inputs, "lab/test") ?? [];
const lunBytes = 671088640n;
const node = `iscsiadm -m node -T ${target} -p 10.10.10.1:3260 -I default`;
const lines = (steps: Step[]): string[] =>
  steps.map((step) =>
    "argv" in step ? step.argv.join(" ") : "until" in step ? `until ${step.until.join(" ")}` : step.say,
  );
const failed = async (): Promise<Observed> => {
  const observed = await observe(loggedIn);
  return {
    ...observed,
    session: { ...(observed.session as NonNullable<Observed["session"]>), state: "FAILED" },
  };
};

describe("observing a session", () => {
  test("asks everything at once", async () => {
    const host = fakeHost(loggedIn, "initiator");
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, Object.keys(loggedIn));
    assert.deepEqual(observed.session, {
      id: 1,
      target,
      portal: "10.10.10.1:3260",
      iface: "default",
      state: "LOGGED_IN",
      initiator: "iqn.2026-09.com.example.lab:initiator",
    });
    assert.equal(observed.record?.values.get("node.startup"), "automatic");
    assert.deepEqual(observed.disks, new Map([[disk, { name: "sda", bytes: lunBytes }]]));
    assert.deepEqual([observed.holders, observed.foreign, observed.loginService], [[], undefined, undefined]);
  });

  test("iSER's is another one", async () => {
    const iser: SessionInputs = { ...inputs, portal: "10.10.10.1:3261", transport: "iser" };
    const told = { ...loggedIn, [paths.replace("3260", "3261")]: "" };
    const observed = await observe(told, iser);
    assert.deepEqual([observed.session?.id, observed.record?.iface], [2, "iser"]);
  });

  test("absence by the known words alone", async () => {
    const observed = await observe(nothing);
    assert.equal(type.exists(observed), false);
    for (const line of Object.keys(loggedIn).filter((line) => line !== versions)) {
      const told = { ...loggedIn, [line]: { status: 2, stderr: "x: Input/output error\n" } };
      await assert.rejects(observe(told), CommandError, line);
    }
  });

  test("a record of another form is an error that shows no value", () => {
    assert.throws(
      () => parseRecord("node.session.auth.password=hunter2"),
      (error: Error) => {
        return (
          error instanceof ParseError &&
          /auth\.password…$/.test(error.message) &&
          !error.message.includes("hunter2")
        );
      },
    );
  });
});

describe("planning a session", () => {
  test("nothing to do where it is as declared", async () => {
    const observed = await observe(loggedIn);
    assert.deepEqual(plan(inputs, observed), []);
    assert.deepEqual(refusals(inputs, observed), []);
    assert.deepEqual(type.current(observed, inputs), inputs);
    const { startup: _, ...rest } = inputs;
    assert.deepEqual(plan(rest, observed), [], "left out is left alone");
  });

  test("from nothing: a record for this portal alone, a login, the disk", async () => {
    const observed = await observe(nothing);
    assert.deepEqual(lines(plan(inputs, observed)), [
      `${node} -o new`,
      `${node} -o update -n node.startup -v automatic -n node.session.auth.authmethod -v None`,
      `timeout 180 ${node} --login`,
      `until test -b ${disk}`,
    ]);
    assert.deepEqual(
      plan(inputs, observed).map((step) => ("accept" in step ? step.accept : undefined))[2],
      [0, 15],
    );
  });

  test("what an interrupted login left is taken up: a record alone, a session without its disk", async () => {
    const observed = await observe(loggedIn);
    const recordOnly = { ...observed, session: undefined, disks: new Map() };
    assert.deepEqual(lines(plan(inputs, recordOnly)), [
      `timeout 180 ${node} --login`,
      `until test -b ${disk}`,
    ]);
    assert.deepEqual(lines(plan(inputs, { ...observed, disks: new Map() })), [
      "iscsiadm -m session -r 1 --rescan",
      `until test -b ${disk}`,
    ]);
  });

  test("a lost session is logged in anew, or waited for where its disks are in use", async () => {
    const lost = await failed();
    assert.deepEqual(lines(plan(inputs, lost)), [
      "timeout 180 iscsiadm -m session -r 1 --logout",
      `timeout 180 ${node} --login`,
      `until test -b ${disk}`,
    ]);
    assert.deepEqual(lines(plan(inputs, { ...lost, holders: ["sda mounted on /a"] })), [
      "until grep -qx LOGGED_IN /sys/class/iscsi_session/session1/state",
    ]);
  });

  test("startup alone changes the record; other settings need a new login", async () => {
    const observed = await observe(loggedIn);
    const manual = { ...inputs, startup: "manual" as const };
    assert.deepEqual(lines(plan(manual, observed)), [`${node} -o update -n node.startup -v manual`]);
    const deep = { ...inputs, settings: { "node.session.queue_depth": "64" } };
    assert.deepEqual(lines(plan(deep, observed)).slice(0, 4), [
      "timeout 180 iscsiadm -m session -r 1 --logout",
      `${node} -o delete`,
      `${node} -o new`,
      `${node} -o update -n node.startup -v automatic -n node.session.queue_depth -v 64 -n node.session.auth.authmethod -v None`,
    ]);
    assert.deepEqual(type.current(observed, deep).settings, { "node.session.queue_depth": "32" });
  });

  test("CHAP: secrets travel on stdin, and those of before are cleared", async () => {
    const desired = { ...inputs, chap };
    const steps = plan(desired, await observe(nothing));
    for (const step of steps) {
      assert.doesNotMatch(step.say + stepLine(step) + ("argv" in step ? step.argv.join(" ") : ""), /a b!/);
    }
    const secret = steps.find((step) => "stdin" in step) as { stdin: string; secret: boolean };
    assert.equal(
      secret.stdin,
      "node.session.auth.username = bob\nnode.session.auth.password = a b!#$^&*/c12",
    );
    assert.equal(secret.secret, true);

    const observed = await observe(loggedIn);
    const values = new Map(observed.record?.values);
    for (const [name, value] of [
      ["authmethod", "CHAP"],
      ["username", "bob"],
      ["password", chap.password],
    ] as const) {
      values.set(`node.session.auth.${name}`, value);
    }
    const before = { ...observed, record: { portal: inputs.portal, iface: "default", values } };
    assert.deepEqual(plan(desired, before), []);
    assert.deepEqual(type.current(before, desired), desired);
    assert.deepEqual(type.current(before, inputs), desired);
    assert.ok(lines(plan(inputs, before)).includes(`${node} -o delete`));
  });

  test("the login service is enabled where a session is to start by itself", async () => {
    const unit = "/usr/lib/systemd/system/iscsi.service\0[Unit]\n";
    const observed = await observe({ ...loggedIn, [services]: unit });
    assert.deepEqual(lines(plan(inputs, observed)), ["systemctl enable --quiet iscsi.service"]);
    assert.deepEqual(plan({ ...inputs, startup: undefined } as SessionInputs, observed), []);
  });

  test("towards nothing: logout, record, disk; and nothing from nothing", async () => {
    assert.deepEqual(lines(plan(undefined, await observe(loggedIn))), [
      "timeout 180 iscsiadm -m session -r 1 --logout",
      `${node} -o delete`,
      `until test ! -L ${disk}`,
    ]);
    assert.deepEqual(plan(undefined, await observe(nothing)), []);
  });
});

describe("refusals", () => {
  test("disks in use stay, and their holders are named", async () => {
    const tree = {
      blockdevices: [
        {
          ...{ name: "sda", kname: "sda", type: "disk", size: 1, mountpoint: null },
          children: [
            { name: "sda1", kname: "sda1", type: "part", size: 1, mountpoint: "/a" },
            {
              ...{ name: "sda2", kname: "sda2", type: "part", size: 1, mountpoint: null },
              children: [{ name: "vg-lv", kname: "dm-0", type: "lvm", size: 1, mountpoint: "[SWAP]" }],
            },
          ],
        },
      ],
    };
    const observed = await observe({ ...loggedIn, [blocks]: JSON.stringify(tree) });
    const held = `the disks of ${target} at 10.10.10.1:3260 on initiator are in use: sda1 mounted on /a, lvm vg-lv, swap on vg-lv`;
    assert.deepEqual(refusals(undefined, observed), [`${held}. Unmount or stop that first, then log out`]);
    assert.deepEqual(refusals({ ...inputs, settings: { "node.session.queue_depth": "64" } }, observed), [
      `${held}. Other settings need a new login: unmount or stop that first`,
    ]);
    assert.deepEqual(refusals({ ...inputs, startup: "manual" }, observed), []);
  });

  test("a session by the other transport is named with both", async () => {
    const iser: SessionInputs = { ...inputs, transport: "iser" };
    assert.deepEqual(refusals(iser, await observe(loggedIn, iser)), [
      `initiator is logged in to ${target} at 10.10.10.1:3260 (session 1) by tcp, not iser: give each transport its own ` +
        "portal, or log out: iscsiadm -m session -r 1 --logout",
    ]);
  });

  test("a host without open-iscsi", async () => {
    const observed = await observe({ ...nothing, [paths]: { status: 1, stderr: "" } });
    assert.match(
      refusals(inputs, observed)[0] ?? "",
      /apt-get install open-iscsi, or dnf install iscsi-initiator-utils/,
    );
  });
});

test("paths are known before the login", () => {
  assert.deepEqual(type.outputs({ ...inputs, luns: [3, 0] }, undefined), {
    device: disk.replace("lun-0", "lun-3"),
    devices: { 0: disk, 3: disk.replace("lun-0", "lun-3") },
  });
  const v6 = { ...inputs, portal: "[FD00:0::1]:3260" };
  assert.equal(lunPath(v6, 0), `/dev/disk/by-path/ip-fd00::1:3260-iscsi-${target}-lun-0`);
});

test("rules refuse before a host is asked", () => {
  assert.deepEqual(type.rules?.({ ...inputs, chap }), []);
  const cases: [Partial<SessionInputs>, string, RegExp][] = [
    [{ target: "tank" }, "target", /is no iSCSI name/],
    [{ portal: "10.10.10.1" }, "portal", /such as 10\.10\.10\.1:3260/],
    [{ portal: "0.0.0.0:3260" }, "portal", /no place to log in to/],
    [{ luns: [0, 0] }, "luns", /declared twice/],
    [{ settings: { "node.startup": "manual" } }, "settings", /use startup/],
    [{ settings: { "node.session.auth.password": "x" } }, "settings", /use chap/],
    [{ settings: { "-p": "x" } }, "settings", /no value of a node record/],
    [{ sizes: ["1 GiB", "1 GiB"] }, "sizes", /1 LUNs and 2 sizes/],
    [{ chap: { user: "a", password: "b " } }, "chap.password", /without a blank at either end/],
  ];
  for (const [changed, key, sentence] of cases) {
    const found: [string, string] | undefined = type.rules?.({ ...inputs, ...changed })[0];
    assert.equal(found?.[0], key, JSON.stringify(changed));
    assert.match(found?.[1] ?? "", sentence);
  }
});

describe("the size of a LUN", () => {
  const declared: SessionInputs = { ...inputs, luns: [0], sizes: ["960 MiB"] };
  const shown = (bytes: bigint) => new Map([[disk, { name: "sda", bytes }]]);

  test("a zvol grown while its LUN is in use: the session is rescanned and the disk waited for", async () => {
    const observed = { ...(await observe(loggedIn, declared)), holders: ["sda mounted on /test"] };
    assert.deepEqual(lines(plan(declared, observed)), [
      "iscsiadm -m session -r 1 --rescan",
      "until grep -qx 1966080 /sys/class/block/sda/size",
    ]);
    assert.equal(
      plan(declared, observed)[1]?.say,
      `wait until LUN 0 of ${target} at 10.10.10.1:3260 (sda) shows 960 MiB; it shows 640 MiB`,
    );
    assert.deepEqual(refusals(declared, observed), []);
    assert.deepEqual(type.current(observed, declared).sizes, ["640 MiB"]);
    const grown = { ...observed, disks: shown(1006632960n) };
    assert.deepEqual(plan(declared, grown), []);
    for (const sizes of [["960 MiB"], ["983040 KiB"], ["1006632960"]])
      assert.deepEqual(type.current(grown, { ...declared, sizes }).sizes, sizes, "the declared spelling");
  });

  test("left out is left alone, and the size of another LUN is its own", async () => {
    const observed = await observe(loggedIn);
    assert.deepEqual(plan({ ...inputs, luns: [0] }, observed), []);
    const two = { ...inputs, luns: [5, 0], sizes: ["1 GiB", "640 MiB"] };
    const five = disk.replace("lun-0", "lun-5");
    const disks = new Map([...observed.disks, [five, { name: "sdc", bytes: 512n * 2n ** 20n }]]);
    assert.deepEqual(lines(plan(two, { ...observed, disks })), [
      "iscsiadm -m session -r 1 --rescan",
      "until grep -qx 2097152 /sys/class/block/sdc/size",
    ]);
    assert.deepEqual(type.current({ ...observed, disks }, two).sizes, ["512 MiB", "640 MiB"]);
  });
});

describe("import", () => {
  const host = inputs.host;

  test("an identity names a session, and nothing else does", () => {
    const v6 = { host, target, portal: "[fd00::1]:3260", transport: "iser" } as const;
    for (const one of [{ host, target, portal: inputs.portal, transport: "tcp" } as const, v6])
      assert.deepEqual(type.named?.(host, type.identity(one)), one);
    const wrong = [
      "",
      target,
      `${target}/10.10.10.1/tcp`,
      `${target}/10.10.10.1:3260/rdma`,
      "x/10.10.10.1:3260/tcp",
    ];
    for (const identity of [
      ...wrong,
      `${target}/[FD00::1]:3260/tcp`,
      `${target}/10.10.10.1:3260/tcp/`,
      `a${target}`,
    ])
      assert.equal(type.named?.(host, identity), undefined, identity);
  });

  test("what is found is all that the host tells, and leaves nothing to do", async () => {
    const least = type.named?.(host, type.identity(inputs));
    assert.ok(least);
    const observed = await observe(loggedIn, least);
    const found = type.found?.(observed, least);
    assert.deepEqual(found, { ...inputs, luns: [0], sizes: ["640 MiB"] });
    assert.deepEqual(plan(found, observed), []);
    assert.deepEqual(found && type.current(observed, found), found);
  });
});

test("a disk that a benchmark has mounted, where nobody else sees it, is waited for before a logout", async () => {
  const mounted = await observe({ ...loggedIn, [paths]: recorded("find--by-path-private-mount--udev-257") });
  assert.deepEqual(mounted.hidden, ["/sys/fs/xfs/sda"]);
  assert.deepEqual(lines(plan(undefined, mounted)).slice(0, 2), [
    "until test ! -e /sys/fs/xfs/sda",
    "timeout 180 iscsiadm -m session -r 1 --logout",
  ]);
  assert.deepEqual(plan(inputs, mounted), []);
  assert.deepEqual((await observe(loggedIn)).hidden, []);
});

describe("effects: sessions drop", () => {
  const drops = (steps: Step[]): string[] =>
    steps.filter(({ effect }) => effect === "sessions drop").map(({ say }) => say);
  const out = [`log out of ${target} at 10.10.10.1:3260`];

  test("at a logout, for whatever reason, and at nothing else", async () => {
    const observed = await observe(loggedIn);
    assert.deepEqual(drops(plan(undefined, observed)), out);
    assert.deepEqual(
      drops(plan({ ...inputs, settings: { "node.session.queue_depth": "64" } }, observed)),
      out,
    );
    assert.deepEqual(drops(plan(inputs, await failed())), out);
    assert.deepEqual(drops(plan({ ...inputs, startup: "manual" }, observed)), []);
    assert.deepEqual(drops(plan(inputs, await observe(nothing))), []);
  });
});

describe("known traps of initiators", () => {
  test("session exists already: 15 is success after looking, and no records is empty", async () => {
    const login = plan(inputs, await observe(nothing)).find((step) => step.say.startsWith("log in"));
    assert.deepEqual(login && "argv" in login && login.accept, [0, 15]);
    assert.equal((await observe(nothing)).record, undefined, "no folder of records is no record");
  });

  test("discovery at a target with several portals: none is made, only the wanted portal has a record", async () => {
    const said = lines(plan(inputs, await observe(nothing))).join("\n");
    assert.doesNotMatch(said, /discovery|sendtargets|-m fw/);
    for (const line of said.split("\n").filter((line) => line.includes("iscsiadm")))
      assert.ok(line.includes(" -p 10.10.10.1:3260 -I default"), line);
  });

  test("right after login the disk is not there yet: waited for, with a deadline", async () => {
    const last = plan(inputs, await observe(nothing)).at(-1);
    assert.deepEqual(last, { say: `wait for ${disk}`, until: ["test", "-b", disk], deadlineSeconds: 60 });
  });

  test("two machines cloned from one image, of one InitiatorName: a session that bounces says so", async () => {
    const [hint, ...others] = type.hints?.(inputs, await failed()) ?? [];
    assert.match(
      hint ?? "",
      /is FAILED.*another host has the name iqn\.2026-09\.com\.example\.lab:initiator as well/,
    );
    assert.deepEqual(others, []);
    assert.deepEqual(type.hints?.(inputs, await observe(loggedIn)), []);
  });

  test("multipathd runs: its map is named with both ways out", async () => {
    const device = { name: "sda", kname: "sda", type: "disk", size: 1, mountpoint: null };
    const map = { name: "mpatha", kname: "dm-0", type: "mpath", size: 1, mountpoint: "/a" };
    const tree = JSON.stringify({ blockdevices: [{ ...device, children: [map] }] });
    assert.deepEqual(parseDisks(tree).get("sda")?.holders, ["mpath mpatha", "mpatha mounted on /a"]);
    const observed = await observe({ ...loggedIn, [blocks]: tree });
    assert.match(
      type.hints?.(inputs, observed)[0] ?? "",
      /\/dev\/mapper\/mpatha: declare that .*or blacklist/,
    );
    assert.match(
      refusals(undefined, observed)[0] ?? "",
      /Unmount that and flush the map \(multipath -f mpatha\) first/,
    );
    for (const text of ["", "NAME", "{}", '{"blockdevices": [{}]}'])
      assert.throws(() => parseDisks(text), ParseError);
  });

  test("credentials left from before, CHAP now off: cleared, whatever authmethod says", async () => {
    const observed = await observe(loggedIn);
    const values = new Map([
      ...(observed.record?.values ?? []),
      ["node.session.auth.username", "bob"] as const,
      ["node.session.auth.password", chap.password] as const,
    ]);
    const left = { ...observed, record: { portal: inputs.portal, iface: "default", values } };
    assert.equal(values.get("node.session.auth.authmethod"), "None");
    assert.ok(lines(plan(inputs, left)).includes(`${node} -o delete`));
    assert.deepEqual(plan({ ...inputs, chap }, left), [], "iscsid uses them: that is CHAP");
  });

  test("iscsiadm and iscsid of different versions: a deadline, and the preview says so", async () => {
    const upgraded = await observe({
      ...loggedIn,
      [versions]: "iscsiadm version 2.1.11\niscsid version 2.1.8\n",
    });
    assert.match(
      type.hints?.(inputs, upgraded)[0] ?? "",
      /iscsiadm .* is 2\.1\.11, the iscsid that runs is 2\.1\.8/,
    );
    for (const step of [...plan(inputs, await observe(nothing)), ...plan(undefined, upgraded)])
      if ("argv" in step && /--log(in|out)/.test(step.argv.join(" ")))
        assert.deepEqual(step.argv.slice(0, 2), ["timeout", "180"]);
    await assert.rejects(observe({ ...loggedIn, [versions]: "iscsiadm: unknown option\n" }), ParseError);
  });
});

test("a secret of CHAP is in no step's line, no argv and no error", async () => {
  const canary = "canary-7f3a91";
  const secret = { user: "bob", password: canary, mutualUser: "tgt", mutualPassword: `${canary}x` };
  const desired = { ...inputs, chap: secret };
  const observed = await observe(nothing);
  const steps = plan(desired, observed);
  const holding = steps.filter((step) => JSON.stringify(step).includes(canary));
  assert.equal(holding.length, 1);
  for (const step of steps) {
    assert.ok(!stepLine(step).includes(canary) && !step.say.includes(canary));
    if ("argv" in step) assert.ok(!step.argv.join(" ").includes(canary));
  }
  const said = [
    ...refusals(desired, { ...observed, installed: false }),
    ...(type.hints?.(desired, await failed()) ?? []),
    ...(type.rules?.({ ...desired, chap: { ...secret, mutualPassword: canary } }) ?? []).flat(),
    ...(type.rules?.({ ...desired, chap: { ...secret, password: ` ${canary}` } }) ?? []).flat(),
  ];
  assert.ok(said.length >= 4);
  assert.ok(!said.join("\n").includes(canary));
  for (const line of [canary, `${canary} =`, `node.session.auth.password=${canary}`, `node.x ${canary}`]) {
    const told = { ...loggedIn, [records]: `/var/lib/iscsi/nodes/x\0${line}\n` };
    await assert.rejects(observe(told), (error: Error) => {
      return error instanceof ParseError && !explain(error).includes(canary);
    });
    const broken = { ...loggedIn, [records]: `${line}\n` };
    await assert.rejects(observe(broken), (error: Error) => !explain(error).includes(canary));
  }
  const denied = { status: 2, stdout: `x\0${canary}\n`, stderr: "grep: x: Permission denied\n" };
  await assert.rejects(observe({ ...loggedIn, [records]: denied }), (error: Error) => {
    return error instanceof CommandError && !explain(error).includes(canary);
  });
});
