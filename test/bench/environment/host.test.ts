import assert from "node:assert/strict";
import { test } from "node:test";
import { hardwareFiles, pciNames } from "../../../bench/environment/hardware.ts";
import { packageVersion, readHost } from "../../../bench/environment/host.ts";
import { CommandError, ParseError } from "../../../provider/errors.ts";
import { commandLine } from "../../../provider/shell.ts";
import { recorded, type Told } from "../../recorded.ts";
import { benchHost, refused, sampleRequest } from "../sample.ts";

const rdmaCore = commandLine(packageVersion("rdma-core"));
const common: Record<string, Told> = {
  "uname -r": "6.12.117+deb13-amd64\n",
  "nproc --all": "1\n",
  "grep -m1 '^model name' /proc/cpuinfo": "model name\t: Intel Core i7 9xx (Nehalem Class Core i7)\n",
  "grep '^MemTotal' /proc/meminfo": "MemTotal:        1505028 kB\n",
  "mpstat -V": recorded("mpstat--version--12.7.5"),
  [commandLine(hardwareFiles)]: recorded("sysfs--hardware-of-a-guest--linux-6.12"),
  [commandLine(pciNames)]: recorded("lspci--machine-readable-guest--3.13.0"),
  // The virtual link knows no speed.
  "cat /sys/class/net/eth1/speed": "-1\n",
  "cat /sys/class/net/eth1/type": "1\n",
  "cat /sys/class/net/eth1/mode": refused(1, "cat: /sys/class/net/eth1/mode: No such file or directory"),
  "rdma -j link show": recorded("rdma--link-show-rxe--6.15.0"),
  "ibv_devinfo -d rxe0": recorded("ibv_devinfo--rxe--56.1"),
  "cat /sys/class/infiniband/rxe0/ports/1/rate": "2.5 Gb/sec (1X SDR)\n",
  "cat /sys/class/infiniband/rxe0/ports/1/link_layer": "Ethernet\n",
  [rdmaCore]: "56.1-1\n",
};
const storage: Record<string, Told> = {
  ...common,
  "ip -j address show to 10.10.10.1": recorded("ip--address-show-to--6.15.0"),
  "cat /sys/module/zfs/version": "2.3.9-0+deb13u1\n",
  "zfs version": "zfs-2.3.9-0+deb13u1\nzfs-kmod-2.3.9-0+deb13u1\n",
  "cat /sys/kernel/config/target/version": recorded("cat--lio-version--linux-6.12"),
};
const initiator: Record<string, Told> = {
  ...common,
  "ip -j route get 10.10.10.1": recorded("ip--route-get--6.15.0"),
  "ip -j address show dev eth1": recorded("ip--address-show-dev--6.15.0"),
  "fio --version": "fio-3.39\n",
  "iscsiadm --version": "iscsiadm version 2.1.11\n",
};

test("the storage host", async () => {
  const host = benchHost("storage", storage);
  assert.deepEqual(await readHost(host, sampleRequest, "storage"), {
    ...{ name: "storage", kernel: "6.12.117+deb13-amd64", cpus: 1, memory: 1541148672 },
    cpuModel: "Intel Core i7 9xx (Nehalem Class Core i7)",
    // A guest has neither.
    ...{ governor: null, temperatures: [], pcie: [] },
    versions: {
      ...{ zfs: "2.3.9-0+deb13u1", "zfs tools": "2.3.9-0+deb13u1", lio: "v5.0", "rdma-core": "56.1-1" },
      sysstat: "12.7.5",
    },
    link: {
      ...{ interface: "eth1", mtu: 4200, speed: null, kind: "ethernet", mode: null },
      rdma: { device: "rxe0", state: "ACTIVE", activeMtu: 4096 },
    },
  });
  assert.deepEqual([...host.asked].sort(), Object.keys(storage).sort());
});

test("a client", async () => {
  const host = benchHost("initiator", initiator);
  const state = await readHost(host, sampleRequest, "client");
  assert.deepEqual(state.versions, {
    ...{ fio: "3.39", "open-iscsi": "2.1.11", "rdma-core": "56.1-1", sysstat: "12.7.5" },
  });
  assert.deepEqual([...host.asked].sort(), Object.keys(initiator).sort());
});

test("without iSER nothing is asked of RDMA", async () => {
  const host = benchHost("storage", storage);
  const state = await readHost(host, { ...sampleRequest, protocols: ["iscsi"] }, "storage");
  assert.equal(state.link.rdma, null);
  assert.ok(!host.asked.some((line) => /rdma|ibv|infiniband/.test(line)));
});

test("IPoIB says its mode", async () => {
  const ipoib = {
    "cat /sys/class/net/eth1/type": "32\n",
    "cat /sys/class/net/eth1/mode": "connected\n",
  };
  const { link } = await readHost(benchHost("storage", { ...storage, ...ipoib }), sampleRequest, "storage");
  assert.deepEqual([link.kind, link.mode], ["infiniband", "connected"]);
});

test("a host without lspci is no error; one whose lspci fails is", async () => {
  const names = commandLine(pciNames);
  const without = benchHost("storage", { ...storage, [names]: refused(127, "lspci: not found") });
  assert.deepEqual((await readHost(without, sampleRequest, "storage")).pcie, []);
  const broken = benchHost("storage", {
    ...storage,
    [names]: refused(1, "lspci: Cannot open /proc/bus/pci"),
  });
  await assert.rejects(readHost(broken, sampleRequest, "storage"), /the names of its PCI devices/);
});

for (const [what, change, kind, message] of [
  [
    "fio is missing",
    { "fio --version": refused(127, "fio: not found") },
    CommandError,
    /could not read the version of fio/,
  ],
  [
    "fio says nothing known",
    { "fio --version": "flexible\n" },
    ParseError,
    /no version of fio in "flexible\\n"/,
  ],
  [
    "mpstat says nothing known",
    { "mpstat -V": "busybox\n" },
    ParseError,
    /mpstat -V on initiator: no version/,
  ],
  [
    "the portal can't be reached",
    { "ip -j route get 10.10.10.1": refused(2, "Network is unreachable") },
    CommandError,
    /the way to 10\.10\.10\.1/,
  ],
] as const) {
  test(`${what}: an error that names it`, async () => {
    await assert.rejects(
      readHost(benchHost("initiator", { ...initiator, ...change }), sampleRequest, "client"),
      (error) => error instanceof kind && message.test(error.message),
    );
  });
}
