import { hardwareFiles, pciNames } from "../../../bench/environment/hardware.ts";
import { packageVersion } from "../../../bench/environment/host.ts";
import { idleLook } from "../../../bench/run/idle.ts";
import type { Client, Request } from "../../../bench/schema/request.ts";
import type { startTelemetry } from "../../../bench/telemetry/telemetry.ts";
import { commandLine } from "../../../provider/shell.ts";
import { recorded, type Told } from "../../recorded.ts";
import { exampleRecording } from "../example.ts";
import { benchHost, refused, type Streamed, sampleClient, sampleRequest, sampleTest } from "../sample.ts";

/** Two strict fake hosts of a lab with two LUNs, on which runs take a moment. */

export const bulk = sampleClient;
export const fast: Client = {
  ...bulk,
  name: "initiator/fast",
  target: "iqn.2026-09.com.example.lab:fast",
  pool: "fast",
  volume: "fast/lun0",
  filesystem: { type: "xfs", uuid: "96874fc8-e113-8317-a071-2bfa1fed1c09" },
  paths: [
    {
      protocol: "iscsi",
      portal: "10.10.10.1:3262",
      device: "/dev/disk/by-path/ip-10.10.10.1:3262-iscsi-iqn.2026-09.com.example.lab:fast-lun-0",
    },
  ],
};

export const shortRequest: Request = { ...sampleRequest, tests: [sampleTest("write", { runtime: 1 })] };

const attributes = ["ifacename", "first_burst_len", "max_burst_len", "immediate_data", "initial_r2t"];

function path(client: Client, port: number, n: number, driver: string, block: string): Record<string, Told> {
  const session = `/sys/class/iscsi_session/session${n}`;
  const connection = `/sys/class/iscsi_connection/connection${n}:0`;
  const values: [string, string][] = [
    [`/sys/class/scsi_host/host${n}/proc_name`, driver],
    [`${session}/targetname`, client.target],
    [`${session}/state`, "LOGGED_IN"],
    ...[...attributes, "max_outstanding_r2t"].map((name): [string, string] => [`${session}/${name}`, "0"]),
    [`${connection}/persistent_address`, "10.10.10.1"],
    [`${connection}/persistent_port`, String(port)],
    ...["max_recv_dlength", "max_xmit_dlength", "header_digest", "data_digest"].map(
      (name): [string, string] => [`${connection}/${name}`, "0"],
    ),
  ];
  return {
    [`udevadm info --query=path --name=/dev/disk/by-path/ip-10.10.10.1:${port}-iscsi-${client.target}-lun-0`]: `/devices/platform/host${n}/session${n}/target${n}:0:0/${n}:0:0:0/block/${block}\n`,
    [`grep -H '' ${values.map(([file]) => file).join(" ")}`]: values
      .map((pair) => `${pair.join(":")}\n`)
      .join(""),
    [`blkid --probe --output export /dev/${block}`]: `TYPE=xfs\nUUID=${client.filesystem.uuid}\n`,
    [`ls /sys/class/block/${block}/holders`]: "",
  };
}

const common: Record<string, Told> = {
  "systemctl list-units --all --plain --no-legend --full 'storage-lab-bench:*'": "",
  "uname -r": "6.12\n",
  "nproc --all": "1\n",
  "grep -m1 '^model name' /proc/cpuinfo": "model name\t: some\n",
  "grep '^MemTotal' /proc/meminfo": "MemTotal: 1505028 kB\n",
  "mpstat -V": "sysstat version 12.7.5\n",
  [commandLine(hardwareFiles)]: "",
  [commandLine(pciNames)]: refused(127, "lspci: not found"),
  "cat /sys/class/net/eth1/speed": "-1\n",
  "cat /sys/class/net/eth1/type": "1\n",
  "cat /sys/class/net/eth1/mode": refused(1, "No such file"),
  "cat /sys/class/net/eth1/carrier /sys/class/net/eth1/mtu": "1\n4200\n",
  "rdma -j link show": recorded("rdma--link-show-rxe--6.15.0"),
  "ibv_devinfo -d rxe0": recorded("ibv_devinfo--rxe--56.1"),
  "cat /sys/class/infiniband/rxe0/ports/1/rate": "2.5 Gb/sec (1X SDR)\n",
  "cat /sys/class/infiniband/rxe0/ports/1/link_layer": "Ethernet\n",
  [commandLine(packageVersion("rdma-core"))]: "56.1-1\n",
  [commandLine(idleLook)]: recorded("sh--idle-look--linux-6.12"),
};

export const properties = (volume: string): string =>
  `zfs get -Hp -o property,value volsize,volblocksize,compression,compressratio,checksum,sync,logbias,primarycache,secondarycache,dedup,encryption,copies,refreservation,used,logicalused ${volume}`;
export const compression = (volume: string): string =>
  `zfs get -Hpo value compression,compressratio,logicalused,used ${volume}`;
export const arcstats = "cat /proc/spl/kstat/zfs/arcstats";

