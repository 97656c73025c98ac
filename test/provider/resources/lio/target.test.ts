import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import { type Acl, tpgPath } from "../../../../provider/resources/lio/configfs.ts";
import { type TargetInputs, target as type } from "../../../../provider/resources/lio/target.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, type Told } from "../../../recorded.ts";
import { host, initiatorName, iqn, listing, noLio, oneTarget, rdma, restore, tcp, values } from "./lab.ts";

const inputs: TargetInputs = {
  host,
  iqn,
  portals: [
    { address: "10.10.10.1:3260", protocol: "iscsi" },
    { address: "10.10.10.1:3261", protocol: "iser" },
  ],
  luns: [{ lun: 0, backstore: "lun0" }],
  acls: [{ initiator: initiatorName }],
};
const chap = { user: "bob", password: "a b!#$^&*/c12", mutualUser: "tgt", mutualPassword: "other secret" };
const path = tpgPath(iqn);

type Observed = Parameters<typeof type.exists>[0];
const observe = (told: Record<string, Told> = oneTarget, desired = inputs): Promise<Observed> =>
  type.observe(fakeHost(told), desired);
const plan = (desired: TargetInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, inputs, "lab/test");
const refusals = (desired: TargetInputs | undefined, observed: Observed): string[] =>
  type.refusals?.(desired, observed, inputs, "lab/test") ?? [];
/** The removed is gone on the disk, too, before the step has ended. */
const saved =
  'sh -c targetctl save && sync "$0" "$1" /etc/rtslib-fb-target/saveconfig.json /etc/rtslib-fb-target';
const lines = (steps: Step[]): string[] =>
  steps.map((step) => {
    if ("argv" in step) return step.argv.join(" ").replaceAll(path, "TPG");
    if ("file" in step) return `write ${step.file}`;
    return "attribute" in step ? `${step.value} > ${step.attribute.replaceAll(path, "TPG")}` : step.say;
  });
const aclOf = (observed: Observed): Acl => observed.tpg?.acls.get(initiatorName) as Acl;
/** The same host with nobody logged in. */
const quiet = async (): Promise<Observed> => {
  const observed = await observe();
  aclOf(observed).session = undefined;
  return observed;
};

describe("observing a target", () => {
  test("asks these questions at once, and attributes only where they are declared", async () => {
    const fake = fakeHost(oneTarget);
    assert.equal(type.exists(await type.observe(fake, inputs)), true);
    assert.deepEqual(fake.asked, [listing, values, restore, tcp, rdma]);
    const depth = `grep -raHZ --include=default_cmdsn_depth '' ${path}/attrib`;
    const desired = { ...inputs, attributes: { default_cmdsn_depth: 64 } };
    const told = { ...oneTarget, [depth]: `${path}/attrib/default_cmdsn_depth\0${"64"}\n` };
    assert.deepEqual((await observe(told, desired)).attributes, new Map([["default_cmdsn_depth", "64"]]));
  });

  test("absence by the known words alone", async () => {
    assert.equal(type.exists(await observe(noLio)), false);
    for (const line of [listing, values, restore, tcp, rdma]) {
      const told = { ...oneTarget, [line]: { status: 2, stderr: "grep: x: Input/output error\n" } };
      await assert.rejects(observe(told), CommandError, line);
    }
  });
});

