import { z } from "zod";
import { ParseError } from "../../errors.ts";
import { parsePortal } from "../net/address.ts";

/** A session's disks: their paths, sizes, and what stands on them (partitions, device mapper, md, LVM, mounts). */

/** Where udev puts the path of every disk by the way to it. */
export const byPath = "/dev/disk/by-path";

/** The stable path that udev gives to a LUN behind a portal. */
export function lunPath({ target, portal }: { target: string; portal: string }, lun: number): string {
  const { address, port } = parsePortal(portal) ?? { address: portal, port: 0 };
  return `${byPath}/ip-${address}:${port}-iscsi-${target}-lun-${lun}`;
}

/** The LUN that such a path leads to; udev writes those above 255 in another way, as hexadecimal. */
export function lunOf(path: string): number | undefined {
  const lun = /-lun-(\d+)$/.exec(path)?.[1];
  return lun === undefined ? undefined : Number(lun);
}

/** Reads `find -printf '%p\t%l\n'`: kernel names by path. */
export function parseLinks(stdout: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of stdout.split("\n")) {
    if (line === "") continue;
    const [path, link] = line.split("\t");
    if (path === undefined || link === undefined)
      throw new ParseError(`find: not of the form path, link: ${line}`);
    found.set(path, link.replace(/^.*\//, ""));
  }
  return found;
}

type Device = {
  name: string;
  kname: string;
  type: string;
  size: number;
  mountpoint?: string | null | undefined;
  children?: Device[] | undefined;
};
const device: z.ZodType<Device> = z.looseObject({
  name: z.string(),
  kname: z.string(),
  type: z.string(),
  // util-linux before 2.33 prints it as a string.
  size: z.coerce.number(),
  mountpoint: z.string().nullish(),
  get children() {
    return z.array(device).optional();
  },
});
const tree = z.looseObject({ blockdevices: z.array(device) });

export const lsblk = ["lsblk", "-J", "-b", "-o", "NAME,KNAME,TYPE,SIZE,MOUNTPOINT"];

export type Disk = { bytes: bigint; holders: string[] };

/** Reads `lsblk -J -b -o NAME,KNAME,TYPE,SIZE,MOUNTPOINT`: disks by kernel name, with who holds them, in words. */
export function parseDisks(stdout: string): Map<string, Disk> {
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch (cause) {
    throw new ParseError(`lsblk -J: not JSON: ${stdout.slice(0, 200)}`, { cause });
  }
  const parsed = tree.safeParse(value);
  if (!parsed.success) throw new ParseError(`lsblk -J: not of the known form: ${stdout.slice(0, 200)}`);
  return new Map(
    parsed.data.blockdevices.map((disk) => [
      disk.kname,
      { bytes: BigInt(disk.size), holders: holdersOf(disk, true) },
    ]),
  );
}

function holdersOf({ name, type, mountpoint, children = [] }: Device, isDisk = false): string[] {
  // A partition holds nothing by itself.
  const self = isDisk || type === "part" ? [] : [`${type} ${name}`];
  const mounted = mountpoint
    ? [mountpoint === "[SWAP]" ? `swap on ${name}` : `${name} mounted on ${mountpoint}`]
    : [];
  return [...self, ...mounted, ...children.flatMap((child) => holdersOf(child))];
}
