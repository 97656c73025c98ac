import { mkdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { buildFolder, contentKey, pointTo } from "../cache.ts";
import { cacheRoot, executable, ownPulumi, project } from "../environment.ts";
import type { Step, Work } from "../steps.ts";
import { findGo, goStep } from "./go.ts";

/**
 * Pulumi's command line and its language host for Node. The operator's own goes first, then the official release,
 * and where that can't be reached, a build from the Go modules: see tools/README.md.
 */

const version = "3.276.0";
const programs = ["pulumi", "pulumi-language-nodejs"];

export const toolchainFolder = async (): Promise<string> => {
  const recipes = ["pulumi-cli", "language-host"].flatMap((tool) =>
    ["go.mod", "go.sum"].map((file) => join(project, "tools", tool, file)),
  );
  return join(cacheRoot(), "toolchain", await contentKey(recipes, process.arch));
};

const whole = (folder: string): boolean =>
  programs.every((program) => executable(join(folder, "bin", program)));

/** Whether Pulumi has to be brought; decides whether Go and Debian's packages are needed as well. */
export const pulumiMissing = async (): Promise<boolean> => !ownPulumi() && !whole(await toolchainFolder());

export const pulumiStep: Step = {
  name: "Pulumi",
  why: "the official release is tried first, else it is built from its Go modules, 5 to 10 minutes on two cores, once",
  command: "go build -C tools/pulumi-cli github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
  async check() {
    const own = ownPulumi();
    if (own) return `your own (${own})`;
    const folder = await toolchainFolder();
    if (!whole(folder)) return undefined;
    await pointTo(join(cacheRoot(), "bin"), join(folder, "bin"));
    return `v${version} (${join(cacheRoot(), "bin")})`;
  },
  async bring(work) {
    await buildFolder(await toolchainFolder(), async (staging) => {
      work.note("trying the official release");
      await official(staging, work).catch(async () => {
        work.note("the official release can't be reached, building");
        await rm(staging, { recursive: true, force: true });
        await mkdir(staging);
        await build(staging, work);
      });
    });
  },
};

/** The npm package `pulumi` fetches the official release, language host included, when it is first run. */
async function official(staging: string, { run }: Work): Promise<void> {
  await run("npm", ["exec", "--yes", "--package=pulumi@3.265.0", "--", "pulumi", "version"], {
    env: { ...process.env, PULUMI_HOME: staging, PULUMI_VERSION: version, PULUMI_SKIP_UPDATE_CHECK: "1" },
    deadlineSeconds: 120,
  });
  await pointTo(join(staging, "bin"), join(staging, "versions", version, "bin"));
  if (!whole(staging)) throw new Error("the release holds no language host for Node");
}

async function build(staging: string, { run, note }: Work): Promise<void> {
  if ((await goStep.check()) === undefined) {
    note("no Go here, unpacking Debian's");
    await goStep.bring({ run, note });
  }
  const go = await findGo();
  if (go === undefined)
    throw new Error("no Go from 1.21 on; install Debian's package golang-go, then try again");
  // Go's own folders would grow by gigabytes in the operator's home; these are gone when the build is done.
  const scratch = join(dirname(dirname(staging)), "go-build");
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  const env = {
    ...process.env,
    ...go.env,
    // The operator's settings for Go hold, such as a proxy; only its counters go elsewhere.
    GOENV: process.env.GOENV || join(config, "go/env"),
    XDG_CONFIG_HOME: join(scratch, "config"),
    GOPATH: join(scratch, "path"),
    CGO_ENABLED: "0",
    GOMODCACHE: join(scratch, "modules"),
    GOCACHE: join(scratch, "cache"),
  };
  const link = "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v";
  const goBuild = (tool: string, program: string, release: string, module: string) =>
    run(
      go.program,
      [
        "build",
        "-v",
        "-buildvcs=false",
        "-trimpath",
        "-ldflags",
        link + release,
        "-o",
        join(staging, "bin", program),
        module,
      ],
      { cwd: join(project, "tools", tool), env },
    );
  const pulumi = "github.com/pulumi/pulumi";
  note("building the language host");
  await goBuild(
    "language-host",
    "pulumi-language-nodejs",
    "3.68.0",
    `${pulumi}/sdk/v3/nodejs/cmd/pulumi-language-nodejs`,
  );
  note("building the command line");
  await goBuild("pulumi-cli", "pulumi", version, `${pulumi}/pkg/v3/cmd/pulumi`);
  await run(join(staging, "bin/pulumi"), ["version"], {
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "1" },
  });
  // Go makes its modules read-only.
  await run("chmod", ["-R", "u+w", scratch]);
  await rm(scratch, { recursive: true, force: true });
}
