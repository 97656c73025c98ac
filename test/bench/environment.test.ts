import assert from "node:assert/strict";
import { test } from "node:test";
import { packageVersion, readHost, readPool } from "../../bench/environment.ts";
import { CommandError, ParseError } from "../../provider/errors.ts";
import { commandLine } from "../../provider/shell.ts";
import { recorded, type Told } from "../recorded.ts";
import { benchHost, refused, sampleRequest } from "./sample.ts";

const rdmaCore = commandLine(packageVersion("rdma-core"));
const common: Record<string, Told> = {
  "uname -r": "6.12.117+deb13-amd64\n",
  "nproc --all": "1\n",
  "grep -m1 '^model name' /proc/cpuinfo": "model name\t: Intel Core i7 9xx (Nehalem Class Core i7)\n",
  "grep '^MemTotal' /proc/meminfo": "MemTotal:        1505028 kB\n",
  "mpstat -V": recorded("mpstat--version--12.7.5"),
  // The virtual link knows no speed.
  "cat /sys/class/net/eth1/speed": "-1\n",
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
    versions: {
      ...{ zfs: "2.3.9-0+deb13u1", "zfs tools": "2.3.9-0+deb13u1", "rdma-core": "56.1-1" },
      sysstat: "12.7.5",
    },
    link: {
      ...{ interface: "eth1", mtu: 4200, speed: null },
      rdma: { device: "rxe0", state: "ACTIVE", activeMtu: 4096 },
    },
  });
  assert.deepEqual([...host.asked].sort(), Object.keys(storage).sort());
});

test("the initiator", async () => {
  const host = benchHost("initiator", initiator);
  const state = await readHost(host, sampleRequest, "initiator");
  assert.deepEqual(state.versions, {
    ...{ fio: "3.39", "open-iscsi": "2.1.11", "rdma-core": "56.1-1", sysstat: "12.7.5" },
  });
  assert.deepEqual([...host.asked].sort(), Object.keys(initiator).sort());
});

test("without iSER nothing is asked of RDMA", async () => {
  const host = benchHost("storage", storage);
  const [iscsi] = sampleRequest.paths;
  const state = await readHost(host, { ...sampleRequest, paths: iscsi ? [iscsi] : [] }, "storage");
  assert.equal(state.link.rdma, null);
  assert.ok(!host.asked.some((line) => /rdma|ibv|infiniband/.test(line)));
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
      readHost(benchHost("initiator", { ...initiator, ...change }), sampleRequest, "initiator"),
      (error) => error instanceof kind && message.test(error.message),
    );
  });
}

const properties =
  "zfs get -Hp -o property,value volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused tank/lun0";

test("the pool and the volume", async () => {
  const host = benchHost("storage", {
    "zpool status tank": "  pool: tank\n state: ONLINE\n",
    [properties]: "volsize\t2147483648\ncompression\toff\n",
    "cat /proc/spl/kstat/zfs/arcstats": recorded("arcstats--before-read--2.3.9"),
  });
  const { pool, volume, arcMaximum } = await readPool(host, sampleRequest);
  assert.equal(pool.layout, "  pool: tank\n state: ONLINE\n");
  assert.deepEqual(volume, { name: "tank/lun0", properties: { volsize: "2147483648", compression: "off" } });
  assert.ok(arcMaximum > 2 ** 28);
});

test("a volume that can't be read is an error, not a volume without properties", async () => {
  const host = benchHost("storage", {
    "zpool status tank": "",
    [properties]: refused(1, "cannot open 'tank/lun0': dataset does not exist"),
    "cat /proc/spl/kstat/zfs/arcstats": recorded("arcstats--before-read--2.3.9"),
  });
  await assert.rejects(readPool(host, sampleRequest), /the properties of tank\/lun0.*dataset does not exist/);
});
