import { z } from "zod";
import { ParseError } from "../../errors.ts";

/** What stands on a disk: partitions, device mapper, md and LVM above it, and what is mounted. See lsblk(8). */

type Device = {
  name: string;
  kname: string;
  type: string;
  mountpoint?: string | null | undefined;
  children?: Device[] | undefined;
};
const device: z.ZodType<Device> = z.looseObject({
  name: z.string(),
  kname: z.string(),
  type: z.string(),
  mountpoint: z.string().nullish(),
  get children() {
    return z.array(device).optional();
  },
});
const tree = z.looseObject({ blockdevices: z.array(device) });

export const lsblk = ["lsblk", "-J", "-o", "NAME,KNAME,TYPE,MOUNTPOINT"];

/** Reads `lsblk -J -o NAME,KNAME,TYPE,MOUNTPOINT`: by disk, who holds it, in words. */
export function parseHolders(stdout: string): Map<string, string[]> {
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch (cause) {
    throw new ParseError(`lsblk -J: not JSON: ${stdout.slice(0, 200)}`, { cause });
  }
  const parsed = tree.safeParse(value);
  if (!parsed.success) throw new ParseError(`lsblk -J: not of the known form: ${stdout.slice(0, 200)}`);
  return new Map(parsed.data.blockdevices.map((disk) => [disk.kname, holdersOf(disk, true)]));
}

function holdersOf({ name, type, mountpoint, children = [] }: Device, isDisk = false): string[] {
  // A partition holds nothing by itself.
  const self = isDisk || type === "part" ? [] : [`${type} ${name}`];
  const mounted = mountpoint
    ? [mountpoint === "[SWAP]" ? `swap on ${name}` : `${name} mounted on ${mountpoint}`]
    : [];
  return [...self, ...mounted, ...children.flatMap((child) => holdersOf(child))];
}
