import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { execa } from "execa";
import type { Context } from "../../provider/context.ts";
import { explain, RefusedError } from "../../provider/errors.ts";
import { Lifecycle } from "../../provider/lifecycle.ts";
import { type PoolInputs, pool as type } from "../../provider/resources/zfs/pool.ts";

/**
 * Pools on a guest with real ZFS, by the lifecycle alone: preflight, changes in place with data on the pool, dRAID,
 * export and import. What is there is looked at through plain ssh, not through our code.
 */

const folder = mkdtempSync(join(tmpdir(), "storage-lab-pool-"));
const config = join(folder, "ssh_config");
const host = { name: "storage", ssh: "storage", config };
const owner = "storage-lab/pools";
const guest = (verb: string) => execa(process.execPath, ["virtual/guest.ts", verb, folder]);
const sh = async (line: string): Promise<string> =>
  (await execa("ssh", ["-F", config, "-o", "BatchMode=yes", "storage", line], { stdin: "ignore" })).stdout;

before(async () => {
  const disks = Array.from({ length: 11 }, (_, n) => ({ serial: `D${n + 1}`, size: "320 MiB" }));
  writeFileSync(
    join(folder, "machine.json"),
    JSON.stringify({
      ...{ name: "storage", memory: "1024 MiB", owner, disks },
      link: { socket: join(folder, "link.sock"), listen: true, mac: "52:54:00:00:01:01" },
    }),
  );
  await guest("start");
  const deadline = Date.now() + 300_000;
  while ((await sh("systemctl is-system-running --wait || true").catch(() => "")) === "") {
    assert.ok(Date.now() < deadline, "the guest did not boot within 300 s");
    await pause(1000);
  }
});

after(async () => {
  await guest("stop");
  rmSync(folder, { recursive: true, force: true });
});

const disk = (n: number): string => `by-id/virtio-D${n}`;
const path = (n: number): string => `/dev/disk/by-id/virtio-D${n}`;
const mirror = (...numbers: number[]): PoolInputs["vdevs"][number] => ({
  ...{ role: "data", type: numbers.length === 1 ? "stripe" : "mirror", disks: numbers.map(disk) },
});
const inputs = (vdevs: PoolInputs["vdevs"], more: Partial<PoolInputs> = {}): PoolInputs => ({
  ...{ host, name: "tank", vdevs, ashift: 12, onDelete: "destroy", ...more },
});

const lifecycle = new Lifecycle();
const reports: string[] = [];
const context: Context = {
  owner,
  urn: "urn:pulumi:lab::storage-lab::storagelab:zfs:Pool::tank",
  report: (severity, message) => void (severity !== "status" && reports.push(message)),
};
/** To this state; the lifecycle fails by itself where a second plan would not be empty. Gives what the preview said. */
async function update(before: PoolInputs, after: PoolInputs): Promise<string> {
  reports.length = 0;
  await lifecycle.diff(type, before, after, [], context);
  const said = reports.join("\n");
  await lifecycle.update(type, after, context);
  assert.deepEqual(await lifecycle.diff(type, after, after, [], context), { changes: [], drifted: false });
  return said;
}
const create = (desired: PoolInputs) => lifecycle.create(type, desired, context);
const destroy = (known: PoolInputs) => lifecycle.delete(type, known, context);
const refusal = async (desired: PoolInputs): Promise<string> => {
  const error = await lifecycle.previewCreate(type, desired, context).then(
    () => undefined,
    (refused) => refused,
  );
  assert.ok(error instanceof RefusedError, explain(error));
  return error.message;
};
const status = (): Promise<string> =>
  sh("zpool status -LP tank | grep -oE '(mirror|raidz1|draid2[^ ]*)-[0-9]|/dev/vd.|removing' | tr '\\n' ' '");