describe("planning a target", () => {
  test("nothing to do where it is as declared, in whichever order and spelling", async () => {
    const observed = await observe();
    const turned = {
      ...inputs,
      portals: inputs.portals.toReversed(),
      acls: [{ initiator: initiatorName, luns: [0] }],
    };
    for (const desired of [inputs, turned]) {
      assert.deepEqual(plan(desired, observed), []);
      assert.deepEqual(refusals(desired, observed), []);
      assert.deepEqual(type.current(observed, desired), desired);
    }
  });

  test("from nothing: portals before iSER, LUNs before ACLs, enabled last, saved once", async () => {
    const steps = lines(plan(inputs, await observe(noLio)));
    const from = steps.findIndex((line) => line.startsWith("mkdir"));
    const block = /core\/iblock_\d+\/lun0/.exec(steps.join())?.[0];
    assert.deepEqual(steps.slice(from), [
      "mkdir -p /sys/kernel/config/target/iscsi",
      "mkdir -p TPG",
      "0 > TPG/attrib/authentication",
      "0 > TPG/attrib/generate_node_acls",
      "mkdir TPG/np/10.10.10.1:3260",
      "mkdir TPG/np/10.10.10.1:3261",
      "modprobe ib_isert",
      "1 > TPG/np/10.10.10.1:3261/iser",
      "mkdir TPG/lun/lun_0",
      `ln -s /sys/kernel/config/target/${block} TPG/lun/lun_0/backstore`,
      `mkdir TPG/acls/${initiatorName} TPG/acls/${initiatorName}/lun_0`,
      `ln -s TPG/lun/lun_0 TPG/acls/${initiatorName}/lun_0/lun`,
      "1 > TPG/enable",
      saved,
    ]);
  });

  test("towards nothing: disabled first, iSER off before its portal goes", async () => {
    assert.deepEqual(lines(plan(undefined, await quiet())), [
      "0 > TPG/enable",
      "0 > TPG/np/10.10.10.1:3261/iser",
      "rmdir TPG/np/10.10.10.1:3261",
      "rmdir TPG/np/10.10.10.1:3260",
      `rm TPG/acls/${initiatorName}/lun_0/lun`,
      `rmdir TPG/acls/${initiatorName}/lun_0 TPG/acls/${initiatorName}`,
      "rm TPG/lun/lun_0/backstore",
      "rmdir TPG/lun/lun_0",
      `rmdir TPG /sys/kernel/config/target/iscsi/${iqn}`,
      saved,
    ]);
    assert.deepEqual(plan(undefined, await observe(noLio)), []);
  });

  const changes: [name: string, desired: TargetInputs, steps: string[]][] = [
    [
      "a portal changes its protocol",
      { ...inputs, portals: [{ address: "10.10.10.1:3260", protocol: "iser" }, ...inputs.portals.slice(1)] },
      ["modprobe ib_isert", "1 > TPG/np/10.10.10.1:3260/iser"],
    ],
    [
      "portals are exchanged: the new one comes before the old ones go",
      { ...inputs, portals: [{ address: "[FD00::1]:3260", protocol: "iscsi" }] },
      [
        "mkdir TPG/np/[fd00::1]:3260",
        "0 > TPG/np/10.10.10.1:3261/iser",
        "rmdir TPG/np/10.10.10.1:3261",
        "rmdir TPG/np/10.10.10.1:3260",
      ],
    ],
    [
      "a LUN gets another backstore in its place",
      { ...inputs, luns: [{ lun: 0, backstore: "lun1" }] },
      [
        `rm TPG/acls/${initiatorName}/lun_0/lun`,
        `rmdir TPG/acls/${initiatorName}/lun_0`,
        "rm TPG/lun/lun_0/backstore",
        "rmdir TPG/lun/lun_0",
        "mkdir TPG/lun/lun_0",
        "ln -s /sys/kernel/config/target/core/iblock_803002/lun1 TPG/lun/lun_0/backstore",
        `mkdir TPG/acls/${initiatorName}/lun_0`,
        `ln -s TPG/lun/lun_0 TPG/acls/${initiatorName}/lun_0/lun`,
      ],
    ],
    [
      "a LUN more, which this initiator does not see",
      {
        ...inputs,
        luns: [...inputs.luns, { lun: 1, backstore: "lun1" }],
        acls: [{ initiator: initiatorName, luns: [0] }],
      },
      [
        "mkdir TPG/lun/lun_1",
        "ln -s /sys/kernel/config/target/core/iblock_803002/lun1 TPG/lun/lun_1/backstore",
      ],
    ],
    [
      "another initiator",
      { ...inputs, acls: [{ initiator: "iqn.2026-09.com.example.lab:other" }] },
      [
        `rm TPG/acls/${initiatorName}/lun_0/lun`,
        `rmdir TPG/acls/${initiatorName}/lun_0 TPG/acls/${initiatorName}`,
        "mkdir TPG/acls/iqn.2026-09.com.example.lab:other TPG/acls/iqn.2026-09.com.example.lab:other/lun_0",
        "ln -s TPG/lun/lun_0 TPG/acls/iqn.2026-09.com.example.lab:other/lun_0/lun",
      ],
    ],
  ];
  for (const [name, desired, steps] of changes) {
    test(name, async () => assert.deepEqual(lines(plan(desired, await quiet())), [...steps, saved]));
  }

  test("CHAP: its secrets are written, compared and taken back, and shown nowhere", async () => {
    const desired = { ...inputs, chap };
    const observed = await observe();
    const steps = plan(desired, observed);
    const auth = `TPG/acls/${initiatorName}/auth`;
    assert.deepEqual(lines(steps), [
      "1 > TPG/attrib/authentication",
      `bob > ${auth}/userid`,
      `${chap.password} > ${auth}/password`,
      `tgt > ${auth}/userid_mutual`,
      `${chap.mutualPassword} > ${auth}/password_mutual`,
      saved,
    ]);
    for (const step of steps) {
      assert.doesNotMatch(step.say + stepLine(step), /a b!|other secret/);
    }
    aclOf(observed).chap = { ...chap };
    (observed.tpg as { authentication: string }).authentication = "1";
    assert.deepEqual(lines(plan(desired, observed)), [saved], "not saved yet");
    assert.deepEqual(type.current(observed, desired), desired);
    assert.deepEqual(type.current(observed, inputs), { ...inputs, chap });
    assert.deepEqual(lines(plan(inputs, observed)).slice(1, 3), [
      `NULL > ${auth}/userid`,
      `NULL > ${auth}/password`,
    ]);
  });

  test("what runs but is not saved is saved", async () => {
    const observed = await observe();
    observed.restore.targets.clear();
    assert.deepEqual(lines(plan(inputs, observed)), [saved]);
  });

  test("what is left half made is finished: LUNs and mapped LUNs without their links", async () => {
    const observed = await quiet();
    observed.tpg?.luns.set(0, { backstore: undefined, link: undefined });
    aclOf(observed).luns.set(0, { lun: -1, link: "" });
    assert.deepEqual(lines(plan(inputs, observed)).slice(0, 3), [
      `rmdir TPG/acls/${initiatorName}/lun_0`,
      "rmdir TPG/lun/lun_0",
      "mkdir TPG/lun/lun_0",
    ]);
  });

  test("drift is told in the words of the inputs", async () => {
    const observed = await observe();
    observed.tpg?.portals.set("[::1]:3260", { folder: "[::1]:3260", iser: false });
    observed.tpg?.luns.delete(0);
    assert.deepEqual(type.current(observed, inputs), {
      ...inputs,
      portals: [...inputs.portals, { address: "[::1]:3260", protocol: "iscsi" }],
      luns: [],
    });
  });
});

