import type { Element, ElementName } from "../schema/diagnosis.ts";

/** One element of the path: its share is of what is known, its bound what the client would see were it full. */

const words = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

/** A figure for people: 2,163 and 17.4 and 0.02. */
export const figure = (value: number): string => (value >= 100 ? words : fine).format(value);
export const mbps = (value: number): string => `${figure(value)} MB/s`;

/** Below this share of its capacity (percent) an element was hardly used: what it would do when full isn't known. */
const hardlyUsed = 1;

type Known = {
  used: number | null;
  capacity: number | null;
  unit?: Element["unit"];
  /** MB/s; left out: the bandwidth that was seen, scaled by capacity over use; null where either isn't known. */
  bound?: number | null;
  from?: Element["from"];
  how: string;
};

export function elementOf(
  element: ElementName,
  name: string,
  bandwidth: number | null,
  { used, capacity, unit = "MB/s", bound, from, how }: Known,
): Element {
  const share = used === null || capacity === null || capacity === 0 ? null : (100 * used) / capacity;
  const scaled =
    share === null || bandwidth === null || share < hardlyUsed ? null : (bandwidth * 100) / share;
  return {
    ...{ element, name, used, capacity, unit, share },
    bound: bound === undefined ? scaled : bound,
    from: capacity === null ? "unknown" : (from ?? "measured"),
    how,
  };
}
