import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageVersion } from "../../bench/environment.ts";
import type { Request } from "../../bench/request.ts";
import { result } from "../../bench/result.ts";
import { benchmark } from "../../bench/run.ts";
import { commandLine } from "../../provider/shell.ts";
import { recorded, type Told } from "../recorded.ts";
import { benchHost, refused, type Streamed, sampleRequest } from "./sample.ts";

/** The whole benchmark against two strict fake hosts; a run of a second each. */

const scratch = mkdtempSync(join(tmpdir(), "bench-"));
after(() => rmSync(scratch, { recursive: true }));

const request: Request = {
  ...sampleRequest,
  workload: { ...sampleRequest.workload, runtime: 1, directions: ["write"] },
};
const into = (name: string): Request => ({ ...request, folder: join(scratch, name) });

const path = (port: number, n: number, driver: string, block: string): Record<string, Told> => {
  const folders = {
    session: `/sys/class/iscsi_session/session${n}`,
    connection: `/sys/class/iscsi_connection/connection${n}:0`,
  };
  const values: [string, string][] = [
    [`/sys/class/scsi_host/host${n}/proc_name`, driver],
    [`${folders.session}/targetname`, request.target.iqn],
    [`${folders.session}/state`, "LOGGED_IN"],
    ...[
      "ifacename",
      "first_burst_len",
      "max_burst_len",
      "immediate_data",
      "initial_r2t",
      "max_outstanding_r2t",
    ].map((name): [string, string] => [`${folders.session}/${name}`, "0"]),
    [`${folders.connection}/persistent_address`, "10.10.10.1"],
    [`${folders.connection}/persistent_port`, String(port)],
    ...["max_recv_dlength", "max_xmit_dlength", "header_digest", "data_digest"].map(
      (name): [string, string] => [`${folders.connection}/${name}`, "0"],
    ),
  ];
  return {
    [`udevadm info --query=path --name=/dev/disk/by-path/ip-10.10.10.1:${port}-iscsi-${request.target.iqn}-lun-0`]: `/devices/platform/host${n}/session${n}/target${n}:0:0/${n}:0:0:0/block/${block}\n`,
    [`grep -H '' ${values.map(([file]) => file).join(" ")}`]: values
      .map((pair) => `${pair.join(":")}\n`)
      .join(""),
    [`blkid --probe --output export /dev/${block}`]: `TYPE=xfs\nUUID=${request.filesystem.uuid}\n`,
    [`ls /sys/class/block/${block}/holders`]: "",
  };
};

const list = "systemctl list-units --all --plain --no-legend --full 'storage-lab-bench:*'";
const common: Record<string, Told> = {
  [list]: "",
  "uname -r": "6.12\n",
  "nproc --all": "1\n",
  "grep -m1 '^model name' /proc/cpuinfo": "model name\t: some\n",
  "grep '^MemTotal' /proc/meminfo": "MemTotal: 1505028 kB\n",
  "mpstat -V": "sysstat version 12.7.5\n",
  "cat /sys/class/net/eth1/speed": "-1\n",
  "rdma -j link show": recorded("rdma--link-show-rxe--6.15.0"),
  "ibv_devinfo -d rxe0": recorded("ibv_devinfo--rxe--56.1"),
  "cat /sys/class/infiniband/rxe0/ports/1/rate": "2.5 Gb/sec (1X SDR)\n",
  "cat /sys/class/infiniband/rxe0/ports/1/link_layer": "Ethernet\n",
  [commandLine(packageVersion("rdma-core"))]: "56.1-1\n",
};
const properties =
  "zfs get -Hp -o property,value volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused tank/lun0";
const storageTold: Record<string, Told> = {
  ...common,
  "ip -j address show to 10.10.10.1": recorded("ip--address-show-to--6.15.0"),
  "cat /sys/module/zfs/version": "2.3.9-1\n",
  "zfs version": "zfs-2.3.9-1\nzfs-kmod-2.3.9-1\n",
  "zpool status tank": "  pool: tank\n",
  [properties]: "compressratio\t1.00\n",
  "cat /proc/spl/kstat/zfs/arcstats": recorded("arcstats--before-read--2.3.9"),
};
const initiatorTold: Record<string, Told> = {
  ...common,
  "ip -j route get 10.10.10.1": recorded("ip--route-get--6.15.0"),
  "ip -j address show dev eth1": recorded("ip--address-show-dev--6.15.0"),
  "fio --version": "fio-3.39\n",
  "iscsiadm --version": "iscsiadm version 2.1.11\n",
  "test -e /test": refused(1, ""),
  "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID": JSON.stringify({ filesystems: [] }),
  ...path(3260, 1, "iscsi_tcp", "sda"),
  ...path(3261, 2, "iscsi_iser", "sdb"),
};

