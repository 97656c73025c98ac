/** Values of a recording, a sample each; null where one is missing. */

export type Series = readonly (number | null)[];

export const known = (series: Series): number[] => series.filter((value) => value !== null);

/** Of what is known; null where nothing is. */
export function meanOf(series: Series): number | null {
  const values = known(series);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
