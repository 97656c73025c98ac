import { z } from "zod";
import { ParseError } from "../../provider/errors.ts";

/** What findmnt(8) prints with `--json --list --output SOURCE,TARGET,FSTYPE,OPTIONS,UUID`. */

export const mountColumns = "SOURCE,TARGET,FSTYPE,OPTIONS,UUID";

const table = z.strictObject({
  filesystems: z.array(
    z.strictObject({
      source: z.string(),
      target: z.string(),
      fstype: z.string(),
      options: z.string(),
      uuid: z.string().nullable(),
    }),
  ),
});
export type Mount = z.infer<typeof table>["filesystems"][number];

export function parseMounts(value: unknown): Mount[] {
  const parsed = table.safeParse(value);
  if (parsed.success) return parsed.data.filesystems;
  throw new ParseError(`findmnt's table is not of the form known here: ${z.prettifyError(parsed.error)}`);
}
