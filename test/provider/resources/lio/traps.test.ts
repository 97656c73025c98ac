import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { backstore } from "../../../../provider/resources/lio/backstore.ts";
import { tpgPath } from "../../../../provider/resources/lio/configfs.ts";
import { type TargetInputs, target } from "../../../../provider/resources/lio/target.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, type Told } from "../../../recorded.ts";
import { SimulatedLio } from "../../simulated/lio.ts";
import { owner, reach, remove, stands } from "../../simulated/reach.ts";
import { host, initiatorName, iqn, noLio, oneTarget, restore, tcp } from "./lab.ts";

/** What goes wrong with LIO elsewhere, and what happens here. */

const inputs: TargetInputs = {
  host,
  iqn,
  portals: [{ address: "10.10.10.1:3260", protocol: "iscsi" }],
  luns: [],
  acls: [{ initiator: initiatorName }],
};
const path = tpgPath(iqn);
type Observed = Parameters<typeof target.exists>[0];
const observe = (told: Record<string, Told> = oneTarget): Promise<Observed> =>
  target.observe(fakeHost(told), inputs);
const plan = (desired: TargetInputs | undefined, observed: Observed): Step[] =>
  target.plan(desired, observed, desired ?? inputs, owner);
const refusals = (desired: TargetInputs | undefined, observed: Observed): string[] =>
  target.refusals?.(desired, observed, desired ?? inputs, owner) ?? [];
const portals = (...addresses: string[]): Pick<TargetInputs, "portals"> => ({
  portals: addresses.map((address) => ({ address, protocol: "iscsi" })),
});
const saved = `sh -c 'targetctl save && sync "$0" "$1"' /etc/rtslib-fb-target/saveconfig.json /etc/rtslib-fb-target`;
const lines = (steps: Step[]): string[] => steps.map((step) => stepLine(step).replaceAll(path, "TPG"));

describe("an iSER portal", () => {
  const iser: TargetInputs = { ...inputs, portals: [{ address: "10.10.10.1:3261", protocol: "iser" }] };
  const [open, on] = ["mkdir TPG/np/10.10.10.1:3261", "echo 1 > TPG/np/10.10.10.1:3261/iser"];
  const [off, close] = ["echo 0 > TPG/np/10.10.10.1:3261/iser", "rmdir TPG/np/10.10.10.1:3261"];

  test("order: the portal first, its module, then iser; iser off before the portal goes", async () => {
    const steps = lines(plan(iser, await observe(noLio)));
    assert.deepEqual(steps.slice(steps.indexOf(open), steps.indexOf(on) + 1), [
      open,
      "modprobe ib_isert",
      on,
    ]);
    const removal = lines(plan(undefined, await observe()));
    assert.equal(removal.indexOf(close), removal.indexOf(off) + 1);
  });

  test("a missing ib_isert only warns elsewhere: the attribute is read back, and a portal without iSER is not done", async () => {
    const lio = new SimulatedLio([]);
    assert.equal(await reach(target, lio, iser, 99), true);
    lio.set(`${path}/np/10.10.10.1:3261/iser`, "0");
    const observed = await target.observe(lio, iser);
    assert.deepEqual(lines(plan(iser, observed)), ["modprobe ib_isert", on, saved]);
    assert.equal(target.current(observed, iser).portals[0]?.protocol, "iscsi");
  });

  test("LIO opens TCP there, too, and the preview says so; iSER and TCP on one portal can't be declared", async () => {
    assert.deepEqual(target.hints?.(iser, await observe(noLio)), [
      "portal 10.10.10.1:3261 answers TCP, too: LIO adds iSER to a portal, it does not replace TCP",
    ]);
    assert.deepEqual(target.hints?.(iser, await observe()), [], "said where it is new");
    const both = { ...iser, portals: [...iser.portals, ...portals("10.10.10.1:3261").portals] };
    assert.match(target.rules?.(both)[0]?.[1] ?? "", /10\.10\.10\.1:3261 is declared twice/);
  });
});

test("host name with _: an IQN that would kill every targetcli ls is refused before a host is asked", () => {
  const broken = "iqn.2003-01.org.linux-iscsi.my_host.x8664:sn.1";
  assert.match(target.rules?.({ ...inputs, iqn: broken })[0]?.[1] ?? "", /holds "_"/);
  assert.match(target.rules?.({ ...inputs, acls: [{ initiator: broken }] })[0]?.[1] ?? "", /holds "_"/);
  assert.equal(target.named?.(host, broken), undefined);
});

