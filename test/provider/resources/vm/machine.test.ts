import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CommandError, ParseError } from "../../../../provider/errors.ts";
import { Host } from "../../../../provider/host.ts";
import { isMachineStopped } from "../../../../provider/ownership.ts";
import {
  type MachineInputs,
  machineInputs,
  machine as type,
} from "../../../../provider/resources/vm/machine.ts";
import { askRunning, isGuest, runningPid } from "../../../../provider/resources/vm/running.ts";
import { commandLine } from "../../../../provider/shell.ts";
import { type Step, stepLine } from "../../../../provider/step.ts";
import { fakeHost, type Told } from "../../../recorded.ts";

const folder = ".lab/lab/storage";
const inputs: MachineInputs = {
  host: { name: "local", ssh: "local" },
  name: "storage",
  folder,
  memory: "1536 MiB",
  disks: [
    { serial: "DISK01", size: "2 GiB" },
    { serial: "DISK02", size: "2 GiB" },
  ],
  link: { socket: ".lab/lab/link.sock", listen: true, mac: "52:54:00:00:01:01" },
};
const owner = "storage-lab/lab";
const uuid = "0b6c6f0e-5d1c-4c0a-9f53-2f6a0c1f3c11";
const { host: _, folder: __, ...spec } = inputs;

const cat = `cat ${folder}/machine.json`;
const booted = `test -e ${folder}/booted`;
const running = commandLine(askRunning(folder));
const qemu = `${uuid}\nqemu-system-x86_64\n-name\nstorage\n-uuid\n${uuid}\n-machine\nq35\n`;
const standing: Record<string, Told> = {
  [cat]: JSON.stringify({ ...spec, owner }),
  [running]: qemu,
  [booted]: "",
};
const absent = (what: string): Told => ({ status: 1, stderr: `cat: ${what}: No such file or directory\n` });
const nothing: Record<string, Told> = {
  [cat]: absent("machine.json"),
  [running]: absent("uuid"),
  [booted]: { status: 1 },
};
const off: Record<string, Told> = { ...standing, [running]: absent("qemu.pid") };

const observe = (told: Record<string, Told>) => type.observe(fakeHost(told, "local"), inputs);
const plan = async (desired: MachineInputs | undefined, told: Record<string, Told>): Promise<Step[]> =>
  type.plan(desired, await observe(told), inputs, owner);
const lines = (steps: Step[]): string[] =>
  steps.map((step) => stepLine(step).replace(process.execPath, "node"));

const start = [
  `node virtual/guest.ts start ${folder}`,
  `wait up to 600 s for: ssh -F ${folder}/ssh_config -o ConnectTimeout=10 storage 'systemctl is-system-running --wait | grep -qE '\\''running|degraded'\\'''`,
  `write ${folder}/booted`,
];

describe("observing a machine", () => {
  test("asks three things at once", async () => {
    const host = fakeHost(standing, "local");
    const observed = await type.observe(host, inputs);
    assert.deepEqual(host.asked, [cat, running, booted]);
    assert.deepEqual(observed, { spec: { ...spec, owner }, running: true, booted: true });
    assert.equal(type.owner?.(observed, "x"), owner);
    assert.deepEqual(type.current(observed, inputs), inputs);
  });

  test("it runs where the pid file's process has its UUID: a pid that is somebody else's now does not count", async () => {
    const others = [
      "bash\n",
      "qemu-system-x86_64\n-uuid\n7d0bcd5e-0000-4000-8000-000000000000\n",
      "",
      `grep\n${uuid}\n`,
    ];
    for (const other of others)
      assert.equal((await observe({ ...standing, [running]: `${uuid}\n${other}` })).running, false, other);
    for (const said of [
      "sh: 1: cannot open /proc/12/cmdline: No such file",
      "tr: read error: No such process",
    ])
      assert.equal((await observe({ ...standing, [running]: { status: 2, stderr: said } })).running, false);
  });

  test("absence by the known words alone", async () => {
    assert.equal(type.exists(await observe(nothing)), false);
    for (const line of [cat, running])
      await assert.rejects(
        observe({ ...standing, [line]: { status: 1, stderr: "x: Permission denied" } }),
        CommandError,
      );
    for (const text of ["", "{", "[]", '{"name": "storage"}', JSON.stringify({ ...spec, cpus: 2 })])
      await assert.rejects(observe({ ...standing, [cat]: text }), ParseError, text);
  });
});

