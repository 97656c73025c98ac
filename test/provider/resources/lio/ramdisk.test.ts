import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import { backstore } from "../../../../provider/resources/lio/backstore.ts";
import { backstoreOf, parseRamdisk } from "../../../../provider/resources/lio/configfs.ts";
import { type RamdiskInputs, ramdisk as type } from "../../../../provider/resources/lio/ramdisk.ts";
import { type TargetInputs, target } from "../../../../provider/resources/lio/target.ts";
import type { Step } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";
import { host, initiatorName, iqn, listing, noLio, oneTarget, restore, values } from "./lab.ts";

const core = "/sys/kernel/config/target/core";
const name = "tank-lun0-ramdisk";
const inputs: RamdiskInputs = { host, name, size: "64 MiB" };
const memory = { "getconf PAGESIZE": "4096\n", "getconf _PHYS_PAGES": "360000\n" };
/** A storage host of the virtual lab after a restart: LUN 0 on a zvol, LUN 255 on a RAM disk of 64 MiB. */
const there: Record<string, Told> = {
  ...oneTarget,
  ...memory,
  [listing]: recorded("find--configfs-ramdisk--linux-6.12"),
  [values]: recorded("grep--configfs-ramdisk--linux-6.12"),
  [restore]: recorded("grep--lio-restore-ramdisk--rtslib-2.1.76"),
};
const none: Record<string, Told> = { ...noLio, ...memory };

type Observed = Parameters<typeof type.exists>[0];
const observe = (told: Record<string, Told>, of = inputs): Promise<Observed> =>
  type.observe(fakeHost(told), of);
const plan = (desired: RamdiskInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, desired ?? inputs, "lab/test");
const refusals = (desired: RamdiskInputs | undefined, observed: Observed): string[] =>
  type.refusals?.(desired, observed, desired ?? inputs, "lab/test") ?? [];
/** The removed is gone on the disk, too, before the step has ended. */
const saved =
  'sh -c targetctl save && sync "$0" "$1" /etc/rtslib-fb-target/saveconfig.json /etc/rtslib-fb-target';
const lines = (steps: Step[]): string[] =>
  steps.map((step) => {
    if ("argv" in step) return step.argv.join(" ");
    if ("file" in step) return `write ${step.file}`;
    return "attribute" in step ? `${step.value} > ${step.attribute}` : `until ${step.until.join(" ")}`;
  });

describe("observing a RAM disk", () => {
  test("asks these questions at once, and finds it under the number that the restart gave it", async () => {
    const fake = fakeHost(there);
    const observed = await type.observe(fake, inputs);
    assert.deepEqual(fake.asked, [listing, values, restore, "getconf PAGESIZE", "getconf _PHYS_PAGES"]);
    assert.deepEqual(observed.ramdisk, {
      ...{ index: 0, path: `${core}/rd_mcp_0/${name}`, bytes: 67108864, enabled: true },
      serial: "fbbf4921-e2a5-8f16-aac1-da6b1a9774f6",
    });
    assert.equal(observed.memory, 360000 * 4096);
    assert.deepEqual(type.outputs(inputs, observed), {
      name,
      serial: "fbbf4921-e2a5-8f16-aac1-da6b1a9774f6",
    });
  });

  test("nothing there is nothing; every failure is an error", async () => {
    assert.equal(type.exists(await observe(none)), false);
    assert.equal(type.exists(await observe({ ...oneTarget, ...memory })), false);
    for (const line of [listing, values, restore, "getconf PAGESIZE"]) {
      const told = { ...there, [line]: { status: 2, stderr: "grep: x: Input/output error\n" } };
      await assert.rejects(observe(told), CommandError, line);
    }
    await assert.rejects(observe({ ...there, "getconf PAGESIZE": "undefined\n" }), ParseError);
  });

  test("its size is in its info", () => {
    assert.equal(parseRamdisk(recorded("cat--rd-mcp-info--linux-6.12")), 268435456);
    assert.equal(parseRamdisk(""), 0);
    assert.throws(() => parseRamdisk("Status: ACTIVATED"), ParseError);
  });

  test("what a LUN is on, without the number", () => {
    assert.deepEqual(backstoreOf("rd_mcp_17/a"), { name: "a", ramdisk: true });
    assert.deepEqual(backstoreOf("iblock_1/a"), { name: "a", ramdisk: false });
    assert.equal(backstoreOf("fileio_1/a"), undefined);
    assert.equal(backstoreOf(undefined), undefined);
  });
});

