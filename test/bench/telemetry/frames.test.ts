import assert from "node:assert/strict";
import { test } from "node:test";
import { type Frame, frameReader } from "../../../bench/telemetry/frames.ts";

const frame = (...lines: string[]): string => lines.join("\v");

function read(stream: readonly string[]): { frames: Frame[]; lines: string[] } {
  const [frames, lines]: [Frame[], string[]] = [[], []];
  const reader = frameReader(
    (one) => frames.push(one),
    (program, line) => lines.push(`${program}: ${line}`),
  );
  for (const line of stream) reader(line);
  return { frames, lines };
}

test("a stream is taken apart by frame, file and program; a program's lines come at once", () => {
  const { frames, lines } = read([
    frame("\x01@ 1796065519.001154", "\x01< /proc/uptime", "1 2", "\x01< /proc/a", "x", "y", "\x01."),
    frame("\x01@ 1796065520.000001", "\x01| mpstat", "{", '"a": 1', "\x01| iostat", "", "\x01."),
    frame("\x01@ 1796065521.000001", "\x01."),
  ]);
  assert.deepEqual(frames, [
    {
      time: 1796065519.001154,
      files: new Map([
        ["/proc/uptime", "1 2\n"],
        ["/proc/a", "x\ny\n"],
      ]),
      printed: new Map(),
    },
    {
      time: 1796065520.000001,
      files: new Map(),
      printed: new Map([
        ["mpstat", '{\n"a": 1\n'],
        ["iostat", "\n"],
      ]),
    },
    { time: 1796065521.000001, files: new Map(), printed: new Map() },
  ]);
  assert.deepEqual(lines, ["mpstat: {", 'mpstat: "a": 1', "iostat: "]);
});

test("a frame that was cut off is no frame", () => {
  assert.deepEqual(read([frame("\x01@ 1796065519.001154", "\x01< /proc/uptime", "1 2")]).frames, []);
});

const wrong: [string, string, RegExp][] = [
  ["text before any frame", "Running as unit", /unknown line "Running as unit" \(outside of a frame\)/],
  ["a file before any frame", "\x01< /proc/a", /outside of a frame/],
  ["another mark", frame("\x01@ 1796065519.001154", "\x01? a"), /not one of @ < \| \./],
  ["a time that is none", "\x01@ now", /seconds expected/],
];
for (const [what, line, message] of wrong) {
  test(`an unknown line is an error that quotes it: ${what}`, () =>
    assert.throws(() => read([line]), message));
}
