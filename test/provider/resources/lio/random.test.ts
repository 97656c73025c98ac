import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RefusedError } from "../../../../provider/errors.ts";
import { type BackstoreInputs, backstore } from "../../../../provider/resources/lio/backstore.ts";
import { type RamdiskInputs, ramdisk } from "../../../../provider/resources/lio/ramdisk.ts";
import { type TargetInputs, target } from "../../../../provider/resources/lio/target.ts";
import { SimulatedLio } from "../../simulated/lio.ts";
import { importsWithoutChange, owner, reach, remove, stands } from "../../simulated/reach.ts";
import { Refused } from "../../simulated/tree.ts";

/** Random sequences of states on a simulated host: planning after applying is always empty. */

const host = { name: "storage", ssh: "storage" };
const names = ["b0", "b1", "b2"];
const device = (name: string): string => `/dev/zvol/tank/${name}`;
const devices = names.map(device);
const iqns = ["iqn.2026-09.com.example.lab:a", "iqn.2026-09.com.example.lab:b"];
const initiators = ["iqn.2026-09.com.example.lab:one", "iqn.2026-09.com.example.lab:two"];
const plain = { noNullPrototype: true } as const;
const iscsi = "/sys/kernel/config/target/iscsi";

const backstoreInputs: fc.Arbitrary<BackstoreInputs> = fc
  .record(
    {
      name: fc.constantFrom(...names),
      serial: fc.constant("11111111-2222-4333-8444-55555555ABCD"),
      attributes: fc.constantFrom<Record<string, string | number>>(
        { emulate_tpu: 1 },
        { emulate_tpu: 0, queue_depth: 128 },
        { emulate_tpu: "1", block_size: 4096 },
      ),
    },
    { requiredKeys: ["name"], ...plain },
  )
  .map((inputs) => ({ ...inputs, host, device: device(inputs.name) }));

const ramdiskInputs: fc.Arbitrary<RamdiskInputs> = fc
  .record(
    {
      name: fc.constantFrom("r0", "r1", "b0"),
      size: fc.constantFrom("32 MiB", "32M", "64 MiB", "2 GiB"),
      serial: fc.constant("11111111-2222-4333-8444-55555555ABCD"),
    },
    { requiredKeys: ["name", "size"], ...plain },
  )
  .map((inputs) => ({ ...inputs, host }));

const chap = { user: "bob", password: "a b!#$^&*/c12" };
const addresses = [
  ...["10.10.10.1:3260", "10.10.10.1:3261", "[FD00::1]:3260", "0.0.0.0:3260", "[::]:3260"],
  ...["10.10.10.1:3270", "10.10.10.2:3270"],
];
const targetInputs: fc.Arbitrary<TargetInputs> = fc
  .record(
    {
      iqn: fc.constantFrom(...iqns),
      portals: fc.uniqueArray(
        fc.record(
          {
            address: fc.constantFrom(...addresses),
            protocol: fc.constantFrom("iscsi" as const, "iser" as const),
          },
          plain,
        ),
        { minLength: 1, maxLength: 3, selector: ({ address }) => address },
      ),
      luns: fc.uniqueArray(fc.record({ lun: fc.nat(2), backstore: fc.constantFrom(...names) }, plain), {
        maxLength: 3,
        selector: ({ lun }) => lun,
      }),
      acls: fc.uniqueArray(
        fc.record(
          { initiator: fc.constantFrom(...initiators), luns: fc.uniqueArray(fc.nat(2), { maxLength: 2 }) },
          { requiredKeys: ["initiator"], ...plain },
        ),
        { maxLength: 2, selector: ({ initiator }) => initiator },
      ),
      attributes: fc.constantFrom<Record<string, string | number>>(
        { default_cmdsn_depth: 32 },
        { login_timeout: "15" },
      ),
      chap: fc.constantFrom(chap, { ...chap, mutualUser: "tgt", mutualPassword: "another secret" }),
    },
    { requiredKeys: ["iqn", "portals", "luns", "acls"], ...plain },
  )
  .map((inputs) => ({ ...inputs, host }));

