import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

/** The settings in Pulumi.STACK.yaml as its YAML has them; secrets stay encrypted. RangeError where it can't be read. */
export async function settingsOf(stack: string, folder: string): Promise<Record<string, unknown>> {
  const file = `Pulumi.${stack}.yaml`;
  try {
    const { config } = (parse(await readFile(join(folder, file), "utf8")) ?? {}) as { config?: object };
    return { ...config };
  } catch (cause) {
    const absent = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = absent
      ? `there is no ${file} in ${folder}`
      : `${file} can't be read: ${(cause as Error).message}`;
    throw new RangeError(why, { cause });
  }
}
