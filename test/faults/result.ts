import type { Point } from "./points.ts";

/** What became of a fault. Missed: it came too late for its step, and counts for nothing. */
export type Result = Point & {
  /** The step that it struck before or within, as a sentence. */
  readonly step: string;
  readonly outcome: "survived" | "lost" | "missed";
  readonly seconds: number;
  readonly detail?: string;
};

/**
 * Lines that are missing (-) and too many (+). After a delete, `before` is what stood before the create: a reboot
 * puts back what a delete leaves alone, such as an interface that is switched on.
 */
export function differences(expected: string, found: string, before = expected): string[] {
  const lines = (text: string): Set<string> => new Set(text.split("\n").filter((line) => line !== ""));
  const [want, have, pristine] = [lines(expected), lines(found), lines(before)];
  return [
    ...[...want].filter((line) => !have.has(line) && pristine.has(line)).map((line) => `- ${line}`),
    ...[...have]
      .filter((line) => !want.has(line) && (before === expected || !pristine.has(line)))
      .map((line) => `+ ${line}`),
  ];
}
