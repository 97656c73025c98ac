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
      `write ${unit}`,
      `ln -sfn ${unit} ${link}`,
      "ip link set dev eth1 mtu 4200 up",
      "ip address replace 10.10.10.1/24 dev eth1",
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
    const steps = plan(moved, observed);
    assert.deepEqual(lines(steps), [
      "let eth1 keep its other addresses",
      "ip address del 10.10.10.1/24 dev eth1",
      `write ${unit}`,
      `ln -sfn ${unit} ${link}`,
      "ip address replace 10.10.10.9/24 dev eth1",
    ]);
    assert.equal(steps[1]?.effect, "sessions drop");
    assert.deepEqual(type.current(observed, moved).addresses, ["10.10.10.1/24"], "a change, no drift");
    assert.deepEqual(lines(plan(undefined, observed)), [
      "let eth1 keep its other addresses",
      "ip address del 10.10.10.1/24 dev eth1",
      `rm -f ${unit} ${link}`,
      "sync /etc/systemd/system",
    ]);
  });

  test("IPoIB's mode comes before its MTU", () => {
    const ib = { ...inputs, mode: "connected" as const, mtu: 65520 };
    const steps = plan(ib, { ...fresh, mode: "datagram" }).slice(2);
    assert.deepEqual(lines(steps).slice(0, 2), [
      "set eth1 to connected",
      "ip link set dev eth1 mtu 65520 up",
    ]);
    assert.equal("attribute" in (steps[0] ?? {}), true);
  });

  test("removing what is not there is nothing", () => assert.deepEqual(plan(undefined, fresh), []));
});

test("imported: what our unit says; a device without one is for a create, which takes it as it is", () => {
  const { host } = inputs;
  assert.deepEqual(type.named?.(host, "eth1"), { host, device: "eth1" });
  assert.equal(type.named?.(host, "../x"), undefined);
  for (const desired of [inputs, { ...inputs, mode: "datagram" as const }, { host, device: "eth1" }]) {
    assert.deepEqual(type.found?.(as(desired), { host, device: "eth1" }), desired);
  }
  assert.equal(type.exists({ ...as(inputs), unit: fresh.unit }), false);
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
  for (const device of ["eth1; reboot", "../x", "a b", "", "x';reboot;'", "%n", "a\\b"]) {
    assert.equal(type.rules?.({ ...inputs, device })[0]?.[0], "device");
  }
  assert.deepEqual(type.rules?.({ ...inputs, mtu: 1000, addresses: ["fd00::1/64"] }), [
    ["mtu", "an MTU of 1000 carries no IPv6, which needs 1280"],
  ]);
  assert.deepEqual(type.rules?.({ ...inputs, addresses: ["FD00::1/64", "fd00:0::1/48"] }), [
    ["addresses", "fd00::1/48: its address is declared twice"],
  ]);
  assert.deepEqual(type.rules?.({ ...inputs, addresses: ["10.10.10.1"] }), [
    ["addresses", '"10.10.10.1" is no address with its prefix length, such as 10.10.10.1/24 or fd00::1/64'],
  ]);
});
