import type { Phase, Precondition } from "./schema/result.ts";

/** What runs of several phases (kinds `files` and `io500`) tell while they run, and give. */

export type PhaseProgress = {
  readonly phase: string;
  /** From 0 to 1; null where the program doesn't tell. */
  readonly done: number | null;
  /** MB/s (10^6) since the report before; null where the program doesn't tell. */
  readonly bandwidth: number | null;
};

/** Hears what is going on, every few seconds. */
export type PhaseLive = (progress: PhaseProgress) => void;

export type Phased = {
  /** Empty where `invalid` says why. */
  readonly phases: Phase[];
  /** io500: geometric mean of GiB/s and kIOPS; null for files. */
  readonly score: number | null;
  /** io500: the io500 program's own. Null for files. */
  readonly official: boolean | null;
  /** Why the run has no figures although its program ended well; null: it has. */
  readonly invalid: string | null;
  /** Seconds measured, all phases. */
  readonly seconds: number;
  /** What ran on the client, as a command line. */
  readonly command: string;
  /** Read back by the run itself; one that doesn't hold makes the run invalid. */
  readonly preconditions: Precondition[];
  readonly warnings: string[];
  /** When each phase was measured, in ms of performance.now(): the telemetry's windows. */
  readonly windows: readonly { readonly phase: string; readonly start: number; readonly end: number }[];
  /** How the file system was mounted, as findmnt says. */
  readonly mountOptions: string;
  /** Raw outputs by file name. */
  readonly files: Record<string, string>;
};
