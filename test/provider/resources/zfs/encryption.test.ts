import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import { fingerprint, keysFolder } from "../../../../provider/resources/zfs/encryption.ts";
import { type VolumeInputs, volume } from "../../../../provider/resources/zfs/volume.ts";
import { type Step, stepLine, stepScript } from "../../../../provider/step.ts";
import { fakeHost, recorded, type Told } from "../../../recorded.ts";
import { SimulatedZfs } from "../../simulated/zfs.ts";

const owner = "storage-lab/lab";
const host = { name: "storage", ssh: "storage" };
const key = "it's a $ecret \\ `phrase`";
const plain: VolumeInputs = { host, name: "tank/lun0", size: "64M", onDelete: "destroy" };
const prompt: VolumeInputs = { ...plain, encryption: "aes-256-gcm", keyformat: "passphrase", key };
const kept: VolumeInputs = { ...prompt, keyOnHost: true };
const hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const mark = (k: string): string => fingerprint("tank/lun0", "passphrase", k);
const file = (k: string): string => `${keysFolder}/tank%2Flun0.${mark(k)}`;

const plan = async (zfs: SimulatedZfs, inputs: VolumeInputs): Promise<Step[]> =>
  volume.plan(inputs, await volume.observe(zfs, inputs), inputs, owner);
const up = async (zfs: SimulatedZfs, inputs: VolumeInputs): Promise<string[]> => {
  const steps = await plan(zfs, inputs);
  zfs.apply(steps);
  assert.deepEqual(await plan(zfs, inputs), []);
  return steps.map((step) => step.say);
};
const refusals = async (zfs: SimulatedZfs, inputs: VolumeInputs): Promise<string[]> =>
  volume.refusals?.(inputs, await volume.observe(zfs, inputs), inputs, owner) ?? [];
const node = "wait for /dev/zvol/tank/lun0";

describe("an encrypted zvol: key, then node, then LIO's restore", () => {
  test("the key is loaded by a unit of ours before the nodes are waited for and LIO is restored", async () => {
    const zfs = new SimulatedZfs();
    assert.deepEqual(await up(zfs, kept), [
      "keep the key of tank/lun0 on the host",
      "write storage-lab-keys.service",
      "let storage-lab-keys.service run at boot",
      "create volume tank/lun0 of 64 MiB",
      node,
    ]);
    const unit = zfs.files.get("/etc/systemd/system/storage-lab-keys.service") ?? "";
    assert.match(unit, /^After=zfs-import\.target /m);
    assert.match(
      unit,
      /^Before=zfs-mount\.service zfs-volume-wait\.service .*rtslib-fb-targetctl\.service target\.service/m,
    );
    zfs.reboot();
    assert.deepEqual(await plan(zfs, kept), []);
  });

  test("a key that is not kept there is loaded by the next up, and then the node comes", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, prompt);
    zfs.reboot();
    assert.deepEqual(await up(zfs, prompt), ["load the key of tank/lun0", node]);
  });

  test("without a declared key a locked volume is refused, with the command that unlocks it", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, prompt);
    zfs.reboot();
    const { key: _, ...rest } = prompt;
    assert.deepEqual(await refusals(zfs, rest), [
      "The key of tank/lun0, which encrypts tank/lun0, is not loaded. Load it (zfs load-key tank/lun0), or declare it.",
    ]);
    assert.equal((await refusals(zfs, plain)).length, 1);
  });
});

