import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError } from "../../../../provider/errors.ts";
import {
  type BackstoreInputs,
  derivedSerial,
  freeIndex,
  backstore as type,
} from "../../../../provider/resources/lio/backstore.ts";
import type { Step } from "../../../../provider/step.ts";
import { fakeHost, type Told } from "../../../recorded.ts";
import { host, iqn, listing, noLio, oneTarget, restore, values } from "./lab.ts";

const core = "/sys/kernel/config/target/core";
const lun0: BackstoreInputs = {
  host,
  name: "lun0",
  device: "/dev/zvol/tank/lun0",
  attributes: { emulate_tpu: 1 },
};
const lun2: BackstoreInputs = { host, name: "lun2", device: "/dev/zvol/tank/lun2" };
const attributes = `grep -raHZ --include=emulate_tpu '' ${core}`;
const withAttributes = {
  ...oneTarget,
  [attributes]: `${core}/iblock_376375/lun0/attrib/emulate_tpu\0${"1"}\n`,
};

type Observed = Parameters<typeof type.exists>[0];
const observe = (inputs: BackstoreInputs, told: Record<string, Told>): Promise<Observed> =>
  type.observe(fakeHost(told), inputs);
const plan = (desired: BackstoreInputs | undefined, observed: Observed, known = desired ?? lun0): Step[] =>
  type.plan(desired, observed, known, "lab/test");
const refusals = (
  desired: BackstoreInputs | undefined,
  observed: Observed,
  known = desired ?? lun0,
): string[] => type.refusals?.(desired, observed, known, "lab/test") ?? [];
/** The removed is gone on the disk, too, before the step has ended. */
const saved =
  'sh -c targetctl save && sync "$0" "$1" /etc/rtslib-fb-target/saveconfig.json /etc/rtslib-fb-target';
const lines = (steps: Step[]): string[] =>
  steps.map((step) => {
    if ("argv" in step) return step.argv.join(" ");
    if ("file" in step) return `write ${step.file}`;
    return "attribute" in step ? `${step.value} > ${step.attribute}` : `until ${step.until.join(" ")}`;
  });

describe("observing a backstore", () => {
  test("asks these questions at once", async () => {
    const fake = fakeHost(withAttributes);
    const observed = await type.observe(fake, lun0);
    assert.deepEqual(fake.asked, [listing, values, restore, attributes]);
    assert.deepEqual(observed.attributes, new Map([["emulate_tpu", "1"]]));
    assert.equal(type.exists(observed), true);
    assert.deepEqual(type.outputs(lun0, observed), {
      name: "lun0",
      device: "/dev/zvol/tank/lun0",
      serial: "49fb339f-33b0-8a6d-a83c-ac993fd87f8c",
    });
  });

  test("nothing there is nothing; every failure is an error", async () => {
    assert.equal(type.exists(await observe(lun2, noLio)), false);
    assert.equal(type.exists(await observe(lun2, oneTarget)), false);
    for (const line of Object.keys(withAttributes).slice(0, 3).concat(attributes)) {
      const told = { ...withAttributes, [line]: { status: 2, stderr: "grep: x: Input/output error\n" } };
      await assert.rejects(observe(lun0, told), CommandError, line);
    }
  });
});

