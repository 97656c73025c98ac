import { ParseError } from "../../errors.ts";
import type { Answer, Questions } from "../../host.ts";
import { expect } from "../../resource.ts";
import type { BlockDevice } from "../zfs/disks.ts";
import { parseSuperblock, readSuperblock, type Superblock } from "./superblock.ts";

/** What is mounted: proc_pid_mountinfo(5). */

type Mount = { target: string; source: string; type: string };

/** /proc/self/mountinfo. */
export function parseMounts(text: string): Mount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const match = /^\d+ \d+ \d+:\d+ \S+ (\S+) \S+.* - (\S+) (\S+) \S+$/.exec(line);
      if (match === null) throw new ParseError(`not a line of mountinfo: ${JSON.stringify(line)}`);
      const [, target = "", type = "", source = ""] = match;
      return { target: unescaped(target), source: unescaped(source), type };
    });
}

/** Blanks, tabs, newlines and backslashes stand as \040 and so on. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/**
 * The mounts of the XFS file systems that are `mine`: of the known device itself, or of another path to the same
 * disk (the other session), which only the UUID in the mounted superblock tells.
 */
export async function mountsFor(
  host: Questions,
  mounts: readonly Mount[],
  mine: (uuid: string) => boolean,
  known?: { node: BlockDevice; superblock: Superblock | undefined },
): Promise<{ target: string; uuid: string }[]> {
  const xfs = mounts.filter(({ type, source }) => type === "xfs" && source.startsWith("/dev/"));
  const found = await Promise.all(
    xfs.map(async ({ target, source }) => {
      const same = known !== undefined && [known.node.kname, known.node.name].includes(source);
      const superblock = same
        ? known.superblock
        : mountedSuperblock(host, await host.ask(readSuperblock(source)), source);
      return { target, uuid: superblock?.uuid ?? "" };
    }),
  );
  return found.filter(({ uuid }) => mine(uuid)).reverse();
}

/** A mounted device that can't be read any more (its session is gone) is not known to be ours. */
function mountedSuperblock(host: Questions, answer: Answer, source: string): Superblock | undefined {
  if (/No such (file|device)|Input\/output error/.test(answer.stderr)) return undefined;
  return parseSuperblock(expect(host, answer, `the first sector of ${source}`));
}