describe("planning a machine", () => {
  const changed = (change: Partial<MachineInputs>): MachineInputs => ({ ...inputs, ...change });
  const shutdown = `node virtual/guest.ts shutdown ${folder}`;
  const describeIt = `write ${folder}/machine.json`;
  const larger = [...inputs.disks.slice(0, 1), { serial: "DISK02", size: "3 GiB" }];
  const cases: [
    what: string,
    desired: MachineInputs | undefined,
    told: Record<string, Told>,
    steps: string[],
  ][] = [
    ["as declared", inputs, standing, []],
    [
      "another spelling of the same sizes",
      changed({ memory: "1.5 GiB", disks: inputs.disks.map((d) => ({ ...d, size: "2048 MiB" })) }),
      standing,
      [],
    ],
    ["whose it is alone differs", inputs, { ...standing, [cat]: JSON.stringify(spec) }, []],
    ["nothing there", inputs, nothing, [describeIt, ...start]],
    ["off: its host has restarted", inputs, off, start],
    [
      "a start that was interrupted before it had booted",
      inputs,
      { ...standing, [booted]: { status: 1 } },
      start,
    ],
    ["more memory", changed({ memory: "2 GiB" }), standing, [shutdown, describeIt, ...start]],
    ["a larger disk", changed({ disks: larger }), standing, [shutdown, describeIt, ...start]],
    ["a larger disk, off", changed({ disks: larger }), off, [describeIt, ...start]],
    ["deleted", undefined, standing, [`node virtual/guest.ts stop ${folder}`, `rm -rf -- ${folder}`]],
    ["deleted, not there", undefined, nothing, []],
  ];
  for (const [what, desired, told, steps] of cases)
    test(what, async () => assert.deepEqual(lines(await plan(desired, told)), steps));

  test("effects: a shutdown is an outage, a removal loses its disks", async () => {
    const effects = (steps: Step[]) => steps.map(({ effect }) => effect);
    assert.deepEqual(effects(await plan(changed({ memory: "2 GiB" }), standing)).slice(0, 2), [
      "outage",
      undefined,
    ]);
    assert.deepEqual(effects(await plan(undefined, standing)), ["outage", "data loss"]);
    assert.deepEqual(effects(await plan(undefined, off)), [undefined, "data loss"]);
    assert.deepEqual(effects(await plan(inputs, off)), [undefined, undefined, undefined]);
  });

  test("a disk never shrinks", async () => {
    const smaller = changed({ disks: inputs.disks.map((disk) => ({ ...disk, size: "1 GiB" })) });
    const refusals = type.refusals?.(smaller, await observe(standing), smaller, owner) ?? [];
    assert.deepEqual(refusals.length, 2);
    assert.match(refusals[0] ?? "", /disk DISK01 is 2 GiB and can't shrink to 1 GiB/);
    assert.deepEqual(type.refusals?.(inputs, await observe(standing), inputs, owner), []);
  });
});

describe("the inputs that hold", () => {
  test("in the declared spelling where it means the same, else as they are", async () => {
    const observed = await observe(standing);
    const spelled = {
      ...inputs,
      memory: "1.5 GiB",
      disks: inputs.disks.map((disk) => ({ ...disk, size: "2048 MiB" })),
    };
    assert.deepEqual(type.current(observed, spelled), spelled);
    const other = { ...inputs, memory: "1 GiB", disks: [{ serial: "DISK02", size: "3 GiB" }] };
    assert.deepEqual(type.current(observed, other), inputs);
  });

  test("a folder names a machine; what is found leaves nothing to do", async () => {
    const least = type.named?.(inputs.host, folder);
    assert.ok(least);
    assert.equal(type.identity(least), folder);
    for (const wrong of ["", "-rf", "a b"]) assert.equal(type.named?.(inputs.host, wrong), undefined, wrong);
    const observed = await type.observe(fakeHost(standing), least);
    const found = type.found?.(observed, least);
    assert.deepEqual(found, inputs);
    assert.deepEqual(type.plan(found, observed, inputs, owner), []);
  });

  test("hostile names", () => {
    assert.equal(machineInputs.safeParse(inputs).success, true);
    const disk = { serial: "DISK01", size: "2 GiB" };
    for (const wrong of [
      { name: "Storage" },
      { name: "-x" },
      { name: "a;b" },
      { folder: "-rf" },
      { folder: "a b" },
      { memory: "1 GB" },
      { disks: [{ ...disk, serial: "a,file=/etc/passwd" }] },
      { disks: [{ ...disk, serial: "x".repeat(21) }] },
      { cpus: 2 },
    ])
      assert.equal(machineInputs.safeParse({ ...inputs, ...wrong }).success, false, JSON.stringify(wrong));
  });
});

describe("whether a guest runs", () => {
  const at = mkdtempSync(join(tmpdir(), "storage-lab-machine-"));
  const put = (name: string, text: string): void => writeFileSync(join(at, name), text);
  const stopped = () => isMachineStopped({ name: "storage", ssh: "storage", machine: at });
  const asked = async (): Promise<boolean> => {
    const here = { ...inputs, folder: at };
    return (await type.observe(new Host(here.host), here)).running;
  };

  test("one answer for all who ask: by its UUID, not by the word qemu", async () => {
    assert.equal(isGuest("", ["-uuid", ""]), false);
    assert.deepEqual([await runningPid(at), await stopped(), await asked()], [undefined, true, false]);
    put("uuid", uuid);
    put("qemu.pid", `${process.pid}\n`);
    assert.deepEqual([await runningPid(at), await stopped(), await asked()], [undefined, true, false]);
    const guest = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "--", "-uuid", uuid]);
    put("qemu.pid", `${guest.pid}\n`);
    assert.deepEqual([await runningPid(at), await stopped(), await asked()], [guest.pid, false, true]);
    guest.kill();
    await once(guest, "exit");
    assert.deepEqual([await runningPid(at), await stopped(), await asked()], [undefined, true, false]);
    put("qemu.pid", "4194304999\n");
    assert.deepEqual([await runningPid(at), await stopped(), await asked()], [undefined, true, false]);
    assert.equal(await isMachineStopped({ name: "real", ssh: "real" }), false);
    rmSync(at, { recursive: true });
  });
});
