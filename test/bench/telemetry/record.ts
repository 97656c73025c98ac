import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Request } from "../../../bench/schema/request.ts";
import type { HostState } from "../../../bench/schema/result.ts";
import { startTelemetry } from "../../../bench/telemetry/telemetry.ts";
import { asUnit, type BenchHost } from "../../../bench/unit.ts";
import { Host } from "../../../provider/host.ts";

/**
 * Records the collectors' streams of both guests of a virtual lab that is up, while fio writes by iSER:
 * node test/bench/telemetry/record.ts .lab/STACK. Its LUN must hold the XFS that the stack makes.
 */

const lab = process.argv[2] ?? ".lab/lab";
const guest = (name: string): Host => new Host({ name, ssh: name, config: `${lab}/${name}/ssh_config` });
const [storage, initiator] = [guest("storage"), guest("initiator")];

/** The same host, what it streams kept as a recorded output. */
const kept = (host: Host, name: string): BenchHost => ({
  name: host.name,
  ask: (argv) => host.ask(argv),
  apply: (steps, options) => host.apply(steps, options),
  async stream(argv, options) {
    const answer = await host.stream(argv, options);
    if (answer.argv.includes("bash")) {
      writeFileSync(join(import.meta.dirname, "../../recorded", `${name}.out`), answer.stdout);
    }
    return answer;
  },
});

const state = (name: string) => ({ name, cpus: 1, versions: { sysstat: "12.7.5" } }) as unknown as HostState;
const run = { stack: "lab", id: "record" };
const begin = () =>
  startTelemetry(
    {
      request: { stack: "lab", interval: 2, clients: [{ pool: "tank" }] } as unknown as Request,
      run,
      storage: kept(storage, "collector--storage-iser-write--linux-6.12"),
      clients: [kept(initiator, "collector--client-iser-write--linux-6.12")],
    },
    "record",
    12,
    { storage: state("storage"), clients: [state("initiator")] },
    { core: () => {} },
  );
const fio = [
  ...[
    "fio",
    "--name=record",
    "--filename=/mnt/record",
    "--size=64m",
    "--bs=512k",
    "--rw=write",
    "--direct=1",
  ],
  ...["--ioengine=libaio", "--iodepth=16", "--time_based", "--runtime=16", "--unlink=1"],
];
const mount = 'mount "$(echo /dev/disk/by-path/*:3261-iscsi-*-lun-0)" /mnt && echo mounted && exec "$@"';
const unit = {
  name: "storage-lab-bench:lab:record:fio.service",
  description: "fio for a recording",
  seconds: 120,
};
let telemetry: ReturnType<typeof startTelemetry> | undefined;
const answer = await initiator.stream(asUnit(unit, ["unshare", "--mount", "sh", "-c", mount, "sh", ...fio]), {
  deadlineSeconds: 180,
  // The file system is mounted and fio begins: the recording holds little else.
  onLine() {
    telemetry ??= begin();
  },
});
console.error(answer.stdout, answer.stderr);
await telemetry?.running;
await telemetry?.stop();
process.exit(0);
