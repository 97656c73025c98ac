import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { OnHost, ResourceType } from "../../../../provider/resource.ts";
import { type CloneInputs, clone } from "../../../../provider/resources/zfs/clone.ts";
import { dataset } from "../../../../provider/resources/zfs/dataset.ts";
import { snapshot } from "../../../../provider/resources/zfs/snapshot.ts";
import { volume } from "../../../../provider/resources/zfs/volume.ts";
import { SimulatedZfs } from "../../simulated/zfs.ts";

/** The types below a pool, driven through random histories of a simulated host. */

const host = { name: "storage", ssh: "storage" };
const owner = "storage-lab/lab";
const passphrase = { encryption: "aes-256-gcm", keyformat: "passphrase" } as const;
const raw = { encryption: "aes-128-ccm", keyformat: "raw" } as const;
const rawKey = (n: number): string => Buffer.alloc(32, n).toString("base64");

type Event<I> =
  | { does: "up"; inputs: I }
  /** Stopped after some of its steps. */
  | { does: "cut"; inputs: I; after: number }
  | { does: "by hand"; change: (zfs: SimulatedZfs) => void }
  | { does: "delete" }
  | { does: "reboot" };

const history = <I>(inputs: fc.Arbitrary<I>, byHand: fc.Arbitrary<(zfs: SimulatedZfs) => void>) =>
  fc.array(
    fc.oneof<fc.Arbitrary<Event<I>>[]>(
      inputs.map((i) => ({ does: "up", inputs: i })),
      fc.tuple(inputs, fc.nat(5)).map(([i, after]) => ({ does: "cut", inputs: i, after })),
      byHand.map((change) => ({ does: "by hand", change })),
      fc.constant({ does: "delete" }),
      fc.constant({ does: "reboot" }),
    ),
    { minLength: 1, maxLength: 7 },
  );

/** Whatever has happened, an up that is not refused ends in the declared state. */
async function live<I extends OnHost, O>(
  type: ResourceType<I, O>,
  zfs: SimulatedZfs,
  events: readonly Event<I>[],
  reached: () => void,
): Promise<void> {
  let last: I | undefined;
  for (const event of events) {
    if (event.does === "by hand") event.change(zfs);
    if (event.does === "reboot") zfs.reboot();
    if (event.does === "delete" && last !== undefined) {
      const observed = await type.observe(zfs, last);
      if ((type.refusals?.(undefined, observed, last, owner) ?? []).length > 0) continue;
      zfs.apply(type.plan(undefined, observed, last, owner));
      assert.deepEqual(type.plan(undefined, await type.observe(zfs, last), last, owner), []);
    }
    if (event.does === "up" || event.does === "cut") {
      const { inputs } = event;
      const observed = await type.observe(zfs, inputs);
      if ((type.refusals?.(inputs, observed, inputs, owner) ?? []).length > 0) continue;
      const steps = type.plan(inputs, observed, inputs, owner);
      last = inputs;
      try {
        zfs.apply(steps, event.does === "cut" ? event.after : undefined);
      } catch (error) {
        // No key file, the host rebooted, and another key declared meanwhile: only an operator has the former one.
        assert.match(String(error), /Incorrect key provided/);
        zfs.loadKeysByHand();
        zfs.apply(type.plan(inputs, await type.observe(zfs, inputs), inputs, owner));
      }
      if (event.does === "cut") continue;
      const after = await type.observe(zfs, inputs);
      assert.deepEqual(type.plan(inputs, after, inputs, owner), []);
      assert.deepEqual(type.current(after, inputs), inputs);
      await imported(type, zfs, inputs);
      reached();
    }
  }
}

/** Found by its identity alone, it is as it is: no plan, nothing refused. */
async function imported<I extends OnHost, O>(type: ResourceType<I, O>, zfs: SimulatedZfs, inputs: I) {
  const named = type.named?.(inputs.host, type.identity(inputs));
  assert.ok(named);
  const found = type.found?.(await type.observe(zfs, named), named);
  assert.ok(found);
  assert.equal(type.inputs.safeParse(found).success, true, JSON.stringify(found));
  const observed = await type.observe(zfs, found);
  assert.deepEqual(type.plan(found, observed, found, owner), [], JSON.stringify(found));
  assert.deepEqual(type.refusals?.(found, observed, found, owner) ?? [], []);
  assert.deepEqual(type.current(observed, found), found);
  // Another's stack that imports it plans nothing either: no mark alone.
  assert.deepEqual(type.plan(found, observed, found, "other/stack"), []);
}

const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const without = <T extends object>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;
const common = {
  compression: maybe(["off", "gzip-6", "zstd", "lz4"]),
  sync: maybe(["standard", "disabled"] as const),
  copies: maybe([1, 2] as const),
  readonly: maybe(["on", "off"] as const),
};
const onDelete = fc.constantFrom("retain" as const, "destroy" as const);
const keys = fc.constantFrom(
  {},
  ...["first phrase", "second 'phrase"].flatMap((key) =>
    [true, false, undefined].map((keyOnHost) => without({ ...passphrase, key, keyOnHost })),
  ),
);
const setByHand = (name: string, pairs: readonly [string, string][]) =>
  fc.constantFrom(...pairs).map(([property, value]) => (zfs: SimulatedZfs): void => {
    zfs.things.get(name)?.local.set(property, value);
  });

