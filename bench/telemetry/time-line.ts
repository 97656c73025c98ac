import type { Frame } from "./frames.ts";

/**
 * One host's frames on the time line of all: whole intervals of our clock. A frame stands at the interval's end that
 * is nearest to it; what it says is of the time since the frame before.
 */

/** Ends of intervals, in ms of our clock (clock.ts). */
export type TimeLine = { readonly interval: number; readonly times: readonly number[] };

/** Of an interval so much may lie outside of the measured time: clocks and timers are not exact. */
const slack = 0.25;

/** The intervals that lie inside of a time in ms of our clock. `interval`: seconds. */
export function timeLine(interval: number, start: number, end: number): TimeLine {
  const step = interval * 1000;
  const first = Math.ceil((start - slack * step) / step) + 1;
  const last = Math.floor((end + slack * step) / step);
  const count = Math.max(0, last - first + 1);
  return { interval, times: Array.from({ length: count }, (_, n) => (first + n) * step) };
}

/** A reading and the one before it; undefined where a frame is missing. */
export type Span = { readonly before: Frame; readonly after: Frame; readonly seconds: number };

export type Placed = {
  /** By interval; of several frames within one the last. */
  readonly spans: readonly (Span | undefined)[];
  /** Which interval each frame stands at, before the first and after the last too: its nth interval since 1970. */
  readonly slots: readonly number[];
  readonly gaps: readonly string[];
};

/** `ahead`: ms by which the host's clock is ahead of ours. */
export function placeFrames(frames: readonly Frame[], ahead: number, line: TimeLine): Placed {
  const step = line.interval * 1000;
  const slots = frames.map((frame) => Math.round((frame.time * 1000 - ahead) / step));
  const bySlot = new Map(frames.map((frame, n): [number, Frame] => [slots[n] ?? 0, frame]));
  const known = [...bySlot.keys()].sort((a, b) => a - b);
  const gaps: string[] = [];
  const start = (line.times[0] ?? 0) - step;
  const spans = line.times.map((time): Span | undefined => {
    const slot = Math.round(time / step);
    const after = bySlot.get(slot);
    const previous = known.findLast((other) => other < slot);
    const before = previous === undefined ? undefined : bySlot.get(previous);
    if (after === undefined || before === undefined || previous === undefined) return undefined;
    const seconds = after.time - before.time;
    if (seconds > 1.5 * line.interval) {
      const at = ((previous * step - start) / 1000).toFixed(0);
      gaps.push(
        `no sample for ${seconds.toFixed(1)} s from second ${at} on, one each ${line.interval} s wanted`,
      );
    }
    return seconds > 0 ? { before, after, seconds } : undefined;
  });
  const late = spans.findIndex((span) => span !== undefined);
  if (late > 0) gaps.unshift(`no sample in the first ${late * line.interval} s`);
  const early = spans.length - 1 - spans.findLastIndex((span) => span !== undefined);
  if (early > 0 && late !== -1) gaps.push(`no sample in the last ${early * line.interval} s`);
  if (late === -1) gaps.push("no sample at all");
  return { spans, slots, gaps };
}

/**
 * A program's samples by interval. It was started a moment after a frame and samples at the same pace, so what
 * it printed between two frames is of the interval that the first of them ended. `begins`: does this line begin a
 * sample? Of two between the same frames the first was late.
 */
export function placeSamples<S>(
  name: string,
  { frames, placed, line }: { frames: readonly Frame[]; placed: Placed; line: TimeLine },
  begins: (line: string) => boolean,
  parse: (text: string) => readonly S[],
): { samples: (S | undefined)[]; gaps: string[] } {
  const samples = parse(frames.map(({ printed }) => printed.get(name) ?? "").join(""));
  const bySlot = new Map<number, S>();
  let nth = 0;
  for (const [n, frame] of frames.entries()) {
    const before = placed.slots[n - 1];
    for (const text of (frame.printed.get(name) ?? "").split("\n")) {
      if (!begins(text)) continue;
      const sample = samples[nth];
      nth += 1;
      if (before === undefined || sample === undefined) continue;
      // One that was late came together with the next.
      const late = bySlot.get(before);
      if (late !== undefined && !bySlot.has(before - 1)) bySlot.set(before - 1, late);
      bySlot.set(before, sample);
    }
  }
  const step = line.interval * 1000;
  const found = line.times.map((time) => bySlot.get(Math.round(time / step)));
  const missing = found.filter((sample) => sample === undefined).length;
  return {
    samples: found,
    gaps: missing === 0 ? [] : [`${name}: ${missing} of ${found.length} samples missing`],
  };
}