test("CHAP secret with & ! # $ ^ * / or blanks: written to configfs whole, read back, compared, saved", async () => {
  for (const password of ["a&b!c#d$e^f*g/h i", "'\"`$(reboot)`\\", "%s %d \\n", "-n", "two  blanks"]) {
    const desired = { ...inputs, chap: { user: "bob & co", password } };
    const lio = new SimulatedLio([]);
    assert.equal(await reach(target, lio, desired, 99), true);
    const observed = await target.observe(lio, desired);
    assert.equal(observed.tpg?.acls.get(initiatorName)?.chap.password, password);
    assert.equal(observed.restore.targets.get(iqn)?.acls.get(initiatorName)?.chap.password, password);
    for (const step of plan(desired, await observe(noLio))) {
      assert.ok(!`${step.say} ${stepLine(step)}`.includes(password), stepLine(step));
      assert.ok(!("argv" in step) || !step.argv.some((word) => word.includes(password)), "never in argv");
    }
    lio.reboot();
    await stands(target, lio, desired);
  }
});

test("CHAP secret of 8 or 300 characters: a hint outside 12 to 16, an error above 255, never its value", async () => {
  const observed = await observe(noLio);
  const hints = (length: number) =>
    target.hints?.({ ...inputs, chap: { user: "bob", password: "x".repeat(length) } }, observed);
  const others = "characters: some initiators take 12 to 16 only";
  assert.deepEqual(hints(8), [`chap.password has fewer than 12 ${others}`]);
  assert.deepEqual(hints(11), [`chap.password has fewer than 12 ${others}`]);
  assert.deepEqual([hints(12), hints(16)], [[], []]);
  assert.deepEqual(hints(17), [`chap.password has more than 16 ${others}`]);
  for (const [length, isRight] of [
    [255, true],
    [256, false],
    [300, false],
  ] as const) {
    const chap = { user: "bob", password: "x".repeat(length) };
    const parsed = target.inputs.safeParse({ ...inputs, chap });
    assert.equal(parsed.success, isRight, String(length));
    assert.doesNotMatch(parsed.error?.message ?? "", /xxx/);
  }
});

describe("an automatic 0.0.0.0 or [::0] portal beside an explicit one", () => {
  test("no portal but those declared; wildcard conflicts are found at preview, in one target and between two", async () => {
    const made = lines(plan(inputs, await observe(noLio))).filter((line) => line.includes("/np/"));
    assert.deepEqual(made, ["mkdir TPG/np/10.10.10.1:3260"]);
    for (const [one, other] of [
      ["0.0.0.0:3260", "10.10.10.1:3260"],
      ["[::0]:3260", "10.10.10.1:3260"],
      ["[::]:3260", "[fd00::1]:3260"],
      ["0.0.0.0:3260", "[::]:3260"],
    ] as const) {
      assert.match(target.rules?.({ ...inputs, ...portals(one, other) })[0]?.[1] ?? "", /overlap/, one);
      const lio = new SimulatedLio([]);
      assert.equal(await reach(target, lio, { ...inputs, ...portals(one) }, 99), true);
      const second = { ...inputs, iqn: `${iqn}2`, ...portals(other) };
      const [sentence] = refusals(second, await target.observe(lio, second));
      assert.match(sentence ?? "", /overlaps with .* of target .*: one of them has all addresses/);
    }
    assert.deepEqual(target.rules?.({ ...inputs, ...portals("0.0.0.0:3260", "[fd00::1]:3260") }), []);
  });

  test("a target's own wildcard is closed before the named address of its port is opened", async () => {
    const lio = new SimulatedLio([]);
    assert.equal(await reach(target, lio, { ...inputs, ...portals("0.0.0.0:3260") }, 99), true);
    assert.equal(await reach(target, lio, { ...inputs, ...portals("10.10.10.1:3260") }, 99), true);
    assert.equal(await reach(target, lio, { ...inputs, ...portals("[::]:3260") }, 1), true);
  });

  test("who is connected to any address of the wildcard uses it", async () => {
    const observed = await observe();
    observed.tpg?.portals.set("0.0.0.0:3260", { folder: "0.0.0.0:3260", iser: false });
    observed.tpg?.portals.delete("10.10.10.1:3260");
    const desired = { ...inputs, luns: [{ lun: 0, backstore: "lun0" }], ...portals("10.10.10.1:3999") };
    assert.match(
      refusals(desired, observed).join("\n"),
      /^portal 0\.0\.0\.0:3260 .* is in use by .*from 10\.10\.10\.2/m,
    );
  });

  test("two targets on one host share a portal, as LIO lets them", async () => {
    const lio = new SimulatedLio([]);
    const second = { ...inputs, iqn: `${iqn}2` };
    assert.equal(await reach(target, lio, inputs, 99), true);
    assert.equal(await reach(target, lio, second, 99), true);
    assert.equal(await remove(target, lio, inputs, 99), true);
    await stands(target, lio, second);
  });
});