const runs = 100;

describe("histories of a simulated host", () => {
  test("a volume", async () => {
    const inputs = fc
      .record({
        ...common,
        size: fc.constantFrom("64M", "64 MiB", "0.125 GiB", "256M"),
        volblocksize: fc.constant("16K"),
        sparse: maybe([true, false]),
        volmode: maybe(["default", "geom", "none"] as const),
        onDelete,
        encrypted: keys,
      })
      .map(({ encrypted, ...rest }) => without({ host, name: "tank/lun0", ...rest, ...encrypted }));
    const byHand = setByHand("tank/lun0", [
      ["compression", "lz4"],
      ["refreservation", "0"],
      ["sync", "always"],
    ]);
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(history(inputs, byHand), (events) =>
        live(volume, new SimulatedZfs(), events, () => {
          reached += 1;
        }),
      ),
      { numRuns: runs },
    );
    assert.ok(reached > runs / 3, `only ${reached} states were reached`);
  });

  test("a dataset", async () => {
    const rawKeys = [1, 2].flatMap((n) =>
      [true, undefined].map((keyOnHost) => without({ ...raw, key: rawKey(n), keyOnHost })),
    );
    const inputs = fc
      .record({
        ...common,
        recordsize: maybe(["1M", "128 KiB"]),
        special_small_blocks: maybe(["0", "32K"]),
        quota: maybe(["none", "1.5G"]),
        refreservation: maybe(["none", "10M"]),
        xattr: maybe(["sa", "dir"] as const),
        acltype: maybe(["posix", "off"] as const),
        mountpoint: maybe(["/srv/a-b", "none", "legacy"]),
        canmount: maybe(["on", "off", "noauto"] as const),
        onDelete,
        encrypted: fc.constantFrom({}, ...rawKeys),
      })
      .map(({ encrypted, ...rest }) => without({ host, name: "tank/apps", ...rest, ...encrypted }));
    const byHand = fc.oneof(
      setByHand("tank/apps", [["atime", "off"]]),
      setByHand("tank/apps", [["quota", "1073741824"]]),
      fc.constant((zfs: SimulatedZfs): void => {
        const one = zfs.things.get("tank/apps");
        if (one) one.mounted = false;
      }),
    );
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(history(inputs, byHand), (events) =>
        live(dataset, new SimulatedZfs(), events, () => {
          reached += 1;
        }),
      ),
      { numRuns: runs },
    );
    assert.ok(reached > runs / 3, `only ${reached} states were reached`);
  });

  test("a snapshot", async () => {
    // Whether it is recursive stays: a change of that is a replace, which deletes by the inputs of before.
    const inputs = (recursive: boolean | undefined) =>
      fc
        .record({ holds: maybe([["keep"], ["keep", "backup"], []]), onDelete })
        .map((rest) => without({ host, name: "tank/apps@a", recursive, ...rest }));
    const byHand = fc.constantFrom(
      (zfs: SimulatedZfs): void => void zfs.things.get("tank/apps@a")?.holds.add("foreign"),
      (zfs: SimulatedZfs): void => void zfs.things.get("tank/apps@a")?.holds.clear(),
      (zfs: SimulatedZfs): void => void zfs.things.delete("tank/apps/lun@a"),
    );
    let reached = 0;
    await fc.assert(
      fc.asyncProperty(
        maybe([true, false]).chain((recursive) => history(inputs(recursive), byHand)),
        (events) => {
          const zfs = new SimulatedZfs();
          zfs.apply([
            { say: "", argv: ["zfs", "create", "tank/apps"] },
            { say: "", argv: ["zfs", "create", "-V", "16384", "tank/apps/lun"] },
          ]);
          return live(snapshot, zfs, events, () => {
            reached += 1;
          });
        },
      ),
      { numRuns: runs },
    );
    assert.ok(reached > runs / 3, `only ${reached} states were reached`);
  });

  for (const kind of ["volume", "file system"] as const) {
    test(`a clone of a ${kind}`, async () => {
      const own: Record<string, fc.Arbitrary<string | undefined>> = kind === "volume"
        ? { volmode: maybe(["full", "none"]) }
        : { mountpoint: maybe(["/srv/c", "none"]), quota: maybe(["1G", "none"]) };
      const inputs = fc
        .record({ ...common, ...own, onDelete })
        .map(
          (rest): CloneInputs =>
            without({ host, name: "tank/copy", snapshot: "tank/a@s", ...rest } as CloneInputs),
        );
      let reached = 0;
      await fc.assert(
        fc.asyncProperty(history(inputs, setByHand("tank/copy", [["sync", "always"]])), (events) => {
          const zfs = new SimulatedZfs();
          const options = kind === "volume" ? ["-V", "16384"] : [];
          zfs.apply([
            { say: "", argv: ["zfs", "create", ...options, "tank/a"] },
            { say: "", argv: ["zfs", "snapshot", "tank/a@s"] },
          ]);
          return live(clone, zfs, events, () => {
            reached += 1;
          });
        }),
        { numRuns: runs },
      );
      assert.ok(reached > runs / 3, `only ${reached} states were reached`);
    });
  }
});