describe("refusals", () => {
  const logout = `allow it with dropSessions: true, or log out there first: iscsiadm -m node -T ${iqn} --logout`;
  const who = `${initiatorName} (from 10.10.10.2)`;
  test("a target, portal, LUN or ACL that a session uses stays", async () => {
    const observed = await observe();
    assert.deepEqual(refusals(undefined, observed), [
      `target ${iqn} on storage is in use by ${who}: ${logout}`,
    ]);
    assert.deepEqual(refusals({ ...inputs, portals: inputs.portals.slice(0, 1) }, observed), [
      `portal 10.10.10.1:3261 of ${iqn} on storage is in use by ${who}: ${logout} -p 10.10.10.1:3261`,
    ]);
    assert.deepEqual(refusals({ ...inputs, luns: [{ lun: 0, backstore: "lun1" }] }, observed), [
      `LUN 0 would be taken from ${who}, logged in to ${iqn} on storage: ${logout}`,
    ]);
    assert.deepEqual(refusals({ ...inputs, acls: [] }, observed), [
      `its ACL would be taken from ${who}, logged in to ${iqn} on storage: ${logout}`,
    ]);
    assert.deepEqual(refusals(undefined, await quiet()), []);
  });

  test("unless the stack file lets the sessions drop", async () => {
    const observed = await observe();
    const allowed = { ...inputs, dropSessions: true };
    assert.deepEqual(refusals({ ...allowed, portals: inputs.portals.slice(0, 1) }, observed), []);
    assert.deepEqual(refusals({ ...allowed, acls: [] }, observed), []);
    assert.deepEqual(type.refusals?.(undefined, observed, allowed, "lab/test"), []);
    // What was allowed once is not allowed by a stack file that no longer says so.
    const { length } = type.refusals?.({ ...inputs, acls: [] }, observed, inputs, "lab/test") ?? [];
    assert.equal(length, 1);
  });

  test("a portal that nobody is connected to may go while others are in use", async () => {
    const observed = await observe();
    observed.connections.delete("10.10.10.1:3261");
    assert.deepEqual(refusals({ ...inputs, portals: inputs.portals.slice(0, 1) }, observed), []);
  });

  test("a wildcard of another target is named; sharing an address and port is LIO's own custom", async () => {
    const observed = await observe(noLio);
    observed.lio.otherPortals.push({ target: "iqn.2026-09.com.example:b", portal: "0.0.0.0:3260" });
    assert.deepEqual(refusals(inputs, observed), [
      "portal 10.10.10.1:3260 on storage overlaps with 0.0.0.0:3260 of target iqn.2026-09.com.example:b: one of them " +
        "has all addresses, and the kernel gives the port to one only; name the address in both",
    ]);
    observed.lio.otherPortals = [{ target: "iqn.2026-09.com.example:b", portal: "10.10.10.1:3260" }];
    assert.deepEqual(refusals(inputs, observed), []);
  });

  test("without rtslib nothing would come back at boot", async () => {
    const observed = await observe({ ...oneTarget, [restore]: { status: 2 } });
    assert.match(refusals(inputs, observed)[0] ?? "", /storage has no targetctl/);
  });
});

