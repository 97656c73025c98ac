import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { poolTolerates } from "../../components/zfs-inputs.ts";
import { parseConfig } from "../../config.ts";
import { baseOf, readBase } from "../../stack-file/base.ts";

describe("the stack files that are shipped", () => {
  const folder = join(import.meta.dirname, "../..");
  const names = globSync("Pulumi.*.yaml", { cwd: folder }).map((file) => file.split(".")[1] ?? "");
  /** As Pulumi hands them to the program. */
  const settingsOf = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      Object.entries((await readBase(name, folder)).settings).map(([key, value]) => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
    );
  const survives: Record<string, string[]> = {
    lab: ["data: any 2 disks of each vdev; log: any 1 disk"],
    "lab-mirror2": ["data: any 1 disk of each vdev; log: any 1 disk"],
    "lab-raidz1": ["data: any 1 disk; log: any 1 disk"],
    "lab-raidz2": ["data: any 2 disks; log: any 1 disk"],
    "lab-raidz3": ["data: any 3 disks; log: any 1 disk"],
    "lab-draid": ["data: any 2 disks"],
    "lab-no-slog": ["data: any 2 disks of each vdev"],
    "lab-l2arc": [
      "data: any 2 disks of each vdev; log: no failure, if the host fails with it: the last synchronous writes would be lost; cache: any failure, it holds copies only",
    ],
    "lab-special": ["data: any 1 disk of each vdev; special: any 1 disk; log: any 1 disk"],
    "lab-two-pools": ["data: any 1 disk", "data: any 1 disk of each vdev"],
    r710: ["data: any 2 disks of each vdev, or any 2 whole enclosures; log: any 1 disk"],
  };

  test("are all known here", () => assert.deepEqual(names.sort(), Object.keys(survives).sort()));

  for (const [name, sentences] of Object.entries(survives)) {
    test(`${name}: ${sentences.join(" and ")}`, async () => {
      const own = await settingsOf(name);
      const base = baseOf(own);
      const beside = base === undefined ? {} : { base: await readBase(base, folder) };
      const lab = parseConfig(own, name, { ...beside, secretKeys: [] });
      assert.deepEqual(Object.values(lab.pools).map(poolTolerates), sentences);
    });
  }
});
