import { type Fault, type Kind, kinds } from "./fault.ts";
import type { Seen } from "./report.ts";

/** Which faults a run has: pure. */

export const operations = ["create", "update", "replace", "delete"] as const;
export type Operation = (typeof operations)[number];

export type Point = Pick<Fault, "kind" | "at" | "endOf" | "during"> & {
  readonly type: string;
  readonly operation: Operation;
};

export const pointName = ({ type, operation, kind, at, endOf, during }: Point): string =>
  `${type} ${operation} ${kind} ${endOf === undefined ? at : "end"}${during === undefined ? "" : ` +${during}`}`;

/** A step of at least this length is also struck in its middle, by what stops the host's own work there. */
const longSeconds = 2;
const withinSteps: readonly Kind[] = ["cut", "reboot"];

/** Every place of an operation, as an undisturbed run showed its steps: before each, within the long, after the last. */
export function pointsOf(
  type: string,
  operation: Operation,
  seen: Seen,
  wanted: readonly Kind[] = kinds,
): Point[] {
  if (seen.steps.length === 0) return [];
  const within = seen.steps.flatMap((_, at): Pick<Point, "at" | "endOf" | "during">[] => {
    const seconds = seen.seconds.get(at) ?? 0;
    const middle = Math.round(seconds * 5) / 10;
    return [{ at }, ...(seconds >= longSeconds ? [{ at, during: middle }] : [])];
  });
  const places = [...within, { at: seen.steps.length, endOf: seen.plans }];
  return places.flatMap((place) =>
    kinds
      .filter((kind) => wanted.includes(kind) && (place.during === undefined || withinSteps.includes(kind)))
      .map((kind) => ({ type, operation, kind, ...place })),
  );
}

/** So many of the kinds at each place, by turns, so that no place and no kind is left out; another seed, other turns. */
export function turnsOf(points: readonly Point[], turns: number, seed: number): Point[] {
  const places = new Map<string, Point[]>();
  for (const point of points) {
    const key = `${point.operation} ${point.at} ${point.during}`;
    places.set(key, [...(places.get(key) ?? []), point]);
  }
  // Counted apart: places within steps have fewer kinds, and would always take the same turn from the others.
  const passed = new Map<number, number>();
  return [...places.values()].flatMap((own) => {
    const n = passed.get(own.length) ?? 0;
    passed.set(own.length, n + 1);
    const first = (n + seed) % own.length;
    return [...own.slice(first), ...own.slice(0, first)].slice(0, turns);
  });
}

/** A generator of numbers below 1 that gives the same ones for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** So many of the points, by chance, but of each kind and operation in turn, so that none is forgotten. */
export function sampleOf(points: readonly Point[], count: number, next: () => number): Point[] {
  const groups = new Map<string, Point[]>();
  for (const point of shuffled(points, next)) {
    const key = `${point.kind} ${point.operation}`;
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  // A new kind with each, and by and by all operations.
  const ordered = [...groups].sort(([a], [b]) => turn(a) - turn(b)).map(([, group]) => group);
  const taken: Point[] = [];
  while (taken.length < count && ordered.some((group) => group.length > 0)) {
    for (const group of ordered) {
      const point = group.pop();
      if (point !== undefined && taken.length < count) taken.push(point);
    }
  }
  return taken;
}

/** Walks the square of kinds × operations by its diagonals. */
function turn(key: string): number {
  const [kind, operation] = key.split(" ") as [Kind, Operation];
  const [k, o] = [kinds.indexOf(kind), operations.indexOf(operation)];
  return ((o - k + operations.length * kinds.length) % operations.length) * kinds.length + k;
}

function shuffled<T>(items: readonly T[], next: () => number): T[] {
  return items
    .map((item) => ({ item, key: next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
