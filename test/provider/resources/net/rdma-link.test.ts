import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import {
  parseCmIds,
  parseDevinfo,
  parseLinks,
  type RdmaLinkInputs,
  rdmaLink as type,
} from "../../../../provider/resources/net/rdma-link.ts";
import type { Step } from "../../../../provider/step.ts";
import { fakeHost, recorded } from "../../../recorded.ts";

const inputs: RdmaLinkInputs = {
  host: { name: "storage", ssh: "storage" },
  name: "rxe0",
  kind: "rxe",
  device: "eth1",
};
const unit = "/etc/systemd/system/storage-lab-rdma-link-rxe0.service";
const link = "/etc/systemd/system/multi-user.target.wants/storage-lab-rdma-link-rxe0.service";
const modules = "/etc/modules-load.d/storage-lab-rdma-link-rxe0.conf";
const kinds = "/sys/class/infiniband/rxe0/parent /sys/class/infiniband/rxe0/ports/1/link_layer";
const files = `grep -aHZ '' ${modules} ${unit} ${link} ${kinds}`;
const told = {
  "rdma -j link": recorded("rdma--link--iproute2-6.15"),
  "rdma -j resource show cm_id": recorded("rdma--cm-ids-target--iproute2-6.15"),
  "ibv_devinfo -v -d rxe0": recorded("ibv_devinfo--rxe0--rdma-core-56.1"),
  [files]: { status: 2, stderr: `grep: ${unit}: No such file or directory\n` },
};
const notFound = { status: 255, stdout: "", stderr: "IB device 'rxe0' wasn't found\n" };

type Observed = Parameters<typeof type.exists>[0];
const plan = (desired: RdmaLinkInputs | undefined, observed: Observed, known = inputs): Step[] =>
  type.plan(desired, observed, desired ?? known, "lab/test");
const refusals = (desired: RdmaLinkInputs | undefined, observed: Observed, known = inputs): string[] =>
  type.refusals?.(desired, observed, desired ?? known, "lab/test") ?? [];
const lines = (steps: Step[]): string[] =>
  steps.map((step) =>
    "argv" in step ? step.argv.join(" ") : "file" in step ? `write ${step.file}` : step.say,
  );

const fresh: Observed = {
  links: new Map(),
  link: undefined,
  kind: undefined,
  made: false,
  activeMtu: undefined,
  gids: [],
  users: [],
  module: undefined,
  unit: { text: undefined, enabled: false },
};
const there: Observed = (() => {
  const text = (file: string): string =>
    plan(inputs, fresh).flatMap((step) => ("file" in step && step.file === file ? [step.text] : []))[0] ?? "";
  const made = { state: "ACTIVE", device: "eth1" };
  return {
    ...fresh,
    links: new Map([["rxe0", made]]),
    link: made,
    made: true,
    module: text(modules).trimEnd(),
    unit: { text: text(unit).trimEnd(), enabled: true },
  };
})();

describe("observing an RDMA link", () => {
  test("asks four things at once and reads them", async () => {
    const host = fakeHost(told);
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, Object.keys(told));
    assert.deepEqual(observed.link, { state: "ACTIVE", device: "eth1" });
    assert.equal(observed.activeMtu, 4096);
    assert.deepEqual(observed.gids, ["fe80::5054:ff:fe00:801", "::ffff:10.10.10.1"]);
    assert.deepEqual(observed.users, [
      "ib_isert (listens on 10.10.10.1:3261)",
      "ib_isert (10.10.10.1:3261 to 10.10.10.2:51283)",
    ]);
    assert.equal(type.exists(observed), true);
  });

  test("no link is absence by the list's own word, whatever ibv_devinfo says", async () => {
    const none = { ...told, "rdma -j link": "[]\n", "rdma -j resource show cm_id": "[]\n" };
    const observed = await type.observe(fakeHost({ ...none, "ibv_devinfo -v -d rxe0": notFound }), inputs);
    assert.equal(type.exists(observed), false);
    const without = await type.observe(
      fakeHost({ ...told, "ibv_devinfo -v -d rxe0": { status: 127 } }),
      inputs,
    );
    assert.equal(without.activeMtu, undefined);
  });

  test("every other failure is an error", async () => {
    const broken = { status: 1, stderr: "error: Operation not permitted" };
    for (const line of Object.keys(told)) {
      const failing = line === files ? { status: 2, stderr: "grep: x: Permission denied\n" } : broken;
      await assert.rejects(type.observe(fakeHost({ ...told, [line]: failing }), inputs), CommandError, line);
    }
    await assert.rejects(
      type.observe(fakeHost({ ...told, "rdma -j link": { status: 127 } }), inputs),
      /storage has no rdma\(8\): apt-get install iproute2 rdma-core, or dnf install iproute rdma-core/,
    );
  });

  test("other words than the known ones are an error", () => {
    for (const text of ["link rxe0/1 state ACTIVE", "{}", '[{"ifname":"rxe0"}]']) {
      assert.throws(() => parseLinks(text), ParseError);
    }
    assert.throws(() => parseCmIds('[{"state":"LISTEN"}]'), ParseError);
    assert.deepEqual(parseDevinfo(""), { activeMtu: undefined, gids: [] });
  });
});

