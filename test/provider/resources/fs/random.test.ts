import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type FilesystemInputs, filesystem as type } from "../../../../provider/resources/fs/filesystem.ts";
import { markedUuid } from "../../../../provider/resources/fs/superblock.ts";
import { formatSize, parseSize } from "../../../../provider/size.ts";
import { importsWithoutChange, owner, reach } from "../../simulated/reach.ts";
import { SimulatedDevice } from "../../simulated/xfs.ts";

/** Random sequences of states of a device: planning after applying is always empty, and no file system is ever lost. */

const host = { name: "initiator", ssh: "initiator" };
const device = "/dev/disk/by-path/ip-10.10.10.1:3260-iscsi-iqn.2026-09.com.example.lab:tank-lun-0";
const foreign = "f3a1c1de-0f0e-4a4e-9d0c-2d5a3a1b4c5d";
const mine = markedUuid(owner, device);
const mib = 2n ** 20n;

type Does = (sim: SimulatedDevice) => void;
/** What happens beside this project; each does nothing where it can't be. */
const byHand: Record<string, Does> = {
  "the volume grows": (sim) => {
    sim.bytes += 320n * mib;
  },
  "the volume grows a little": (sim) => {
    sim.bytes += 8n * mib;
  },
  "the session is rescanned": (sim) => {
    sim.shown = sim.bytes;
  },
  "it is mounted": (sim) => {
    if (sim.xfs && !sim.xfs.inProgress && sim.mountpoint === undefined) sim.mount("/a");
  },
  "it is unmounted": (sim) => {
    if (sim.mountpoint !== undefined) sim.unmount();
  },
  "mkfs.xfs was killed": (sim) => {
    if (sim.xfs === undefined && sim.other === undefined) sim.make(mine, "", false);
  },
  "somebody makes an XFS": (sim) => {
    if (sim.xfs === undefined && sim.other === undefined) sim.make(foreign, "theirs");
  },
  "somebody writes another signature": (sim) => {
    if (sim.xfs === undefined) sim.other = "LVM2_member";
  },
  "the device is wiped": (sim) => {
    if (sim.mountpoint !== undefined) return;
    sim.xfs = undefined;
    sim.other = undefined;
  },
};

const declared = fc.record(
  {
    label: fc.constantFrom("lun0", "test"),
    size: fc.constantFrom("declared" as const, "declared" as const, "bytes" as const, "half" as const),
    grow: fc.boolean(),
    uuid: fc.constantFrom(undefined, undefined, undefined, undefined, foreign, mine),
  },
  { requiredKeys: ["uuid", "grow"], noNullPrototype: true },
);

test("a file system, from any state to any other, interrupted anywhere", async () => {
  const move = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant("reach" as const), declared, cut: fc.nat(4) }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("remove" as const), cut: fc.nat(2) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("import" as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        does: fc.constant("hand" as const),
        what: fc.constantFrom(...Object.keys(byHand)),
      }),
    },
  );
  const count = { reached: 0, refused: 0, grown: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 10 }), async (moves) => {
      const sim = new SimulatedDevice(device, 640n * mib);
      for (const step of moves) {
        const before = sim.xfs && { ...sim.xfs };
        if (step.does === "hand") {
          byHand[step.what]?.(sim);
          continue;
        }
        if (step.does === "reach") {
          const { label, size, uuid, grow } = step.declared;
          if (grow) sim.bytes += 320n * mib;
          const sizes = {
            declared: formatSize(sim.bytes),
            bytes: `${sim.bytes}`,
            half: formatSize(sim.shown / 2n),
          };
          const desired: FilesystemInputs = {
            ...{ host, device, type: "xfs" },
            ...(label && { label }),
            ...(size && { size: sizes[size] }),
            ...(uuid && { uuid }),
          };
          const done = await reach(type, sim, desired, step.cut);
          count[done ? "reached" : "refused"] += 1;
          if (done && before && sim.xfs && sim.xfs.blocks > before.blocks) count.grown += 1;
          if (done) assert.equal(sim.xfs?.uuid, uuid ?? mine);
          if (done && desired.size !== undefined && sim.mountpoint === undefined && sim.xfs)
            assert.ok((parseSize(desired.size) ?? 0n) - sim.xfs.blocks * 4096n < 16n * mib);
        } else if (step.does === "remove") {
          const inputs: FilesystemInputs = { host, device, type: "xfs" };
          sim.apply(type.plan(undefined, await type.observe(sim, inputs), inputs, owner), step.cut);
          sim.apply(type.plan(undefined, await type.observe(sim, inputs), inputs, owner));
          assert.deepEqual(type.plan(undefined, await type.observe(sim, inputs), inputs, owner), []);
          if (before?.uuid === mine) assert.equal(sim.mountpoint, undefined);
        } else if (before && !before.inProgress) await importsWithoutChange(type, sim, device);
        // Whatever was asked: what stood there still stands there.
        if (before && !before.inProgress) {
          assert.equal(sim.xfs?.uuid, before.uuid);
          assert.ok((sim.xfs?.blocks ?? 0n) >= before.blocks);
        }
      }
    }),
    { numRuns: 60 },
  );
  for (const [what, times] of Object.entries(count)) assert.ok(times > 0, `${what}: ${times}`);
});
