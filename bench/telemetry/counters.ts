import { ParseError } from "../../provider/errors.ts";
import type { Frame } from "./frames.ts";
import type { Span } from "./time-line.ts";

/** Counters that only grow, read at both ends of each interval: how much they grew a second. */

export type Values = (number | null)[];

/** Per second. A counter that is missing at one end, or that went back (reset, wrapped), says nothing. */
export function rates(
  spans: readonly (Span | undefined)[],
  counter: (frame: Frame) => number | null | undefined,
): Values {
  return spans.map((span) => {
    if (span === undefined) return null;
    const [before, after] = [counter(span.before), counter(span.after)];
    if (typeof before !== "number" || typeof after !== "number" || after < before) return null;
    return (after - before) / span.seconds;
  });
}

/** What a counter or gauge stood at when an interval ended. */
export const levels = (
  spans: readonly (Span | undefined)[],
  gauge: (frame: Frame) => number | null | undefined,
): Values => spans.map((span) => (span === undefined ? null : (gauge(span.after) ?? null)));

/** Each frame is parsed once, however many counters are taken of it. */
export function perFrame<T>(parse: (frame: Frame) => T): (frame: Frame) => T {
  const known = new WeakMap<Frame, { value: T }>();
  return (frame) => {
    const found = known.get(frame) ?? { value: parse(frame) };
    known.set(frame, found);
    return found.value;
  };
}

/** A file that is read in every frame; undefined where the host has none. */
export const fileOf =
  <T>(path: string, parse: (text: string) => T) =>
  (frame: Frame): T | undefined => {
    const text = frame.files.get(path);
    return text === undefined ? undefined : parse(text);
  };

/** As `fileOf`, of a file that every Linux has. */
export const required =
  <T>(path: string, parse: (text: string) => T) =>
  (frame: Frame): T => {
    const text = frame.files.get(path);
    if (text === undefined) throw new ParseError(`telemetry: ${path} was not read`);
    return parse(text);
  };

export const filesBelow = (frame: Frame, folder: string): Map<string, string> =>
  new Map([...frame.files].filter(([path]) => path.startsWith(folder)));

export const scaled = (values: Values, factor: number): Values =>
  values.map((value) => (value === null ? null : value * factor));
export const sum = (...all: readonly Values[]): Values =>
  (all[0] ?? []).map((_, n) => {
    const values = all.map((one) => one[n] ?? null);
    return values.includes(null) ? null : values.reduce((a: number, b) => a + (b ?? 0), 0);
  });
/** Did it ever do anything? */
export const active = (...all: readonly Values[]): boolean =>
  all.some((one) => one.some((v) => (v ?? 0) > 0));