test("rules refuse before a host is asked", () => {
  const first = (changed: Partial<TargetInputs>): [string, string] | undefined =>
    type.rules?.({ ...inputs, ...changed })[0];
  assert.deepEqual(type.rules?.({ ...inputs, chap }), []);
  const portal = (...addresses: string[]): Partial<TargetInputs> => ({
    portals: addresses.map((address) => ({ address, protocol: "iscsi" })),
  });
  const cases: [Partial<TargetInputs>, string, RegExp][] = [
    [{ iqn: "iqn.2026-09.com.example:a_b" }, "iqn", /holds "_"/],
    [portal("10.10.10.1"), "portals", /such as 10\.10\.10\.1:3260/],
    [portal("[::1]:1", "[0::1]:1"), "portals", /\[::1\]:1 is declared twice/],
    [portal("0.0.0.0:1", "10.0.0.1:1"), "portals", /overlap/],
    [portal("[::]:1", "10.0.0.1:1"), "portals", /overlap/],
    [{ luns: [...inputs.luns, { lun: 0, backstore: "x" }] }, "luns", /LUN 0 is declared twice/],
    [{ luns: [...inputs.luns, { lun: 1, backstore: "lun0" }] }, "luns", /backstore lun0 is declared twice/],
    [
      { acls: [{ initiator: initiatorName, luns: [7] }] },
      "acls",
      /is to see LUN 7, which is not among the LUNs/,
    ],
    [{ acls: [{ initiator: "host_1" }] }, "acls", /holds "_"/],
    [{ attributes: { authentication: 1 } }, "attributes", /follows from chap and acls/],
    [{ chap: { user: "a", password: " b" } }, "chap.password", /without a blank at either end/],
    [{ chap: { user: "a", password: "NULLb" } }, "chap.password", /may not begin with NULL/],
    [{ chap: { user: "a", password: "b\n" } }, "chap.password", /printable ASCII/],
    [{ chap: { user: "a", password: "b", mutualUser: "c" } }, "chap", /needs both/],
    [{ chap: { ...chap, mutualPassword: chap.password } }, "chap.mutualPassword", /has to differ/],
  ];
  for (const [changed, key, sentence] of cases) {
    assert.equal(first(changed)?.[0], key, JSON.stringify(changed));
    assert.match(first(changed)?.[1] ?? "", sentence);
  }
  assert.match(type.inputs.safeParse({ ...inputs, portals: [] }).error?.message ?? "", /can't be reached/);
  assert.equal(
    type.inputs.safeParse({ ...inputs, chap: { user: "a", password: "x".repeat(256) } }).success,
    false,
  );
});
