import assert from "node:assert/strict";
import { test } from "node:test";
import { idle, idleBounds, idleLook, idlePrecondition, isIdle, parseLoad } from "../../../bench/run/idle.ts";
import { ParseError } from "../../../provider/errors.ts";
import { commandLine } from "../../../provider/shell.ts";
import { recorded } from "../../recorded.ts";
import { benchHost } from "../sample.ts";

const process = (pid: number, name: string, ticks: number): string =>
  `${pid} (${name}) S 1 1 1 0 -1 4194560 1 0 0 0 ${ticks} 0 0 0 20 0 1 0 100 1 1\n`;
const clock = (uptime: string, busy: number, disks: string): string =>
  `${uptime} 1.00\ncpu  ${busy} 0 0 1000 50 0 0 0 0 0\ncpu0 ${busy} 0 0 1000 50 0 0 0 0 0\nintr 5 0\nctxt 9\n${disks}`;
const disk = (name: string, read: number, written: number): string =>
  `   8       0 ${name} 10 0 ${read} 5 10 0 ${written} 5 0 10 10 0 0 0 0 0 0\n`;

/** Two looks two seconds apart. */
const looks = (busy: number, processes: string, disks: string): string =>
  [
    process(7, "tar) x (", 10) + process(8, "sleep", 1),
    clock("100.00", 0, disk("sda", 0, 0) + disk("sda1", 0, 0)),
  ]
    .concat([clock("102.00", busy, disks), processes])
    .join("---\n");

test("a real host", () => {
  const load = parseLoad(recorded("sh--idle-look--linux-6.12"));
  assert.ok(load.cores >= 0 && load.cores < 1, `${load.cores}`);
  assert.ok(load.disks >= 0 && load.disks < 1, `${load.disks}`);
});

test("CPU time in cores, the busiest process by its name, whole disks only", () => {
  const text = looks(
    150,
    process(7, "tar) x (", 130) + process(9, "new", 500),
    disk("sda", 4000, 4000) + disk("sda1", 4000, 4000),
  );
  assert.deepEqual(parseLoad(text), {
    cores: 0.75,
    disks: 2.048,
    // A process that began in between has no time before; its own is not known.
    process: { pid: 7, name: "tar) x (", percent: 60 },
  });
});

test("idle within the bounds, both of them", () => {
  const load = { cores: idleBounds.cores, disks: idleBounds.disks, process: null };
  assert.equal(isIdle(load), true);
  assert.equal(isIdle({ ...load, cores: load.cores + 0.01 }), false);
  assert.equal(isIdle({ ...load, disks: load.disks + 0.01 }), false);
});

test("what keeps a host busy is named", () => {
  const { found, holds } = idlePrecondition(
    "storage",
    { cores: 1.5, disks: 80, process: { name: "rsync", pid: 4711, percent: 98 } },
    60,
  );
  assert.equal(holds, false);
  assert.equal(
    found,
    "1.50 cores busy, most by rsync (process 4711, 98 % of a core), 80.0 MB/s on its disks, after 60 s",
  );
});

test("a host that is idle is looked at once; an interruption ends the waiting", async () => {
  const line = commandLine(idleLook);
  const host = benchHost("storage", { [line]: looks(10, process(7, "tar) x (", 12), disk("sda", 0, 0)) });
  assert.equal((await idle(host, new AbortController().signal)).holds, true);
  assert.deepEqual(host.asked, [line]);
  await assert.rejects(idle(host, AbortSignal.abort("SIGTERM")), (reason) => reason === "SIGTERM");
});

for (const [what, text] of Object.entries({
  "one look": clock("1.00", 0, ""),
  "no uptime": looks(1, "", "").replace("100.00 1.00", "now"),
  "an unknown line": looks(1, "", "").replace("ctxt 9", "?"),
  "a clock that stands": looks(1, "", "").replace("102.00", "100.00"),
  "a process without times": looks(1, "7 (x) S 1\n", ""),
})) {
  test(`${what} is an error`, () => assert.throws(() => parseLoad(text), ParseError));
}
