import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { benchmark } from "../../../bench/run/benchmark.ts";
import { recording } from "../../../bench/schema/recording.ts";
import type { Request } from "../../../bench/schema/request.ts";
import { result } from "../../../bench/schema/result.ts";
import type { Told } from "../../recorded.ts";
import { refused, type Streamed, sampleTest } from "../sample.ts";
import * as fake from "./hosts.ts";

/** The whole benchmark against two strict fake hosts. */

const scratch = mkdtempSync(join(tmpdir(), "bench-"));
after(() => rmSync(scratch, { recursive: true }));

const into = (name: string, change: Partial<Request> = {}): Request => ({
  ...{ ...fake.shortRequest, folder: join(scratch, name) },
  ...change,
});

const said: string[] = [];
function surroundings(
  ofFio?: (line: string) => Streamed,
  change: { storage?: Record<string, Told>; initiator?: Record<string, Told> } = {},
) {
  const telemetry = fake.fakeTelemetry();
  const initiator = fake.fakeInitiator(ofFio, change.initiator);
  return {
    storage: fake.fakeStorage(change.storage, (line) =>
      line.includes("storage-lab-bench-cold") ? { lines: [] } : undefined,
    ),
    clients: [initiator, initiator],
    initiator,
    telemetry: telemetry.start,
    windows: telemetry.windows,
    say: (text: string) => said.push(text),
    signal: new AbortController().signal,
  };
}
const ids = { iscsi: "iscsi-sequential-write-512k-d16-j1-1", iser: "iser-sequential-write-512k-d16-j1-1" };
const unitsOf = (streamed: readonly string[]) =>
  streamed.flatMap((line) => /--unit=storage-lab-bench:lab:\w+:(\S+)\.service /.exec(line)?.[1] ?? []);
const why = (run: { valid: boolean } | undefined) =>
  run && "invalid" in run ? String(run.invalid) : "valid";