describe("planning a RAM disk", () => {
  test("nothing to do where it is as declared, in any spelling of its size", async () => {
    const observed = await observe(there);
    for (const size of ["64 MiB", "64M", "65536 KiB", "67108864"]) {
      assert.deepEqual(plan({ ...inputs, size }, observed), []);
      assert.deepEqual(type.current(observed, { ...inputs, size }), { ...inputs, size });
    }
    assert.deepEqual(refusals(inputs, observed), []);
  });

  test("made in the host's own pages, with the serial, then saved; taken back where it can't be enabled", async () => {
    const fresh = { ...there, [listing]: oneTarget[listing] ?? "", [values]: oneTarget[values] ?? "" };
    const observed = await observe({ ...fresh, "getconf PAGESIZE": "65536\n" }, { ...inputs, name: "r" });
    const steps = plan({ ...inputs, name: "r" }, observed);
    const made = steps.find((step) => "argv" in step && step.argv[0] === "mkdir");
    const [, parent = "", path = ""] = made && "argv" in made ? made.argv : [];
    assert.match(parent, /\/core\/rd_mcp_\d+$/);
    assert.deepEqual(made && "undo" in made ? made.undo : undefined, ["rmdir", path, parent]);
    assert.deepEqual(lines(steps).slice(1, 4), [
      `rd_pages=1024 > ${path}/control`,
      `${/serial (\S+)/.exec(steps[2]?.say ?? "")?.[1]} > ${path}/wwn/vpd_unit_serial`,
      `1 > ${path}/enable`,
    ]);
    assert.equal(lines(steps).at(-1), saved);
  });

  test("the first on a host brings LIO up, now and at boot", async () => {
    assert.deepEqual(lines(plan(inputs, await observe(none))).slice(0, 2), [
      "systemctl start sys-kernel-config.mount",
      "modprobe -a target_core_mod target_core_iblock iscsi_target_mod",
    ]);
  });

  test("one that runs and is not saved is saved", async () => {
    const observed = await observe(there);
    const unsaved = { ...observed, restore: { ...observed.restore, ramdisks: new Map() } };
    assert.deepEqual(lines(plan(inputs, unsaved)), [saved]);
  });

  test("removed with its number's folder; a delete of nothing is nothing", async () => {
    const observed = await observe(there);
    assert.deepEqual(lines(plan(undefined, observed)), [
      `rmdir ${core}/rd_mcp_0/${name} ${core}/rd_mcp_0`,
      saved,
    ]);
    const gone = type.gone?.(observed, inputs) ?? observed;
    assert.deepEqual(plan(undefined, gone), []);
    assert.equal(gone.lio.indexes.has(0), false);
  });
});