describe("planning an RDMA link", () => {
  test("from nothing", () => {
    assert.deepEqual(lines(plan(inputs, fresh)), [
      `write ${modules}`,
      `write ${unit}`,
      `ln -sfn ${unit} ${link}`,
      "modprobe rdma_rxe",
      "rdma link add rxe0 type rxe netdev eth1",
    ]);
  });
  test("nothing to do where it is as declared", () => {
    assert.deepEqual(plan(inputs, there), []);
    assert.deepEqual(type.current(there, inputs), inputs);
  });
  test("after a reboot without its unit, the link alone is made again", () => {
    const lost = { ...there, link: undefined };
    assert.deepEqual(lines(plan(inputs, lost)), [
      "modprobe rdma_rxe",
      "rdma link add rxe0 type rxe netdev eth1",
    ]);
  });
  test("towards nothing, and nothing from nothing", () => {
    assert.deepEqual(lines(plan(undefined, there)), [
      "rdma link delete rxe0",
      `rm -f ${modules}`,
      `rm -f ${unit} ${link}`,
      "sync /etc/systemd/system",
    ]);
    assert.deepEqual(plan(undefined, fresh), []);
  });
  test("reboot, rxe link gone: a persistent unit makes it; at boot the second add is left out, and the interface comes first", () => {
    const text = plan(inputs, fresh).flatMap((step) => ("file" in step ? [step.text] : []))[1] ?? "";
    assert.match(
      text,
      /\[ -e \/sys\/class\/infiniband\/rxe0 \] \|\| exec rdma link add rxe0 type rxe netdev eth1/,
    );
    assert.match(text, /^After=.* storage-lab-interface-eth1\.service$/m);
  });
});

test("hardware is only looked for: what is made is a note of it, with its module", async () => {
  const hardware: RdmaLinkInputs = { ...inputs, name: "mlx5_0", kind: "ipoib", device: "ib0" };
  const note = "/etc/modules-load.d/storage-lab-rdma-link-mlx5_0.conf";
  const link = { state: "ACTIVE", device: "ib0" };
  const before: Observed = { ...fresh, links: new Map([["mlx5_0", link]]), link };
  assert.equal(type.exists(before), false, "it is there, and nobody's yet");
  assert.deepEqual(refusals(hardware, before), []);
  const steps = plan(hardware, before);
  assert.deepEqual(lines(steps), [`write ${note}`]);
  const after = {
    ...before,
    made: true,
    module: "# Written by storage-lab, for RDMA link mlx5_0.\nib_ipoib",
  };
  assert.deepEqual(plan(hardware, after), []);
  assert.deepEqual(lines(plan(undefined, after, hardware)), [`rm -f ${note}`]);
});

test("imported: hardware's kind is what the kernel says; a declaration of another kind is refused", async () => {
  const { host } = inputs;
  assert.equal(type.named?.(host, "../x"), undefined);
  const least = type.named?.(host, "rxe0") as RdmaLinkInputs;
  const sysfs = "/sys/class/infiniband/rxe0";
  const answers = (kind: string) => ({ ...told, [files]: { status: 2, stdout: kind, stderr: "" } });
  for (const [kind, text, exists] of [
    ["rxe", `${sysfs}/parent\0${"eth1"}\n${sysfs}/ports/1/link_layer\0Ethernet\n`, true],
    ["roce", `${sysfs}/ports/1/link_layer\0Ethernet\n`, false],
    ["ipoib", `${sysfs}/ports/1/link_layer\0InfiniBand\n`, false],
  ] as const) {
    const observed = await type.observe(fakeHost(answers(text)), least);
    assert.equal(type.exists(observed), exists, "hardware is there always: without our note it is nobody's");
    assert.deepEqual(type.found?.(observed, least), { ...inputs, kind });
    const other = kind === "ipoib" ? "roce" : "ipoib";
    assert.match(
      refusals({ ...inputs, kind: other }, observed)[0] ?? "",
      /^RDMA device rxe0 on storage is .*, not /,
    );
  }
  const odd = answers(`${sysfs}/ports/1/link_layer\0Unknown\n`);
  await assert.rejects(type.observe(fakeHost(odd), least), /neither Ethernet nor InfiniBand: Unknown/);
});

test("Ethernet MTU 1500 leaves RDMA an MTU of 1024: both are outputs", async () => {
  const small = told["ibv_devinfo -v -d rxe0"].replace(/(?<n>active_mtu:\s+)4096 \(5\)/, "$<n>1024 (3)");
  assert.notEqual(small, told["ibv_devinfo -v -d rxe0"]);
  const observed = await type.observe(fakeHost({ ...told, "ibv_devinfo -v -d rxe0": small }), inputs);
  assert.equal(type.outputs(inputs, observed).activeMtu, 1024);
});

test("refusals name users, links and devices", () => {
  const used = { ...there, users: ["ib_iser (10.10.10.2:1 to 10.10.10.1:3261)"] };
  assert.deepEqual(refusals(undefined, used), [
    "RDMA link rxe0 on storage is in use by ib_iser (10.10.10.2:1 to 10.10.10.1:3261): " +
      "log those sessions out or remove those portals first",
  ]);
  assert.deepEqual(refusals(inputs, used), []);
  assert.equal(plan(undefined, used)[0]?.effect, "sessions drop");
  assert.equal(plan(undefined, there)[0]?.effect, undefined);
  const other = { ...there, link: { state: "ACTIVE", device: "eth0" } };
  assert.match(
    refusals(inputs, other)[0] ?? "",
    /is over eth0, not eth1: take another name, or remove it first/,
  );
  const hardware: RdmaLinkInputs = { ...inputs, name: "mlx5_0", kind: "roce" };
  assert.deepEqual(refusals(hardware, { ...there, link: undefined }), [
    "storage has no RDMA device mlx5_0; it has rxe0 (eth1)",
  ]);
});

test("rules refuse hostile names before a host is asked", () => {
  assert.deepEqual(type.rules?.(inputs), []);
  for (const name of ["rxe0; reboot", "../x", "", "a b", "0rxe"]) {
    assert.equal(type.rules?.({ ...inputs, name })[0]?.[0], "name", name);
  }
});