/** A minute of samples, faster than in life; it ends when it is stopped. */
const samples = (head: string, sample: (n: number) => string, whenStopped = ""): Streamed => ({
  lines: [
    [0, head],
    ...Array.from({ length: 300 }, (_, n): [number, string] => [n === 0 ? 10 : 200, sample(n)]),
  ],
  whenStopped,
});
const zpoolIostat = samples("1", () => "tank\t1\t1\t0\t9\t0\t30000000\n\n2");
const row = (cpu: string): string =>
  `{"cpu": "${cpu}", "usr": 1.0, "nice": 0.0, "sys": 20.0, "iowait": 0.0, "irq": 0.0, "soft": 30.0, "steal": 0.0, "guest": 0.0, "gnice": 0.0, "idle": 49.0}`;
const mpstat = samples(
  '{"sysstat": {"hosts": [{"number-of-cpus": 1, "statistics": [',
  (n) => `${n === 0 ? "" : ","}{\n"timestamp": "12:00:00",\n"cpu-load": [\n${row("all")},\n${row("0")}\n]}`,
  "]}]}}",
);
const options = (argv: string) =>
  Object.fromEntries([...argv.matchAll(/--(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));

/** What a unit of fio prints: what is mounted, then a report after 1.4 s. */
function fio(line: string, change: object = {}): Streamed {
  const block = line.includes("/dev/sda") ? "/dev/sda" : "/dev/sdb";
  const mount = {
    source: block,
    target: "/test",
    fstype: "xfs",
    options: "rw",
    uuid: request.filesystem.uuid,
  };
  const side = { io_bytes: 40e6, bw_bytes: 30e6, iops: 60, runtime: 1300 };
  const idle = { io_bytes: 0, bw_bytes: 0, iops: 0, runtime: 0 };
  const job = { error: 0, "job options": options(line), read: idle, write: side, ...change };
  return {
    lines: [
      [0, JSON.stringify({ filesystems: [mount] })],
      [1400, `{\n"fio version": "fio-3.39", "jobs": [${JSON.stringify(job)}]\n}`],
    ],
  };
}

const streams =
  (ofFio: (line: string) => Streamed = fio) =>
  (line: string): Streamed | undefined => {
    if (line.endsWith("mpstat -P ALL -o JSON 1")) return mpstat;
    if (line.endsWith("zpool iostat -Hpvy -T u tank 1")) return zpoolIostat;
    if (/ fio --name=/.test(line)) return ofFio(line);
    return undefined;
  };
const said: string[] = [];
const surroundings = (ofFio?: (line: string) => Streamed, change: Record<string, Told> = {}) => ({
  storage: benchHost("storage", storageTold, streams()),
  initiator: benchHost("initiator", { ...initiatorTold, ...change }, streams(ofFio)),
  say: (text: string) => said.push(text),
  signal: new AbortController().signal,
});

describe("the whole benchmark", { concurrency: true }, () => {
  test("each protocol runs through its own path; figures, environment and raw files are kept", async () => {
    const hosts = surroundings();
    const found = await benchmark(into("figures"), hosts);
    assert.deepEqual(
      found.runs.map((run) => [run.protocol, run.direction, run.valid]),
      [
        ["iscsi", "write", true],
        ["iser", "write", true],
      ],
    );
    const [run] = found.runs;
    if (!run?.valid) throw new Error("valid");
    assert.deepEqual([run.bandwidth, run.iops, run.seconds, run.pool.write], [30, 60, 1.3, 30]);
    assert.deepEqual(
      [run.storage.busiestCore, run.storage.busy, run.storage.softirq, run.storage.system],
      [0, 51, 30, 20],
    );
    assert.deepEqual(
      found.environment.paths.map(({ protocol, block, transport }) => [protocol, block, transport]),
      [
        ["iscsi", "/dev/sda", "iscsi_tcp"],
        ["iser", "/dev/sdb", "iscsi_iser"],
      ],
    );
    const folder = join(scratch, "figures", "latest");
    assert.deepEqual(result.parse(JSON.parse(readFileSync(join(folder, "result.json"), "utf8"))), found);
    const raw = (job: string) => [
      ...[`arcstats-after-${job}.txt`, `arcstats-before-${job}.txt`, `fio-${job}.json`, `fio-${job}.out`],
      ...[`mpstat-initiator-${job}.json`, `mpstat-storage-${job}.json`, `zpool-iostat-${job}.txt`],
    ];
    assert.deepEqual(
      readdirSync(folder).sort(),
      [...raw("iscsi-write"), ...raw("iser-write")]
        .concat(["environment.json", "request.json", "result.json", "summary.md"])
        .sort(),
    );
    // Written once, before the first run, and never by two paths at a time.
    const units = hosts.initiator.streamed.flatMap(
      (line) => /--unit=storage-lab-bench:lab:\w+:(\S+) /.exec(line)?.[1] ?? [],
    );
    assert.deepEqual(units, [
      "prefill.service",
      ...["iscsi-write-mpstat.service", "iscsi-write.service"],
      ...["iser-write-mpstat.service", "iser-write.service"],
    ]);
    assert.equal(hosts.initiator.streamed.at(-1)?.startsWith("systemctl stop "), true);
  });

  test("a run that went wrong has its reason and no figures; the others have theirs", async () => {
    const broken = (line: string) => (line.includes("/dev/sdb") ? fio(line, { error: 5 }) : fio(line));
    const found = await benchmark(into("invalid"), surroundings(broken));
    const [iscsi, iser] = found.runs;
    assert.equal(iscsi?.valid, true);
    assert.deepEqual([iser?.valid, iser && "bandwidth" in iser], [false, false]);
    assert.match(iser && !iser.valid ? iser.invalid : "", /fio's job failed with errno 5/);
  });

  test("a figure that is no number makes the run invalid", async () => {
    const odd = (line: string): Streamed => {
      const { lines } = fio(line);
      return { lines: lines.map(([ms, text]) => [ms, text.replace(/"iops":60/, '"iops":nan')]) };
    };
    const found = await benchmark({ ...into("nan"), paths: request.paths.slice(0, 1) }, surroundings(odd));
    const [run] = found.runs;
    assert.match(run && !run.valid ? run.invalid : "", /no number for bandwidth or IOPS/);
  });

  test("a path that is gone is said, and the test file is written through the other", async () => {
    const [gone] = Object.keys(path(3260, 1, "iscsi_tcp", "sda"));
    const hosts = surroundings(fio, { [gone ?? ""]: refused(1, "Unknown device: No such device") });
    const found = await benchmark(into("gone"), hosts);
    assert.deepEqual(
      found.runs.map((run) => (run.valid ? "valid" : run.invalid.replace(/:.*? is/, " is"))),
      [
        "initiator is not there: no iscsi session brings this LUN. Log in to 10.10.10.1:3260 (pulumi up does), then run again.",
        "valid",
      ],
    );
  });

  test("nothing usable: refused with each reason, and no folder for it", async () => {
    const mounts = "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID";
    const foreign = { source: "foreign", target: "/test", fstype: "tmpfs", options: "rw", uuid: null };
    const hosts = surroundings(fio, { [mounts]: JSON.stringify({ filesystems: [foreign] }) });
    await assert.rejects(
      benchmark(into("refused"), hosts),
      /nothing can be measured:\n.*foreign \(tmpfs\) is mounted on \/test/,
    );
    assert.deepEqual(readdirSync(join(scratch, "refused")), []);
    assert.ok(!hosts.initiator.streamed.some((line) => line.includes("fio")));
  });

  test("an interruption ends what runs on both hosts and rejects", async () => {
    const interruption = new AbortController();
    const hosts = { ...surroundings(), signal: interruption.signal };
    const stopped = () =>
      [hosts.storage, hosts.initiator].map((h) => h.streamed.at(-1)?.replace(/\d{8}T\w+/, "RUN"));
    setTimeout(() => interruption.abort("SIGTERM"), 2500);
    await assert.rejects(benchmark(into("interrupted"), hosts), (reason) => reason === "SIGTERM");
    assert.deepEqual(stopped(), Array(2).fill("systemctl stop 'storage-lab-bench:lab:RUN:*.service'"));
    assert.ok(!readdirSync(join(scratch, "interrupted")).includes(".running"));
  });
});
