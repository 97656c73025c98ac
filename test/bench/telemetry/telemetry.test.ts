import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type HostRecording, hostRecording } from "../../../bench/schema/recording.ts";
import type { HostState } from "../../../bench/schema/result.ts";
import { meanOf } from "../../../bench/series.ts";
import { onLine, startTelemetry } from "../../../bench/telemetry/telemetry.ts";
import type { BenchHost } from "../../../bench/unit.ts";
import { recorded, type Told } from "../../recorded.ts";
import { benchHost, refused, sampleRequest } from "../sample.ts";

/** Two guests' streams as they were recorded while fio wrote by iSER (record.ts), put through all of it. */

const perf = "perf stat -a -x, -e cycles,instructions,cache-misses true";
const sessions = "iscsiadm -m session -s";
const streams = {
  storage: recorded("collector--storage-iser-write--linux-6.12"),
  client: recorded("collector--client-iser-write--linux-6.12"),
};
const began = (stream: string): number => Number(/@ ([\d.]+)/.exec(stream)?.[1]);

/** When the recorded frames begin, on a clock that stands at a whole interval of ours then. */
const start = Math.ceil((performance.timeOrigin + performance.now()) / 2000) * 2000;

/** A host that says a clock by which its first frame was at `start`, and prints its stream at once. */
function played(name: string, stream: string, told: Record<string, Told>): ReturnType<typeof benchHost> {
  const lines = stream.split("\n").filter((line) => line !== "");
  const host = benchHost(name, { [perf]: refused(127, "perf: command not found"), ...told }, () => ({
    lines: [...lines.map((line): [number, string] => [0, line]), [60_000, ""]],
  }));
  const ask: BenchHost["ask"] = (argv) => {
    if (argv.join(" ") !== "date +%s.%N") return host.ask(argv);
    const time = began(stream) + (performance.timeOrigin + performance.now() - start) / 1000;
    return Promise.resolve({ argv, status: 0, stdout: `${time.toFixed(9)}\n`, stderr: "" });
  };
  return { ...host, ask };
}

const state = (name: string) => ({ name, cpus: 1, versions: { sysstat: "12.7.5" } }) as unknown as HostState;
const request = { ...sampleRequest, interval: 2 };
const run = { stack: "lab", id: "record" };

const storage = played("storage", streams.storage, {
  "zpool iostat -p -v -T u -L tank": recorded("zpool-iostat--real-paths--2.3.9"),
});
const client = played("initiator", streams.client, {
  [sessions]: refused(21, "iscsiadm: No active sessions."),
});
const cores: string[] = [];
const telemetry = startTelemetry(
  { request, run, storage, clients: [client] },
  "record",
  12,
  { storage: state("storage"), clients: [state("initiator")] },
  { core: (host, { core }) => cores.push(`${host} ${core}`) },
);
await telemetry.running;
const { files, record } = await telemetry.stop();
const at = (ms: number): number => start - performance.timeOrigin + ms;
const { hosts, times, interval, began: first } = record({ start: at(2000), end: at(14_000) });
const [ofStorage, ofClient] = hosts;
if (ofStorage === undefined || ofClient === undefined) throw new Error("two hosts");
const sent = (name: string, host: HostRecording) => host.networks.find((one) => one.interface === name);
const near = (
  a: number | null | undefined,
  b: number | null | undefined,
  share: number,
  what: string,
): void =>
  assert.ok(a != null && b != null && Math.abs(a - b) <= share * Math.abs(b), `${what}: ${a} and ${b}`);