test("IPv6 portal, bare or in brackets: one normal form, and another's spelling of it is the same portal", async () => {
  const bare = target.rules?.({ ...inputs, ...portals("fd00::1") })[0]?.[1];
  assert.match(bare ?? "", /such as \[fd00::1\]:3260$/);
  const desired = { ...inputs, ...portals("[FD00:0:0::1]:3260") };
  const lio = new SimulatedLio([]);
  assert.equal(await reach(target, lio, desired, 99), true);
  assert.ok(lio.tree.has(`${path}/np/[fd00::1]:3260`));
  // As somebody else may have spelt it.
  lio.run(["rmdir", `${path}/np/[fd00::1]:3260`]);
  lio.run(["mkdir", `${path}/np/[FD00::1]:3260`]);
  await stands(target, lio, desired);
  assert.equal(await remove(target, lio, desired, 99), true);
});

test("IPv6 switched off: no half-made TPG is left, by undo", async () => {
  const steps = plan({ ...inputs, ...portals("[fd00::1]:3260") }, await observe(noLio));
  const undone = steps.flatMap((step) =>
    "undo" in step && step.undo ? [step.undo.join(" ").replaceAll(path, "TPG")] : [],
  );
  assert.deepEqual(undone.slice(0, 2), [
    `rmdir TPG /sys/kernel/config/target/iscsi/${iqn}`,
    "rmdir TPG/np/[fd00::1]:3260",
  ]);
});

describe("reboot: target.service restores before the zvols exist", () => {
  test("it is ordered after the pools' import and their volumes, under either distribution's name", async () => {
    const elsewhere = {
      ...noLio,
      [restore]: { status: 2, stdout: "/usr/lib/systemd/system/target.service\0[Unit]\n" },
    };
    for (const [told, unit] of [
      [noLio, "rtslib-fb-targetctl.service"],
      [elsewhere, "target.service"],
    ] as const) {
      const files = plan(inputs, await observe(told)).flatMap((step) => ("file" in step ? [step] : []));
      const dropIn = files.find(({ file }) => file === `/etc/systemd/system/${unit}.d/storage-lab.conf`);
      assert.match(dropIn?.text ?? "", /^After=zfs-import\.target zfs-volumes\.target$/m);
    }
  });

  test("what was restored stands; what was not is kept in a copy before the next save overwrites it", async () => {
    const lio = new SimulatedLio(["/dev/zvol/tank/a"]);
    const store = { host, name: "a", device: "/dev/zvol/tank/a" };
    assert.equal(await reach(backstore, lio, store, 99), true);
    assert.equal(await reach(target, lio, { ...inputs, luns: [{ lun: 0, backstore: "a" }] }, 99), true);
    lio.remove("/etc/systemd/system/multi-user.target.wants/rtslib-fb-targetctl.service");
    lio.reboot();
    const good = lio.text("/etc/rtslib-fb-target/saveconfig.json");
    const other = { ...inputs, iqn: `${iqn}2` };
    assert.equal(await reach(target, lio, other, 99), true);
    const copies = [...lio.tree.keys()].filter((file) => /saveconfig-[0-9a-f]{12}\.json$/.test(file));
    assert.deepEqual(
      copies.map((file) => lio.text(file)),
      [good],
    );
  });
});

test("a backstore that reports write-through would lose fsynced data: only the device's own write cache is told", () => {
  const store = { host, name: "a", device: "/dev/zvol/tank/a" };
  for (const value of [0, 1]) {
    assert.match(
      backstore.rules?.({ ...store, attributes: { emulate_write_cache: value } })[0]?.[1] ?? "",
      /passes its device's own write cache on; leave it out/,
    );
  }
  for (const name of ["../enable", "hw_block_size", "a b", "$(reboot)", "Emulate"]) {
    assert.equal(backstore.rules?.({ ...store, attributes: { [name]: 1 } })[0]?.[0], "attributes", name);
    if (name !== "hw_block_size")
      assert.equal(target.rules?.({ ...inputs, attributes: { [name]: 1 } })[0]?.[0], "attributes", name);
  }
  for (const name of ["../x", "a/b", "a b", ""]) {
    assert.equal(target.rules?.({ ...inputs, luns: [{ lun: 0, backstore: name }] })[0]?.[0], "luns", name);
  }
});

