/**
 * From a few words to vdevs: disk patterns and the rule that spreads them, and what the result survives. Pure.
 */

export const layoutKinds = [
  "stripe",
  "mirror",
  "raidz1",
  "raidz2",
  "raidz3",
  "draid1",
  "draid2",
  "draid3",
] as const;
export type LayoutKind = (typeof layoutKinds)[number];

/** A vdev; `data` and `spares` are a dRAID's: data disks of a group, distributed spares. */
export type VdevLayout = { type: LayoutKind; disks: string[]; data?: number; spares?: number };

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
  if (spread && groups.length < 2) {
    throw new RangeError(
      "spread: enclosure needs two enclosures or more, and here is one: the first brace of a single pattern counts " +
        "them (shelf-{1..3}-bay{01..24}), or each has a pattern of its own in a list",
    );
  }
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

/** How many disks of a vdev may fail before its data is lost. */
export const redundancy = ({ type, disks }: VdevLayout): number =>
  type === "stripe" ? 0 : type === "mirror" ? disks.length - 1 : Number(type.at(-1));

/** How many whole enclosures may fail at once, whichever they are, without the loss of any of these vdevs. */
export function enclosuresToLose(
  vdevs: readonly VdevLayout[],
  enclosed: readonly (readonly string[])[],
): number {
  const survived = vdevs.map((vdev) => {
    const disksIn = enclosed
      .map((enclosure) => vdev.disks.filter((disk) => enclosure.includes(disk)).length)
      .sort((a, b) => b - a);
    let lost = 0;
    return disksIn.filter((disks) => {
      lost += disks;
      return lost <= redundancy(vdev);
    }).length;
  });
  return Math.min(...survived);
}

/** What vdevs of one role survive, in words. A dRAID's spares restore that once they have been filled. */
export function tolerated(vdevs: readonly VdevLayout[], enclosed: readonly (readonly string[])[]): string {
  const disks = Math.min(...vdevs.map(redundancy));
  const count = (n: number, what: string): string => `any ${n} ${what}${n === 1 ? "" : "s"}`;
  const each = vdevs.length === 1 ? "" : " of each vdev";
  const shelves = enclosed.length < 2 ? 0 : enclosuresToLose(vdevs, enclosed);
  const whole =
    enclosed.length < 2
      ? ""
      : shelves === 0
        ? ", no whole enclosure"
        : `, or ${count(shelves, "whole enclosure")}`;
  return disks === 0 ? "no failure" : `${count(disks, "disk")}${each}${whole}`;
}
