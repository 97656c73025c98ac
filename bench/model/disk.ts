import type { Element } from "../schema/diagnosis.ts";
import type { Evidence } from "../schema/evidence.ts";
import type { Hardware } from "../schema/needs.ts";
import { figure, mbps } from "./element.ts";
import { dataVdevs } from "./layout.ts";

/** What one data disk can do: as stated, or, of a disk that is known to have a spindle, as such disks do. */
export type Rate = { value: number | null; from: Element["from"]; how: string };

/**
 * A 7,200 rpm disk of 1–8 TB, its outermost tracks: data sheets of NL-SAS drives say 150 to 250 MB/s, the inner tracks
 * give half. A bound needs the upper end of what is usual.
 */
const spindleSequential = 200;
/**
 * Half a turn (4.17 ms) and a mean seek (8.5 ms, the same data sheets) make 79 random I/Os a second; with many queued,
 * reordering (NCQ, TCQ) gives up to about twice that.
 */
const spindleIops = 160;

/** `sequential` in MB/s, `iops` in random I/Os a second, of one data disk; null: not known. */
export function diskRates(
  { pool, virtual }: Pick<Evidence, "pool" | "virtual">,
  { disk }: Hardware,
): { sequential: Rate; iops: Rate } {
  const shapes = pool.layout === null ? [] : dataVdevs(pool.layout);
  const data = pool.disks.filter(({ role }) => role === "data");
  // A virtual disk says whatever its host likes.
  const spindles = !virtual && [...shapes, ...data].some(({ rotational }) => rotational === true);
  const rate = (stated: number | undefined, usual: number, words: (value: number) => string): Rate => {
    if (stated !== undefined)
      return { value: stated, from: "stated", how: `a disk does ${words(stated)}, as stated` };
    if (spindles)
      return {
        ...{ value: usual, from: "assumed" },
        how: `a disk is assumed to do ${words(usual)}, as one of 7,200 rpm does at most`,
      };
    return { value: null, from: "unknown", how: "what one disk can do isn't known" };
  };
  return {
    sequential: rate(disk?.sequential, spindleSequential, mbps),
    iops: rate(disk?.iops, spindleIops, (value) => `${figure(value)} random I/Os a second`),
  };
}
