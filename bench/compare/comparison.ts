import type { Figure } from "../reference.ts";
import type { Test } from "../schema/test.ts";
import type { Protocol } from "../schema/words.ts";

/** What a comparison holds: plain data, exact figures; rounded where people read them. Also what `--json` prints. */

export type Column = {
  /** A stack, or a stack over one protocol; with its moment where a stack is there twice. */
  readonly name: string;
  readonly stack: string;
  /** Null: both protocols, each in rows of its own. */
  readonly protocol: Protocol | null;
  readonly started: string;
  readonly folder: string;
  readonly virtual: boolean;
};

/** All repeats of one figure. The deviation is the standard deviation over repeats; null for fewer than two. */
export type Spread = {
  readonly values: readonly number[];
  readonly median: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly deviation: number | null;
};

export type Difference = {
  /** Of the medians, in percent of the one that is compared with. */
  readonly percent: number;
  /** Null: it can't be said. */
  readonly moreThanNoise: boolean | null;
  /** Of the test, before the correction for many; null where none was made. */
  readonly p: number | null;
  /** Why it can't be said; null where it can. */
  readonly unknown: string | null;
};

export type Cell = Spread & {
  /** Null: it is the one that is compared with, or that one has no figure here. */
  readonly difference: Difference | null;
};

export type Row = {
  readonly metric: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** By column; null: no figure. */
  readonly cells: readonly (Cell | null)[];
  /** The column that the others are compared with; null where none has a figure. */
  readonly against: number | null;
  /** By published lab. */
  readonly published: readonly (readonly Figure[])[];
};

/** One test over one protocol (or over both, side by side), in all columns. */
export type Series = {
  readonly title: string;
  /** Null where protocols are columns. */
  readonly protocol: Protocol | null;
  readonly test: Test;
  readonly rows: readonly Row[];
  /** What limited each column's first valid run, in words; null: nothing found, or no run. */
  readonly limits: readonly (string | null)[];
};

/** Something that should be alike in a fair comparison, and isn't. By column; null: it has no such thing. */
export type Differing = { readonly what: string; readonly values: readonly (string | null)[] };

export type Comparison = {
  readonly schema: 1;
  readonly title: string;
  readonly against: "first" | "best";
  readonly columns: readonly Column[];
  readonly references: readonly { readonly name: string; readonly title: string }[];
  readonly series: readonly Series[];
  /** Runs without figures: in no median. */
  readonly invalid: readonly { readonly column: string; readonly run: string; readonly reason: string }[];
  /** Stacks that should be here, and have no result. */
  readonly missing: readonly { readonly name: string; readonly reason: string }[];
  readonly differing: readonly Differing[];
  /** To know before believing, in sentences, the weightiest first. */
  readonly notes: readonly string[];
};
