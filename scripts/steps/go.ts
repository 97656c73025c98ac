import { existsSync, globSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { buildFolder } from "../cache.ts";
import { cacheRoot, executable, project } from "../environment.ts";
import type { Step } from "../steps.ts";

/**
 * Go, to build Pulumi with. Any Go from 1.21 on will do: it fetches the version that go.mod asks for as a module,
 * as all Go commands do. Where there is none, Debian's is unpacked into the cache.
 */

export type Go = { program: string; version: string; env: Record<string, string | undefined> };

const unpacked = () => join(cacheRoot(), "go");

export const wantedGo = (): string =>
  /^go (\S+)$/m.exec(readFileSync(join(project, "tools/pulumi-cli/go.mod"), "utf8"))?.[1] ?? "1.26";

/** The first Go that is new enough, with what its environment needs so that it is. */
export async function findGo(): Promise<Go | undefined> {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/local/go/bin", "/usr/lib/go/bin"];
  const debian = globSync(join(unpacked(), "usr/lib/go-*/bin"));
  for (const folder of [...folders, ...debian]) {
    const program = join(folder, "go");
    if (!executable(program)) continue;
    const { stdout, failed } = await execa(program, ["version"], {
      reject: false,
      env: { GOTOOLCHAIN: "local" },
    });
    const version = /\bgo(\d+\.\d+(\.\d+)?)/.exec(stdout ?? "")?.[1];
    if (failed || version === undefined || older(version, "1.21")) continue;
    return { program, version, env: older(version, wantedGo()) ? { GOTOOLCHAIN: "auto" } : {} };
  }
  return undefined;
}

export function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(".").map(Number)) as [number[], number[]];
  for (let part = 0; part < 3; part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export const goStep: Step = {
  name: "Go",
  why: "it builds Pulumi; Debian's is unpacked into the cache, about half a minute",
  command: "tools/fetch-go",
  async check() {
    const go = await findGo();
    return go && `${go.version} (${go.program})`;
  },
  async bring({ run }) {
    await buildFolder(unpacked(), async (staging) => {
      await run(join(project, "tools/fetch-go"), [staging]);
      if (!existsSync(join(staging, "usr"))) throw new Error("tools/fetch-go left no folder usr");
    });
  },
};