/** What somebody does to a target, if it is there. */
const hands: ((lio: SimulatedLio, tpg: string) => void)[] = [
  (lio, tpg) => lio.set(`${tpg}/enable`, "0"),
  (lio, tpg) => lio.set(`${tpg}/attrib/authentication`, "1"),
  (lio, tpg) => lio.set(`${tpg}/attrib/generate_node_acls`, "1"),
  (lio, tpg) => lio.run(["mkdir", `${tpg}/np/[fd00:9::1]:3999`]),
  (lio, tpg) => lio.run(["mkdir", `${tpg}/acls/iqn.2026-09.com.example.lab:stranger`]),
  (lio, tpg) => lio.run(["mkdir", `${tpg}/lun/lun_7`]),
  (lio, tpg) => lio.set(`${tpg}/acls/${initiators[0]}/auth/password`, "changed by hand"),
  (lio, tpg) => lio.run(["rm", `${tpg}/acls/${initiators[0]}/lun_0/lun`]),
  (lio) => lio.remove("/etc/rtslib-fb-target/saveconfig.json"),
  (lio) => lio.remove("/etc/modules-load.d/storage-lab-lio.conf"),
];

const cut = fc.nat(25);
const moves = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("backstore" as const), desired: backstoreInputs, cut }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("RAM disk" as const), desired: ramdiskInputs, cut }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("no RAM disk" as const),
        name: fc.constantFrom("r0", "r1", "b0"),
        cut,
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("target" as const), desired: targetInputs, cut }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant("no target" as const), iqn: fc.constantFrom(...iqns), cut }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("no backstore" as const),
        name: fc.constantFrom(...names),
        cut,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("hand" as const),
        hand: fc.constantFrom(...hands),
        iqn: fc.constantFrom(...iqns),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("reboot" as const) }) },
  ),
  { minLength: 1, maxLength: 7 },
);

/** What the rules and the backstores that are there leave of a random target. */
function possible(desired: TargetInputs, backstores: ReadonlyMap<string, unknown>): TargetInputs | undefined {
  const luns = desired.luns.filter(
    ({ backstore }, index, all) =>
      backstores.has(backstore) && all.findIndex((lun) => lun.backstore === backstore) === index,
  );
  const acls = desired.acls.map(({ initiator, luns: own }) => ({
    initiator,
    ...(own && { luns: own.filter((number) => luns.some(({ lun }) => lun === number)) }),
  }));
  const inputs = { ...desired, luns, acls };
  return (target.rules?.(inputs) ?? []).length === 0 ? inputs : undefined;
}

test("backstores and targets, from any state to any other, interrupted anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (moves) => {
      const lio = new SimulatedLio(devices);
      const backstores = new Map<string, BackstoreInputs>();
      const targets = new Map<string, TargetInputs>();
      const ramdisks = new Map<string, RamdiskInputs>();
      let touched = false;
      for (const move of moves) {
        if (move.kind === "backstore") {
          if (await reach(backstore, lio, move.desired, move.cut))
            backstores.set(move.desired.name, move.desired);
        } else if (move.kind === "RAM disk") {
          if (await reach(ramdisk, lio, move.desired, move.cut))
            ramdisks.set(move.desired.name, move.desired);
        } else if (move.kind === "no RAM disk") {
          const known = ramdisks.get(move.name);
          if (known && (await remove(ramdisk, lio, known, move.cut))) ramdisks.delete(move.name);
        } else if (move.kind === "target") {
          const desired = possible(move.desired, backstores);
          // CHAP is kept in the ACLs: without one there is none to find.
          const imports = desired?.chap === undefined || desired.acls.length > 0;
          if (desired && (await reach(target, lio, desired, move.cut, imports)))
            targets.set(desired.iqn, desired);
        } else if (move.kind === "no target") {
          const known = targets.get(move.iqn);
          if (known && (await remove(target, lio, known, move.cut))) targets.delete(move.iqn);
        } else if (move.kind === "no backstore") {
          const known = backstores.get(move.name);
          if (known && (await remove(backstore, lio, known, move.cut))) backstores.delete(move.name);
        } else if (move.kind === "hand") {
          touched = true;
          try {
            move.hand(lio, `${iscsi}/${move.iqn}/tpgt_1`);
          } catch (error) {
            if (!(error instanceof Refused)) throw error;
          }
          // What was changed by hand is set right by the next up, all resources in order.
          for (const known of targets.values())
            assert.equal(await reach(target, lio, known, 99, false), true);
          for (const known of backstores.values()) assert.equal(await reach(backstore, lio, known, 99), true);
          for (const known of ramdisks.values()) assert.equal(await reach(ramdisk, lio, known, 99), true);
          for (const known of targets.values())
            assert.equal(await reach(target, lio, known, 99, false), true);
        } else {
          lio.reboot();
          for (const known of backstores.values()) await stands(backstore, lio, known);
          for (const known of ramdisks.values()) await stands(ramdisk, lio, known);
          for (const known of targets.values()) await stands(target, lio, known);
        }
      }
      if (touched) return;
      for (const known of backstores.values()) await stands(backstore, lio, known);
      for (const known of targets.values()) await stands(target, lio, known);
    }),
    { numRuns: 120 },
  );
});

