import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { execa } from "execa";

/**
 * pack.ts ARCHIVE MARK: the stand-in as an archive that `pulumi plugin install --file` takes. One JavaScript file
 * with all it needs, so that the plugin outlives the clone that it was made in; of Node it needs any from 20 on:
 * the one that packed it, or else one on the PATH.
 */

const [archive = "", mark = ""] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "storage-lab-command-"));
try {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [fileURLToPath(new URL("main.ts", import.meta.url))],
    outfile: join(folder, "main.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    logLevel: "error",
  });
  const start = join(folder, "pulumi-resource-command");
  await writeFile(
    start,
    `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
for node in '${process.execPath.replaceAll("'", "'\\''")}' node; do
  command -v "$node" >/dev/null 2>&1 && exec "$node" "$here/main.cjs" "$@"
done
echo "the command plugin needs Node 20 or later on the PATH; npm start in the project brings one" >&2
exit 1
`,
  );
  await chmod(start, 0o755);
  await writeFile(join(folder, basename(mark)), "");
  await execa("tar", ["-czf", archive, "-C", folder, "."]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
