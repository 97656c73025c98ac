import assert from "node:assert/strict";
import { type Beside, parseConfig } from "../../config.ts";

/** A whole stack file; each case changes one place of it. */
export const whole = () => ({
  hosts: {
    storage: { virtual: { memory: "1536 MiB", disks: "8 x 2 GiB" } },
    initiator: { ssh: "root@dl380", iqn: "iqn.2026-09.com.example.lab:initiator" },
  } as Record<string, object>,
  pools: {
    tank: {
      host: "storage",
      data: { mirror: 3, disks: "by-id/virtio-DISK{01..06}" },
      log: { mirror: 2, disks: "by-id/virtio-DISK{07..08}" },
    },
  } as Record<string, object>,
  volumes: { "tank/lun0": { size: "2 GiB", volblocksize: "16 KiB", compression: false } } as Record<
    string,
    object
  >,
  fabric: {
    link: {
      kind: "rxe",
      device: "eth1",
      addresses: { storage: "10.10.10.1/24", initiator: "10.10.10.2/24" },
    },
  } as Record<string, object>,
  targets: {
    "iqn.2026-09.com.example.lab:tank": {
      luns: ["tank/lun0"],
      portals: { iscsi: "10.10.10.1:3260", iser: "10.10.10.1:3261" },
      initiators: ["initiator"],
    },
  } as Record<string, object>,
  filesystem: {},
  benchmark: { size: "1 GiB" } as object,
});

export const target = "iqn.2026-09.com.example.lab:tank";

export const inJson = (stack: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(stack).map(([key, value]) => [`storage-lab:${key}`, JSON.stringify(value)]),
  );

export function parse(change: (stack: ReturnType<typeof whole>) => object, beside: Beside = {}) {
  return parseConfig({ ...inJson({ ...whole(), ...change(whole()) }), "other:key": "1" }, "lab", beside);
}

/** The error of a stack file that is refused. */
export function refused(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof RangeError, String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: "not refused" });
}