describe("a key that changes", () => {
  test("on the host: the new file is there before ZFS is told of it, the old one goes after", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, kept);
    const steps = await plan(zfs, { ...kept, key: "another phrase" });
    assert.deepEqual(
      steps.map(stepLine).filter((line) => /keys\/|change-key/.test(line)),
      [
        `write ${file("another phrase")} [secret]`,
        `zfs change-key -o keyformat=passphrase -o keylocation=file://${file("another phrase")} tank/lun0`,
        `rm -f ${file(key)}`,
      ],
    );
    for (let cut = 0; cut <= steps.length; cut++) {
      const again = new SimulatedZfs();
      await up(again, kept);
      again.apply(steps, cut);
      again.reboot();
      assert.equal(again.things.get("tank/lun0")?.key?.loaded, true, `unlocked after ${cut} steps`);
      await up(again, { ...kept, key: "another phrase" });
      assert.deepEqual(
        [...again.files.keys()].filter((path) => path.startsWith(keysFolder)),
        [file("another phrase")],
      );
    }
  });

  test("elsewhere: by zfs change-key, its fingerprint noted after it", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, prompt);
    assert.deepEqual((await plan(zfs, { ...prompt, key: "another phrase" })).map(stepLine), [
      "zfs set org.storage-lab:key=changing tank/lun0",
      "zfs change-key -o keyformat=passphrase -o keylocation=prompt tank/lun0 <<< [secret]",
      `zfs set org.storage-lab:key=${mark("another phrase")} tank/lun0`,
    ]);
  });

  test("cut between a key's change and its note: the former key is not taken for the one that it has", async () => {
    for (const from of [prompt, kept]) {
      const zfs = new SimulatedZfs();
      await up(zfs, { ...prompt, key: "a stale phrase" });
      await up(zfs, from);
      zfs.apply(await plan(zfs, { ...prompt, key: "another phrase" }), 2);
      for (const key of [from.key ?? "", "a stale phrase", "a third phrase"]) {
        const says = (await plan(zfs, { ...prompt, key })).map(({ say }) => say);
        assert.ok(says.includes("change the key of tank/lun0"), `${key}: ${says}`);
      }
      await up(zfs, { ...prompt, key: "a third phrase" });
    }
  });

  test("from the host and to it, without another key", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, kept);
    assert.deepEqual(await up(zfs, prompt), [
      "note where the key of tank/lun0 is",
      "remove the key of tank/lun0 from the host, and storage-lab-keys.service with the last key",
    ]);
    assert.deepEqual([...zfs.files.keys()], []);
    assert.equal((await up(zfs, kept)).at(-1), "note where the key of tank/lun0 is");
  });

  test("a wrong key is noticed by zfs, and the way out named", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, prompt);
    zfs.reboot();
    const [load] = await plan(zfs, { ...prompt, key: "a wrong phrase" });
    assert.ok(load && "argv" in load);
    assert.match(
      load.argv[3] ?? "",
      /not the one that tank\/lun0 has: .*load it by hand \(zfs load-key tank\/lun0\)/,
    );
    assert.throws(() => zfs.apply([load]), /Incorrect key provided/);
  });

  test("a volume that was taken over: its key is tried before it counts as known", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, prompt);
    zfs.things.get("tank/lun0")?.local.delete("org.storage-lab:key");
    assert.deepEqual(
      (await plan(zfs, prompt)).map((step) => step.say),
      ["try the key of tank/lun0", "note where the key of tank/lun0 is"],
    );
  });
});

describe("the key itself", () => {
  test("is in no argv, no line that is shown, no outputs and no property", async () => {
    for (const inputs of [prompt, kept, { ...kept, keyformat: "hex", key: hex } as const]) {
      const zfs = new SimulatedZfs();
      const steps = [...(await plan(zfs, inputs))];
      zfs.apply(steps);
      zfs.reboot();
      steps.push(
        ...(await plan(zfs, inputs)),
        ...(await plan(zfs, { ...inputs, keyOnHost: !inputs.keyOnHost })),
      );
      const secret = inputs.key ?? "";
      for (const step of steps) {
        assert.ok(!stepLine(step).includes(secret) && !step.say.includes(secret));
        if ("argv" in step) assert.ok(!step.argv.join(" ").includes(secret));
      }
      const observed = await volume.observe(zfs, inputs);
      assert.ok(!JSON.stringify(volume.outputs(inputs, observed)).includes(secret));
      assert.ok(![...(observed.properties?.values() ?? [])].some(({ value }) => value.includes(secret)));
    }
  });

  test("reaches zfs as it is, whatever its characters", async () => {
    const create = (await plan(new SimulatedZfs(), prompt))[0];
    assert.ok(create);
    assert.ok(stepScript(create).includes(`<<'EOF'\n${key}\nEOF`));
  });

  test("32 raw bytes travel as base64 and are decoded on the host", async () => {
    const raw = { ...prompt, keyformat: "raw", key: Buffer.alloc(32, 200).toString("base64") } as const;
    const [create] = await plan(new SimulatedZfs(), raw);
    assert.ok(create && "argv" in create);
    assert.deepEqual(create.argv.slice(0, 5), ["sh", "-c", 'base64 -d | zfs "$@"', "zfs", "create"]);
    await up(new SimulatedZfs(), { ...raw, keyOnHost: true });
  });

  test("goes with its volume, and the unit with the last key", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, kept);
    await up(zfs, { ...kept, name: "tank/lun0.b" });
    for (const name of ["tank/lun0", "tank/lun0.b"]) {
      const gone = { ...kept, name };
      zfs.apply(volume.plan(undefined, await volume.observe(zfs, gone), gone, owner));
      assert.equal(zfs.files.size, name === "tank/lun0" ? 3 : 0);
    }
  });
});

