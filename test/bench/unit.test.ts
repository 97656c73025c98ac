import assert from "node:assert/strict";
import { test } from "node:test";
import { asUnit, stopLeftovers, unitFailure } from "../../bench/unit.ts";
import { CommandError, RefusedError } from "../../provider/errors.ts";
import { benchHost, refused } from "./sample.ts";

test("a program as a unit", () => {
  const unit = { name: "storage-lab-bench:lab:1:fio.service", description: "fio of stack lab", seconds: 128 };
  assert.deepEqual(
    asUnit({ ...unit, stopSignal: "SIGINT", afterwards: ["/usr/bin/rmdir", "/test"] }, ["fio", "-v"]),
    [
      ...["systemd-run", "--collect", "--pipe", "--wait", "--service-type=exec", "--setenv=LC_ALL=C"],
      ...["--unit=storage-lab-bench:lab:1:fio.service", "--description=fio of stack lab"],
      ...["--property=IgnoreSIGPIPE=no", "--property=RuntimeMaxSec=128", "--property=TimeoutStopSec=15"],
      ...["--property=KillSignal=SIGINT", "--property=ExecStopPost=-/usr/bin/rmdir /test"],
      ...["--", "fio", "-v"],
    ],
  );
});

/** stderr as systemd-run of systemd 257 printed it. */
const ends: [string, number, string, string | undefined][] = [
  [
    "ended well",
    0,
    "Finished with result: success\nMain processes terminated with: code=exited, status=0/SUCCESS",
    undefined,
  ],
  [
    "its own words",
    32,
    "Running as unit: t1.service; invocation ID: 6d\nmount: /test: can't\nFinished with result: exit-code\nMain processes terminated with: code=exited, status=32/n/a\nService runtime: 397ms\nCPU time consumed: 182ms\nMemory peak: 1.7M (swap: 0B)\n",
    "mount: /test: can't",
  ],
  [
    "out of time",
    1,
    "Running as unit: t1.service\nFinished with result: timeout\nMain processes terminated with: code=killed, status=15/TERM\n",
    "its time was over (RuntimeMaxSec)",
  ],
  [
    "stopped by somebody, which systemd calls success",
    0,
    "Running as unit: t2.service\nFinished with result: success\nMain processes terminated with: code=killed, status=15/TERM\n",
    "ended from outside (code=killed, status=15/TERM)",
  ],
  [
    "no such program",
    1,
    "Failed to find executable fio: No such file or directory\n",
    "Failed to find executable fio: No such file or directory",
  ],
  [
    "without a word",
    2,
    "Running as unit: t4.service\nFinished with result: exit-code\n",
    "status 2, no word",
  ],
];
for (const [what, status, stderr, expected] of ends) {
  test(`how a unit ended: ${what}`, () =>
    assert.equal(unitFailure({ argv: [], status, stdout: "", stderr }), expected));
}

const list = "systemctl list-units --all --plain --no-legend --full 'storage-lab-bench:*'";
const line = (stack: string) =>
  `storage-lab-bench:${stack}:1:fio.service loaded active running storage-lab benchmark\n`;

test("nothing left, nothing stopped", async () => {
  const host = benchHost("storage", { [list]: "" });
  assert.deepEqual(await stopLeftovers(host, "lab"), []);
  assert.deepEqual([host.asked, host.streamed], [[list], []]);
});

test("what this stack left is ended", async () => {
  const host = benchHost("storage", { [list]: line("lab") });
  assert.deepEqual(await stopLeftovers(host, "lab"), ["storage-lab-bench:lab:1:fio.service"]);
  assert.deepEqual(host.streamed, ["systemctl stop 'storage-lab-bench:lab:*:*.service'"]);
});

test("another stack's benchmark is refused by name, and its name may begin as ours does", async () => {
  const host = benchHost("storage", { [list]: line("lab-raidz2") + line("lab") });
  await assert.rejects(
    stopLeftovers(host, "lab"),
    (error) => error instanceof RefusedError && /benchmark of stack lab-raidz2 runs here/.test(error.message),
  );
  assert.deepEqual(host.streamed, []);
});

test("units that can't be listed are not “none”", async () => {
  const host = benchHost("storage", { [list]: refused(1, "Failed to connect to bus") });
  await assert.rejects(stopLeftovers(host, "lab"), CommandError);
});