describe("the whole benchmark", { concurrency: true }, () => {
  test("each protocol runs through its own path; figures, environment and raw files are kept", async () => {
    const hosts = surroundings();
    const found = await benchmark(into("figures"), hosts);
    assert.deepEqual(
      found.runs.map((run) => [run.spec.id, run.valid]),
      [
        [ids.iscsi, true],
        [ids.iser, true],
      ],
    );
    const [run] = found.runs;
    if (!run?.valid) throw new Error("valid");
    assert.deepEqual([run.write?.bandwidth, run.write?.iops, run.read, run.seconds], [30, 60, null, 1.3]);
    assert.ok(run.cpus.length >= 2 && run.evidence !== null && run.diagnosis !== null);
    assert.deepEqual(
      found.environment.paths.map(({ client, protocol, block, transport }) => [
        client,
        protocol,
        block,
        transport,
      ]),
      [
        ["initiator", "iscsi", "/dev/sda", "iscsi_tcp"],
        ["initiator", "iser", "/dev/sdb", "iscsi_iser"],
      ],
    );
    assert.deepEqual(found.environment.filesystems[0]?.options, "rw");
    const folder = join(scratch, "figures", "latest");
    assert.deepEqual(result.parse(JSON.parse(readFileSync(join(folder, "result.json"), "utf8"))), found);
    const raw = (id: string) => [
      ...[`arcstats-after-${id}.txt`, `arcstats-before-${id}.txt`, `fio-${id}.json`, `fio-${id}.out`],
      ...[`mpstat-storage-${id}.json`, `run-${id}.json`, `telemetry-${id}.json`],
    ];
    assert.deepEqual(
      readdirSync(folder).sort(),
      [...raw(ids.iscsi), ...raw(ids.iser)]
        .concat([
          "environment.json",
          "request.json",
          "report.html",
          "result.json",
          "results.csv",
          "summary.md",
        ])
        .sort(),
    );
    const told = recording.parse(
      JSON.parse(readFileSync(join(folder, `telemetry-${ids.iser}.json`), "utf8")),
    );
    assert.deepEqual([told.run, told.clients.map(({ client }) => client)], [ids.iser, ["initiator"]]);
    // Written once, before the first run, and never by two paths at a time.
    assert.deepEqual(unitsOf(hosts.initiator.streamed), ["prefill-client1", ids.iscsi, ids.iser]);
    assert.equal(hosts.initiator.streamed.at(-1)?.startsWith("systemctl stop "), true);
    // What was recorded is the time that fio measured.
    assert.deepEqual(
      hosts.windows.map(({ start, end }) => Math.round(end - start)),
      [1300, 1300],
    );
  });

  test("what has to hold is asked for, read back and kept with each run", async () => {
    const found = await benchmark(into("preconditions", { protocols: ["iser"] }), surroundings());
    assert.deepEqual(
      found.runs[0]?.preconditions.map(({ name, holds }) => [name, holds]),
      [
        "initiator session",
        "pool tank whole and quiet",
        "storage link up",
        "initiator link up",
        "one MTU",
        "storage idle",
        "initiator idle",
        "initiator test file written whole",
        "initiator page cache out of the way",
        "tank/lun0 not compressible",
      ].map((name) => [name, true]),
    );
  });

  for (const [what, change, reason] of [
    [
      "a pool that resilvers",
      {
        "zpool status -P tank": (fake.storageTold["zpool status -P tank"] as string).replace(
          "ONLINE",
          "DEGRADED",
        ),
      },
      /pool tank whole and quiet: ONLINE, nothing under way; found: DEGRADED/,
    ],
    [
      "a link without a carrier",
      { "cat /sys/class/net/eth1/carrier /sys/class/net/eth1/mtu": refused(1, "Invalid argument") },
      /storage link up: .*found: no carrier/,
    ],
    [
      "data that lz4 makes smaller",
      { [fake.compression("tank/lun0")]: "lz4\n3.20\n268435456\n83886080\n" },
      /tank\/lun0 not compressible: compressratio at most 1\.05 .*found: compression lz4, compressratio 3\.20/,
    ],
  ] as const) {
    test(`${what}: no figures, with the reason`, async () => {
      const change_ = { storage: change as Record<string, Told> };
      const name = what.replaceAll(" ", "-");
      await assert.rejects(
        benchmark(into(name, { protocols: ["iscsi"] }), surroundings(fake.fio, change_)),
        (error) =>
          error instanceof Error && /^no run has figures/.test(error.message) && reason.test(error.message),
      );
      // It is nothing that others could take for the latest result.
      assert.ok(!readdirSync(join(scratch, name)).includes("latest"));
    });
  }

  test("unwritten areas: a test file that is not whole gives no figures", async () => {
    const sparse = (line: string) => fake.fio(line, {}, line.includes("prefill") ? {} : { blocks: 8 });
    await assert.rejects(
      benchmark(into("sparse", { protocols: ["iscsi"] }), surroundings(sparse)),
      /test file written whole: at least 268435456 bytes, all of them allocated; found: 268435456 bytes, 4096 allocated/,
    );
  });

  test("a run that went wrong has its reason and no figures; the others have theirs", async () => {
    const broken = (line: string) =>
      line.includes("/dev/sdb") ? fake.fio(line, { error: 5 }) : fake.fio(line);
    const found = await benchmark(into("invalid"), surroundings(broken));
    const [iscsi, iser] = found.runs;
    assert.equal(iscsi?.valid, true);
    assert.deepEqual([iser?.valid, iser && "write" in iser], [false, false]);
    assert.match(why(iser), /initiator: fio's job failed with errno 5/);
  });

  test("a figure that is no number makes the run invalid", async () => {
    const odd = (line: string): Streamed => {
      const { lines } = fake.fio(line);
      return { lines: lines.map(([ms, text]) => [ms, text.replace(/"iops":60/, '"iops":nan')]) };
    };
    await assert.rejects(
      benchmark(into("nan", { protocols: ["iscsi"] }), surroundings(odd)),
      /no number for bandwidth or IOPS/,
    );
  });

  test("a path that is gone is said, and the test file is written through the other", async () => {
    const gone = { initiator: { [fake.findPath(3260)]: refused(1, "Unknown device: No such device") } };
    const found = await benchmark(into("gone"), surroundings(fake.fio, gone));
    assert.deepEqual(
      found.runs.map((run) => why(run).replace(/:.*? is/, " is")),
      [
        "initiator is not there: no iscsi session brings this LUN. Log in to 10.10.10.1:3260 (pulumi up does), then run again.",
        "valid",
      ],
    );
  });

  test("nothing usable: refused with each reason, and no folder for it", async () => {
    const foreign = { source: "foreign", target: "/test", fstype: "tmpfs", options: "rw", uuid: null };
    const hosts = surroundings(fake.fio, {
      initiator: { [fake.mounts]: JSON.stringify({ filesystems: [foreign] }) },
    });
    await assert.rejects(
      benchmark(into("refused"), hosts),
      /nothing can be measured:\n.*foreign \(tmpfs\) is mounted on \/test/,
    );
    assert.deepEqual(readdirSync(join(scratch, "refused")), []);
    assert.ok(!hosts.initiator.streamed.some((line) => line.includes("fio")));
  });

  test("an interruption ends what runs on all hosts; the same again keeps what has figures and goes on", async () => {
    const interruption = new AbortController();
    const slow = (line: string): Streamed => {
      if (!line.includes("/dev/sdb")) return fake.fio(line);
      interruption.abort("SIGTERM");
      return fake.fio(line);
    };
    const hosts = { ...surroundings(slow), signal: interruption.signal };
    const stopped = () =>
      [hosts.storage, hosts.initiator].map((h) => h.streamed.at(-1)?.replace(/\d{8}T\w+/, "RUN"));
    await assert.rejects(benchmark(into("interrupted"), hosts), (reason) => reason === "SIGTERM");
    assert.deepEqual(stopped(), Array(2).fill("systemctl stop 'storage-lab-bench:lab:RUN:*.service'"));
    const left = readdirSync(join(scratch, "interrupted"));
    assert.ok(!left.includes(".running") && !left.includes("latest"), left.join(" "));
    const again = surroundings();
    const found = await benchmark(into("interrupted"), again);
    assert.deepEqual(unitsOf(again.initiator.streamed), ["prefill-client1", ids.iser]);
    assert.deepEqual(
      found.runs.map((run) => run.valid),
      [true, true],
    );
    assert.equal(readdirSync(join(scratch, "interrupted")).length, 2, "one folder, and latest");
    assert.ok(said.some((line) => /goes on with .*interrupted.*: 1 runs with figures are kept/.test(line)));
  });
});

describe("several clients at once", { concurrency: true }, () => {
  const both = { clients: [fake.bulk, fake.fast], protocols: ["iscsi" as const] };

  test("one fio each, begun at one moment; their figures are added, each has its own beside", async () => {
    const hosts = surroundings();
    const found = await benchmark(into("two", both), hosts);
    const [run] = found.runs;
    if (!run?.valid) throw new Error(why(run));
    assert.deepEqual([run.write?.bandwidth, run.write?.iops], [60, 120]);
    assert.deepEqual(run.clients, [
      { client: "initiator", read: null, write: 30 },
      { client: "initiator/fast", read: null, write: 30 },
    ]);
    const together = run.preconditions.find(({ name }) => name === "clients at once");
    assert.equal(together?.holds, true);
    // Both were told the same moment, on one host in the same time.
    const told = hosts.initiator.applied.flatMap((step) =>
      "argv" in step && step.argv[0] === "timeout" ? [step.argv] : [],
    );
    assert.deepEqual(
      told.map((argv) => argv.at(-2)?.replace(/\d{8}T\w+/, "RUN")),
      [1, 2].map((n) => `/run/storage-lab-bench-RUN-${ids.iscsi}-client${n}/gate`),
    );
    assert.equal(told[0]?.at(-1), told[1]?.at(-1));
    // Each has a mount point of its own, and the gate's folder goes with the unit.
    const lines = hosts.initiator.streamed.filter((line) => / fio --name=iscsi/.test(line));
    assert.match(
      lines[0] ?? "",
      /--property=RuntimeDirectory=storage-lab-bench-\S+-client1 .*\/dev\/sda \/test xfs /s,
    );
    assert.match(lines[1] ?? "", /rmdir \/test-2.? .*\/dev\/sdc \/test-2 xfs /s);
  });

  test("a client that fails makes the run invalid, by its name, and nobody goes on alone", async () => {
    const fails = (line: string): Streamed => {
      if (!/\/dev\/sdc .* fio --name=iscsi/s.test(line)) return fake.fio(line);
      return { lines: [[0, "mount: /test-2: can't read superblock"]], status: 32, stderr: "mount: no\n" };
    };
    const hosts = surroundings(fails);
    await assert.rejects(
      benchmark(into("one-fails", both), hosts),
      /initiator: could not mount \/dev\/sdc .* on \/test-2/,
    );
    assert.ok(
      hosts.initiator.streamed.some((line) =>
        new RegExp(`systemctl stop '.*:${ids.iscsi}-client\\*`).test(line),
      ),
    );
  });

  test("two clients of one file system are refused before anything is touched", async () => {
    const hosts = surroundings();
    const same = { ...fake.fast, filesystem: fake.bulk.filesystem };
    await assert.rejects(
      benchmark(into("same", { ...both, clients: [fake.bulk, same] }), hosts),
      /have one file system/,
    );
    assert.deepEqual([hosts.initiator.streamed, hosts.storage.asked], [[], []]);
  });
});

test("a matrix: each test by its own name, in the plan's order", async () => {
  const tests = [
    sampleTest("write", { runtime: 1, depth: 1 }),
    sampleTest("write", { runtime: 1, depth: 4 }),
  ];
  const found = await benchmark(into("matrix", { tests, protocols: ["iser"] }), surroundings());
  assert.deepEqual(
    found.runs.map(({ spec }) => spec.id),
    ["iser-sequential-write-512k-d1-j1-1", "iser-sequential-write-512k-d4-j1-1"],
  );
});

describe("the ARC's state", { concurrency: true }, () => {
  const side = { io_bytes: 40e6, bw_bytes: 30e6, iops: 60, runtime: 1300, total_ios: 80 };
  const idle = { io_bytes: 0, bw_bytes: 0, iops: 0, runtime: 0 };
  const reads = (line: string) =>
    fake.fio(line, line.includes("--rw=read") ? { read: side, write: idle } : {});
  const holding = (bytes: number) => ({
    storage: {
      [fake.arcstats]: String(fake.storageTold[fake.arcstats]).replace(
        /^(data_size\s+4\s+)\d+$/m,
        `$1${bytes}`,
      ),
    },
  });
  const read = (arc: "cold" | "warm"): Partial<Request> => ({
    ...{ tests: [sampleTest("read", { runtime: 1, arc })], protocols: ["iscsi"] },
  });

  test("cold: emptied by a unit on the storage host, and set back at the end in any case", async () => {
    const hosts = surroundings(reads, holding(1000));
    const found = await benchmark(into("cold", read("cold")), hosts);
    assert.equal(found.runs[0]?.preconditions.find(({ name }) => name === "ARC cold")?.holds, true);
    assert.deepEqual(unitsOf(hosts.storage.streamed), ["iscsi-sequential-read-512k-d16-j1-1-cold"]);
    const restored = hosts.storage.applied.filter(({ say }) => /set back the ARC's settings/.test(say));
    assert.equal(restored.length, 2, "before the first run, and after the last");
  });

  test("an ARC that still holds the file gives no cold figure", async () => {
    await assert.rejects(
      benchmark(into("not-cold", read("cold")), surroundings(reads, holding(200e6))),
      /ARC cold: the ARC holds at most 5\.4 MB of data.*found: 200\.0 MB of data in the ARC/,
    );
  });

  test("warm: the file is read once before; without accesses of the ARC nothing is said of it", async () => {
    const hosts = surroundings(reads);
    const found = await benchmark(into("warm", read("warm")), hosts);
    assert.equal(found.runs[0]?.preconditions.find(({ name }) => name === "ARC warm")?.holds, null);
    assert.deepEqual(unitsOf(hosts.initiator.streamed), [
      ...[
        "prefill-client1",
        "iscsi-sequential-read-512k-d16-j1-1-warm1",
        "iscsi-sequential-read-512k-d16-j1-1",
      ],
    ]);
  });
});