describe("removing keys for real, on this machine", () => {
  const folder = mkdtempSync(join(tmpdir(), "storage-lab-keys-"));
  after(() => rmSync(folder, { recursive: true }));
  /** Runs the step's own script, its paths moved below a folder of this test; the files that are left. */
  const removeKey = async (zfs: SimulatedZfs, name: string): Promise<string[]> => {
    const gone = { ...kept, name };
    const steps = volume.plan(undefined, await volume.observe(zfs, gone), gone, owner);
    const [step] = steps.filter(({ say }) => say.startsWith("remove the key"));
    const words = step !== undefined && "argv" in step ? step.argv : [];
    const [program = "", ...args] = words.map((word) => (word.startsWith("/") ? folder + word : word));
    execFileSync(program, args);
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
  };

  test("another's key keeps the unit; the last takes it, and what an interrupted run left of a file", async () => {
    const zfs = new SimulatedZfs();
    await up(zfs, kept);
    await up(zfs, { ...kept, name: "tank/lun0.b" });
    for (const [path, text] of zfs.files) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const second = [...zfs.files.keys()].find((path) => path.includes("lun0.b.")) ?? "";
    writeFileSync(`${folder}${second}.storage-lab-part`, "half");
    const unit = "storage-lab-keys.service";
    const part = `${basename(second)}.storage-lab-part`;
    assert.deepEqual(await removeKey(zfs, "tank/lun0"), [unit, unit, basename(second), part].sort());
    assert.deepEqual(await removeKey(zfs, "tank/lun0.b"), []);
  });
});

describe("what encryption refuses", () => {
  const cases: [Partial<VolumeInputs>, string, RegExp][] = [
    [{ key: "short" }, "key", /8 to 512 characters in one line; here are 5$/],
    [{ key: "two\nlines here" }, "key", /in one line/],
    [{ keyformat: "hex", key: "00ff" }, "key", /64 hex digits; here are 4 characters/],
    [{ keyformat: "raw", key: "AAAA" }, "key", /32 bytes in base64.*here are 4$/],
    [{ keyformat: undefined }, "keyformat", /goes with a keyformat/],
    [{ encryption: "off", keyformat: undefined }, "key", /key goes with encryption, which is off/],
  ];
  for (const [change, field, sentence] of cases) {
    test(`${JSON.stringify(change)}, without telling the key`, () => {
      const found = volume.rules?.({ ...prompt, ...change } as VolumeInputs) ?? [];
      assert.deepEqual(
        found.map(([path]) => path),
        [field],
      );
      assert.match(found[0]?.[1] ?? "", sentence);
      assert.ok(!found[0]?.[1].includes(change.key ?? key));
    });
  }

  test("a new volume without its key; another cipher or format than it has", async () => {
    const zfs = new SimulatedZfs();
    const { key: _, ...keyless } = prompt;
    assert.match(
      (await refusals(zfs, keyless))[0] ?? "",
      /no key is declared. Declare key, from a Pulumi secret/,
    );
    await up(zfs, prompt);
    assert.match(
      (await refusals(zfs, { ...prompt, encryption: "aes-128-ccm" }))[0] ?? "",
      /has encryption aes-256-gcm, declared is aes-128-ccm/,
    );
    assert.match(
      (await refusals(zfs, { ...prompt, keyformat: "hex", key: hex }))[0] ?? "",
      /has keyformat passphrase/,
    );
  });
});

describe("reading key files", () => {
  const find = `find ${keysFolder} -maxdepth 1 -type f -name 'tank%2Flun0.*' -exec sha256sum '{}' +`;
  const units =
    "grep -aHZ '' /etc/systemd/system/storage-lab-keys.service /etc/systemd/system/multi-user.target.wants/storage-lab-keys.service";
  const told = (answer: Told): Record<string, Told> => ({
    "zfs get -Hp -o property,value,source all tank/lun0": recorded("zfs-get--volume-encrypted--zfs-2.3.9"),
    "zfs get -Hp -d 1 -t snapshot -o name,property,value,source createtxg,clones,userrefs,org.storage-lab:owner,org.storage-lab:on-delete tank/lun0":
      "",
    "test -b /dev/zvol/tank/lun0": "",
    "zpool status -P": "no pools available\n",
    "zpool get -Hp -o property,value,source all tank": recorded("zpool-get--two-mirrors--zfs-2.3.9"),
    [find]: answer,
    [units]: { status: 2, stderr: "grep: x: No such file or directory\n" },
  });
  const observe = (answer: Told) => volume.observe(fakeHost(told(answer)), kept);

  test("those of this dataset alone", async () => {
    const sum = "9f65304b9ca19c7c62be9a9db9cd2eaac162410823a626997663a68782ac2841";
    const other = `${keysFolder}/tank%2Flun0.b.0123456789abcdef`;
    const { files } = (await observe(`${sum}  ${file(key)}\n${sum}  ${other}\n`)).key;
    assert.deepEqual([...files], [[file(key), sum]]);
  });
  test("no folder is no file; every other failure is an error", async () => {
    const absent = `find: '${keysFolder}': No such file or directory\n`;
    assert.equal((await observe({ status: 1, stderr: absent })).key.files.size, 0);
    await assert.rejects(observe({ status: 1, stderr: "find: Permission denied\n" }), CommandError);
    await assert.rejects(observe("unknown line\n"), ParseError);
  });
});
