import assert from "node:assert/strict";
import { test } from "node:test";
import {
  escapeUnit,
  networkUnit,
  removeUnitSteps,
  unitFiles,
  unitState,
  unitSteps,
} from "../../provider/unit.ts";

const unit = "storage-lab-x.service";
const [file, link] = unitFiles(unit);

test("a unit is written and enabled once", () => {
  const none = unitState(new Map(), unit);
  assert.deepEqual(unitSteps(unit, "[Unit]\n", none), [
    { say: `write ${unit}`, file, text: "[Unit]\n" },
    { say: `let ${unit} run at boot`, argv: ["ln", "-sfn", file, link] },
  ]);
  const there = new Map([
    [file, "[Unit]"],
    [link, "[Unit]"],
  ]);
  assert.deepEqual(unitSteps(unit, "[Unit]\n", unitState(there, unit)), []);
  there.delete(link);
  assert.equal(unitSteps(unit, "[Unit]\n", unitState(there, unit)).length, 1);
});

test("a unit is removed with its link, and nothing where there is none", () => {
  assert.deepEqual(removeUnitSteps(unit, { text: undefined, enabled: false }), []);
  const steps = removeUnitSteps(unit, { text: undefined, enabled: true });
  assert.deepEqual(
    steps.map((step) => "argv" in step && step.argv),
    [
      ["rm", "-f", file, link],
      ["sync", "/etc/systemd/system"],
    ],
  );
});

test("a device's unit is escaped as systemd-escape does", () => {
  const names = { eth1: "eth1", "ib0.8001": "ib0.8001", "br-lan": "br\\x2dlan", ".x": "\\x2ex", a_b: "a_b" };
  for (const [name, escaped] of Object.entries(names)) assert.equal(escapeUnit(name), escaped);
});

test("a network unit waits for its device and goes before what needs the network for storage", () => {
  const text = networkUnit({
    description: "d",
    device: "br-lan",
    after: "a.service",
    commands: ["true", "false"],
  });
  assert.match(text, /^Wants=sys-subsystem-net-devices-br\\x2dlan\.device$/m);
  assert.doesNotMatch(text, /^BindsTo=/m, "a device that systemd hears of late fails nothing");
  assert.match(text, /^ExecStartPre=.*until \[ -e \/sys\/class\/net\/br-lan \]/m);
  assert.match(text, /^After=.* a\.service$/m);
  assert.match(text, /^Before=network\.target rtslib-fb-targetctl\.service .* open-iscsi\.service/m);
  assert.match(text, /ExecStart=true\nExecStart=false\n/);
});
