/**
 * From a few words to vdevs: disk patterns and the rule that spreads them. Pure.
 */

/** `bay{01..03}` → bay01, bay02, bay03; `{a,b}` → a, b; the leftmost brace varies slowest, as in Bash. */
export function expandBraces(pattern: string): string[] {
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern);
  if (match === null) return [pattern];
  const [, before = "", inside = "", after = ""] = match;
  return choices(inside, pattern).flatMap((choice) =>
    expandBraces(after).map((rest) => before + choice + rest),
  );
}

function choices(inside: string, pattern: string): string[] {
  const range = /^(\d+)\.\.(\d+)$/.exec(inside);
  if (range === null) {
    const list = inside.split(",").map((item) => item.trim());
    if (list.length < 2 || list.includes("")) {
      throw new RangeError(
        `{${inside}} in ${pattern} is no range such as {01..24} and no list such as {a,b}`,
      );
    }
    return list;
  }
  const [, first = "", last = ""] = range;
  const count = Number(last) - Number(first) + 1;
  if (count < 1) throw new RangeError(`{${inside}} in ${pattern} runs backwards`);
  const width = first.startsWith("0") ? first.length : 0;
  return Array.from({ length: count }, (_, n) => String(Number(first) + n).padStart(width, "0"));
}

/**
 * The disks as they are declared, one list an enclosure: a list of patterns has one enclosure a pattern, a single
 * pattern one enclosure for each value of its first brace.
 */
export function enclosures(disks: readonly string[]): string[][] {
  const [only] = disks;
  if (disks.length !== 1 || only === undefined) return disks.map(expandBraces);
  const match = /^(.*?)\{([^{}]*)\}(.*)$/.exec(only);
  if (match === null) return [[only]];
  const [, before = "", inside = "", after = ""] = match;
  return choices(inside, only).map((choice) => expandBraces(`${before}${choice}${after}`));
}

/**
 * Vdevs of `width` disks. Without `spread`, neighbours in the declared order form a vdev. With it, the disks are
 * dealt out one enclosure after the other, so that a vdev's disks sit in as many enclosures as there are.
 * Every disk is used once; a remainder is an error.
 */
export function vdevsOf(disks: readonly string[], width: number, spread: boolean): string[][] {
  const groups = spread ? enclosures(disks) : [disks.flatMap(expandBraces)];
  const sizes = new Set(groups.map((group) => group.length));
  if (sizes.size > 1) {
    throw new RangeError(
      `the enclosures hold different numbers of disks (${groups.map((g) => g.length).join(", ")}): they can't be spread evenly`,
    );
  }
  const depth = groups[0]?.length ?? 0;
  const dealt = Array.from({ length: depth }, (_, n) =>
    groups.flatMap((group) => group.slice(n, n + 1)),
  ).flat();
  const twice = dealt.find((disk, index) => dealt.indexOf(disk) !== index);
  if (twice !== undefined) throw new RangeError(`disk ${twice} is named twice`);
  if (dealt.length === 0 || dealt.length % width !== 0) {
    throw new RangeError(
      `${dealt.length} disks don't make whole vdevs of ${width}: ${dealt.length % width} would be left over`,
    );
  }
  return Array.from({ length: dealt.length / width }, (_, n) => dealt.slice(n * width, (n + 1) * width));
}