describe("planning a backstore", () => {
  test("nothing to do where it is as declared", async () => {
    const observed = await observe(lun0, withAttributes);
    assert.deepEqual(plan(lun0, observed), []);
    assert.deepEqual(type.current(observed, lun0), lun0);
    assert.deepEqual(refusals(lun0, observed), []);
  });

  test("the first on a host brings LIO up, now and at boot", async () => {
    const path = `${core}/iblock_${freeIndex("lun2", new Set())}`;
    const serial = derivedSerial("lab/test", "storage", "lun2");
    assert.deepEqual(
      lines(plan(lun2, await observe(lun2, noLio))).filter(
        (line) => line === saved || !line.startsWith("sh -c"),
      ),
      [
        "systemctl start sys-kernel-config.mount",
        "modprobe -a target_core_mod target_core_iblock iscsi_target_mod",
        "write /etc/modules-load.d/storage-lab-lio.conf",
        "write /etc/systemd/system/rtslib-fb-targetctl.service.d/storage-lab.conf",
        "until test -b /dev/zvol/tank/lun2",
        `mkdir ${path} ${path}/lun2`,
        `udev_path=/dev/zvol/tank/lun2 > ${path}/lun2/control`,
        `/dev/zvol/tank/lun2 > ${path}/lun2/udev_path`,
        `${serial} > ${path}/lun2/wwn/vpd_unit_serial`,
        `1 > ${path}/lun2/enable`,
        saved,
      ],
    );
  });

  test("a backstore that can't be enabled is taken back: left half made it would break every save", async () => {
    const step = plan(lun2, await observe(lun2, oneTarget)).find(
      (step) => "argv" in step && step.argv[0] === "mkdir",
    );
    const path = `${core}/iblock_${freeIndex("lun2", new Set())}`;
    assert.deepEqual(step && "undo" in step ? step.undo : undefined, ["rmdir", `${path}/lun2`, path]);
  });

  test("one that was left half made is finished in its place", async () => {
    const observed = await observe(lun0, withAttributes);
    const half = {
      ...observed,
      block: { ...(observed.block as NonNullable<Observed["block"]>), enabled: false },
    };
    const steps = lines(plan(lun0, half));
    assert.ok(steps.every((step) => !step.startsWith("mkdir")));
    assert.ok(steps.includes(`1 > ${core}/iblock_376375/lun0/enable`));
    assert.equal(steps.at(-1), saved);
  });

  test("one that runs but is not saved is saved; a restore that failed keeps the file's other content", async () => {
    const observed = await observe(lun0, withAttributes);
    const unsaved = { ...observed, restore: { ...observed.restore, blocks: new Map() } };
    assert.deepEqual(lines(plan(lun0, unsaved)), [saved]);
    const empty = {
      ...observed,
      lio: { ...observed.lio, blocks: new Map(), targets: new Map() },
      block: undefined,
    };
    const folder = "/etc/rtslib-fb-target";
    const copy = `cp -p ${folder}/saveconfig.json ${folder}/saveconfig-${observed.restore.fingerprint}.json`;
    assert.deepEqual(lines(plan(lun0, empty)).slice(-2), [copy, saved]);
    assert.match(
      plan(lun0, empty).at(-2)?.say ?? "",
      /which holds lun1, iqn\.2026-09\.com\.example\.lab:tank, not running now/,
    );
  });

  test("an attribute that differs is set, and saved", async () => {
    const other = { ...lun0, attributes: { emulate_tpu: 0 } };
    const observed = await observe(lun0, withAttributes);
    assert.deepEqual(lines(plan(other, observed)), [
      `0 > ${core}/iblock_376375/lun0/attrib/emulate_tpu`,
      saved,
    ]);
    assert.deepEqual(type.current(observed, other).attributes, { emulate_tpu: "1" });
  });

  test("towards nothing, and nothing from nothing", async () => {
    const observed = await observe(lun0, withAttributes);
    assert.deepEqual(lines(plan(undefined, observed, lun0)), [
      `rmdir ${core}/iblock_376375/lun0 ${core}/iblock_376375`,
      saved,
    ]);
    assert.deepEqual(plan(undefined, await observe(lun2, oneTarget), lun2), []);
  });
});

test("numbers and serials are the same for the same name, and free", () => {
  assert.equal(freeIndex("a", new Set()), freeIndex("a", new Set()));
  assert.equal(freeIndex("a", new Set([freeIndex("a", new Set())])), freeIndex("a", new Set()) + 1);
  assert.notEqual(freeIndex("lun0", new Set()), freeIndex("lun1", new Set()));
  const serial = derivedSerial("lab/test", "storage", "lun0");
  assert.match(serial, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(serial, derivedSerial("lab/other", "storage", "lun0"));
});

describe("refusals", () => {
  test("a backstore behind a LUN stays", async () => {
    assert.deepEqual(refusals(undefined, await observe(lun0, withAttributes), lun0), [
      `backstore lun0 on storage is LUN 0 of target ${iqn}: remove that LUN or target first`,
    ]);
  });
  test("one device, one backstore; another device or serial is another backstore", async () => {
    const observed = await observe(lun0, withAttributes);
    const taken = { ...lun2, device: "/dev/zvol/tank/lun1" };
    assert.match(
      refusals(taken, await observe(taken, oneTarget))[0] ?? "",
      /lun1 on storage is in use by backstore lun1/,
    );
    assert.match(
      refusals({ ...lun0, device: "/dev/sdb" }, observed)[0] ?? "",
      /is on \/dev\/zvol\/tank\/lun0, not \/dev\/sdb/,
    );
    const serial = "11111111-2222-4333-8444-555555555555";
    assert.match(refusals({ ...lun0, serial }, observed)[0] ?? "", /has serial 49fb339f-.*, not 11111111-/);
  });
  test("without rtslib nothing would come back at boot", async () => {
    const observed = await observe(lun2, { ...oneTarget, [restore]: { status: 2 } });
    assert.match(
      refusals(lun2, observed)[0] ?? "",
      /apt-get install targetcli-fb python3-rtslib-fb, or dnf install targetcli/,
    );
  });
});

test("rules refuse hostile names and devices before a host is asked", () => {
  assert.deepEqual(type.rules?.(lun0), []);
  for (const name of ["", "a b", "a/b", "../x", "$(reboot)", "x".repeat(64)]) {
    assert.equal(type.rules?.({ ...lun0, name })[0]?.[0], "name", name);
  }
  for (const device of ["zvol/x", "/dev/x,readonly=1", "/dev/a b", "/dev/", "/etc/passwd"]) {
    assert.equal(type.rules?.({ ...lun0, device })[0]?.[0], "device", device);
  }
  assert.equal(type.inputs.safeParse({ ...lun0, serial: "x" }).success, false);
});