describe("portal removed that a session uses; the last portal", () => {
  const used: TargetInputs = {
    ...inputs,
    portals: [...inputs.portals, { address: "10.10.10.1:3261", protocol: "iser" }],
    luns: [{ lun: 0, backstore: "lun0" }],
  };
  const effects = (steps: Step[]): string[] =>
    steps
      .filter(({ effect }) => effect === "sessions drop")
      .map((step) => stepLine(step).replaceAll(path, "TPG"));

  test("the sessions are named, and the steps that end them say so", async () => {
    const observed = await observe();
    const without = { ...used, portals: used.portals.slice(0, 1) };
    assert.match(
      refusals(without, observed)[0] ?? "",
      /in use by .*initiator \(from 10\.10\.10\.2\): allow it with dropSessions: true, or log out there first/,
    );
    assert.deepEqual(effects(plan(without, observed)), [
      "echo 0 > TPG/np/10.10.10.1:3261/iser",
      "rmdir TPG/np/10.10.10.1:3261",
    ]);
    const tcpOnly = { ...used, portals: portals("10.10.10.1:3260", "10.10.10.1:3261").portals };
    assert.deepEqual(effects(plan(tcpOnly, observed)), ["echo 0 > TPG/np/10.10.10.1:3261/iser"]);
    const unmapped = { ...used, luns: [], acls: inputs.acls };
    assert.equal(effects(plan(unmapped, observed)).length, 2);
    assert.deepEqual(effects(plan(undefined, observed)).slice(0, 1), ["echo 0 > TPG/enable"]);
    assert.equal(effects(plan(undefined, observed)).length, 7);
  });

  test("what nobody uses has no effect", async () => {
    const quiet = await observe({
      ...oneTarget,
      [tcp]: "/proc/net/tcp\0  sl  local_address rem_address   st\n",
    });
    const acl = quiet.tpg?.acls.get(initiatorName);
    if (acl) acl.session = undefined;
    for (const desired of [
      undefined,
      { ...used, portals: used.portals.slice(0, 1) },
      { ...used, luns: [] },
    ]) {
      assert.deepEqual(effects(plan(desired, quiet)), []);
    }
  });

  test("a target without a portal can't be declared", () => {
    assert.match(
      target.inputs.safeParse({ ...inputs, portals: [] }).error?.message ?? "",
      /leave the target out/,
    );
  });
});

test("an attribute that LIO does not have, or takes only while no LUN uses it, is refused at preview", async () => {
  const lio = new SimulatedLio(["/dev/zvol/tank/a"]);
  const store = { host, name: "a", device: "/dev/zvol/tank/a" };
  const withLun = { ...inputs, luns: [{ lun: 0, backstore: "a" }] };
  assert.equal(await reach(backstore, lio, store, 99), true);
  assert.equal(await reach(target, lio, withLun, 99), true);
  const ask = async (attributes: Record<string, number>): Promise<string[]> => {
    const desired = { ...store, attributes };
    return backstore.refusals?.(desired, await backstore.observe(lio, desired), desired, owner) ?? [];
  };
  assert.match(
    (await ask({ emulate_nothing: 1 }))[0] ?? "",
    /^backstore a on storage has no attribute emulate_nothing/,
  );
  assert.deepEqual(await ask({ block_size: 4096 }), [
    `block_size of backstore a on storage is 512 and can't become 4096 while it is LUN 0 of target ${iqn}: remove that LUN first`,
  ]);
  assert.deepEqual(await ask({ block_size: 512, emulate_tpu: 1 }), []);
  const desired = { ...withLun, attributes: { nothing: 1 } };
  const observed = await target.observe(lio, desired);
  assert.deepEqual(refusals(desired, observed), [
    `target ${iqn} on storage has no attribute nothing: leave it out`,
  ]);
  assert.deepEqual(target.current(observed, desired).attributes, {}, "what is not there does not hold");
});

test("CHAP that is declared while authentication is off does not hold", async () => {
  const desired = { ...inputs, chap: { user: "bob", password: "secretsecret1" } };
  const lio = new SimulatedLio([]);
  assert.equal(await reach(target, lio, desired, 99), true);
  lio.set(`${path}/attrib/authentication`, "0");
  const observed = await target.observe(lio, desired);
  assert.equal(target.current(observed, desired).chap, undefined);
  assert.deepEqual(lines(plan(desired, observed)), ["echo 1 > TPG/attrib/authentication", saved]);
});