test("ten resources on one host at once, planned from what was there before any of them", async () => {
  const many = [0, 1, 2, 3, 4];
  const lio = new SimulatedLio(many.map((n) => device(`v${n}`)));
  const stores = many.map((n): BackstoreInputs => ({ host, name: `v${n}`, device: device(`v${n}`) }));
  const targets = many.map(
    (n): TargetInputs => ({
      host,
      iqn: `iqn.2026-09.com.example.lab:t${n}`,
      // All share one portal, as LIO allows.
      portals: [{ address: "10.10.10.1:3260", protocol: "iscsi" }],
      luns: [{ lun: 0, backstore: `v${n}` }],
      acls: [{ initiator: initiators[0] ?? "" }],
    }),
  );
  const plans = [
    ...(await Promise.all(
      stores.map(async (s) => backstore.plan(s, await backstore.observe(lio, s), s, owner)),
    )),
    ...(await Promise.all(targets.map(async (t) => target.plan(t, await target.observe(lio, t), t, owner)))),
  ];
  const isSave = (step: object): boolean => "onceAtEnd" in step;
  for (const plan of plans) lio.apply(plan.filter((step) => !isSave(step)));
  const saves = new Set(
    plans
      .flat()
      .filter(isSave)
      .map((step) => JSON.stringify(step)),
  );
  assert.equal(saves.size, 1, "saved once for all");
  lio.apply(plans.flat().filter(isSave).slice(0, 1));
  for (const known of stores) await stands(backstore, lio, known);
  for (const known of targets) await stands(target, lio, known);
  lio.reboot();
  for (const known of targets) await stands(target, lio, known);
});

test("a device that is in use: what was made of the backstore is taken back, so that others can be saved", async () => {
  const lio = new SimulatedLio(devices);
  const first: BackstoreInputs = { host, name: "b0", device: device("b0") };
  assert.equal(await reach(backstore, lio, first, 99), true);
  const second: BackstoreInputs = { host, name: "other", device: "/dev/zd0" };
  const observed = await backstore.observe(lio, second);
  lio.devices.add("/dev/zd0");
  const failing = backstore.plan({ ...second, device: device("b0") }, observed, second, owner);
  assert.throws(() => lio.apply(failing), Refused);
  assert.deepEqual(await backstore.observe(lio, first), await backstore.observe(lio, { ...first }));
  assert.equal(backstore.exists(await backstore.observe(lio, second)), false);
  assert.equal(await reach(backstore, lio, second, 99), true);
});

