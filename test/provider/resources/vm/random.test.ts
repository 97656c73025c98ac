import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type MachineInputs, machine } from "../../../../provider/resources/vm/machine.ts";
import { parseSize } from "../../../../provider/size.ts";
import { SimulatedMachine } from "../../simulated/machine.ts";
import { reach, remove } from "../../simulated/reach.ts";

/** Random sequences of states of a machine: planning after applying is always empty, and no disk ever shrinks. */

const folder = ".lab/lab/storage";
const link = { socket: ".lab/lab/link.sock", listen: true, mac: "52:54:00:00:01:01" };
const plain = { noNullPrototype: true } as const;
const size = fc.constantFrom("1 GiB", "1024 MiB", "2 GiB", "3 GiB");
const disk = (serial: string) => fc.record({ serial: fc.constant(serial), size }, plain);
const inputs: fc.Arbitrary<MachineInputs> = fc.record(
  {
    host: fc.constant({ name: "local", ssh: "local" }),
    name: fc.constant("storage"),
    folder: fc.constant(folder),
    memory: fc.constantFrom("1 GiB", "1024 MiB", "1536 MiB"),
    disks: fc.subarray(["A", "B"]).chain((serials) => fc.tuple(...serials.map(disk))),
    link: fc.constantFrom(link, { ...link, mac: "52:54:00:00:01:02" }),
  },
  plain,
);

const byHand: Record<string, (sim: SimulatedMachine) => void> = {
  "QEMU ends": (sim) => sim.kill(),
  "a start was interrupted before the port was known": (sim) => {
    if (sim.spec === undefined) return;
    sim.run(["node", "virtual/guest.ts", "start", folder]);
    sim.remove(`${folder}/ssh_config`, `${folder}/booted`);
  },
  "its folder is removed": (sim) => {
    sim.kill();
    sim.run(["rm", "-rf", "--", folder]);
  },
};

test("a machine, from any state to any other, interrupted anywhere", async () => {
  const cut = fc.nat(5);
  const move = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant("reach" as const), inputs, cut }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("remove" as const), inputs, cut }) },
    {
      weight: 2,
      arbitrary: fc.record({
        does: fc.constant("hand" as const),
        what: fc.constantFrom(...Object.keys(byHand)),
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (moves) => {
      const sim = new SimulatedMachine(folder);
      for (const step of moves) {
        if (step.does === "hand") byHand[step.what]?.(sim);
        else if (step.does === "remove") {
          assert.equal(await remove(machine, sim, step.inputs, step.cut), true);
          assert.equal(sim.qemu, undefined);
        } else {
          const { disks } = step.inputs;
          const before = new Map(sim.disks);
          if (await reach(machine, sim, step.inputs, step.cut)) {
            assert.equal(sim.booted, true, "nobody meets a guest that still boots");
            assert.deepEqual(sim.qemu?.spec, sim.spec);
            for (const { serial, size } of disks)
              assert.ok(
                (sim.disks.get(serial) ?? 0n) >= (parseSize(size) ?? 0n),
                `${serial} is large enough`,
              );
          }
          for (const [serial, bytes] of before) assert.ok((sim.disks.get(serial) ?? 0n) >= bytes);
        }
      }
    }),
    { numRuns: 80 },
  );
});
