/** What a core did in one interval, as mpstat(1) says it, in JSON or as text. */
export type Core = {
  readonly core: number;
  /** Percent of the interval; neither idle nor waiting for I/O. */
  readonly busy: number;
  readonly system: number;
  readonly softirq: number;
};

/** All shares in percent. User to idle make up 100, give or take rounding. */
export type CoreShares = Core & {
  /** Nice included. */
  readonly user: number;
  /** Hardware interrupts; many kernels don't count them apart, and then it is 0. */
  readonly interrupt: number;
  /** Idle, with an I/O of this core under way: not busy. */
  readonly iowait: number;
  readonly steal: number;
  /** Running a guest's processor, its nice time included. */
  readonly guest: number;
  readonly idle: number;
};

/** All cores in one interval, and their average as mpstat itself gives it. */
export type CpuShares = {
  readonly time: string;
  readonly cores: readonly CoreShares[];
  readonly all: Omit<CoreShares, "core">;
};

export const columns = [
  ...(["usr", "nice", "sys", "iowait", "irq", "soft", "steal", "guest", "gnice", "idle"] as const),
];
export type Column = (typeof columns)[number];

export const shares = (of: (column: Column) => number): Omit<CoreShares, "core"> => ({
  busy: Math.min(100, Math.max(0, 100 - of("idle") - of("iowait"))),
  user: of("usr") + of("nice"),
  system: of("sys"),
  interrupt: of("irq"),
  softirq: of("soft"),
  iowait: of("iowait"),
  steal: of("steal"),
  guest: of("guest") + of("gnice"),
  idle: of("idle"),
});
