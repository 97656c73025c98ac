/** Figures as findings and advice say them: rounded for people, each with its unit. */

/** Three digits that count: 2,729 · 431 · 21.3 · 0.42 */
export function rounded(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export const mbs = (value: number): string => `${rounded(value)} MB/s`;
export const percent = (value: number): string => `${value.toFixed(0)} %`;
export const ms = (value: number): string => `${rounded(value)} ms`;

/** A size in the binary unit that leaves at least one: 16 KiB. */
export function size(bytes: number): string {
  const [power, unit] =
    bytes >= 2 ** 40
      ? [40, "TiB"]
      : bytes >= 2 ** 30
        ? [30, "GiB"]
        : bytes >= 2 ** 20
          ? [20, "MiB"]
          : [10, "KiB"];
  return `${rounded(bytes / 2 ** power)} ${unit}`;
}

export const plural = (count: number, one: string): string =>
  `${count.toLocaleString("en-US")} ${one}${count === 1 ? "" : "s"}`;
