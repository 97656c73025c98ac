import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import { parseHolders } from "../../../../provider/resources/iscsi/holders.ts";
import { parseRecord } from "../../../../provider/resources/iscsi/record.ts";
import {
  lunPath,
  type SessionInputs,
  session as type,
} from "../../../../provider/resources/iscsi/session.ts";
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
  `find /dev/disk/by-path /usr/sbin/iscsiadm '(' -name iscsiadm -o -name 'ip-10.10.10.1:3260-iscsi-${target}-lun-*' ')' ` +
  "-printf '%p\\t%l\\n'";
const blocks = "lsblk -J -o NAME,KNAME,TYPE,MOUNTPOINT";
const services =
  "grep -aHZ '' /usr/lib/systemd/system/open-iscsi.service /etc/systemd/system/sysinit.target.wants/open-iscsi.service " +
  "/usr/lib/systemd/system/iscsi.service /etc/systemd/system/remote-fs.target.wants/iscsi.service";
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
};

type Observed = Parameters<typeof type.exists>[0];
const observe = (told: Record<string, Told>, desired = inputs): Promise<Observed> =>
  type.observe(fakeHost(told, "initiator"), desired);
const plan = (desired: SessionInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, desired ?? inputs, "lab/test");
const refusals = (desired: SessionInputs | undefined, observed: Observed): string[] =>
  type.refusals?.(desired, observed, desired ?? inputs, "lab/test") ?? [];
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
  test("asks five things at once", async () => {
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
    assert.deepEqual(observed.disks, new Map([[disk, "sda"]]));
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
    for (const line of Object.keys(loggedIn)) {
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
      `${node} --login`,
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
    assert.deepEqual(lines(plan(inputs, recordOnly)), [`${node} --login`, `until test -b ${disk}`]);
    assert.deepEqual(lines(plan(inputs, { ...observed, disks: new Map() })), [
      "iscsiadm -m session -r 1 --rescan",
      `until test -b ${disk}`,
    ]);
  });

  test("a lost session is logged in anew, or waited for where its disks are in use", async () => {
    const lost = await failed();
    assert.deepEqual(lines(plan(inputs, lost)), [
      "iscsiadm -m session -r 1 --logout",
      `${node} --login`,
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
      "iscsiadm -m session -r 1 --logout",
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
      "iscsiadm -m session -r 1 --logout",
      `${node} -o delete`,
      `until test ! -e ${disk}`,
    ]);
    assert.deepEqual(plan(undefined, await observe(nothing)), []);
  });
});

describe("refusals", () => {
  test("disks in use stay, and their holders are named", async () => {
    const tree = {
      blockdevices: [
        {
          ...{ name: "sda", kname: "sda", type: "disk", mountpoint: null },
          children: [
            { name: "sda1", kname: "sda1", type: "part", mountpoint: "/a" },
            {
              ...{ name: "sda2", kname: "sda2", type: "part", mountpoint: null },
              children: [{ name: "vg-lv", kname: "dm-0", type: "lvm", mountpoint: "[SWAP]" }],
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

test("holders of disks: multipath above a disk, and other words", () => {
  const device = { name: "sda", kname: "sda", type: "disk", mountpoint: null };
  const map = { name: "mpatha", kname: "dm-0", type: "mpath", mountpoint: "/a" };
  const tree = JSON.stringify({ blockdevices: [{ ...device, children: [map] }] });
  assert.deepEqual(parseHolders(tree).get("sda"), ["mpath mpatha", "mpatha mounted on /a"]);
  for (const text of ["", "NAME", "{}", '{"blockdevices": [{}]}'])
    assert.throws(() => parseHolders(text), ParseError);
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
    [{ chap: { user: "a", password: "b " } }, "chap.password", /without a blank at either end/],
  ];
  for (const [changed, key, sentence] of cases) {
    const found: [string, string] | undefined = type.rules?.({ ...inputs, ...changed })[0];
    assert.equal(found?.[0], key, JSON.stringify(changed));
    assert.match(found?.[1] ?? "", sentence);
  }
});