describe("refused by name", () => {
  test("another size, in both numbers: LIO can't change it", async () => {
    const [sentence = ""] = refusals({ ...inputs, size: "128 MiB" }, await observe(there));
    assert.match(
      sentence,
      /has 64 MiB \(67108864 bytes\), not 128 MiB \(134217728 bytes\).*leave it out once/,
    );
  });
  test("more than half of the host's memory, in both numbers", async () => {
    const [sentence = ""] = refusals({ ...inputs, size: "1 GiB" }, await observe(none));
    assert.match(
      sentence,
      /1 GiB \(1073741824 bytes\) is more than half of the memory of storage \(1474560000 bytes\)/,
    );
    assert.deepEqual(refusals({ ...inputs, size: "703 MiB" }, await observe(none)), []);
  });
  test("a delete while it is a LUN", async () => {
    assert.deepEqual(refusals(undefined, await observe(there)), [
      `RAM disk ${name} on storage is LUN 255 of target ${iqn}: remove that LUN or target first`,
    ]);
  });
  test("a replace while it is a LUN, which its delete would refuse", async () => {
    const observed = await observe(there);
    assert.equal(
      type.refusesReplace?.(inputs, observed),
      `It is LUN 255 of target ${iqn}: leave the RAM disk out for one up, then declare it anew`,
    );
    assert.equal(type.refusesReplace?.(inputs, type.gone?.(observed, inputs)), undefined);
    assert.equal(type.refusesReplace?.(inputs), undefined);
  });
  test("a name that the other kind of backstore has", async () => {
    const [sentence = ""] = refusals(
      { ...inputs, name: "tank-lun0" },
      await observe(there, { ...inputs, name: "tank-lun0" }),
    );
    assert.match(sentence, /tank-lun0 on storage is a block backstore/);
    const block = { host, name, device: "/dev/zvol/tank/x" };
    const seen = await backstore.observe(fakeHost(there), block);
    assert.equal(backstore.exists(seen), false);
    assert.match(
      backstore.refusals?.(block, seen, block, "lab/test")[0] ?? "",
      /is a RAM disk: choose another name/,
    );
  });
  test("a size that is no whole number of MiB, or a name with a slash", () => {
    assert.deepEqual(type.rules?.({ ...inputs, size: "100 KiB" }), [
      ["size", "100 KiB (102400 bytes) is no whole number of MiB"],
    ]);
    assert.equal(type.rules?.({ ...inputs, name: "tank/ram" })[0]?.[0], "name");
    assert.equal(type.rules?.({ ...inputs, size: "0" })[0]?.[0], "size");
  });
});

test("imported, it is what is there, and nothing changes", async () => {
  const named = type.named(host, name);
  assert.ok(named);
  const found = type.found(await observe(there, named), named);
  assert.deepEqual(found, { ...inputs, serial: "fbbf4921-e2a5-8f16-aac1-da6b1a9774f6" });
  assert.deepEqual(plan(found, await observe(there, found)), []);
});

describe("a target with a RAM disk", () => {
  const declared: TargetInputs = {
    ...{ host, iqn, acls: [{ initiator: initiatorName }] },
    portals: [
      { address: "10.10.10.1:3260", protocol: "iscsi" },
      { address: "10.10.10.1:3261", protocol: "iser" },
    ],
    luns: [
      { lun: 0, backstore: "tank-lun0" },
      { lun: 255, backstore: name, ramdisk: true },
    ],
  };
  test("is as declared after a restart: no drift", async () => {
    const observed = await target.observe(fakeHost(there), declared);
    assert.deepEqual(target.plan(declared, observed, declared, "lab/test"), []);
    assert.deepEqual(target.current(observed, declared), declared);
    const named = target.named(host, iqn);
    assert.ok(named);
    assert.deepEqual(
      target.found(await target.observe(fakeHost({ ...there }), { ...named, attributes: {} }), named).luns,
      declared.luns,
    );
  });
  test("in a preview, its LUN leads to where the RAM disk will be", async () => {
    const both: TargetInputs = { ...declared, luns: [{ lun: 255, backstore: "r", ramdisk: true }] };
    const observed = await target.observe(fakeHost(none), both);
    const link = lines(target.plan(both, observed, both, "lab/test")).find((line) =>
      line.startsWith("ln -s"),
    );
    assert.match(link ?? "", /^ln -s \S+\/core\/rd_mcp_\d+\/r \S+\/lun_255\/backstore$/);
  });
  test("a LUN on a volume of that name is another LUN", async () => {
    const observed = await target.observe(fakeHost(there), declared);
    const other = {
      ...declared,
      luns: [declared.luns[0] ?? { lun: 0, backstore: "" }, { lun: 255, backstore: name }],
    };
    assert.ok(
      lines(target.plan(other, observed, other, "lab/test")).some((line) => line.startsWith("ln -s")),
    );
  });
});
