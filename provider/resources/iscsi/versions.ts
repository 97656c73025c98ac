import { ParseError } from "../../errors.ts";
import type { Answer } from "../../host.ts";

/**
 * The versions of iscsiadm(8) and of the iscsid(8) that runs: after an upgrade the old daemon may still be there,
 * and an iscsiadm of another version waits for its answers for ever. A running program can be asked even where its
 * file is gone, by /proc/PID/exe.
 */
export type Versions = { iscsiadm?: string; iscsid?: string };

export const askVersions = [
  ...["sh", "-c", 'iscsiadm -V; [ ! -e "$1" ] || "/proc/$(cat "$1")/exe" -v', "sh", "/run/iscsid.pid"],
];

/** Reads `iscsiadm version 2.1.11` and `iscsid version 2.1.11`; a program that is not there has no version. */
export function parseVersions({ stdout }: Pick<Answer, "stdout">): Versions {
  const versions: Versions = {};
  for (const line of stdout.split("\n")) {
    if (line === "") continue;
    const [, program, version] = /^(iscsiadm|iscsid) version (\S+)$/.exec(line) ?? [];
    if (version === undefined) throw new ParseError(`iscsiadm -V: not of the known form: ${line}`);
    versions[program === "iscsid" ? "iscsid" : "iscsiadm"] = version;
  }
  return versions;
}
