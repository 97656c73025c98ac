/**
 * Sizes in the stack file: bytes, or a number with an IEC unit (`2 GiB`, `1536 MiB`), or zfs notation (`200G`,
 * `16K`, zfsprops(7): powers of 1024 whatever the suffix). Always whole bytes; `GB` is refused, since half of the
 * tools here read it as 10^9 and half as 2^30.
 */
const exponents: Record<string, number> = {
  "": 0,
  B: 0,
  K: 1,
  KIB: 1,
  M: 2,
  MIB: 2,
  G: 3,
  GIB: 3,
  T: 4,
  TIB: 4,
  P: 5,
  PIB: 5,
};

/** Bytes, or undefined where the text is no size or no whole number of bytes. */
export function parseSize(text: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?\s*([A-Za-z]*)$/.exec(text.trim());
  if (match === null) return undefined;
  const [, whole = "", fraction = "", unit = ""] = match;
  const exponent = exponents[unit.toUpperCase()];
  if (exponent === undefined) return undefined;
  const scaled = BigInt(whole + fraction) * 1024n ** BigInt(exponent);
  const divisor = 10n ** BigInt(fraction.length);
  return scaled % divisor === 0n ? scaled / divisor : undefined;
}

/** Bytes in the largest IEC unit that gives a whole number: 2147483648 → `2 GiB`. */
export function formatSize(bytes: bigint): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let rest = bytes;
  let unit = 0;
  while (rest !== 0n && rest % 1024n === 0n && unit < units.length - 1) {
    rest /= 1024n;
    unit += 1;
  }
  return `${rest} ${units[unit]}`;
}

/** Both forms, for messages where the difference may be small: `2147483648 bytes (2 GiB)`. */
export const both = (bytes: bigint): string => `${bytes} bytes (${formatSize(bytes)})`;
