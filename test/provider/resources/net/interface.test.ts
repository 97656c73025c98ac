import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import {
  type InterfaceInputs,
  parseIpAddress,
  networkInterface as type,
} from "../../../../provider/resources/net/interface.ts";
import type { Step } from "../../../../provider/step.ts";
import { fakeHost, recorded } from "../../../recorded.ts";

const inputs: InterfaceInputs = {
  host: { name: "storage", ssh: "storage" },
  device: "eth1",
  mtu: 4200,
  addresses: ["10.10.10.1/24"],
};
const addresses = recorded("ip--address--iproute2-6.15");
const unit = "/etc/systemd/system/storage-lab-interface-eth1.service";
const link = "/etc/systemd/system/multi-user.target.wants/storage-lab-interface-eth1.service";
const files = `grep -aHZ '' /sys/class/net/eth1/mode ${unit} ${link}`;
const nothing = (paths: string[]): string =>
  paths.map((path) => `grep: ${path}: No such file or directory\n`).join("");
const noFiles = { status: 2, stderr: nothing(["/sys/class/net/eth1/mode", unit, link]) };

type Observed = Parameters<typeof type.exists>[0];
const fresh: Observed = {
  devices: ["lo", "eth0", "eth1"],
  device: { up: false, mtu: 1500, addresses: [] },
  mode: undefined,
  unit: { text: undefined, enabled: false },
};
const textOf = (steps: Step[]): string =>
  steps.flatMap((step) => ("file" in step ? [step.text] : []))[0] ?? "";
/** What would be observed after the plan for `desired`. */
const as = (desired: InterfaceInputs): Observed => ({
  ...fresh,
  device: { up: true, mtu: desired.mtu ?? 1500, addresses: ["fe80::1/64", ...(desired.addresses ?? [])] },
  mode: desired.mode,
  unit: { text: textOf(plan(desired, fresh)).trimEnd(), enabled: true },
});
const plan = (desired: InterfaceInputs | undefined, observed: Observed): Step[] =>
  type.plan(desired, observed, desired ?? inputs, "lab/test");
const lines = (steps: Step[]): string[] =>
  steps.map((step) =>
    "argv" in step ? step.argv.join(" ") : "file" in step ? `write ${step.file}` : step.say,
  );

describe("observing an interface", () => {
  test("asks two things and reads them", async () => {
    const host = fakeHost({ "ip -json address": addresses, [files]: noFiles });
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, ["ip -json address", files]);
    assert.deepEqual(observed.devices, ["lo", "eth0", "eth1"]);
    assert.deepEqual(observed.device, {
      up: true,
      mtu: 4200,
      addresses: ["10.10.10.1/24", "fe80::5054:ff:fe00:801/64"],
    });
    assert.equal(type.exists(observed), false, "an address alone is not our declaration");
  });

  test("a failure is never absence", async () => {
    const answers = [
      { "ip -json address": { status: 1, stderr: "Cannot open netlink socket" }, [files]: noFiles },
      { "ip -json address": addresses, [files]: { status: 2, stderr: "grep: x: Permission denied" } },
    ];
    for (const told of answers) await assert.rejects(type.observe(fakeHost(told), inputs), CommandError);
  });

  test("other words than JSON are an error", () => {
    for (const text of ["", "1: lo: <LOOPBACK>", "{}", '[{"ifname":1}]']) {
      assert.throws(() => parseIpAddress(text), ParseError);
    }
  });
});

