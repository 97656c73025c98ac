import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { assumedBy, main, usage } from "../../../bench/model/main.ts";
import { readStack } from "../../../bench/model/stack.ts";
import { inMarkdown, inTerminal, size } from "../../../bench/model/tables.ts";
import { type Assumed, type WhatIf, whatIf } from "../../../bench/model/what-if.ts";
import type { LabConfig } from "../../../config.ts";

const project = join(import.meta.dirname, "../../..");
const folder = mkdtempSync(join(tmpdir(), "storage-lab-model-"));
after(() => rmSync(folder, { recursive: true }));

const labA: Assumed = {
  diskSize: 1e12,
  hardware: { disk: { sequential: 150 }, hba: { bandwidth: 3362 }, link: { bandwidth: 4000 } },
};
const of = async (stack: string, assumed: Assumed = { hardware: {} }): Promise<WhatIf[]> =>
  whatIf(stack, await readStack(stack, project), assumed);
const only = ([model, ...others]: WhatIf[]): WhatIf => {
  assert.ok(model);
  assert.equal(others.length, 0);
  return model;
};
const gib = 2 ** 30;

describe("a stack's model", () => {
  test("knows the virtual lab's disks, and what they give", async () => {
    const model = only(await of("lab"));
    assert.equal(model.vdevs, "2 × mirror of 3, log: mirror of 2");
    assert.deepEqual(model.space, { raw: 12 * gib, size: 4026531840, usable: 3892314112 });
    assert.deepEqual(model.failures, {
      ...{ any: 2, best: 4, words: "data: any 2 disks of each vdev; log: any 1 disk" },
    });
    // refreservation of a volume of 2 GiB in blocks of 16 KiB: zvol_volsize_to_reservation.
    assert.equal(model.volume?.reservation, 2 * gib + (7 + 128 + 1) * 2 * 131072);
    assert.equal(model.left, 3892314112 - model.volumes);
    assert.equal(model.writes.asynchronous?.least, 3);
    assert.equal(model.writes.log?.least, 2);
    assert.deepEqual(model.ask, []);
    assert.ok(
      model.bounds.every(({ limit }) => limit === null),
      "guests have no known rates",
    );
  });
  test("of lab A names the HBA as the first limit of writing, with three copies", async () => {
    const model = only(await of("r710", labA));
    const write = model.bounds.find(
      ({ protocol, operation }) => protocol === "iser" && operation === "write",
    );
    assert.equal(write?.limit?.element, "hba");
    assert.equal(Math.round(write?.limit?.megabytesPerSecond ?? 0), 1121);
    assert.equal(model.space?.raw, 72e12);
    assert.deepEqual(model.ask, []);
    assert.match(
      inTerminal([model]),
      /iSER, sequential write 512 KiB +at most 1,121 MB\/s by the HBA, pool 3,600 MB\/s/,
    );
  });
  test("of a pool without a target still says what HBA and disks allow", async () => {
    const lab = await readStack("r710", project);
    const { benchmark: _, ...rest } = lab;
    const [model] = whatIf("r710", { ...rest, targets: {} } as LabConfig, labA);
    const write = model?.bounds.find(({ operation }) => operation === "write");
    assert.deepEqual([write?.limit?.element, model?.estimate], ["hba", null]);
    assert.ok(model?.bounds.some(({ operation }) => operation === "randread"));
  });
  test("asks by name for what it would need to know of real hosts", async () => {
    const model = only(await of("r710"));
    assert.deepEqual([model.space, model.left], [null, null]);
    assert.deepEqual(model.ask, [
      "the size of storage's disks: --disk-size 1TB",
      'what the link carries: benchmark.hardware.link.bandwidth, or --link "32 Gbit/s"',
      'what the HBA carries: benchmark.hardware.hba.bandwidth, or --hba "3.2 GB/s"',
      'what a disk moves: benchmark.hardware.disk.sequential, or --disk "180 MB/s"',
    ]);
    assert.match(inTerminal([model]), /r710: not known is the size of storage's disks: --disk-size 1TB/);
  });
  test("hints where the volume's blocks waste space", async () => {
    const model = only(await of("lab-raidz1"));
    assert.match(model.volume?.hints.join() ?? "", /RAID-Z1 of 6 disks .* 32 KiB leaves 80 %/);
    assert.ok(inMarkdown([model]).includes("lab-raidz1: On RAID-Z1 of 6 disks"));
  });
  test("is a column for each pool of a stack", async () => {
    const models = await of("lab-two-pools");
    assert.deepEqual(
      models.map(({ pool }) => pool),
      ["bulk", "fast"],
    );
    assert.match(inMarkdown(models), /^\| {2}\| lab-two-pools: bulk \| lab-two-pools: fast \|/);
  });
  test("can be made of every stack file of the project, as can tables of all of them", async () => {
    const stacks = readdirSync(project).flatMap((file) => /^Pulumi\.(.+)\.yaml$/.exec(file)?.slice(1) ?? []);
    assert.ok(stacks.length > 5);
    const models = (await Promise.all(stacks.map((stack) => of(stack)))).flat();
    assert.ok(models.length >= stacks.length);
    for (const text of [inTerminal(models), inMarkdown(models)])
      assert.ok(!/NaN|Infinity|undefined/.test(text), text);
  });
});

describe("what the application needs", () => {
  const withNeeds = async (needs: object): Promise<string> => {
    const lab = await readStack("r710", project);
    const benchmark = { ...lab.benchmark, needs } as LabConfig["benchmark"];
    return inTerminal(whatIf("r710", { ...lab, benchmark }, labA));
  };
  test("is met, not met, or not excluded", async () => {
    const text = await withNeeds({ capacity: 10 * 2 ** 40, failures: 3, write: 2000, read: 2000 });
    assert.match(text, /need: capacity +met$/m);
    assert.match(text, /need: failures tolerated +not met$/m);
    assert.match(text, /need: write +not met: at most 1,121 MB\/s of 2,000 MB\/s$/m);
    assert.match(text, /need: read, not from ARC +not excluded; measure it$/m);
    assert.ok(!text.includes("need: random reads"), "no need of that is stated");
  });
  test("is measured against random reads as well, where the benchmark has them", async () => {
    const lab = await readStack("r710", project);
    const needs = { readIops: 20000 };
    const benchmark = {
      ...lab.benchmark,
      workload: ["random"],
      size: 2 ** 30,
      needs,
    } as LabConfig["benchmark"];
    const assumed = { ...labA, hardware: { ...labA.hardware, disk: { iops: 150 } } };
    const text = inTerminal(whatIf("r710", { ...lab, benchmark }, assumed));
    assert.match(text, /need: random reads, not from ARC +not met: at most 10,800 of 20,000 IOPS$/m);
  });
});

describe("a stack file is read as the stack's program does", () => {
  const write = (stack: string, config: string): void =>
    writeFileSync(join(folder, `Pulumi.${stack}.yaml`), `config:\n${config}`);
  const hosts = `  storage-lab:hosts: {storage: {ssh: r}, one: {ssh: o, iqn: "iqn.2026-09.com.example:one"}}\n`;
  test("with secrets that stay closed", async () => {
    write(
      "secret",
      `${hosts}  storage-lab:pools: {tank: {host: storage, data: {mirror: 2, disks: "by-id/d{1..2}"}}}
  storage-lab:volumes:
    tank/a: {size: 1 GiB, encryption: aes-256-gcm, keyformat: hex, key: {secure: v1:xyz}}
    tank/b: {size: 1 GiB, encryption: aes-256-gcm, keyformat: raw, key: {secure: v1:abc}}
`,
    );
    const lab = await readStack("secret", folder);
    assert.deepEqual(Object.keys(lab.volumes), ["tank/a", "tank/b"]);
  });
  test("and one that is a secret as a whole is refused", async () => {
    write("whole", `${hosts}  storage-lab:pools: {secure: v1:xyz}\n`);
    await assert.rejects(readStack("whole", folder), /storage-lab:pools is a secret as a whole/);
  });
  test("its mistakes are told as a preview tells them", async () => {
    write(
      "wrong",
      `${hosts}  storage-lab:pools: {tank: {host: nobody, data: {mirror: 2, disks: "by-id/d{1..2}"}}}\n`,
    );
    await assert.rejects(readStack("wrong", folder), /Pulumi.wrong.yaml is not right.*pools.tank.host/s);
  });
  test("one that isn't there, or is no name, is told", async () => {
    await assert.rejects(readStack("nothing", folder), /there is no Pulumi.nothing.yaml/);
    await assert.rejects(readStack("../lab", folder), /"\.\.\/lab" is no stack's name/);
  });
});

describe("options", () => {
  test("become the model's units", () => {
    assert.deepEqual(
      assumedBy({
        "disk-size": "1TB",
        disk: "180 MB/s",
        "disk-iops": "150",
        hba: "3.2 GB/s",
        link: "32 Gbit/s",
        log: "1.9 GB/s",
      }),
      {
        diskSize: 1e12,
        hardware: {
          disk: { sequential: 180, iops: 150 },
          ...{ log: { sequential: 1900 }, hba: { bandwidth: 3200 }, link: { bandwidth: 4000 } },
        },
      },
    );
    assert.deepEqual(assumedBy({}), { hardware: {} });
    assert.equal(assumedBy({ "disk-size": "2 TiB" }).diskSize, 2 ** 41);
    assert.equal(assumedBy({ "disk-size": "1.92 TB" }).diskSize, 1.92e12);
  });
  for (const [option, value, message] of [
    ["disk-size", "large", /--disk-size: "large" is no size of a disk/],
    ["disk-size", "1", /64 MiB or more/],
    ["disk-iops", "0", /--disk-iops: "0" is no number/],
    ["hba", "3", /--hba: .*no bandwidth/],
  ] as const)
    test(`${option} ${value} is refused`, () => assert.throws(() => assumedBy({ [option]: value }), message));
});

describe("the command", () => {
  test("prints every figure exactly as JSON", async () => {
    let printed = "";
    const status = await main(["lab", "--json"], (text) => {
      printed += text;
    });
    assert.equal(status, 0);
    const [model] = JSON.parse(printed) as WhatIf[];
    assert.deepEqual(model?.space, { raw: 12 * gib, size: 4026531840, usable: 3892314112 });
  });
  test("without a stack, with an unknown option or two forms at once says how it is called", async () => {
    await assert.rejects(main([]), (error: Error) => error.message.includes(usage));
    await assert.rejects(main(["lab", "--nothing"]), (error: Error) => error.message.includes(usage));
    await assert.rejects(main(["lab", "--json", "--markdown"]), /--json or --markdown, not both/);
  });
});

test("sizes for people have three digits", () => {
  assert.deepEqual([0, 512, 3892314112, 1e12, 72e12].map(size), [
    "0 B",
    "512 B",
    "3.63 GiB",
    "931 GiB",
    "65.5 TiB",
  ]);
});
