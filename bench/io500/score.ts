/**
 * The IO500's score, as its rules publish it (io500.org, main.c of IO500/io500): the geometric mean of the bandwidth
 * phases in GiB/s, that of the metadata phases in kIOPS, and of these two the geometric mean.
 */

export const bandwidthPhases = [
  "ior-easy-write",
  "ior-hard-write",
  "ior-easy-read",
  "ior-hard-read",
] as const;
export const metadataPhases = [
  ...(["mdtest-easy-write", "mdtest-hard-write", "find", "mdtest-easy-stat"] as const),
  ...(["mdtest-hard-stat", "mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete"] as const),
];

/** In the order in which they run. */
export const phases = [
  ...(["ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write", "find"] as const),
  ...(["ior-easy-read", "mdtest-easy-stat", "ior-hard-read", "mdtest-hard-stat"] as const),
  ...(["mdtest-easy-delete", "mdtest-hard-read", "mdtest-hard-delete"] as const),
];
export type PhaseName = (typeof phases)[number];

export const unitOf = (phase: PhaseName): "GiB/s" | "kIOPS" => (phase.startsWith("ior-") ? "GiB/s" : "kIOPS");

export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

export type Score = { readonly bandwidth: number; readonly metadata: number; readonly total: number };

/** GiB/s and kIOPS of every phase, each above 0. */
export function scoreOf(values: Readonly<Record<PhaseName, number>>): Score {
  const bandwidth = geometricMean(bandwidthPhases.map((phase) => values[phase]));
  const metadata = geometricMean(metadataPhases.map((phase) => values[phase]));
  return { bandwidth, metadata, total: Math.sqrt(bandwidth * metadata) };
}
