import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ChapInputs } from "../../../../provider/resources/iscsi/chap.ts";
import { type InitiatorInputs, initiator } from "../../../../provider/resources/iscsi/initiator.ts";
import { type SessionInputs, session } from "../../../../provider/resources/iscsi/session.ts";
import { formatSize } from "../../../../provider/size.ts";
import { SimulatedInitiator, withValue } from "../../simulated/iscsi.ts";
import { reach, remove } from "../../simulated/reach.ts";

/** Random sequences of states on a simulated host: planning after applying is always empty. */

const host = { name: "initiator", ssh: "initiator" };
const target = "iqn.2026-09.com.example.lab:tank";
const portals = { tcp: "10.10.10.1:3260", iser: "10.10.10.1:3261" };
const ifaces = { tcp: "default", iser: "iser" };
const plain = { noNullPrototype: true } as const;
const cut = fc.nat(9);
const few = fc.nat(3);
const transport = fc.constantFrom("tcp" as const, "iser" as const);

const chap = fc.constantFrom<ChapInputs | undefined>(
  undefined,
  { user: "bob", password: "a b!#$^&*/c12" },
  { user: "bob", password: "p2p2p2p2p2p2", mutualUser: "tgt", mutualPassword: "q = r" },
);
const declared = fc.record(
  {
    transport,
    luns: fc.constantFrom<number[]>([0], [0, 1], [1, 0]),
    sized: fc.constantFrom("MiB", "bytes"),
    startup: fc.constantFrom("automatic" as const, "manual" as const),
    settings: fc.constantFrom({ "node.session.queue_depth": "64" }, {}),
    chap,
  },
  { requiredKeys: ["transport"], ...plain },
);

/** What the target is declared to be comes first: its volumes, its LUNs and its CHAP. */
function inputsOn(
  sim: SimulatedInitiator,
  given: typeof declared extends fc.Arbitrary<infer T> ? T : never,
): SessionInputs {
  const { transport, sized, chap, ...rest } = given;
  const luns = rest.luns ?? [0];
  for (const lun of luns) if (!sim.luns.has(lun)) sim.luns.set(lun, 2n ** 30n);
  sim.chap = chap;
  const size = (lun: number): string => {
    const bytes = sim.luns.get(lun) ?? 0n;
    return sized === "MiB" ? formatSize(bytes) : `${bytes}`;
  };
  return {
    ...{ host, target, portal: portals[transport], transport },
    ...rest,
    ...(sized && { sizes: luns.map(size) }),
    ...(chap && { chap }),
  };
}

type Does = (sim: SimulatedInitiator) => void;
const first = (sim: SimulatedInitiator) => [...sim.sessions.values()][0];
const records = (sim: SimulatedInitiator): string[] => sim.below(`/var/lib/iscsi/nodes/${target}`);
/** What happens beside this project; each does nothing where there is nothing to do it to. */
const byHand: Record<string, Does> = {
  "the volume grows": (sim) => sim.luns.set(0, (sim.luns.get(0) ?? 2n ** 30n) + 2n ** 28n),
  "the connection breaks": (sim) => {
    const session = first(sim);
    if (session) session.state = "FAILED";
  },
  "somebody logs out": (sim) => {
    const session = first(sim);
    if (session && sim.mounts.size === 0) sim.logout(session.id);
  },
  "the host restarts": (sim) => {
    sim.mounts.clear();
    for (const id of sim.sessions.keys()) sim.logout(id);
    sim.daemon = undefined;
  },
  "a record is deleted": (sim) => sim.remove(...records(sim).slice(0, 1)),
  "a record gets a password": (sim) => {
    const [path] = records(sim);
    if (path) sim.write(path, withValue(sim.text(path) ?? "", "node.session.auth.password", "left"));
  },
  "a disk is mounted": (sim) => {
    const [disk] = [...(first(sim)?.disks.values() ?? [])];
    if (disk) sim.mounts.set(disk.name, "/test");
  },
  "all is unmounted": (sim) => sim.mounts.clear(),
};

const name = fc.constantFrom("iqn.2026-09.com.example.lab:a", "iqn.2026-09.com.example.lab:b");
const file = "/etc/iscsi/initiatorname.iscsi";

test("a session, from any state to any other, interrupted anywhere", async () => {
  const move = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant("reach" as const), given: declared, cut }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("remove" as const), transport, cut }) },
    {
      weight: 3,
      arbitrary: fc.record({
        does: fc.constant("hand" as const),
        what: fc.constantFrom(...Object.keys(byHand)),
      }),
    },
  );
  let reached = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (moves) => {
      const sim = new SimulatedInitiator(target);
      sim.write(file, "InitiatorName=iqn.2026-09.com.example.lab:initiator\n");
      for (const step of moves) {
        if (step.does === "hand") byHand[step.what]?.(sim);
        else if (step.does === "reach") {
          if (await reach(session, sim, inputsOn(sim, step.given), step.cut)) reached += 1;
        } else {
          const portal = portals[step.transport];
          await remove(session, sim, { host, target, portal, transport: step.transport }, step.cut);
        }
        for (const { portal, iface } of sim.sessions.values())
          assert.equal(iface, ifaces[portal === portals.tcp ? "tcp" : "iser"]);
      }
    }),
    { numRuns: 150 },
  );
  assert.ok(reached > 150, `${reached} states were reached`);
});

test("an initiator's name, from any state to any other, interrupted anywhere; logins have it", async () => {
  const move = fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant("reach" as const), name, cut: few }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("remove" as const), name, cut: few }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant("hand" as const), name }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant("login" as const), out: fc.boolean() }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 8 }), async (moves) => {
      const sim = new SimulatedInitiator(target);
      sim.write(file, "## made with the package\nInitiatorName=iqn.1993-08.org.debian:01:6b5d8f9c1a\n");
      sim.run(["iscsiadm", "-m", "node", "-T", target, "-p", portals.tcp, "-I", "default", "-o", "new"]);
      let declared: InitiatorInputs | undefined;
      for (const step of moves) {
        if (step.does === "reach") {
          const inputs = { host, name: step.name };
          if (await reach(initiator, sim, inputs, step.cut)) declared = inputs;
        } else if (step.does === "remove" && declared !== undefined) {
          const gone = initiator.exists(await initiator.observe(sim, declared));
          if (gone && sim.sessions.size === 0) {
            sim.apply(
              initiator.plan(undefined, await initiator.observe(sim, declared), declared, "lab/test"),
              step.cut,
            );
            const before = await initiator.observe(sim, declared);
            sim.apply(initiator.plan(undefined, before, declared, "lab/test"));
            const after = await initiator.observe(sim, declared);
            assert.deepEqual(initiator.plan(undefined, after, declared, "lab/test"), []);
            declared = undefined;
          }
        } else if (step.does === "hand" && sim.sessions.size === 0) {
          sim.write(file, `InitiatorName=${step.name}\n`);
          sim.daemon = undefined;
          declared = undefined;
        } else if (step.does === "login" && sim.text(file) !== undefined) {
          for (const id of sim.sessions.keys()) sim.logout(id);
          sim.login(portals.tcp, "default");
          if (declared !== undefined) assert.equal(first(sim)?.initiator, declared.name);
          // iscsid still runs then.
          if (step.out) sim.logout(first(sim)?.id ?? 0);
        }
      }
    }),
    { numRuns: 150 },
  );
});
