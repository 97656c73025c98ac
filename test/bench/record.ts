import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageVersion } from "../../bench/environment/host.ts";
import { arcstats } from "../../bench/environment/storage.ts";
import { fioArgv } from "../../bench/fio/argv.ts";
import { mounted } from "../../bench/fio/mounted.ts";
import { request as schema } from "../../bench/schema/request.ts";
import type { FioTest } from "../../bench/schema/test.ts";
import { Host } from "../../provider/host.ts";

/**
 * Records what the benchmark's parsers read, from a lab that is up: node test/bench/record.ts REQUEST.json
 * The request is the one in a result's folder. The test file must be there (run the benchmark once before).
 */

const request = schema.parse(JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")));
const [client] = request.clients;
const path = client?.paths.at(-1);
if (client === undefined || path === undefined) throw new TypeError("the request has no path");
const storage = new Host(request.storage);
const initiator = new Host(client.host);
const portal = path.portal.replace(/:\d+$/, "");

async function record(host: Host, name: string, argv: readonly string[]): Promise<string> {
  const answer = await host.stream(argv, { deadlineSeconds: 300 });
  if (answer.status !== 0) console.error(`${name}: status ${answer.status}: ${answer.stderr}`);
  writeFileSync(join(import.meta.dirname, "../recorded", `${name}.out`), answer.stdout);
  return answer.stdout.trim();
}

const version = async (host: Host, argv: string[], pattern: RegExp): Promise<string> =>
  pattern.exec((await host.ask(argv)).stdout)?.[1] ?? "unknown";
const fio = await version(initiator, ["fio", "--version"], /^fio-(\S+)/);
const sysstat = await version(initiator, ["mpstat", "-V"], /version (\S+)/);
const zfs = await version(storage, ["cat", "/sys/module/zfs/version"], /^([\d.]+)/);
const linux = await version(initiator, ["findmnt", "--version"], /util-linux (\S+)/);
const iproute = await version(initiator, ["ip", "-V"], /iproute2-([\d.]+)/);
const kernel = await version(initiator, ["uname", "-r"], /^(\d+\.\d+)/);
const rdma = await version(initiator, packageVersion("rdma-core"), /^([\d.]+)/);
const systemd = await version(initiator, ["systemctl", "--version"], /^systemd (\d+)/);

const place = await record(initiator, `udevadm--path-of-iser-disk--${systemd}`, [
  ...["udevadm", "info", "--query=path", `--name=${path.device}`],
]);
const [, host, session, disk] = /host(\d+)\/session(\d+)\/.*\/(\w+)$/.exec(place) ?? [];
const folder = `/sys/class/iscsi_session/session${session}`;
await record(initiator, `sysfs--iser-session--${kernel}`, [
  ...["grep", "-H", "", `/sys/class/scsi_host/host${host}/proc_name`],
  ...["targetname", "state", "ifacename", "immediate_data"].map((name) => `${folder}/${name}`),
  ...["persistent_address", "persistent_port", "header_digest"].map(
    (name) => `/sys/class/iscsi_connection/connection${session}:0/${name}`,
  ),
]);
await record(initiator, `blkid--export-xfs--${linux}`, [
  "blkid",
  "--probe",
  "--output",
  "export",
  `/dev/${disk}`,
]);
await record(initiator, `ip--route-get--${iproute}`, ["ip", "-j", "route", "get", portal]);
await record(initiator, `ip--address-show-dev--${iproute}`, ["ip", "-j", "address", "show", "dev", "eth1"]);
await record(storage, `ip--address-show-to--${iproute}`, ["ip", "-j", "address", "show", "to", portal]);
await record(initiator, `rdma--link-show-rxe--${iproute}`, ["rdma", "-j", "link", "show"]);
await record(initiator, `ibv_devinfo--rxe--${rdma}`, ["ibv_devinfo", "-d", "rxe0"]);
await record(initiator, `mpstat--version--${sysstat}`, ["mpstat", "-V"]);
await record(initiator, `mpstat--json--${sysstat}`, ["mpstat", "-P", "ALL", "-o", "JSON", "1", "3"]);
await record(storage, `zpool-iostat--mirror-with-log--${zfs}`, [
  ...["timeout", "-s", "INT", "4", "zpool", "iostat", "-Hpvy", "-T", "u", client.pool, "1"],
]);
await record(storage, `arcstats--before-read--${zfs}`, arcstats);
const test = (operation: "read" | "write"): FioTest => ({
  ...{ kind: "fio", workload: "sequential", test: operation, operation },
  ...{ blockSize: 524288, depth: 16, jobs: 1, size: 134217728, runtime: 5, rampTime: 0 },
  ...{ sync: "none", readShare: null, rateIops: null, arc: "left", backstore: "volume" },
});
for (const operation of ["read", "write"] as const) {
  const argv = mounted(
    `/dev/${disk}`,
    client,
    fioArgv(client, { id: "sequential", test: test(operation) }, 2),
  );
  await record(initiator, `fio--${operation}-reports-after-findmnt--${fio}`, ["unshare", "--mount", ...argv]);
  if (operation === "read") await record(storage, `arcstats--after-read--${zfs}`, arcstats);
}
const failing = fioArgv({ mount: "/dev/shm" }, { id: "sequential", test: test("write") }, 2);
await record(initiator, `fio--no-space--${fio}`, [
  ...failing.filter((option) => !option.startsWith("--size")),
  ...["--size=100g", "--fallocate=none"],
]);
await initiator.ask(["rmdir", client.mount]);