/** What an operator has made with targetcli: its automatic portal, and no file of ours. */
function byTargetcli(iqn: string, more: (lio: SimulatedLio, tpg: string) => void = () => {}): SimulatedLio {
  const lio = new SimulatedLio(devices);
  const tpg = `${iscsi}/${iqn}/tpgt_1`;
  lio.run(["modprobe", "-a", "target_core_mod", "target_core_iblock", "iscsi_target_mod"]);
  const block = "/sys/kernel/config/target/core/iblock_0/b0";
  lio.run(["mkdir", "/sys/kernel/config/target/core/iblock_0", block]);
  lio.set(`${block}/control`, `udev_path=${device("b0")}`);
  lio.set(`${block}/udev_path`, device("b0"));
  lio.set(`${block}/wwn/vpd_unit_serial`, "22222222-2222-4333-8444-555555555555");
  lio.set(`${block}/enable`, "1");
  lio.set(`${block}/attrib/emulate_model_alias`, "1");
  lio.run(["mkdir", "-p", tpg]);
  lio.set(`${tpg}/attrib/authentication`, "0");
  lio.run(["mkdir", `${tpg}/lun/lun_0`, `${tpg}/np/0.0.0.0:3260`, `${tpg}/acls/${initiators[0]}`]);
  lio.run(["ln", "-s", block, `${tpg}/lun/lun_0/d1a2b3c4`]);
  lio.run(["mkdir", `${tpg}/acls/${initiators[0]}/lun_0`]);
  lio.run(["ln", "-s", `${tpg}/lun/lun_0`, `${tpg}/acls/${initiators[0]}/lun_0/e5f6`]);
  lio.set(`${tpg}/enable`, "1");
  more(lio, tpg);
  lio.run(["targetctl", "save"]);
  return lio;
}

test("import: what targetcli made shows no change, and our files come with the next real change", async () => {
  const iqn = iqns[0] ?? "";
  const auth = `${iscsi}/${iqn}/tpgt_1/acls/${initiators[0]}/auth`;
  const lio = byTargetcli(iqn, (lio, tpg) => {
    lio.set(`${tpg}/attrib/authentication`, "1");
    lio.set(`${auth}/userid`, chap.user);
    lio.set(`${auth}/password`, chap.password);
  });
  assert.deepEqual(await importsWithoutChange(backstore, lio, "b0"), {
    ...{ host, name: "b0", device: device("b0"), serial: "22222222-2222-4333-8444-555555555555" },
    attributes: { emulate_model_alias: 1 },
  });
  const found = await importsWithoutChange(target, lio, iqn);
  assert.deepEqual(found, {
    ...{ host, iqn, portals: [{ address: "0.0.0.0:3260", protocol: "iscsi" }] },
    ...{ luns: [{ lun: 0, backstore: "b0" }], acls: [{ initiator: initiators[0] }], chap },
  });
  const [hint] = target.hints?.(found, await target.observe(lio, found)) ?? [];
  assert.match(hint ?? "", /chap\.password has more than 16|LIO on storage was set up by others/);
  const files = () => [...lio.tree.keys()].filter((path) => path.includes("storage-lab"));
  assert.deepEqual(files(), []);
  // The automatic portal gives way to a named one on the same port.
  const named: TargetInputs = { ...found, portals: [{ address: "10.10.10.1:3260", protocol: "iscsi" }] };
  assert.equal(await reach(target, lio, named, 99), true);
  assert.equal(files().length, 2);
});

test("import: a target that no inputs describe is refused, with every reason and no secret", async () => {
  const iqn = iqns[0] ?? "";
  const lio = byTargetcli(iqn, (lio, tpg) => {
    const two = `${tpg}/acls/${initiators[1]}`;
    lio.run(["mkdir", two, `${two}/lun_5`]);
    lio.run(["ln", "-s", `${tpg}/lun/lun_0`, `${two}/lun_5/lun`]);
    lio.set(`${two}/auth/userid`, "eve");
    lio.set(`${two}/auth/password`, "secretsecret");
    lio.set(`${tpg}/attrib/generate_node_acls`, "1");
    lio.set(`${tpg}/enable`, "0");
  });
  const importing = importsWithoutChange(target, lio, iqn);
  await assert.rejects(importing, (error: Error) => {
    assert.ok(error instanceof RefusedError);
    for (const reason of [
      "its TPG is not enabled",
      "it lets every initiator in (generate_node_acls is 1)",
      "authentication is 0, and an ACL has a CHAP secret",
      "its ACLs have different CHAP secrets",
      `LUN 0 is LUN 5 for ${initiators[1]}`,
    ]) {
      assert.ok(error.message.includes(reason), `${reason}\n${error.message}`);
    }
    assert.doesNotMatch(error.message, /secretsecret/);
    return true;
  });
});