describe("pools on a guest", { timeout: 900_000 }, () => {
  test("disk holds an unmounted file system, an empty partition table, an active swap: refused with disk and finding", async () => {
    await sh(
      `mkfs.xfs -q -L home ${path(1)}; echo 'label: gpt' | sfdisk -q ${path(2)}; mkswap -q ${path(3)}; swapon ${path(3)}; udevadm settle`,
    );
    const said = await refusal(inputs([mirror(1, 2, 3)]));
    assert.match(said, /virtio-D1: xfs "home"/);
    assert.match(said, /virtio-D2: a partition table \(gpt\) with no partitions/);
    assert.match(said, /virtio-D3: .*vdd is in use as swap/);
    await sh(`swapoff ${path(3)}`);
    const wiped = inputs([mirror(1, 2)], { wipe: [disk(1), disk(2)] });
    await create(wiped);
    await sh("head -c 20M /dev/urandom >/tank/data && sha256sum /tank/data >/root/sum && sync");
    assert.equal(await status(), "mirror-0 /dev/vdb /dev/vdc ");
  });

  const intact = () => sh("sha256sum -c /root/sum");

  test("a mirror gets a side, has one replaced, loses one, and gets a neighbour that is removed again", async () => {
    const two = inputs([mirror(1, 2)]);
    const three = inputs([mirror(1, 2, 4)], { waitForResilver: true });
    await update(two, three);
    assert.equal(await status(), "mirror-0 /dev/vdb /dev/vdc /dev/vde ");
    const again = inputs([mirror(1, 5)]);
    await update(three, again);
    assert.equal(await status(), "mirror-0 /dev/vdb /dev/vdf ");
    const wide = inputs([mirror(1, 5), mirror(2, 4), { role: "log", type: "stripe", disks: [disk(6)] }]);
    const said = await update(again, wide);
    assert.match(said, /stands alone/);
    await update(wide, inputs([mirror(2, 4)]));
    assert.equal((await status()).replace(/mirror-\d+/, "mirror"), "mirror /dev/vdc /dev/vde ");
    assert.equal(await sh("wipefs -n /dev/vdb /dev/vdf /dev/vdg"), "", "disks that left are blank");
    assert.match(await intact(), /OK/);
  });

  test("pool exported, then applied: it is imported, its data there", async () => {
    const exported = inputs([mirror(2, 4)], { onDelete: "export" });
    await destroy(exported);
    assert.match(await sh("zpool list 2>&1 || true"), /no pools available/);
    assert.match(await refusalOfOthers(exported), /that this stack did not make .* not imported/);
    await create(exported);
    assert.match(await intact(), /OK/);
  });

  const refusalOfOthers = async (desired: PoolInputs): Promise<string> => {
    const other = { ...context, owner: "storage-lab/other" };
    const error = await lifecycle.previewCreate(type, desired, other).then(
      () => undefined,
      (refused) => refused,
    );
    assert.ok(error instanceof RefusedError, explain(error));
    return error.message;
  };

  test("import: no change after it, for a pool that nobody marked either", async () => {
    await sh(
      "zfs inherit org.storage-lab:owner tank && zpool set comment=mine tank && zpool set autotrim=on tank",
    );
    const named = type.named?.(host, "tank") as PoolInputs;
    const found = (await lifecycle.read(type, named))?.inputs as PoolInputs;
    assert.deepEqual(await lifecycle.diff(type, found, found, [], context), { changes: [], drifted: false });
    await destroy({ ...found, onDelete: "destroy" });
    assert.equal(await sh("wipefs -n /dev/vdc /dev/vde"), "");
  });

  test("pool destroyed and created again under other names: no stale labels", async () => {
    for (const name of ["one", "two", "three"]) {
      const desired = inputs([mirror(1, 2)], { name });
      await create(desired);
      await destroy(desired);
    }
  });

  test("special vdev added to a RAID-Z pool, which gets wider: said that neither can be undone; applied twice is once", async () => {
    const raidz: PoolInputs["vdevs"] = [{ role: "data", type: "raidz1", disks: [1, 2, 4].map(disk) }];
    await create(inputs(raidz));
    const special = inputs([...raidz, { role: "special", type: "mirror", disks: [5, 6].map(disk) }]);
    assert.match(await update(inputs(raidz), special), /can't be removed from it again/);
    const wider = inputs(
      [{ role: "data", type: "raidz1", disks: [1, 2, 4, 7].map(disk) }, ...special.vdevs.slice(1)],
      { waitForResilver: true },
    );
    assert.match(await update(special, wider), /got wider stays so/);
    const off = inputs(wider.vdevs, { offline: [disk(7)] });
    await update(inputs(wider.vdevs), off);
    await update(off, inputs(wider.vdevs, { offline: [], waitForResilver: true }));
    await destroy(wider);
  });

  test("dRAID with a distributed spare: created, no change after it, destroyed", async () => {
    const disks = Array.from({ length: 11 }, (_, n) => disk(n + 1));
    const desired = inputs([{ role: "data", type: "draid2", disks, data: 4, spares: 1 }], {
      wipe: [disk(3)],
    });
    await create(desired);
    assert.match(await status(), /^draid2:4d:11c:1s-0 /);
    assert.deepEqual(await lifecycle.diff(type, desired, desired, [], context), {
      changes: [],
      drifted: false,
    });
    await destroy(desired);
  });
});
