import assert from "node:assert/strict";
import { test } from "node:test";
import { type InterruptSource, parseInterrupts } from "../../../bench/parse/interrupts.ts";
import { parseNetDev } from "../../../bench/parse/net-dev.ts";
import { type CpuTimes, parseProcStat } from "../../../bench/parse/proc-stat.ts";
import { ParseError } from "../../../provider/errors.ts";
import { recorded, recordings } from "../../recorded.ts";
import { assertNear, assertTotal } from "./total.ts";

/** The kernel's counters in /proc: on the guests, and on a machine of two processors. */

const takenBy = ({ counts }: InterruptSource): number => [...counts.values()].reduce((a, b) => a + b, 0);

for (const name of recordings("cat", /^proc-stat/)) {
  test(`${name}: the cores' times make up those of all`, () => {
    const { all, cores, interrupts, contextSwitches } = parseProcStat(recorded(name));
    for (const key of Object.keys(all) as (keyof CpuTimes)[]) {
      const sum = [...cores.values()].reduce((ticks, core) => ticks + core[key], 0);
      // Each is cut to whole ticks.
      assert.ok(Math.abs(sum - all[key]) <= cores.size + 1, `${key}: ${sum} of ${all[key]}`);
    }
    assert.ok(all.user > 0 && all.idle > 0 && interrupts > 0 && contextSwitches > 0);
    const processors = recorded(name.replace("proc-stat", "proc-interrupts"))
      .split("\n")[0]
      ?.trim()
      .split(/\s+/);
    assert.equal(cores.size, processors?.length);
  });

  test(`${name}: the interrupts of /proc/interrupts make up its sum`, () => {
    const sources = parseInterrupts(recorded(name.replace("proc-stat", "proc-interrupts")));
    const { interrupts } = parseProcStat(recorded(name));
    assertNear(
      sources.reduce((all, source) => all + takenBy(source), 0),
      interrupts,
      0.05,
      "interrupts",
    );
    assert.ok(sources.some(({ device }) => /virtio/.test(device)));
    assert.ok(sources.some((source) => source.name === "LOC" && source.device === "Local timer interrupts"));
  });
}

for (const name of recordings("cat", /^proc-net-dev/)) {
  test(`${name}: packets of at most a superpacket's bytes`, () => {
    const interfaces = parseNetDev(recorded(name));
    assert.ok(interfaces.has("lo") && interfaces.has("eth0"));
    for (const { received, sent } of interfaces.values()) {
      for (const { bytes, packets } of [received, sent])
        assert.ok(bytes >= 40 * packets && bytes <= 65_550 * packets);
    }
    const lo = interfaces.get("lo");
    assert.deepEqual(lo?.received.bytes, lo?.sent.bytes);
  });
}

test("figures by hand", () => {
  const text = recorded("cat--proc-net-dev--linux-6.12");
  assert.deepEqual(parseNetDev(text).get("eth0"), {
    received: { bytes: 12_465, packets: 42, errors: 0, dropped: 0 },
    sent: { bytes: 4_583, packets: 35, errors: 0, dropped: 0 },
  });
  const [timer] = parseInterrupts(recorded("cat--proc-interrupts--linux-6.12"));
  assert.deepEqual(timer, { name: "0", device: "IO-APIC 2-edge timer", counts: new Map([[0, 473]]) });
  assert.deepEqual(parseProcStat(recorded("cat--proc-stat--linux-6.12")).all, {
    ...{ user: 3274, nice: 0, system: 7856, idle: 1170, iowait: 59, irq: 0, softirq: 209 },
    ...{ steal: 0, guest: 0, guestNice: 0 },
  });
});

test("an offline processor leaves a gap in the numbers", () => {
  const sources = parseInterrupts(
    "           CPU0       CPU2\n 24:          1          7  IO-APIC   5-edge      mlx4\n",
  );
  assert.deepEqual(sources, [
    {
      name: "24",
      device: "IO-APIC 5-edge mlx4",
      counts: new Map([
        [0, 1],
        [2, 7],
      ]),
    },
  ]);
});

test("drops and errors of both ways; a number right after the colon", () => {
  const [, head = "", columns = ""] = /^(.*)\n(.*)\n/.exec(recorded("cat--proc-net-dev--linux-6.12")) ?? [];
  const line = "   ib0:9007199254740 2 3 4 5 6 7 8 11 12 13 14 15 16 17 18";
  assert.deepEqual(parseNetDev(`${head}\n${columns}\n${line}\n`).get("ib0"), {
    received: { bytes: 9_007_199_254_740, packets: 2, errors: 3, dropped: 4 },
    sent: { bytes: 11, packets: 12, errors: 13, dropped: 14 },
  });
});

for (const [what, parse, bad, said] of [
  ["/proc/stat", parseProcStat, "cpu  1 2 3\n", /unknown line "cpu {2}1 2 3"/],
  ["/proc/stat", parseProcStat, "intr 5\nctxt 6\n", /cpu, cpuN, intr and ctxt expected/],
  ["/proc/interrupts", parseInterrupts, "  CPU0 CPU1\n 24: 1\n", /unknown line " 24: 1"/],
  ["/proc/interrupts", parseInterrupts, "  CPU0 core\n 24: 1 2\n", /unknown line " {2}CPU0 core"/],
  ["/proc/net/dev", parseNetDev, "Inter-|\n face |bytes\n", /unknown columns/],
  [
    "/proc/net/dev",
    parseNetDev,
    `${recorded("cat--proc-net-dev--linux-6.12")}eth9: 1 2\n`,
    /unknown line "eth9: 1 2"/,
  ],
] as const) {
  test(`${what}: ${said.source}`, () =>
    assert.throws(
      () => parse(bad),
      (error) => error instanceof ParseError && said.test(error.message) && error.message.startsWith(what),
    ));
}

test("any text is parsed or a ParseError", () => {
  assertTotal(parseProcStat, recorded("cat--proc-stat--linux-6.12"));
  assertTotal(parseInterrupts, recorded("cat--proc-interrupts--linux-6.12"));
  assertTotal(parseNetDev, recorded("cat--proc-net-dev--linux-6.12"));
});