const disks = [1, 2, 3, 4].map((n) => `/dev/disk/by-id/virtio-DISK0${n}-part1`).join(" ");
const pool = (name: string, target: string): Record<string, Told> => ({
  [`zpool status -P ${name}`]: recorded("zpool--status-P-bulk--2.3.9").replaceAll("bulk", name),
  [`zpool get -Hp -o property,value,source all ${name}`]: "ashift\t12\tlocal\n",
  [`zfs get -Hpo value volblocksize,compression,sync,logbias ${name}/lun0`]:
    "16384\noff\nstandard\nlatency\n",
  [properties(`${name}/lun0`)]: "compressratio\t1.00\n",
  [compression(`${name}/lun0`)]: "off\n1.00\n268435456\n268435456\n",
  [`grep -rH '' /sys/kernel/config/target/iscsi/${target}/tpgt_1/attrib /sys/kernel/config/target/iscsi/${target}/tpgt_1/param`]: `/sys/kernel/config/target/iscsi/${target}/tpgt_1/attrib/authentication:0\n`,
});
export const storageTold: Record<string, Told> = {
  ...common,
  "ip -j address show to 10.10.10.1": recorded("ip--address-show-to--6.15.0"),
  "cat /sys/module/zfs/version": "2.3.9-1\n",
  "zfs version": "zfs-2.3.9-1\nzfs-kmod-2.3.9-1\n",
  "cat /sys/kernel/config/target/version": recorded("cat--lio-version--linux-6.12"),
  [`blockdev --getsize64 ${disks}`]: "1\n1\n1\n1\n",
  ...pool("tank", bulk.target),
  ...pool("fast", fast.target),
  [arcstats]: recorded("arcstats--before-read--2.3.9"),
  "grep -rH '' /sys/module/zfs/parameters": "/sys/module/zfs/parameters/zfs_txg_timeout:5\n",
};
export const mounts = "findmnt --json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID";
export const initiatorTold: Record<string, Told> = {
  ...common,
  "ip -j route get 10.10.10.1": recorded("ip--route-get--6.15.0"),
  "ip -j address show dev eth1": recorded("ip--address-show-dev--6.15.0"),
  "fio --version": "fio-3.39\n",
  "iscsiadm --version": "iscsiadm version 2.1.11\n",
  "test -e /test": refused(1, ""),
  "test -e /test-2": refused(1, ""),
  [mounts]: JSON.stringify({ filesystems: [] }),
  ...path(bulk, 3260, 1, "iscsi_tcp", "sda"),
  ...path(bulk, 3261, 2, "iscsi_iser", "sdb"),
  ...path(fast, 3262, 3, "iscsi_tcp", "sdc"),
};

/** The question that finds a path, to be answered otherwise. */
export const findPath = (port: number, client = bulk): string =>
  `udevadm info --query=path --name=/dev/disk/by-path/ip-10.10.10.1:${port}-iscsi-${client.target}-lun-0`;

const optionsOf = (line: string) =>
  Object.fromEntries([...line.matchAll(/--(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]));

/** What a unit of fio prints: what is mounted, that it waits, the test file, then a report. */
export function fio(line: string, change: object = {}, file: object = {}): Streamed {
  const [, block = "", target = ""] = /sh (\/dev\/sd\w) (\/[\w-]+) xfs /.exec(line) ?? [];
  const client = block === "/dev/sdc" ? fast : bulk;
  const mount = { source: block, target, fstype: "xfs", options: "rw", uuid: client.filesystem.uuid };
  const side = { io_bytes: 40e6, bw_bytes: 30e6, iops: 60, runtime: 1300, total_ios: 80 };
  const idle = { io_bytes: 0, bw_bytes: 0, iops: 0, runtime: 0 };
  const job = { error: 0, "job options": optionsOf(line), read: idle, write: side, ...change };
  const data = { testFile: true, size: 268435456, blocks: 524288, unit: 512, ...file };
  return {
    lines: [
      [0, JSON.stringify({ filesystems: [mount] })],
      ...(line.includes("/gate ") ? [[0, '{"waits": true}'] as const] : []),
      [20, JSON.stringify(data)],
      [100, `{\n"fio version": "fio-3.39", "jobs": [${JSON.stringify(job)}]\n}`],
    ],
  };
}

/** The initiator: its block devices have moved more at each look. */
export function fakeInitiator(ofFio: (line: string) => Streamed = fio, change: Record<string, Told> = {}) {
  const streams = (line: string) => (/ fio --name=/.test(line) ? ofFio(line) : undefined);
  const host = benchHost("initiator", { ...initiatorTold, ...change }, streams);
  let looks = 0;
  return {
    ...host,
    ask(argv: readonly string[]) {
      if (!/^\/sys\/class\/block\/sd\w\/stat$/.test(argv[1] ?? "")) {
        return argv[0] === "date"
          ? Promise.resolve({ argv, status: 0, stdout: `${(Date.now() / 1000).toFixed(9)}\n`, stderr: "" })
          : host.ask(argv);
      }
      looks += 1;
      const stdout = ` 10 0 ${looks * 1e6} 5 10 0 ${looks * 1e6} 5 0 1 1\n`;
      return Promise.resolve({ argv, status: 0, stdout, stderr: "" });
    },
  };
}

export const fakeStorage = (
  change: Record<string, Told> = {},
  streams?: (line: string) => Streamed | undefined,
) => benchHost("storage", { ...storageTold, ...change }, streams);

/** Telemetry that gives the example's recording, and remembers what was recorded. */
export function fakeTelemetry() {
  const windows: { job: string; start: number; end: number }[] = [];
  const start: typeof startTelemetry = (_recorded, job) => ({
    running: Promise.resolve(),
    stop: () =>
      Promise.resolve({
        files: { [`mpstat-storage-${job}.json`]: "{}" },
        record(window) {
          windows.push({ job, ...window });
          const { hosts, began, interval } = exampleRecording();
          return { hosts, began, interval, times: [window.end] };
        },
      }),
  });
  return { start, windows };
}