describe("a recorded run of both hosts", () => {
  test("what the schema asks; every series has a value for each interval", () => {
    for (const host of hosts) assert.deepEqual(hostRecording.parse(host), host);
    assert.deepEqual([times.length, interval, first], [6, 2, new Date(start + 4000).toISOString()]);
    const series = (value: unknown): unknown[][] =>
      Array.isArray(value) && !value.some((one) => typeof one === "object" && one !== null)
        ? [value]
        : typeof value === "object" && value !== null
          ? Object.entries(value).flatMap(([key, one]) =>
              ["gaps", "unread"].includes(key) ? [] : series(one),
            )
          : [];
    for (const one of hosts.flatMap((host) => series(host))) assert.ok([0, 6].includes(one.length));
  });

  test("nothing but these commands, the unit by its name", () => {
    assert.deepEqual(storage.asked.toSorted(), [perf, "zpool iostat -p -v -T u -L tank"]);
    assert.deepEqual(client.asked.toSorted(), [sessions, sessions, perf]);
    for (const { streamed } of [storage, client]) {
      assert.match(
        streamed[0] ?? "",
        /--unit=storage-lab-bench:lab:record:record-telemetry\.service .* bash -s -- 2 -?\d+ file /,
      );
      assert.equal(streamed[1], "systemctl stop storage-lab-bench:lab:record:record-telemetry.service");
    }
  });

  test("the pool's rows with roles, depths and the kernel's names of disks", () => {
    assert.deepEqual(
      ofStorage.vdevs.map(({ vdev, role, depth, disk = "" }) =>
        `${"  ".repeat(depth)}${vdev} ${role} ${disk}`.trimEnd(),
      ),
      [
        ...["tank pool", "  mirror-0 data", "    virtio-DISK01 data vdb", "    virtio-DISK02 data vdc"],
        ...["    virtio-DISK03 data vdd", "  mirror-1 data", "    virtio-DISK04 data vde"],
        ...["    virtio-DISK05 data vdf", "    virtio-DISK06 data vdg", "  mirror-2 log"],
        ...["    virtio-DISK07 log vdh", "    virtio-DISK08 log vdi"],
      ],
    );
  });

  test("figures of one thing from two sources agree", () => {
    const [lun] = ofStorage.luns;
    const zvol = ofStorage.disks.find(({ disk }) => disk === "zd0");
    near(
      meanOf(lun?.written ?? []),
      meanOf(zvol?.written ?? []),
      0.1,
      "the LUN by LIO and its zvol by iostat",
    );
    const [rxe] = ofStorage.rdma;
    const eth = sent("eth1", ofStorage);
    near(
      (meanOf(rxe?.receivedPackets ?? []) ?? 0) * 4150e-6,
      meanOf(eth?.received ?? []),
      0.05,
      "RoCE by packets and by bytes",
    );
    const written = (name: string) =>
      meanOf(ofStorage.vdevs.find(({ vdev }) => vdev === name)?.written ?? []);
    near(
      written("mirror-0"),
      (written("virtio-DISK01") ?? 0) * 3,
      0.02,
      "a mirror and three times its first disk",
    );
    near(
      (written("mirror-0") ?? 0) + (written("mirror-1") ?? 0) + (written("mirror-2") ?? 0),
      written("tank"),
      0.02,
      "vdevs and the pool",
    );
    for (const { cores } of hosts) {
      for (const { user, system, softirq, iowait, idle } of cores) {
        for (const [n, one] of user.entries()) {
          const all = (one ?? 0) + (system[n] ?? 0) + (softirq[n] ?? 0) + (iowait[n] ?? 0) + (idle[n] ?? 0);
          near(all, 100, 0.01, "a core's shares");
        }
      }
    }
  });

  test("ZFS's own: ARC, ZIL and transaction groups; none of a client", () => {
    assert.ok((meanOf(ofStorage.arc?.size ?? []) ?? 0) > 2 ** 20);
    // fio wrote without fsync, so nothing waited for the log.
    assert.deepEqual(ofStorage.zil?.commits, [0, 0, 0, 0, 0, 0]);
    assert.ok((ofStorage.txg?.synced ?? []).some((groups) => (groups ?? 0) > 0));
    assert.ok((ofStorage.txg?.syncTime ?? []).some((ms) => (ms ?? 0) > 10));
    assert.deepEqual(
      [ofClient.arc, ofClient.zil, ofClient.txg, ofClient.vdevs, ofClient.luns],
      [null, null, null, [], []],
    );
  });

  test("the collector's own CPU time, by its cgroup", () => {
    for (const { collector } of hosts) {
      assert.ok(collector !== null && collector.cpuSeconds > 0);
      near(collector.share, (100 * collector.cpuSeconds) / collector.seconds, 1e-9, "its share of one core");
    }
  });

  test("what could not be recorded is said, and samples that are missing", () => {
    assert.deepEqual(ofClient.unread, ["perf stat: perf is not installed"]);
    assert.equal(ofClient.perf, null);
    assert.deepEqual(ofStorage.gaps, ["zpool-iostat-tank: 2 of 6 samples missing"]);
  });

  test("first zpool iostat or mpstat sample: average since boot, never asked for and before the measured time", () => {
    assert.match(storage.streamed[0] ?? "", / iostat -x -y -t -k /);
    assert.match(storage.streamed[0] ?? "", / zpool iostat -p -v -T u -y -l -q tank 2/);
    // The first sample of mpstat was printed before the second frame; the measured time begins with the third.
    const samples = [...(files["mpstat-storage-record.json"] ?? "").matchAll(/"timestamp"/g)].length;
    assert.ok(samples > (ofStorage.cores[0]?.idle.length ?? 0));
  });

  test("raw outputs by host and job", () => {
    assert.deepEqual(Object.keys(files).toSorted(), [
      ...["counters-initiator-record.txt", "counters-storage-record.txt", "iostat-initiator-record.json"],
      ...["iostat-storage-record.json", "iscsi-sessions-after-initiator-record.txt"],
      ...["iscsi-sessions-before-initiator-record.txt", "mpstat-initiator-record.json"],
      ...["mpstat-storage-record.json", "zpool-iostat-tank-storage-record.txt"],
    ]);
  });

  test("the busiest core is shown while it runs", () =>
    assert.deepEqual([...new Set(cores)].toSorted(), ["initiator 0", "storage 0"]));

  test("a time without a whole interval is an error that says both", () =>
    assert.throws(
      () => record({ start: at(2600), end: at(4100) }),
      /no sample of 2 s lies inside the 1\.5 s that were measured: measure longer, or sample more often/,
    ));
});

describe("what clients moved, on the line of the samples", () => {
  const reports = [
    { at: 900, ms: 1000, read: 0, written: 0 },
    { at: 2000, ms: 2100, read: 5e6, written: 0 },
    // The last: printed a while after the last I/O, which was at 4,100 of fio's own time.
    { at: 4000, ms: 4100, read: 9e6, written: 4e6 },
    { at: 5500, ms: 4100, read: 9e6, written: 4e6 },
  ];
  test("steps of the reports; outside of them nothing is known", () =>
    assert.deepEqual(onLine([500, 1000, 2000, 3000, 4000, 5000], reports), {
      read: [null, 5e6 / 1100 / 1000, 5e6 / 1100 / 1000, 2, 2, null],
      written: [null, 0, 0, 2, 2, null],
    }));
});
