import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { collectorArguments, startCollector } from "../../../bench/telemetry/collector.ts";
import { type Frame, frameReader } from "../../../bench/telemetry/frames.ts";
import { sourcesOf, toolsOf } from "../../../bench/telemetry/sources.ts";
import { benchHost } from "../sample.ts";

const scratch = mkdtempSync(join(tmpdir(), "collector-"));
after(() => rmSync(scratch, { recursive: true }));
const script = join(import.meta.dirname, "../../../bench/telemetry/collector.sh");

const file = (name: string, text: string): string => {
  writeFileSync(join(scratch, name), text);
  return join(scratch, name);
};

/** What a collector has in memory, by its process. */
const leftBy = (pid: number | undefined): string[] =>
  readdirSync("/dev/shm").filter((name) => name.startsWith(`storage-lab.${pid}.`));

/** Run collector.sh here until `enough` frames have come, then end it as systemd does. */
async function collect(argv: readonly string[], enough = 3) {
  const frames: Frame[] = [];
  const child = spawn("bash", [script, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
  const read = frameReader((frame) => {
    frames.push(frame);
    if (frames.length === enough) child.kill("SIGINT");
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => {
    const lines = (stdout + String(data)).split("\n");
    stdout = lines.pop() ?? "";
    for (const line of lines) read(line);
  });
  child.stderr.on("data", (data) => {
    stderr += String(data);
  });
  const [status, signal] = await once(child, "close");
  return { frames, stderr, status, signal, rest: stdout, left: leftBy(child.pid) };
}

/** Says a line now and then, and one more when it is told to end; bash could not: its background jobs ignore SIGINT. */
const program = `
process.on("SIGINT", () => { console.log("closed"); process.exit(); });
setInterval(() => console.log("tick"), 100);`;
const ticking = [process.execPath, "-e", program];

describe("collector.sh", { concurrency: true }, () => {
  test("frames at whole seconds of the reader's clock, with files, patterns and what programs printed", async () => {
    const [a, many] = [file("a", "1\n2\n"), [file("many-1", "x\n"), file("many-2", "y\n")]];
    const ahead = 400_000;
    const found = await collect([
      ...["1", String(ahead), "file", a, "file", join(scratch, "many-*"), "file", join(scratch, "missing")],
      ...["slow", file("s", "slow\n")],
      ...["program", "ticks", "INT", String(ticking.length), ...ticking],
    ]);
    assert.deepEqual([found.status, found.stderr, found.rest], [0, "", ""]);
    const [first, second] = found.frames;
    assert.deepEqual(
      first?.files,
      new Map([
        [a, "1\n2\n"],
        [many[0], "x\n"],
        [many[1], "y\n"],
        [join(scratch, "s"), "slow\n"],
      ]),
    );
    assert.deepEqual([...(second?.files.keys() ?? [])], [a, ...many]);
    // The last frame has the slow files again.
    assert.equal(found.frames.at(-1)?.files.get(join(scratch, "s")), "slow\n");
    for (const { time } of found.frames.slice(0, 3)) {
      const late = (((time * 1e6 - ahead) % 1e6) + 1e6) % 1e6;
      assert.ok(late < 400_000, `${time} is no whole second of the reader's`);
    }
    const printed = found.frames.map((frame) => frame.printed.get("ticks") ?? "").join("");
    assert.match(printed, /^(tick\n)+closed\n$/);
  });

  test("a program that ends by itself ends it, with the program's last word; nothing stays in memory", async () => {
    const found = await collect(["1", "0", "program", "mpstat", "INT", "1", "no-such-program"]);
    assert.equal(found.status, 1);
    assert.match(found.stderr, /mpstat has ended: .*no-such-program: command not found/);
    assert.deepEqual(found.left, []);
  });

  test("it dies with its listener", async () => {
    const child = spawn("bash", [script, "1", "0", "file", "/proc/uptime"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.once("data", () => child.stdout.destroy());
    const [status, signal] = await once(child, "exit");
    assert.deepEqual([status, signal], [null, "SIGPIPE"]);
    assert.deepEqual(leftBy(child.pid), []);
  });
});

test("the command line of a collector on a storage host", async () => {
  const sources = sourcesOf("storage", 2, toolsOf("12.7.5"), {
    unit: "u.service",
    pools: ["tank"],
    perf: false,
  });
  assert.deepEqual(sources.programs, [
    { name: "mpstat", signal: "INT", argv: ["mpstat", "-P", "ALL", "-o", "JSON", "2"] },
    { name: "iostat", signal: "INT", argv: ["iostat", "-x", "-y", "-t", "-k", "-o", "JSON", "2"] },
    {
      name: "zpool-iostat-tank",
      signal: "TERM",
      argv: ["zpool", "iostat", "-p", "-v", "-T", "u", "-y", "-l", "-q", "tank", "2"],
    },
  ]);
  assert.deepEqual(
    collectorArguments(2, -1.5, { files: ["/a"], slow: ["/b*"], programs: sources.programs.slice(0, 1) }),
    ["2", "-1500", "file", "/a", "slow", "/b*", "program", "mpstat", "INT", "6"].concat(
      sources.programs[0]?.argv ?? [],
    ),
  );
});

test("a client's has no ZFS and no LIO; perf where it is allowed", () => {
  const sources = sourcesOf("client", 1, toolsOf("12.1.0"), { unit: "u.service", pools: [], perf: true });
  assert.deepEqual(
    sources.programs.map(({ argv }) => argv.join(" ")),
    [
      "mpstat -P ALL 1",
      "iostat -x -y -t -k 1",
      "perf stat -a -x, -e cycles,instructions,cache-misses -I 1000",
    ],
  );
  assert.deepEqual(
    [...sources.files, ...sources.slow].filter((path) => /zfs|target/.test(path)),
    [],
  );
});

describe("a collector on a host", () => {
  const start = (lines: readonly [number, string][], ending: { status?: number; stderr?: string } = {}) => {
    const host = benchHost("storage", {}, () => ({ lines, ...ending }));
    const collector = startCollector(host, { stack: "lab", id: "1" }, "x-telemetry", {
      ...{ description: "telemetry", seconds: 9, interval: 1, ahead: 0, onLine: () => {} },
      sources: { files: ["/a"], slow: [], programs: [{ name: "p", signal: "INT", argv: ["p"] }] },
    });
    return { host, collector };
  };
  const frame = (n: number, printed = ""): string =>
    ["\x01@ 1796065519.00000" + n, ...(printed === "" ? [] : ["\x01| p", printed]), "\x01."].join("\v");

  test("it runs when each program has printed; its unit is stopped by name", async () => {
    const { host, collector } = start([
      [0, frame(1)],
      [0, frame(2, "a")],
      [0, frame(3)],
      [60_000, ""],
    ]);
    await collector.running;
    assert.equal((await collector.stop()).length, 3);
    assert.deepEqual(host.streamed, [
      "systemd-run --collect --pipe --wait --service-type=exec --setenv=LC_ALL=C --unit=storage-lab-bench:lab:1:x-telemetry.service --description=telemetry --property=IgnoreSIGPIPE=no --property=RuntimeMaxSec=9 --property=TimeoutStopSec=15 --property=KillSignal=SIGINT -- bash -s -- 1 0 file /a program p INT 1 p",
      "systemctl stop storage-lab-bench:lab:1:x-telemetry.service",
    ]);
  });

  test("one that ends by itself is an error with its own words", async () => {
    const { collector } = start([[0, frame(1)]], { status: 1, stderr: "p has ended: no such program\n" });
    await assert.rejects(
      collector.running,
      /^CommandError: storage: the telemetry ended by itself: p has ended: no such program$/m,
    );
    await assert.rejects(collector.stop(), /p has ended: no such program/);
  });
});
