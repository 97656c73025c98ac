import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { poolVdevs } from "../../components/zfs-inputs.ts";
import { parseConfig } from "../../config.ts";
import { type Base, readBase } from "../../stack-file/base.ts";
import { inJson, refused, target, whole } from "./sample.ts";

describe("a base", () => {
  const base = (settings: object = whole()): Base => ({
    stack: "lab",
    settings: Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`storage-lab:${key}`, value]),
    ),
  });
  const pools = { tank: { host: "storage", data: { raidz2: 8, disks: "by-id/virtio-DISK{01..08}" } } };
  const on = (own: object, from: Base) =>
    parseConfig(inJson({ base: from.stack, ...own }), "lab-raidz2", { base: from });

  test("stands in for each key that is left out, and for no part of one that is not", () => {
    const lab = on({ pools }, base());
    const { tank } = lab.pools;
    assert.deepEqual(tank && poolVdevs(tank).map(({ role, type, disks }) => [role, type, disks.length]), [
      ["data", "raidz2", 8],
    ]);
    assert.equal(lab.volumes["tank/lun0"]?.size, "2 GiB");
    assert.equal(lab.benchmark?.size, 1073741824);
  });

  test("what it has can be left out: {} or none", () => {
    const lab = on({ targets: {}, fabric: {}, filesystem: "none", benchmark: "none" }, base());
    assert.deepEqual(
      [lab.targets, lab.fabric, lab.filesystem, lab.benchmark],
      [{}, {}, undefined, undefined],
    );
  });

  test("of other projects' settings nothing is taken", () => {
    on(
      { pools },
      { ...base(), settings: { ...base().settings, "other:key": 1, "storagelab:readOnly": true } },
    );
  });

  const cases: [name: string, own: object, from: Base, message: RegExp][] = [
    [
      "what is wrong in it is said of its file",
      { pools: { dozer: pools.tank } },
      base(),
      /^ {2}storage-lab:volumes\.tank\/lun0 \(in Pulumi\.lab\.yaml\): a volume is POOL\/NAME, and there is no pool tank; pools: dozer$/m,
    ],
    [
      "the stack itself",
      { pools },
      { ...base(), stack: "lab-raidz2" },
      /storage-lab:base: lab-raidz2 is this stack itself/,
    ],
    [
      "one with a base of its own",
      { pools },
      base({ ...whole(), base: "other" }),
      /storage-lab:base: Pulumi\.lab\.yaml has a base itself \("other"\); name a stack file without one/,
    ],
    [
      "one with a secret that would be taken over",
      { pools },
      base({
        ...whole(),
        targets: {
          [target]: { ...whole().targets[target], chap: { user: "u", password: { secure: "v1:x" } } },
        },
      }),
      /storage-lab:targets \(in Pulumi\.lab\.yaml\): Pulumi\.lab\.yaml has a secret here, which opens with that stack's key alone/,
    ],
  ];
  for (const [name, own, from, message] of cases)
    test(name, () =>
      assert.match(
        refused(() => on(own, from)),
        message,
      ),
    );

  test("a secret in a key that is not taken over is no matter", () => {
    on({ pools, targets: {}, benchmark: "none" }, base({ ...whole(), targets: { x: { secure: "v1:x" } } }));
  });

  test("its file is read as Pulumi reads it; one that is not there is named", async () => {
    const folder = join(import.meta.dirname, "../..");
    const read = await readBase("lab", folder);
    const own = { base: "lab", pools };
    assert.equal(parseConfig(inJson(own), "lab-raidz2", { base: read }).volumes["tank/lun0"]?.size, "2 GiB");
    await assert.rejects(
      readBase("no-such", folder),
      /storage-lab:base: no-such: there is no Pulumi\.no-such\.yaml/,
    );
  });
});
