/** A line of the provider's trace (provider/trace.ts): one round trip to a host. */
export type Trip = {
  at: string;
  host: string;
  kind: "ask" | "apply";
  commands: number;
  seconds: number;
  onHost: number;
};

/** Seconds during which at least one of these round trips was under way. */
export function covered(trips: readonly Pick<Trip, "at" | "seconds">[]): number {
  const spans = trips
    .map(({ at, seconds }) => ({ from: Date.parse(at) / 1000 - seconds, to: Date.parse(at) / 1000 }))
    .sort((a, b) => a.from - b.from);
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, to } of spans) {
    total += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return total;
}