describe("planning an interface", () => {
  test("from nothing: MTU, address, unit", () => {
    assert.deepEqual(lines(plan(inputs, fresh)), [
      "ip link set dev eth1 mtu 4200 up",
      "ip address replace 10.10.10.1/24 dev eth1",
      `write ${unit}`,
      `ln -sfn ${unit} ${link}`,
    ]);
    assert.match(
      textOf(plan(inputs, fresh)),
      /ExecStart=ip link set dev eth1 mtu 4200 up\nExecStart=ip address replace 10\.10\.10\.1\/24 dev eth1\n/,
    );
  });

  const v6 = { ...inputs, addresses: ["FD00::1/64"] };
  const infiniband: InterfaceInputs = { ...inputs, mode: "connected", mtu: 65520 };
  for (const [name, desired] of Object.entries({ inputs, v6, infiniband })) {
    test(`nothing to do where it is as declared: ${name}`, () => {
      const observed = as(desired);
      if (desired === v6) observed.device?.addresses.push("fd00::1/64");
      assert.deepEqual(plan(desired, observed), []);
      assert.deepEqual(type.current(observed, desired), desired);
    });
  }

  test("only what differs is set", () => {
    const observed = as(inputs);
    const down = { ...observed, device: { up: false, mtu: 4200, addresses: ["10.10.10.1/24"] } };
    assert.deepEqual(lines(plan(inputs, down)), ["ip link set dev eth1 up"]);
    const small = { ...observed, device: { up: true, mtu: 1500, addresses: ["10.10.10.1/24"] } };
    assert.deepEqual(lines(plan(inputs, small)), ["ip link set dev eth1 mtu 4200 up"]);
    assert.deepEqual(type.current(small, inputs), { ...inputs, mtu: 1500 });
    const bare = { ...observed, device: { up: true, mtu: 4200, addresses: [] } };
    assert.deepEqual(lines(plan(inputs, bare)), ["ip address replace 10.10.10.1/24 dev eth1"]);
    assert.deepEqual(type.current(bare, inputs), { ...inputs, addresses: [] });
  });

  test("an MTU that is left out is left alone", () => {
    const { mtu: _, ...rest } = inputs;
    assert.deepEqual(
      lines(plan(rest, { ...as(rest), device: { up: true, mtu: 9000, addresses: ["10.10.10.1/24"] } })),
      [],
    );
  });

  test("an address that we declared before goes; one that others gave stays", () => {
    const observed = as(inputs);
    observed.device?.addresses.push("192.168.1.1/24");
    const moved = { ...inputs, addresses: ["10.10.10.9/24"] };
    assert.deepEqual(lines(plan(moved, observed)).slice(0, 2), [
      "ip address replace 10.10.10.9/24 dev eth1",
      "ip address del 10.10.10.1/24 dev eth1",
    ]);
    assert.deepEqual(lines(plan(undefined, observed)), [
      "ip address del 10.10.10.1/24 dev eth1",
      `rm -f ${unit} ${link}`,
    ]);
  });

  test("IPoIB's mode comes before its MTU", () => {
    const ib = { ...inputs, mode: "connected" as const, mtu: 65520 };
    const steps = plan(ib, { ...fresh, mode: "datagram" });
    assert.deepEqual(steps[0], {
      say: "set eth1 to connected",
      attribute: "/sys/class/net/eth1/mode",
      value: "connected",
    });
  });

  test("removing what is not there is nothing", () => assert.deepEqual(plan(undefined, fresh), []));
});

test("refusals name the interfaces that there are", () => {
  const gone = { ...fresh, device: undefined };
  assert.deepEqual(type.refusals?.(inputs, gone, inputs, "lab/test"), [
    "storage has no interface eth1; it has lo, eth0, eth1",
  ]);
  assert.deepEqual(type.refusals?.(undefined, gone, inputs, "lab/test"), []);
  const [sentence] = type.refusals?.({ ...inputs, mode: "connected" }, fresh, inputs, "lab/test") ?? [];
  assert.equal(sentence, "eth1 on storage is no IPoIB interface, so it has no mode: leave mode out");
});

test("rules refuse hostile names and addresses before a host is asked", () => {
  assert.deepEqual(type.rules?.(inputs), []);
  for (const device of ["eth1; reboot", "../x", "a b", ""]) {
    assert.equal(type.rules?.({ ...inputs, device })[0]?.[0], "device");
  }
  assert.deepEqual(type.rules?.({ ...inputs, addresses: ["10.10.10.1"] }), [
    ["addresses", '"10.10.10.1" is no address with its prefix length, such as 10.10.10.1/24 or fd00::1/64'],
  ]);
});
