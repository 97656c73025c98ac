/** Is a version such as 12.7.5 this one or a later one? Parts that are missing or no numbers count as 0. */
export function atLeast(version: string, wanted: readonly number[]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  for (const [at, part] of wanted.entries()) {
    const difference = (parts[at] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
