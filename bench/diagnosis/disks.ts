import type { DiskLoad } from "../schema/evidence.ts";

/** The data disks of the pool as rules compare them. */

/**
 * iostat's %util is the time with an I/O in flight. A disk that serves many at once (SSD, NVMe) shows 100 % long
 * before it is full (iostat(1)), so its share says nothing.
 */
export const saysBusy = ({ disk, busy, rotational }: DiskLoad): boolean =>
  busy !== null && rotational !== false && !disk.startsWith("nvme");

export const disksOf = (disks: readonly DiskLoad[], role: DiskLoad["role"]): DiskLoad[] =>
  disks.filter((disk) => disk.role === role);

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? 0) + (high ?? 0)) / 2;
}
