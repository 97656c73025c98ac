import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cpusOf, evidenceOf, overheadOf } from "../../bench/evidence.ts";
import type { FioSpec } from "../../bench/fio/argv.ts";
import { type Evidence, evidence as schema } from "../../bench/schema/evidence.ts";
import type { HostRecording, Recording } from "../../bench/schema/recording.ts";
import { exampleRecording, exampleResult } from "./example.ts";

const result = exampleResult();
const [run] = result.runs;
if (!run?.valid || run.spec.test.kind !== "fio") throw new Error("the example's first run is valid");
const spec: FioSpec = { ...run.spec, test: run.spec.test };

const of = (recording: Recording, change: Partial<Parameters<typeof evidenceOf>[0]> = {}): Evidence =>
  evidenceOf({
    ...{ spec, read: run.read, write: run.write, recording, environment: result.environment },
    ...{ virtual: false, size: 107374182400 },
    ...change,
  });

/** The example with this done to its storage host, or its client. */
function changed(change: (storage: HostRecording, client: HostRecording) => void): Recording {
  const recording = exampleRecording();
  const [storage, client] = recording.hosts;
  if (storage === undefined || client === undefined) throw new Error("two hosts");
  change(storage, client);
  return recording;
}
const about = (value: number | null | undefined, expected: number): void =>
  assert.ok(
    value != null && Math.abs(value - expected) <= 0.03 * expected,
    `${value} is not about ${expected}`,
  );

describe("the CPUs of a recording", () => {
  test("the busiest core stands out where the average hides it", () => {
    const [storage, client] = cpusOf(exampleRecording());
    assert.deepEqual(
      [storage?.host, storage?.cores, client?.host, client?.cores],
      ["storage", 12, "initiator", 24],
    );
    about(storage?.softirq, 88);
    assert.ok((storage?.averageBusy ?? 100) < 50);
  });

  test("waiting for I/O is idle; samples that are missing don't count", () => {
    const core = (core: number, idle: number[], iowait: number[]) => ({
      ...{ core, user: [0, null, 0], system: [40, null, 60], softirq: [0, null, 0] },
      idle: [idle[0] ?? 0, null, idle[1] ?? 0],
      iowait: [iowait[0] ?? 0, null, iowait[1] ?? 0],
    });
    const [cpu] = cpusOf(
      changed((storage) => {
        storage.cores = [core(0, [10, 10], [50, 50]), core(1, [50, 30], [0, 0])];
      }),
    );
    assert.deepEqual(
      [cpu?.busiestCore, cpu?.busy, cpu?.system, cpu?.averageBusy, cpu?.averageSystem],
      [1, 60, 50, 50, 50],
    );
  });
});

describe("the overhead", () => {
  const collector = (share: number) => ({ cpuSeconds: 1, seconds: 100, share });
  test("is the busier host's", () => {
    const recording = changed((storage, client) => {
      storage.collector = collector(0.1);
      client.collector = collector(0.3);
    });
    assert.equal(overheadOf(recording), 0.3);
  });
  test("is not known where no host tells", () => {
    const recording = changed((storage, client) => {
      storage.collector = null;
      client.collector = null;
    });
    assert.equal(overheadOf(recording), null);
  });
});

describe("evidence", () => {
  test("what the schema asks, of every run of the example", () => {
    for (const one of result.runs) {
      if (!one.valid || one.spec.test.kind !== "fio") continue;
      const found = of(exampleRecording(one.spec.id), {
        spec: { ...one.spec, test: one.spec.test },
        read: one.read,
        write: one.write,
      });
      assert.deepEqual(schema.parse(found), found);
    }
  });

  test("means over the measured time, roles and disks", () => {
    const found = of(exampleRecording());
    about(found.pool.written, 1298);
    about(found.bandwidth, 431);
    assert.equal(found.seconds, 180);
    assert.equal(found.pool.disks.length, 74);
    const roles = Map.groupBy(found.pool.disks, ({ role }) => role);
    assert.deepEqual([roles.get("data")?.length, roles.get("log")?.length], [72, 2]);
    assert.deepEqual(found.pool.disks[0]?.vdev, "mirror-0");
    assert.equal(found.pool.disks.at(-1)?.vdev, "mirror-24");
    assert.equal(found.pool.txgSeconds, 6);
    about(found.pool.txgSync, 2550);
    assert.deepEqual(found.link, {
      ...{ kind: "infiniband", rate: 4000, mtu: 65520, peerMtu: 65520, rdmaMtu: 2048, mode: "connected" },
    });
  });

  test("a pool's disk has iostat's wait and use where the kernel's name of it is known, else none", () => {
    const recording = changed((storage) => {
      const [first] = storage.vdevs.filter(({ depth }) => depth === 2);
      const [disk] = storage.disks;
      if (first === undefined || disk === undefined) throw new Error("a disk");
      first.disk = "sdx";
      disk.disk = "sdx";
      disk.busy = disk.busy.map(() => 77);
      disk.rotational = true;
    });
    const [known, other] = of(recording).pool.disks;
    assert.deepEqual([known?.busy, known?.rotational], [77, true]);
    assert.deepEqual([other?.busy, other?.wait, other && "rotational" in other], [null, null, false]);
  });

  test("of several clients the one with the busiest core is shown", () => {
    const recording = changed((_, client) => {
      client.cores = client.cores.map((core) => ({ ...core, idle: core.idle.map(() => 90) }));
    });
    const second = structuredClone(recording.hosts[1]);
    if (second === undefined) throw new Error("a client");
    second.host = "second";
    second.cores = second.cores.map((core) =>
      core.core === 3 ? { ...core, idle: core.idle.map(() => 5) } : core,
    );
    recording.hosts.push(second);
    assert.equal(of(recording).client.host, "second");
  });

  test("a client on the storage host itself is recorded with it", () => {
    const recording = exampleRecording();
    recording.hosts.length = 1;
    assert.equal(of(recording).client.host, "storage");
  });

  test("RDMA goes past the interface's counters, so the larger of both is what the link carried", () => {
    const quiet = changed((storage) => {
      storage.networks = storage.networks.map((one) => ({ ...one, received: one.received.map(() => 0.1) }));
    });
    about(of(quiet).storage.network?.received, 431 * 1.03);
    assert.equal(of(quiet).storage.network?.interface, "ib0");
    const none = changed((storage) => {
      storage.rdma = storage.rdma.map((one) => ({ ...one, received: one.received.map(() => null) }));
    });
    about(of(none).storage.network?.received, 431 * 1.02);
  });

  test("devices interrupt, timers don't count", () => {
    const series = (source: string, value: number) => ({ source, core: 3, perSecond: [value, null, value] });
    const recording = changed((storage) => {
      storage.interrupts = [series("LOC Local timer interrupts", 9000), series("36 PCI-MSI eth0", 700)];
    });
    assert.deepEqual(of(recording).storage.busiestInterrupt, {
      ...{ source: "36 PCI-MSI eth0", core: 3, perSecond: 700 },
    });
  });

  test("what was not recorded is null, not zero", () => {
    const recording = changed((storage) => {
      storage.zil = null;
      storage.txg = null;
      storage.arc = null;
      storage.vdevs = [];
    });
    const { arc, pool } = of(recording);
    assert.equal(arc, null);
    assert.deepEqual(
      [pool.read, pool.written, pool.logWritten, pool.zilCommits, pool.txgSeconds, pool.txgSync, pool.disks],
      [null, null, null, null, null, null, []],
    );
  });
});
