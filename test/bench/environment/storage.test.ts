import assert from "node:assert/strict";
import { test } from "node:test";
import { ashiftOf, parseFolder, readStorage, shapesOf } from "../../../bench/environment/storage.ts";
import { CommandError, ParseError } from "../../../provider/errors.ts";
import { recorded, type Told } from "../../recorded.ts";
import { benchHost, refused, sampleClient, sampleRequest } from "../sample.ts";

const iqn = "iqn.2026-09.com.example.lab:bulk";
const client = { ...sampleClient, target: iqn, pool: "bulk", volume: "bulk/lun0" };
const request = { ...sampleRequest, clients: [client] };
const disks = [1, 2, 3, 4].map((n) => `/dev/disk/by-id/virtio-DISK0${n}-part1`).join(" ");
const properties =
  "zfs get -Hp -o property,value volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused bulk/lun0";
const told: Record<string, Told> = {
  "zpool status -P bulk": recorded("zpool--status-P-bulk--2.3.9"),
  "zpool get -Hp -o property,value,source all bulk": recorded("zpool--get-all-bulk--2.3.9"),
  [`blockdev --getsize64 ${disks}`]: "2136997888\n2136997888\n2136997376\n2136997888\n",
  "zfs get -Hpo value volblocksize,compression,sync,logbias bulk/lun0": "65536\noff\nstandard\nlatency\n",
  [properties]: "volsize\t2147483648\ncompression\toff\n",
  "cat /proc/spl/kstat/zfs/arcstats": recorded("arcstats--before-read--2.3.9"),
  "grep -rH '' /sys/module/zfs/parameters": recorded("grep--zfs-parameters--2.3.9"),
  [`grep -rH '' /sys/kernel/config/target/iscsi/${iqn}/tpgt_1/attrib /sys/kernel/config/target/iscsi/${iqn}/tpgt_1/param`]:
    recorded("grep--tpg-attributes--linux-6.12"),
};

test("pools with their layout, volumes, targets, the ARC and ZFS's parameters", async () => {
  const host = benchHost("storage", told);
  const side = await readStorage(host, request);
  const [pool] = side.pools;
  assert.deepEqual(pool?.layout, {
    vdevs: [
      { kind: "raidz1", role: "data", disks: 4, data: null, spares: 0, count: 1, diskSize: 2136997376 },
    ],
    ...{ ashift: 12, volblocksize: 65536, compression: "off", sync: "standard", logbias: "latency" },
  });
  // What was set; features tell a pool's age.
  assert.deepEqual(pool?.properties, { ashift: "12", comment: "storage-lab/lab-two-pools" });
  assert.deepEqual(side.volumes, [
    { name: "bulk/lun0", properties: { volsize: "2147483648", compression: "off" } },
  ]);
  assert.ok(side.arcMaximum > 2 ** 28);
  assert.deepEqual([side.zfsParameters.zfs_txg_timeout, side.zfsParameters.zfs_arc_max], ["5", "0"]);
  const [target] = side.targets;
  assert.deepEqual([target?.iqn, target?.attributes["param/MaxBurstLength"]], [iqn, "262144"]);
  assert.ok(Object.keys(target?.attributes ?? {}).some((name) => name.startsWith("attrib/")));
  assert.deepEqual([...host.asked].sort(), Object.keys(told).sort());
});

test("secrets of a target are not asked for", () => {
  assert.ok(!Object.keys(told).some((line) => /auth|acls/.test(line)));
});

test("several clients' pool, volume and target are read once", async () => {
  const host = benchHost("storage", told);
  await readStorage(host, { ...request, clients: [client, { ...client, name: "second" }] });
  assert.deepEqual([...host.asked].sort(), Object.keys(told).sort());
});

test("a volume that can't be read is an error, not a volume without properties", async () => {
  const host = benchHost("storage", {
    ...told,
    [properties]: refused(1, "cannot open 'bulk/lun0': dataset does not exist"),
  });
  await assert.rejects(readStorage(host, request), (error) => {
    assert.ok(error instanceof CommandError);
    return /the properties of bulk\/lun0.*dataset does not exist/.test(error.message);
  });
});

test("where the pool has no ashift of its own, the largest of its vdevs counts", async () => {
  const auto = recorded("zpool--get-all-bulk--2.3.9").replace("ashift\t12\tlocal", "ashift\t0\tdefault");
  const host = benchHost("storage", {
    ...told,
    "zpool get -Hp -o property,value,source all bulk": auto,
    "zdb -C bulk": recorded("zdb--C-bulk--2.3.9"),
  });
  assert.equal((await readStorage(host, request)).pools[0]?.layout?.ashift, 12);
  assert.throws(() => ashiftOf("MOS Configuration:\n", "bulk"), /no ashift/);
});

test("vdevs of one shape are counted; a disk that is gone has no size", () => {
  const mirror = (name: string, ...pair: string[]) => ({
    role: "data" as const,
    type: "mirror" as const,
    name,
    disks: pair,
  });
  const log = { role: "log" as const, type: "stripe" as const, name: "/dev/e", disks: ["/dev/e"] };
  const draid = {
    role: "data" as const,
    type: "draid2" as const,
    name: "draid2:4d:11c:1s-0",
    disks: ["/dev/x"],
    data: 4,
    spares: 1,
  };
  const sizes = new Map<string, number | null>([
    ["/dev/a", 10],
    ["/dev/b", 9],
    ["/dev/c", 9],
    ["/dev/d", 10],
    ["/dev/e", null],
  ]);
  const vdevs = [mirror("mirror-0", "/dev/a", "/dev/b"), log, mirror("mirror-1", "/dev/c", "/dev/d"), draid];
  assert.deepEqual(shapesOf(vdevs, sizes), [
    { kind: "mirror", role: "data", disks: 2, data: null, spares: 0, count: 2, diskSize: 9 },
    { kind: "disk", role: "log", disks: 1, data: null, spares: 0, count: 1, diskSize: null },
    { kind: "draid2", role: "data", disks: 1, data: 4, spares: 1, count: 1, diskSize: null },
  ]);
});

test("unknown lines are errors", () => {
  assert.throws(() => parseFolder("/elsewhere/x:1\n", "/sys/x"), ParseError);
  assert.deepEqual(parseFolder("/sys/x/a:b:c\n/sys/x/d/e:\n", "/sys/x"), { a: "b:c", "d/e": "" });
});
